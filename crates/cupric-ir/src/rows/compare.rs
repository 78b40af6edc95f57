//! Comparisons and tests.

use crate::{
    expression::{Cx, Ex},
    row::{BOOL, COMPLEX, FLOAT, Formula::*, Gives::*, INTEGER, Loop, PLAIN, Rule::*, Ufunc},
    ty::Ty,
};
use cupric_core::DType::{Int64, UInt64};

pub(super) static ROWS: &[Ufunc] = &[
    Ufunc::new(
        "equal",
        "`a == b`.",
        (2, 1),
        Common,
        &[
            Loop::new(PLAIN, Bool, Binary(Ex::equal)),
            Loop::new(COMPLEX, Bool, Compare(|a, b| a.re.equal(b.re) & a.im.equal(b.im))),
            Loop::mixed(Int64, UInt64, Binary(|a, b| not_negative(a) & a.cast(Ty::U64).equal(b))),
            Loop::mixed(UInt64, Int64, Binary(|a, b| not_negative(b) & a.equal(b.cast(Ty::U64)))),
        ],
    ),
    Ufunc::new(
        "not_equal",
        "`a != b`.",
        (2, 1),
        Common,
        &[
            Loop::new(PLAIN, Bool, Binary(Ex::not_equal)),
            Loop::new(COMPLEX, Bool, Compare(|a, b| a.re.not_equal(b.re) | a.im.not_equal(b.im))),
            Loop::mixed(Int64, UInt64, Binary(|a, b| negative(a) | a.cast(Ty::U64).not_equal(b))),
            Loop::mixed(UInt64, Int64, Binary(|a, b| negative(b) | a.not_equal(b.cast(Ty::U64)))),
        ],
    ),
    Ufunc::new(
        "less",
        "`a < b`.",
        (2, 1),
        Common,
        &[
            Loop::new(PLAIN, Bool, Binary(Ex::less)),
            Loop::new(COMPLEX, Bool, Compare(Cx::less)),
            Loop::mixed(Int64, UInt64, Binary(signed_less)),
            Loop::mixed(UInt64, Int64, Binary(unsigned_less)),
        ],
    ),
    Ufunc::new(
        "less_equal",
        "`a <= b`.",
        (2, 1),
        Common,
        &[
            Loop::new(PLAIN, Bool, Binary(Ex::less_equal)),
            Loop::new(COMPLEX, Bool, Compare(Cx::less_equal)),
            Loop::mixed(Int64, UInt64, Binary(|a, b| !unsigned_less(b, a))),
            Loop::mixed(UInt64, Int64, Binary(|a, b| !signed_less(b, a))),
        ],
    ),
    Ufunc::new(
        "greater",
        "`a > b`.",
        (2, 1),
        Common,
        &[
            Loop::new(PLAIN, Bool, Binary(|a, b| b.less(a))),
            Loop::new(COMPLEX, Bool, Compare(|a, b| b.less(a))),
            Loop::mixed(Int64, UInt64, Binary(|a, b| unsigned_less(b, a))),
            Loop::mixed(UInt64, Int64, Binary(|a, b| signed_less(b, a))),
        ],
    ),
    Ufunc::new(
        "greater_equal",
        "`a >= b`.",
        (2, 1),
        Common,
        &[
            Loop::new(PLAIN, Bool, Binary(|a, b| b.less_equal(a))),
            Loop::new(COMPLEX, Bool, Compare(|a, b| b.less_equal(a))),
            Loop::mixed(Int64, UInt64, Binary(|a, b| !signed_less(a, b))),
            Loop::mixed(UInt64, Int64, Binary(|a, b| !unsigned_less(a, b))),
        ],
    ),
    Ufunc::new(
        "isnan",
        "Whether the element is a NaN.",
        (1, 1),
        Common,
        &[
            Loop::new(BOOL.and(INTEGER), Bool, Unary(|_| no())),
            Loop::new(FLOAT, Bool, Unary(Ex::is_nan)),
            Loop::new(COMPLEX, Bool, Measure(Cx::is_nan)),
        ],
    ),
    Ufunc::new(
        "isinf",
        "Whether the element is an infinity.",
        (1, 1),
        Common,
        &[
            Loop::new(BOOL.and(INTEGER), Bool, Unary(|_| no())),
            Loop::new(FLOAT, Bool, Unary(is_infinite)),
            Loop::new(COMPLEX, Bool, Measure(|x| is_infinite(x.re) | is_infinite(x.im))),
        ],
    ),
    Ufunc::new(
        "isfinite",
        "Whether the element is neither a NaN nor an infinity.",
        (1, 1),
        Common,
        &[
            Loop::new(BOOL.and(INTEGER), Bool, Unary(|_| !no())),
            Loop::new(FLOAT, Bool, Unary(is_finite)),
            Loop::new(COMPLEX, Bool, Measure(|x| is_finite(x.re) & is_finite(x.im))),
        ],
    ),
    Ufunc::new("signbit", "Whether the sign bit is set.", (1, 1), Inexact, &[Loop::new(FLOAT, Bool, Unary(sign_bit))]),
    Ufunc::new(
        "copysign",
        "The size of the first element with the sign of the second.",
        (2, 1),
        Inexact,
        &[Loop::new(FLOAT, Same, Binary(|a, b| sign_bit(b).select(-a.abs(), a.abs())))],
    ),
];

fn no() -> Ex {
    Ex::number(Ty::Bool, 0.0)
}

fn negative(x: Ex) -> Ex {
    x.less(x.lit(0.0))
}

fn not_negative(x: Ex) -> Ex {
    x.lit(0.0).less_equal(x)
}

/// An int64 below a uint64.
fn signed_less(a: Ex, b: Ex) -> Ex {
    negative(a) | a.cast(Ty::U64).less(b)
}

/// A uint64 below an int64.
fn unsigned_less(a: Ex, b: Ex) -> Ex {
    not_negative(b) & a.less(b.cast(Ty::U64))
}

fn is_infinite(x: Ex) -> Ex {
    x.abs().equal(x.lit(f64::INFINITY))
}

fn is_finite(x: Ex) -> Ex {
    x.abs().less(x.lit(f64::INFINITY))
}

fn sign_bit(x: Ex) -> Ex {
    let word = if x.ty() == Ty::F32 { Ty::I32 } else { Ty::I64 };
    negative(x.bitcast(word))
}

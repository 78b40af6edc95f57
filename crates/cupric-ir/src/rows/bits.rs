//! Bits, shifts, logic.

use crate::{
    expression::{Cx, Ex},
    row::{BOOL, COMPLEX, Formula::*, Gives::*, INTEGER, Loop, PLAIN, Rule::*, SIGNED, UNSIGNED, Ufunc},
};

pub(super) static ROWS: &[Ufunc] = &[
    Ufunc::new(
        "bitwise_and",
        "Bits set in both.",
        (2, 1),
        Common,
        &[Loop::new(BOOL.and(INTEGER), Same, Binary(|a, b| a & b))],
    ),
    Ufunc::new(
        "bitwise_or",
        "Bits set in either.",
        (2, 1),
        Common,
        &[Loop::new(BOOL.and(INTEGER), Same, Binary(|a, b| a | b))],
    ),
    Ufunc::new(
        "bitwise_xor",
        "Bits set in one of the two.",
        (2, 1),
        Common,
        &[Loop::new(BOOL.and(INTEGER), Same, Binary(|a, b| a ^ b))],
    ),
    Ufunc::new(
        "invert",
        "Every bit flipped; the negation of a truth value.",
        (1, 1),
        Common,
        &[Loop::new(BOOL.and(INTEGER), Same, Unary(|x| !x))],
    ),
    Ufunc::new(
        "left_shift",
        "Bits moved up; 0 once all are gone.",
        (2, 1),
        Common,
        &[Loop::new(INTEGER, Same, Binary(left_shift))],
    ),
    Ufunc::new(
        "right_shift",
        "Bits moved down, keeping the sign.",
        (2, 1),
        Common,
        &[Loop::new(UNSIGNED, Same, Binary(right_shift_logical)), Loop::new(SIGNED, Same, Binary(right_shift))],
    ),
    Ufunc::new(
        "logical_and",
        "Whether both are nonzero.",
        (2, 1),
        Common,
        &[
            Loop::new(PLAIN, Bool, Binary(|a, b| a.truth() & b.truth())),
            Loop::new(COMPLEX, Bool, Compare(|a, b| a.truth() & b.truth())),
        ],
    ),
    Ufunc::new(
        "logical_or",
        "Whether either is nonzero.",
        (2, 1),
        Common,
        &[
            Loop::new(PLAIN, Bool, Binary(|a, b| a.truth() | b.truth())),
            Loop::new(COMPLEX, Bool, Compare(|a, b| a.truth() | b.truth())),
        ],
    ),
    Ufunc::new(
        "logical_xor",
        "Whether exactly one is nonzero.",
        (2, 1),
        Common,
        &[
            Loop::new(PLAIN, Bool, Binary(|a, b| a.truth() ^ b.truth())),
            Loop::new(COMPLEX, Bool, Compare(|a, b| a.truth() ^ b.truth())),
        ],
    ),
    Ufunc::new(
        "logical_not",
        "Whether the element is zero.",
        (1, 1),
        Common,
        &[Loop::new(PLAIN, Bool, Unary(|x| !x.truth())), Loop::new(COMPLEX, Bool, Measure(|x: Cx| !x.truth()))],
    ),
];

/// Whether a shift count is below the width (a negative one is not), and the count made safe.
fn shift_count(a: Ex, by: Ex) -> (Ex, Ex) {
    let small = by.less(by.lit(f64::from(a.width())));
    let small = if by.ty().is_signed() { small & by.lit(0.0).less_equal(by) } else { small };
    (small, by & by.lit(f64::from(a.width() - 1)))
}

fn left_shift(a: Ex, by: Ex) -> Ex {
    let (small, count) = shift_count(a, by);
    small.select(a.left_shift(count), a.lit(0.0))
}

fn right_shift_logical(a: Ex, by: Ex) -> Ex {
    let (small, count) = shift_count(a, by);
    small.select(a.right_shift(count), a.lit(0.0))
}

fn right_shift(a: Ex, by: Ex) -> Ex {
    let (small, count) = shift_count(a, by);
    small.select(a.right_shift(count), a.right_shift(a.lit(f64::from(a.width() - 1))))
}

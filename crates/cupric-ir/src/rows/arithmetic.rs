//! Sums, products, quotients, remainders, extremes, rounding.

use crate::{
    expression::{Cx, Ex},
    row::{BOOL, COMPLEX, FLOAT, Formula::*, Gives::*, INTEGER, Loop, PLAIN, REAL, Rule::*, SIGNED, UNSIGNED, Ufunc},
    ty::Ty,
};

pub(super) static ROWS: &[Ufunc] = &[
    Ufunc::new(
        "copy",
        "Each element as it is.",
        (1, 1),
        Common,
        &[Loop::new(PLAIN, Same, Unary(|x| x)), Loop::new(COMPLEX, Same, ComplexUnary(|x| x))],
    ),
    Ufunc::new(
        "positive",
        "`+x`.",
        (1, 1),
        Common,
        &[Loop::new(REAL, Same, Unary(|x| x)), Loop::new(COMPLEX, Same, ComplexUnary(|x| x))],
    )
    .refusing(
        BOOL,
        "ufunc 'positive' did not contain a loop with signature matching types <class 'numpy.dtype[bool]'> -> None",
    ),
    Ufunc::new(
        "add",
        "Sum of two arrays.",
        (2, 1),
        Common,
        &[
            Loop::new(BOOL, Same, Binary(|a, b| a | b)),
            Loop::new(REAL, Same, Binary(|a, b| a + b)),
            Loop::new(COMPLEX, Same, ComplexBinary(|a, b| Cx { re: a.re + b.re, im: a.im + b.im })),
        ],
    ),
    Ufunc::new(
        "subtract",
        "Difference of two arrays.",
        (2, 1),
        Common,
        &[
            Loop::new(REAL, Same, Binary(|a, b| a - b)),
            Loop::new(COMPLEX, Same, ComplexBinary(|a, b| Cx { re: a.re - b.re, im: a.im - b.im })),
        ],
    )
    .refusing(
        BOOL,
        "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the \
         logical_xor function instead.",
    ),
    Ufunc::new(
        "multiply",
        "Product of two arrays.",
        (2, 1),
        Common,
        &[
            Loop::new(BOOL, Same, Binary(|a, b| a & b)),
            Loop::new(REAL, Same, Binary(|a, b| a * b)),
            Loop::new(COMPLEX, Same, ComplexBinary(Cx::product)),
        ],
    ),
    Ufunc::new(
        "divide",
        "True quotient of two arrays.",
        (2, 1),
        Quotient,
        &[Loop::new(FLOAT, Same, Binary(|a, b| a / b)), Loop::new(COMPLEX, Same, ComplexBinary(Cx::quotient))],
    ),
    Ufunc::new(
        "floor_divide",
        "Quotient rounded towards minus infinity.",
        (2, 1),
        Common,
        &[Loop::new(INTEGER, Same, Binary(Ex::floor_div)), Loop::new(FLOAT, Same, Binary(|a, b| float_divmod(a, b).0))],
    ),
    Ufunc::new(
        "remainder",
        "Remainder with the sign of the divisor.",
        (2, 1),
        Common,
        &[Loop::new(INTEGER, Same, Binary(Ex::floor_mod)), Loop::new(FLOAT, Same, Binary(|a, b| float_divmod(a, b).1))],
    ),
    Ufunc::new(
        "divmod",
        "Quotient and remainder at once.",
        (2, 2),
        Common,
        &[
            Loop::new(INTEGER, Same, Pair(|a, b| (a.floor_div(b), a.floor_mod(b)))),
            Loop::new(FLOAT, Same, Pair(float_divmod)),
        ],
    ),
    Ufunc::new(
        "fmod",
        "Remainder with the sign of the dividend.",
        (2, 1),
        Common,
        &[Loop::new(INTEGER, Same, Binary(integer_fmod)), Loop::new(FLOAT, Same, Binary(Ex::fmod))],
    ),
    Ufunc::new(
        "power",
        "First array to the power of the second.",
        (2, 1),
        Common,
        &[
            Loop::new(INTEGER, Same, Binary(Ex::pow_int)),
            Loop::new(FLOAT, Same, Binary(Ex::pow)),
            Loop::new(COMPLEX, Same, ComplexBinary(Cx::pow)),
        ],
    ),
    Ufunc::new(
        "negative",
        "`-x`.",
        (1, 1),
        Common,
        &[
            Loop::new(REAL, Same, Unary(|x| -x)),
            Loop::new(COMPLEX, Same, ComplexUnary(|x| Cx { re: -x.re, im: -x.im })),
        ],
    )
    .refusing(
        BOOL,
        "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the logical_not \
         function instead.",
    ),
    Ufunc::new(
        "absolute",
        "Absolute value.",
        (1, 1),
        Common,
        &[Loop::new(PLAIN, Same, Unary(Ex::abs)), Loop::new(COMPLEX, Part, Measure(Cx::abs))],
    ),
    Ufunc::new(
        "sign",
        "-1, 0 or 1 by the sign of each element; NaN stays.",
        (1, 1),
        Common,
        &[
            Loop::new(UNSIGNED, Same, Unary(|x| x.truth().select(x.lit(1.0), x.lit(0.0)))),
            Loop::new(SIGNED.and(FLOAT), Same, Unary(sign)),
            Loop::new(COMPLEX, Same, ComplexUnary(complex_sign)),
        ],
    )
    .refusing(
        BOOL,
        "ufunc 'sign' did not contain a loop with signature matching types <class 'numpy.dtype[bool]'> -> None",
    ),
    Ufunc::new(
        "square",
        "`x * x`.",
        (1, 1),
        Common,
        &[Loop::new(REAL, Same, Unary(|x| x * x)), Loop::new(COMPLEX, Same, ComplexUnary(|x| x.product(x)))],
    ),
    Ufunc::new(
        "reciprocal",
        "`1 / x`.",
        (1, 1),
        Common,
        &[
            Loop::new(INTEGER, Same, Unary(integer_reciprocal)),
            Loop::new(FLOAT, Same, Unary(|x| x.lit(1.0) / x)),
            Loop::new(COMPLEX, Same, ComplexUnary(|x| Cx { re: x.re.lit(1.0), im: x.re.lit(0.0) }.quotient(x))),
        ],
    ),
    Ufunc::new(
        "conjugate",
        "Complex conjugate.",
        (1, 1),
        Common,
        &[Loop::new(REAL, Same, Unary(|x| x)), Loop::new(COMPLEX, Same, ComplexUnary(|x| Cx { re: x.re, im: -x.im }))],
    ),
    Ufunc::new(
        "maximum",
        "The larger of two elements; NaN if either is.",
        (2, 1),
        Common,
        &[
            Loop::new(BOOL, Same, Binary(|a, b| a | b)),
            Loop::new(REAL, Same, Binary(Ex::maximum)),
            Loop::new(COMPLEX, Same, ComplexBinary(complex_maximum)),
        ],
    ),
    Ufunc::new(
        "minimum",
        "The smaller of two elements; NaN if either is.",
        (2, 1),
        Common,
        &[
            Loop::new(BOOL, Same, Binary(|a, b| a & b)),
            Loop::new(REAL, Same, Binary(Ex::minimum)),
            Loop::new(COMPLEX, Same, ComplexBinary(complex_minimum)),
        ],
    ),
    Ufunc::new(
        "fmax",
        "The larger of two elements; the other one if one is NaN.",
        (2, 1),
        Common,
        &[
            Loop::new(BOOL, Same, Binary(|a, b| a | b)),
            Loop::new(INTEGER, Same, Binary(Ex::maximum)),
            Loop::new(FLOAT, Same, Binary(|a, b| (b.less_equal(a) | b.is_nan()).select(a, b))),
            Loop::new(COMPLEX, Same, ComplexBinary(|a, b| Cx::choose(b.less_equal(a) | b.is_nan(), a, b))),
        ],
    ),
    Ufunc::new(
        "fmin",
        "The smaller of two elements; the other one if one is NaN.",
        (2, 1),
        Common,
        &[
            Loop::new(BOOL, Same, Binary(|a, b| a & b)),
            Loop::new(INTEGER, Same, Binary(Ex::minimum)),
            Loop::new(FLOAT, Same, Binary(|a, b| (a.less_equal(b) | b.is_nan()).select(a, b))),
            Loop::new(COMPLEX, Same, ComplexBinary(|a, b| Cx::choose(a.less_equal(b) | b.is_nan(), a, b))),
        ],
    ),
    Ufunc::new(
        "clip",
        "Each element kept between two bounds.",
        (3, 1),
        Common,
        &[
            Loop::new(BOOL, Same, Ternary(|x, low, high| (x | low) & high)),
            Loop::new(REAL, Same, Ternary(|x, low, high| x.maximum(low).minimum(high))),
            Loop::new(COMPLEX, Same, ComplexTernary(|x, low, high| complex_minimum(complex_maximum(x, low), high))),
        ],
    ),
    Ufunc::new(
        "where",
        "The second array where the first is true, else the third.",
        (3, 1),
        Common,
        &[
            Loop::new(PLAIN, Same, Choice(|condition, yes, no| condition.select(yes, no))),
            Loop::new(COMPLEX, Same, ComplexChoice(Cx::choose)),
        ],
    ),
    Ufunc::new(
        "floor",
        "Rounds towards minus infinity.",
        (1, 1),
        Common,
        &[Loop::new(BOOL.and(INTEGER), Same, Unary(|x| x)), Loop::new(FLOAT, Same, Unary(Ex::floor))],
    ),
    Ufunc::new(
        "ceil",
        "Rounds towards plus infinity.",
        (1, 1),
        Common,
        &[Loop::new(BOOL.and(INTEGER), Same, Unary(|x| x)), Loop::new(FLOAT, Same, Unary(Ex::ceil))],
    ),
    Ufunc::new(
        "trunc",
        "Rounds towards zero.",
        (1, 1),
        Common,
        &[Loop::new(BOOL.and(INTEGER), Same, Unary(|x| x)), Loop::new(FLOAT, Same, Unary(Ex::trunc))],
    ),
    Ufunc::new(
        "rint",
        "Rounds to the nearest integer, ties to even.",
        (1, 1),
        Inexact,
        &[
            Loop::new(FLOAT, Same, Unary(Ex::rint)),
            Loop::new(COMPLEX, Same, ComplexUnary(|x| Cx { re: x.re.rint(), im: x.im.rint() })),
        ],
    ),
    Ufunc::new(
        "sqrt",
        "Square root.",
        (1, 1),
        Inexact,
        &[Loop::new(FLOAT, Same, Unary(Ex::sqrt)), Loop::new(COMPLEX, Same, ComplexUnary(Cx::sqrt))],
    ),
];

/// Quotient and remainder such that the quotient is the floor of the exact one.
fn float_divmod(a: Ex, b: Ex) -> (Ex, Ex) {
    let zero = a.lit(0.0);
    let raw = a.fmod(b);
    let crosses = raw.not_equal(zero) & (b.less(zero) ^ raw.less(zero));
    let near = (a - raw) / b;
    let near = crosses.select(near - a.lit(1.0), near);
    let floor = near.floor();
    let floor = (a.lit(0.5)).less(near - floor).select(floor + a.lit(1.0), floor);
    let quotient = near.truth().select(floor, (a / b).signed_zero());
    let remainder = raw.truth().select(crosses.select(raw + b, raw), b.signed_zero());
    let by_zero = b.equal(zero);
    (by_zero.select(a / b, quotient), by_zero.select(raw, remainder))
}

fn integer_fmod(a: Ex, b: Ex) -> Ex {
    let floored = a.floor_mod(b);
    if !a.ty().is_signed() {
        return floored;
    }
    let zero = a.lit(0.0);
    let differ = floored.not_equal(zero) & (a.less(zero) ^ b.less(zero));
    differ.select(floored - b, floored)
}

/// The integer part of 1 / x; at 0, what the conversion of an infinity gives.
fn integer_reciprocal(x: Ex) -> Ex {
    (Ex::number(Ty::F64, 1.0) / x.cast(Ty::F64)).cast(x.ty())
}

fn sign(x: Ex) -> Ex {
    let (zero, one) = (x.lit(0.0), x.lit(1.0));
    let nonzero = zero.less(x).select(one, x.less(zero).select(-one, zero));
    if x.ty().is_float() { x.is_nan().select(x, nonzero) } else { nonzero }
}

/// `x / |x|`, 0 at 0, and the direction of the part that is infinite if one is.
fn complex_sign(x: Cx) -> Cx {
    let size = x.abs();
    let (zero, one) = (size.lit(0.0), size.lit(1.0));
    let direction = |part: Ex| zero.less(part).select(one, -one);
    let infinite = |part: Ex| part.abs().equal(size.lit(f64::INFINITY));
    let (re, im) = (infinite(x.re), infinite(x.im));
    let unit = Cx { re: x.re / size, im: x.im / size };
    let unit = Cx::choose(re & !im, Cx { re: direction(x.re), im: zero }, unit);
    let unit = Cx::choose(im & !re, Cx { re: zero, im: direction(x.im) }, unit);
    Cx::choose(size.equal(zero), Cx { re: zero, im: zero }, unit)
}

fn complex_maximum(a: Cx, b: Cx) -> Cx {
    Cx::choose(a.is_nan() | (!b.is_nan() & b.less_equal(a)), a, b)
}

fn complex_minimum(a: Cx, b: Cx) -> Cx {
    Cx::choose(a.is_nan() | (!b.is_nan() & a.less_equal(b)), a, b)
}

//! asinh, acosh, atanh: logarithms of two words.

use crate::coefficients::{Constants, F32, F64};
use crate::log::log1p_words;
use crate::number::Real;
use crate::words::{Words, exact_product, exact_sum, fast_sum, flip_sign, real, sign_bit};

/// From here on, a square's root is its base but for less than a rounding of the logarithm.
const LARGE: f64 = (1u64 << 30) as f64;

/// Inverse hyperbolic sine, float32.
#[inline(always)]
pub fn asinh32<R: Real>(x: R) -> R {
    asinh(x, &F32)
}

/// Inverse hyperbolic sine, float64.
#[inline(always)]
pub fn asinh64<R: Real>(x: R) -> R {
    asinh(x, &F64)
}

/// Inverse hyperbolic cosine, float32.
#[inline(always)]
pub fn acosh32<R: Real>(x: R) -> R {
    acosh(x, &F32)
}

/// Inverse hyperbolic cosine, float64.
#[inline(always)]
pub fn acosh64<R: Real>(x: R) -> R {
    acosh(x, &F64)
}

/// Inverse hyperbolic tangent, float32.
#[inline(always)]
pub fn atanh32<R: Real>(x: R) -> R {
    atanh(x, &F32)
}

/// Inverse hyperbolic tangent, float64.
#[inline(always)]
pub fn atanh64<R: Real>(x: R) -> R {
    atanh(x, &F64)
}

/// `log1p(x + x^2 / (1 + sqrt(1 + x^2)))` for a positive `x`.
#[inline(always)]
fn asinh<R: Real>(x: R, c: &Constants) -> R {
    let size = x.abs();
    let square = exact_product(size, size);
    let under = exact_sum(real(1.0), square.high);
    let root = Words { high: under.high, low: under.low + square.low }.root();
    let more = fast_sum(root.high, real(1.0));
    let part = square.over(Words { high: more.high, low: more.low + root.low });
    let sum = fast_sum(size, part.high);
    let value = log_of(size, Words { high: sum.high, low: sum.low + part.low }, c);
    R::select(size.lt(real(c.tiny)), x, flip_sign(value, sign_bit(x, c)))
}

/// `log1p(x - 1 + sqrt(x^2 - 1))`.
#[inline(always)]
fn acosh<R: Real>(x: R, c: &Constants) -> R {
    let square = exact_product(x, x);
    let less = fast_sum(square.high, real(-1.0));
    let root = Words { high: less.high, low: less.low + square.low }.apart().root();
    let base = fast_sum(x, real(-1.0));
    let sum = exact_sum(base.high, root.high);
    let value = log_of(x, Words { high: sum.high, low: sum.low + (base.low + root.low) }, c);
    R::select(x.lt(real(1.0)), real(f64::NAN), value)
}

/// `log1p(2x / (1 - x)) / 2` for a positive `x`.
#[inline(always)]
fn atanh<R: Real>(x: R, c: &Constants) -> R {
    let (size, one) = (x.abs(), real::<R>(1.0));
    let ratio = Words { high: size + size, low: real(0.0) }.over(exact_sum(one, -size));
    let value = log1p_words(ratio, real(0.0), c) * real(0.5);
    let value = R::select(size.eq(one), real(f64::INFINITY), value);
    R::select(size.lt(real(c.tiny)), x, flip_sign(value, sign_bit(x, c)))
}

/// `log1p(sum)`; for a large `x`, of which `sum` is twice, `log(x) + ln 2`.
#[inline(always)]
fn log_of<R: Real>(x: R, sum: Words<R>, c: &Constants) -> R {
    let large = real::<R>(LARGE).lt(x);
    let base = fast_sum(x, real(-1.0));
    let pick = |yes, no| R::select(large, yes, no);
    let words = Words { high: pick(base.high, sum.high), low: pick(base.low, sum.low) };
    log1p_words(words, pick(real(1.0), real(0.0)), c)
}

//! sinh, cosh, tanh.

use crate::coefficients::{Constants, F32, F64};
use crate::exp::{exp_words, quarter_expm1};
use crate::number::{Integer, Real};
use crate::words::{Words, clamp, exact_sum, fast_sum, flip_sign, power_of_two, real, sign_bit};

/// Hyperbolic sine, float32.
#[inline(always)]
pub fn sinh32<R: Real>(x: R) -> R {
    sinh(x, &F32)
}

/// Hyperbolic sine, float64.
#[inline(always)]
pub fn sinh64<R: Real>(x: R) -> R {
    sinh(x, &F64)
}

/// Hyperbolic cosine, float32.
#[inline(always)]
pub fn cosh32<R: Real>(x: R) -> R {
    cosh(x, &F32)
}

/// Hyperbolic cosine, float64.
#[inline(always)]
pub fn cosh64<R: Real>(x: R) -> R {
    cosh(x, &F64)
}

/// Hyperbolic tangent, float32.
#[inline(always)]
pub fn tanh32<R: Real>(x: R) -> R {
    tanh(x, &F32)
}

/// Hyperbolic tangent, float64.
#[inline(always)]
pub fn tanh64<R: Real>(x: R) -> R {
    tanh(x, &F64)
}

/// With `e = exp(|x|) - 1`: `(e + e / (e + 1)) / 2`, held at a quarter of its size.
#[inline(always)]
fn sinh<R: Real>(x: R, c: &Constants) -> R {
    let quarter = quarter_expm1(clamp(x.abs(), 0.0, c.exp_high), c);
    let ratio = quarter.over(plus(quarter, 0.25));
    let sum = fast_sum(quarter.high, ratio.high * real(0.25));
    let low = sum.low + ratio.low.fma(real(0.25), quarter.low);
    odd(x, (sum.high + low) * real(2.0), c)
}

#[inline(always)]
fn cosh<R: Real>(x: R, c: &Constants) -> R {
    let size = clamp(x.abs(), 0.0, c.exp_high);
    let (k, exp) = exp_words(Words { high: size, low: real(0.0) }, c);
    let unit: R = power_of_two(k - R::Int::literal(2), c);
    let quarter = fast_sum(exp.high * unit, exp.low * unit);
    let sum = fast_sum(quarter.high, real::<R>(0.0625) / quarter.high);
    (sum.high + (sum.low + quarter.low)) * real(2.0)
}

/// With `e = exp(2|x|) - 1`: `e / (e + 2)`.
#[inline(always)]
fn tanh<R: Real>(x: R, c: &Constants) -> R {
    let size = clamp(x.abs(), 0.0, c.tanh_high);
    let quarter = quarter_expm1(size + size, c);
    odd(x, quarter.over(plus(quarter, 0.5)).sum(), c)
}

#[inline(always)]
fn plus<R: Real>(x: Words<R>, term: f64) -> Words<R> {
    let sum = exact_sum(x.high, real(term));
    Words { high: sum.high, low: sum.low + x.low }
}

/// The value for `|x|` with the sign of `x`; next to zero, `x` itself.
#[inline(always)]
fn odd<R: Real>(x: R, value: R, c: &Constants) -> R {
    R::select(x.abs().lt(real(c.tiny)), x, flip_sign(value, sign_bit(x, c)))
}

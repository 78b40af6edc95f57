//! pow, with the special values of C99.

use crate::coefficients::{Constants, F32, F64};
use crate::exp::exp_words;
use crate::log::{log_words, split};
use crate::number::Real;
use crate::words::{Words, clamp, exact_product, fast_sum, flip_sign, real, scale, sign_bit};

/// `x` to the power of `y`, float32.
#[inline(always)]
pub fn pow32<R: Real>(x: R, y: R) -> R {
    pow(x, y, &F32)
}

/// `x` to the power of `y`, float64.
#[inline(always)]
pub fn pow64<R: Real>(x: R, y: R) -> R {
    pow(x, y, &F64)
}

#[inline(always)]
fn pow<R: Real>(x: R, y: R, c: &Constants) -> R {
    let (zero, one, infinity) = (real::<R>(0.0), real::<R>(1.0), real::<R>(f64::INFINITY));
    let size = x.abs();
    let grows = (one.lt(size) & zero.lt(y)) | (size.lt(one) & y.lt(zero));
    let extreme = R::select(size.eq(one), one, R::select(grows, infinity, zero));
    let at_extreme = size.eq(zero) | size.eq(infinity) | y.abs().eq(infinity);
    let value = R::select(at_extreme, extreme, positive_pow(size, y, c));
    let value = signed(x, y, value, c);
    let value = R::select(is_nan(x) | is_nan(y), real(f64::NAN), value);
    R::select(y.eq(zero) | x.eq(one), one, value)
}

/// `exp(y log x)` for positive finite `x`; the logarithm keeps the bits that a large `y` brings up.
#[inline(always)]
fn positive_pow<R: Real>(x: R, y: R, c: &Constants) -> R {
    let (k, f) = split(x, c);
    let log = log_words(f, c);
    let sum = fast_sum(k * real(c.ln2[0]), log.high);
    let log = fast_sum(sum.high, sum.low + k.fma(real(c.ln2[1]), log.low));
    let product = exact_product(log.high, y);
    let high = clamp(product.high, c.exp_low, c.exp_high);
    // Beyond the range the low word may be a NaN, and no longer matters.
    let low = R::select(high.eq(product.high), y.fma(log.low, product.low), real(0.0));
    let (k, exp) = exp_words(Words { high, low }, c);
    scale(exp.sum(), k, c)
}

/// Negative bases: odd powers are negative, those that are no integer are NaN.
#[inline(always)]
fn signed<R: Real>(x: R, y: R, value: R, c: &Constants) -> R {
    let half = y * real(0.5);
    let whole = y.rint().eq(y);
    let odd = whole & half.rint().ne(half);
    let flipped = R::select(odd, flip_sign(value, sign_bit(x, c)), value);
    let undefined = x.lt(real(0.0)) & real::<R>(f64::NEG_INFINITY).lt(x) & !whole;
    R::select(undefined, real(f64::NAN), flipped)
}

#[inline(always)]
fn is_nan<R: Real>(x: R) -> R::Mask {
    x.ne(x)
}

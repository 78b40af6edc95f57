//! log, log2, log10, log1p.

use crate::coefficients::{Constants, F32, F64};
use crate::number::{Integer, Real};
use crate::words::{Words, exact_product, exact_sum, fast_sum, polynomial, real, small};

/// Natural logarithm, float32.
#[inline(always)]
pub fn log32<R: Real>(x: R) -> R {
    log(x, &F32)
}

/// Natural logarithm, float64.
#[inline(always)]
pub fn log64<R: Real>(x: R) -> R {
    log(x, &F64)
}

/// Logarithm to base 2, float32; exact for powers of two.
#[inline(always)]
pub fn log2_32<R: Real>(x: R) -> R {
    log2(x, &F32)
}

/// Logarithm to base 2, float64; exact for powers of two.
#[inline(always)]
pub fn log2_64<R: Real>(x: R) -> R {
    log2(x, &F64)
}

/// Logarithm to base 10, float32.
#[inline(always)]
pub fn log10_32<R: Real>(x: R) -> R {
    log10(x, &F32)
}

/// Logarithm to base 10, float64.
#[inline(always)]
pub fn log10_64<R: Real>(x: R) -> R {
    log10(x, &F64)
}

/// `log(1 + x)` without cancellation, float32.
#[inline(always)]
pub fn log1p_32<R: Real>(x: R) -> R {
    log1p(x, &F32)
}

/// `log(1 + x)` without cancellation, float64.
#[inline(always)]
pub fn log1p_64<R: Real>(x: R) -> R {
    log1p(x, &F64)
}

#[inline(always)]
fn log<R: Real>(x: R, c: &Constants) -> R {
    let (k, f) = split(x, c);
    let sum = fast_sum(k * real(c.ln2[0]), f);
    special(x, sum.high + (sum.low + k.fma(real(c.ln2[1]), tail(f, c))))
}

#[inline(always)]
fn log1p<R: Real>(x: R, c: &Constants) -> R {
    R::select(x.eq(real(0.0)), x, log1p_words(Words { high: x, low: real(0.0) }, real(0.0), c))
}

/// `log(1 + x) + twice ln 2`.
#[inline(always)]
pub(crate) fn log1p_words<R: Real>(x: Words<R>, twice: R, c: &Constants) -> R {
    let one = exact_sum(real(1.0), x.high);
    let (k, f) = split(one.high, c);
    let near = k.eq(real(0.0));
    let f = R::select(near, x.high, f);
    let rest = (R::select(near, real(0.0), one.low) + x.low) / one.high;
    let k = k + twice;
    let sum = fast_sum(k * real(c.ln2[0]), f);
    special(one.high, sum.high + (sum.low + (k.fma(real(c.ln2[1]), tail(f, c)) + rest)))
}

#[inline(always)]
fn log2<R: Real>(x: R, c: &Constants) -> R {
    let (k, f) = split(x, c);
    let scaled = scaled_log(f, c.log2_e, c);
    let sum = fast_sum(k, scaled.high);
    special(x, sum.high + (sum.low + scaled.low))
}

#[inline(always)]
fn log10<R: Real>(x: R, c: &Constants) -> R {
    let (k, f) = split(x, c);
    let scaled = scaled_log(f, c.log10_e, c);
    let sum = fast_sum(k * real(c.log10_2[0]), scaled.high);
    special(x, sum.high + (sum.low + k.fma(real(c.log10_2[1]), scaled.low)))
}

/// `log(1 + f)` times a constant of two words.
#[inline(always)]
fn scaled_log<R: Real>(f: R, factor: [f64; 2], c: &Constants) -> Words<R> {
    let log = fast_sum(f, tail(f, c));
    log.times(Words { high: real(factor[0]), low: real(factor[1]) })
}

/// `x = 2^k (1 + f)` with `1 + f` between the square roots of 1/2 and 2, for a positive finite `x`.
#[inline(always)]
pub(crate) fn split<R: Real>(x: R, c: &Constants) -> (R, R) {
    let lift = c.mantissa + 2;
    let subnormal = x.lt(real(c.normal));
    let bits = R::select(subnormal, x * real((1u64 << lift) as f64), x).to_bits();
    let k = (bits - real::<R>(std::f64::consts::FRAC_1_SQRT_2).to_bits()).shr(c.mantissa);
    let f = R::from_bits(bits - k.shl(c.mantissa)) - real(1.0);
    let k = k - R::Int::select(subnormal, R::Int::literal(lift.into()), R::Int::literal(0));
    (small(k, c), f)
}

/// `log(1 + f) - f`.
#[inline(always)]
fn tail<R: Real>(f: R, c: &Constants) -> R {
    let square = f * f;
    let half = square * real(0.5);
    // The polynomial in f would take twenty steps in float64; the division is cheaper there.
    if c.log.is_empty() {
        let s = f / (f + real(2.0));
        let z = s * s;
        let cube = z * polynomial(z, c.atanh).fma(z, real(c.two_thirds[0]));
        s * (half + cube) - half
    } else {
        (square * f).fma(polynomial(f, c.log), -half)
    }
}

/// `log(1 + f)` in two words, to about ten bits more than one word and a half.
#[inline(always)]
pub(crate) fn log_words<R: Real>(f: R, c: &Constants) -> Words<R> {
    let s = Words { high: f, low: real(0.0) }.over(fast_sum(real(2.0), f));
    let s = fast_sum(s.high, s.low);
    let square = exact_product(s.high, s.high);
    let z = Words { high: square.high, low: (s.high + s.high).fma(s.low, square.low) };
    let tail = z.high * polynomial(z.high, c.atanh);
    let factor = fast_sum(real(c.two_thirds[0]), tail + real(c.two_thirds[1]));
    let cube = s.times(z).times(factor);
    let sum = fast_sum(s.high + s.high, cube.high);
    fast_sum(sum.high, sum.low + (cube.low + (s.low + s.low)))
}

/// Puts in what the formula does not give: zero, negative, infinite and NaN arguments.
#[inline(always)]
fn special<R: Real>(x: R, value: R) -> R {
    let zero = real::<R>(0.0);
    let outside = R::select(x.lt(zero), real(f64::NAN), x);
    let outside = R::select(x.eq(zero), real(f64::NEG_INFINITY), outside);
    R::select(zero.lt(x) & x.lt(real(f64::INFINITY)), value, outside)
}

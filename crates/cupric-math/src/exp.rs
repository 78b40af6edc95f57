//! exp, exp2, expm1.

use crate::coefficients::{Constants, F32, F64};
use crate::number::{Integer, Real};
use crate::words::{Words, clamp, exact_sum, fast_sum, polynomial, power_of_two, real, round_product, scale};

/// e to the power of `x`, float32.
#[inline(always)]
pub fn exp32<R: Real>(x: R) -> R {
    exp(x, &F32)
}

/// e to the power of `x`, float64.
#[inline(always)]
pub fn exp64<R: Real>(x: R) -> R {
    exp(x, &F64)
}

/// 2 to the power of `x`, float32.
#[inline(always)]
pub fn exp2_32<R: Real>(x: R) -> R {
    exp2(x, &F32)
}

/// 2 to the power of `x`, float64.
#[inline(always)]
pub fn exp2_64<R: Real>(x: R) -> R {
    exp2(x, &F64)
}

/// `exp(x) - 1` without cancellation, float32.
#[inline(always)]
pub fn expm1_32<R: Real>(x: R) -> R {
    expm1(x, &F32)
}

/// `exp(x) - 1` without cancellation, float64.
#[inline(always)]
pub fn expm1_64<R: Real>(x: R) -> R {
    expm1(x, &F64)
}

#[inline(always)]
fn exp<R: Real>(x: R, c: &Constants) -> R {
    let x = clamp(x, c.exp_low, c.exp_high);
    let (k, k_int) = round_product(x, c.log2_e[0], c);
    let r = (-k).fma(real(c.ln2[1]), (-k).fma(real(c.ln2[0]), x));
    scale((r * r).fma(polynomial(r, c.exp), r) + real(1.0), k_int, c)
}

#[inline(always)]
fn exp2<R: Real>(x: R, c: &Constants) -> R {
    let x = clamp(x, -2.0 * c.bias as f64, 2.0 * c.bias as f64);
    let (k, k_int) = round_product(x, 1.0, c);
    let r = x - k;
    scale(r.fma(polynomial(r, c.exp2), real(1.0)), k_int, c)
}

#[inline(always)]
fn expm1<R: Real>(x: R, c: &Constants) -> R {
    let quarter = quarter_expm1(clamp(x, c.expm1_low, c.exp_high), c);
    R::select(x.abs().lt(real(c.tiny)), x, quarter.sum() * real(4.0))
}

/// `x = k ln 2 + r`: `k`, and `r` in two words.
#[inline(always)]
fn reduce<R: Real>(x: Words<R>, c: &Constants) -> (R::Int, Words<R>) {
    let (k, k_int) = round_product(x.high, c.log2_e[0], c);
    let r = (-k).fma(real(c.ln2[0]), x.high);
    (k_int, fast_sum(r, (-k).fma(real(c.ln2[1]), x.low)))
}

/// `exp(x) = 2^k (high + low)`: `k` and the two words; `x` within the range of exp.
#[inline(always)]
pub(crate) fn exp_words<R: Real>(x: Words<R>, c: &Constants) -> (R::Int, Words<R>) {
    let (k, r) = reduce(x, c);
    let one = fast_sum(real(1.0), r.high);
    let tail = (r.high * r.high).fma(polynomial(r.high, c.exp), r.low);
    (k, Words { high: one.high, low: one.low + tail })
}

/// `(exp(x) - 1) / 4` in two words, for `x` from `expm1_low` to `exp_high`.
#[inline(always)]
pub(crate) fn quarter_expm1<R: Real>(x: R, c: &Constants) -> Words<R> {
    let (k, r) = reduce(Words { high: x, low: real(0.0) }, c);
    let tail = (r.high * r.high).fma(polynomial(r.high, c.exp), r.low);
    let size: R = power_of_two(k - R::Int::literal(2), c);
    let less = exact_sum(size, real(-0.25));
    let sum = exact_sum(less.high, size * r.high);
    fast_sum(sum.high, size.fma(tail, sum.low + less.low))
}

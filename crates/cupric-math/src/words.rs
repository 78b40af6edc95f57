//! Numbers in two words (an unevaluated sum) and polynomials: the arithmetic under the formulas.

use crate::coefficients::Constants;
use crate::number::{Integer, Real};

/// An unevaluated sum, the second word far below the first.
#[derive(Clone, Copy)]
pub(crate) struct Words<R> {
    pub high: R,
    pub low: R,
}

#[inline(always)]
pub(crate) fn real<R: Real>(value: f64) -> R {
    R::literal(value)
}

/// The exact sum, for `|a| >= |b|` or `a == 0`.
#[inline(always)]
pub(crate) fn fast_sum<R: Real>(a: R, b: R) -> Words<R> {
    let high = a + b;
    Words { high, low: b - (high - a) }
}

/// The exact sum.
#[inline(always)]
pub(crate) fn exact_sum<R: Real>(a: R, b: R) -> Words<R> {
    let high = a + b;
    let part = high - a;
    Words { high, low: (a - (high - part)) + (b - part) }
}

/// The exact product.
#[inline(always)]
pub(crate) fn exact_product<R: Real>(a: R, b: R) -> Words<R> {
    let high = a * b;
    Words { high, low: a.fma(b, -high) }
}

impl<R: Real> Words<R> {
    /// The product, to nearly two words.
    #[inline(always)]
    pub fn times(self, other: Self) -> Self {
        let product = exact_product(self.high, other.high);
        let cross = self.high.fma(other.low, self.low * other.high);
        fast_sum(product.high, product.low + cross)
    }

    /// The quotient; its words may overlap.
    #[inline(always)]
    pub fn over(self, other: Self) -> Self {
        let inverse = real::<R>(1.0) / other.high;
        let high = self.high * inverse;
        let rest = (-high).fma(other.high, self.high) + (-high).fma(other.low, self.low);
        Words { high, low: rest * inverse }
    }

    /// The square root, to nearly two words.
    #[inline(always)]
    pub fn root(self) -> Self {
        let high = self.high.sqrt();
        let rest = ((-high).fma(high, self.high) + self.low) / (high + high);
        Words { high, low: R::select(high.eq(real(0.0)), high, rest) }
    }

    /// With the words apart again, for a high word not below the low one.
    #[inline(always)]
    pub fn apart(self) -> Self {
        fast_sum(self.high, self.low)
    }

    /// Rounded to one word.
    #[inline(always)]
    pub fn sum(self) -> R {
        self.high + self.low
    }
}

/// The polynomial, lowest power first, with a fused step per coefficient.
#[inline(always)]
pub(crate) fn polynomial<R: Real>(x: R, coefficients: &[f64]) -> R {
    let (last, rest) = coefficients.split_last().expect("a polynomial has a coefficient");
    rest.iter().rev().fold(real(*last), |sum, &c| sum.fma(x, real(c)))
}

/// The polynomial without fused steps.
#[inline(always)]
pub(crate) fn plain_polynomial<R: Real>(x: R, coefficients: &[f64]) -> R {
    let (last, rest) = coefficients.split_last().expect("a polynomial has a coefficient");
    rest.iter().rev().fold(real(*last), |sum, &c| sum * x + real(c))
}

/// `x` to the nearest integer, as a number and as an integer; small numbers only.
#[inline(always)]
pub(crate) fn round_product<R: Real>(x: R, factor: f64, c: &Constants) -> (R, R::Int) {
    let shifted = x.fma(real(factor), real(c.magic));
    (shifted - real(c.magic), shifted.to_bits() - real::<R>(c.magic).to_bits())
}

/// A small integer as a number.
#[inline(always)]
pub(crate) fn small<R: Real>(int: R::Int, c: &Constants) -> R {
    R::from_bits(int + real::<R>(c.magic).to_bits()) - real(c.magic)
}

/// `2^k` for a normal result.
#[inline(always)]
pub(crate) fn power_of_two<R: Real>(k: R::Int, c: &Constants) -> R {
    R::from_bits((k + R::Int::literal(c.bias)).shl(c.mantissa))
}

/// `x * 2^k`, for results down to the subnormal and up to the infinite.
#[inline(always)]
pub(crate) fn scale<R: Real>(x: R, k: R::Int, c: &Constants) -> R {
    let half = k.shr(1);
    x * power_of_two(half, c) * power_of_two(k - half, c)
}

/// `x` held between two bounds; a NaN stays.
#[inline(always)]
pub(crate) fn clamp<R: Real>(x: R, low: f64, high: f64) -> R {
    let x = R::select(x.lt(real(low)), real(low), x);
    R::select(real::<R>(high).lt(x), real(high), x)
}

/// All bits but the sign clear.
#[inline(always)]
pub(crate) fn sign_bit<R: Real>(x: R, c: &Constants) -> R::Int {
    x.to_bits() & R::Int::literal(i64::MIN >> (64 - c.bits))
}

/// `x`, negated where the sign bit is set.
#[inline(always)]
pub(crate) fn flip_sign<R: Real>(x: R, sign: R::Int) -> R {
    R::from_bits(x.to_bits() ^ sign)
}

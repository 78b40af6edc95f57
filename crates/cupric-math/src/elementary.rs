//! The functions as methods, for formulas over whole functions: a symbolic type answers with a call.

use crate::number::Real;
use crate::{exp, hyperbolic, log, plane, pow, trig};

/// A real number with elementary functions, each right for every argument.
pub trait Elementary: Real {
    /// The width: 32 or 64.
    fn bits(self) -> u32;
    /// e to this power.
    fn exp(self) -> Self;
    /// `exp(self) - 1` without cancellation.
    fn expm1(self) -> Self;
    /// Natural logarithm.
    fn log(self) -> Self;
    /// `log(1 + self)` without cancellation.
    fn log1p(self) -> Self;
    /// Sine.
    fn sin(self) -> Self;
    /// Cosine.
    fn cos(self) -> Self;
    /// Tangent.
    fn tan(self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// This to a power.
    fn pow(self, power: Self) -> Self;
    /// The angle of the point `(x, self)`.
    fn atan2(self, x: Self) -> Self;
    /// The length of the vector `(self, other)`.
    fn hypot(self, other: Self) -> Self;
}

impl Elementary for f32 {
    #[inline(always)]
    fn bits(self) -> u32 {
        32
    }
    #[inline(always)]
    fn exp(self) -> Self {
        exp::exp32(self)
    }
    #[inline(always)]
    fn expm1(self) -> Self {
        exp::expm1_32(self)
    }
    #[inline(always)]
    fn log(self) -> Self {
        log::log32(self)
    }
    #[inline(always)]
    fn log1p(self) -> Self {
        log::log1p_32(self)
    }
    #[inline(always)]
    fn sin(self) -> Self {
        if trig::trig32_is_rare(self) { rare(self, trig::sin32_rare) } else { trig::sin32(self) }
    }
    #[inline(always)]
    fn cos(self) -> Self {
        if trig::trig32_is_rare(self) { rare(self, trig::cos32_rare) } else { trig::cos32(self) }
    }
    #[inline(always)]
    fn tan(self) -> Self {
        if trig::trig32_is_rare(self) { rare(self, trig::tan32_rare) } else { trig::tan32(self) }
    }
    #[inline(always)]
    fn sinh(self) -> Self {
        hyperbolic::sinh32(self)
    }
    #[inline(always)]
    fn cosh(self) -> Self {
        hyperbolic::cosh32(self)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        hyperbolic::tanh32(self)
    }
    #[inline(always)]
    fn pow(self, power: Self) -> Self {
        pow::pow32(self, power)
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        plane::atan2_32(self, x)
    }
    #[inline(always)]
    fn hypot(self, other: Self) -> Self {
        plane::hypot32(self, other)
    }
}

impl Elementary for f64 {
    #[inline(always)]
    fn bits(self) -> u32 {
        64
    }
    #[inline(always)]
    fn exp(self) -> Self {
        exp::exp64(self)
    }
    #[inline(always)]
    fn expm1(self) -> Self {
        exp::expm1_64(self)
    }
    #[inline(always)]
    fn log(self) -> Self {
        log::log64(self)
    }
    #[inline(always)]
    fn log1p(self) -> Self {
        log::log1p_64(self)
    }
    #[inline(always)]
    fn sin(self) -> Self {
        if trig::trig64_is_rare(self) { rare(self, trig::sin64_rare) } else { trig::sin64(self) }
    }
    #[inline(always)]
    fn cos(self) -> Self {
        if trig::trig64_is_rare(self) { rare(self, trig::cos64_rare) } else { trig::cos64(self) }
    }
    #[inline(always)]
    fn tan(self) -> Self {
        if trig::trig64_is_rare(self) { rare(self, trig::tan64_rare) } else { trig::tan64(self) }
    }
    #[inline(always)]
    fn sinh(self) -> Self {
        hyperbolic::sinh64(self)
    }
    #[inline(always)]
    fn cosh(self) -> Self {
        hyperbolic::cosh64(self)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        hyperbolic::tanh64(self)
    }
    #[inline(always)]
    fn pow(self, power: Self) -> Self {
        pow::pow64(self, power)
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        plane::atan2_64(self, x)
    }
    #[inline(always)]
    fn hypot(self, other: Self) -> Self {
        plane::hypot64(self, other)
    }
}

/// Keeps the long form out of the caller's code.
#[cold]
#[inline(never)]
fn rare<R: Real>(x: R, form: impl Fn(R) -> R) -> R {
    form(x)
}

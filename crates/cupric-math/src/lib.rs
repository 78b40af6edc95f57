//! Elementary functions and random bit streams, written once over abstract numbers: native on the CPU, spelled as text for a GPU.
//!
//! A formula is generic over [`Real`]: with `f32` or `f64` it is branch-free code that vectorises in a loop, with a symbolic type it
//! prints itself. Only operations that IEEE 754 rounds exactly are used, so both give the same bits; `fma` only where written.
//! The float32 formulas use no float64. A function named for a width is for numbers of that width alone.
//!
//! | function | float32 | float64 | rare form |
//! |---|---|---|---|
//! | exp | [`exp::exp32`] | [`exp::exp64`] | |
//! | exp2 | [`exp::exp2_32`] | [`exp::exp2_64`] | |
//! | expm1 | [`exp::expm1_32`] | [`exp::expm1_64`] | |
//! | log | [`log::log32`] | [`log::log64`] | |
//! | log2 | [`log::log2_32`] | [`log::log2_64`] | |
//! | log10 | [`log::log10_32`] | [`log::log10_64`] | |
//! | log1p | [`log::log1p_32`] | [`log::log1p_64`] | |
//! | sin | [`trig::sin32`] | [`trig::sin64`] | [`trig::sin32_rare`], [`trig::sin64_rare`] |
//! | cos | [`trig::cos32`] | [`trig::cos64`] | [`trig::cos32_rare`], [`trig::cos64_rare`] |
//! | tan | [`trig::tan32`] | [`trig::tan64`] | [`trig::tan32_rare`], [`trig::tan64_rare`] |
//! | sinh | [`hyperbolic::sinh32`] | [`hyperbolic::sinh64`] | |
//! | cosh | [`hyperbolic::cosh32`] | [`hyperbolic::cosh64`] | |
//! | tanh | [`hyperbolic::tanh32`] | [`hyperbolic::tanh64`] | |
//! | asinh | [`area::asinh32`] | [`area::asinh64`] | |
//! | acosh | [`area::acosh32`] | [`area::acosh64`] | |
//! | atanh | [`area::atanh32`] | [`area::atanh64`] | |
//! | asin | [`plane::asin32`] | [`plane::asin64`] | |
//! | acos | [`plane::acos32`] | [`plane::acos64`] | |
//! | atan | [`plane::atan32`] | [`plane::atan64`] | |
//! | atan2 | [`plane::atan2_32`] | [`plane::atan2_64`] | |
//! | hypot | [`plane::hypot32`] | [`plane::hypot64`] | |
//! | cbrt | [`root::cbrt32`] | [`root::cbrt64`] | |
//! | pow | [`pow::pow32`] | [`pow::pow64`] | |
//!
//! [`functions::FUNCTIONS`] lists them for programs.
//!
//! ```
//! assert_eq!(cupric_math::exp::exp64(0.0), 1.0);
//! assert_eq!(cupric_math::pow::pow32(-2.0_f32, 3.0), -8.0);
//! ```
#![forbid(unsafe_code)]

pub mod area;
mod coefficients;
pub mod complex;
pub mod elementary;
pub mod exp;
pub mod functions;
pub mod hyperbolic;
pub mod log;
mod native;
pub mod number;
pub mod plane;
pub mod pow;
pub mod random;
pub mod root;
pub mod seed;
pub mod trig;
mod words;

pub use complex::Complex;
pub use elementary::Elementary;
pub use number::{Integer, Mask, Real, Word64};

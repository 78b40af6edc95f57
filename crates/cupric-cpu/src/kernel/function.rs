//! The loop of every named function.

use crate::level::{Run, binary, rare, unary};
use cupric_ir::Function;
use cupric_math::{area, exp, hyperbolic, log, plane, pow, root, trig};

/// The loop of a function.
pub(crate) fn function(function: Function) -> Run {
    match function {
        Function::Exp32 => unary(exp::exp32::<f32>),
        Function::Exp64 => unary(exp::exp64::<f64>),
        Function::Expm132 => unary(exp::expm1_32::<f32>),
        Function::Expm164 => unary(exp::expm1_64::<f64>),
        Function::Exp232 => unary(exp::exp2_32::<f32>),
        Function::Exp264 => unary(exp::exp2_64::<f64>),
        Function::Log32 => unary(log::log32::<f32>),
        Function::Log64 => unary(log::log64::<f64>),
        Function::Log1p32 => unary(log::log1p_32::<f32>),
        Function::Log1p64 => unary(log::log1p_64::<f64>),
        Function::Log232 => unary(log::log2_32::<f32>),
        Function::Log264 => unary(log::log2_64::<f64>),
        Function::Log1032 => unary(log::log10_32::<f32>),
        Function::Log1064 => unary(log::log10_64::<f64>),
        Function::Sin32 => rare(trig::sin32::<f32>, trig::trig32_is_rare::<f32>, trig::sin32_rare::<f32>),
        Function::Sin64 => rare(trig::sin64::<f64>, trig::trig64_is_rare::<f64>, trig::sin64_rare::<f64>),
        Function::Cos32 => rare(trig::cos32::<f32>, trig::trig32_is_rare::<f32>, trig::cos32_rare::<f32>),
        Function::Cos64 => rare(trig::cos64::<f64>, trig::trig64_is_rare::<f64>, trig::cos64_rare::<f64>),
        Function::Tan32 => rare(trig::tan32::<f32>, trig::trig32_is_rare::<f32>, trig::tan32_rare::<f32>),
        Function::Tan64 => rare(trig::tan64::<f64>, trig::trig64_is_rare::<f64>, trig::tan64_rare::<f64>),
        Function::Sinh32 => unary(hyperbolic::sinh32::<f32>),
        Function::Sinh64 => unary(hyperbolic::sinh64::<f64>),
        Function::Cosh32 => unary(hyperbolic::cosh32::<f32>),
        Function::Cosh64 => unary(hyperbolic::cosh64::<f64>),
        Function::Tanh32 => unary(hyperbolic::tanh32::<f32>),
        Function::Tanh64 => unary(hyperbolic::tanh64::<f64>),
        Function::Asinh32 => unary(area::asinh32::<f32>),
        Function::Asinh64 => unary(area::asinh64::<f64>),
        Function::Acosh32 => unary(area::acosh32::<f32>),
        Function::Acosh64 => unary(area::acosh64::<f64>),
        Function::Atanh32 => unary(area::atanh32::<f32>),
        Function::Atanh64 => unary(area::atanh64::<f64>),
        Function::Cbrt32 => unary(root::cbrt32::<f32>),
        Function::Cbrt64 => unary(root::cbrt64::<f64>),
        Function::Asin32 => unary(plane::asin32::<f32>),
        Function::Asin64 => unary(plane::asin64::<f64>),
        Function::Acos32 => unary(plane::acos32::<f32>),
        Function::Acos64 => unary(plane::acos64::<f64>),
        Function::Atan32 => unary(plane::atan32::<f32>),
        Function::Atan64 => unary(plane::atan64::<f64>),
        Function::Atan232 => binary(plane::atan2_32::<f32>),
        Function::Atan264 => binary(plane::atan2_64::<f64>),
        Function::Hypot32 => binary(plane::hypot32::<f32>),
        Function::Hypot64 => binary(plane::hypot64::<f64>),
        Function::Pow32 => binary(pow::pow32::<f32>),
        Function::Pow64 => binary(pow::pow64::<f64>),
    }
}

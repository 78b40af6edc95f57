//! Arithmetic, rounding, bits.

use super::{by_integer, by_width, unsupported};
use crate::{
    level::{Run, binary, ternary, unary},
    number::Whole,
};
use cupric_core::Result;
use cupric_ir::{Prim, Ty};

/// The loop of a primitive that gives the type it takes.
pub(super) fn kernel(prim: Prim, ty: Ty) -> Result<Run> {
    match ty {
        Ty::F32 => single(prim).ok_or_else(|| unsupported(prim, ty)),
        Ty::F64 => double(prim).ok_or_else(|| unsupported(prim, ty)),
        _ => integer(prim, ty),
    }
}

fn single(prim: Prim) -> Option<Run> {
    Some(match prim {
        Prim::Add => binary(|a: f32, b: f32| a + b),
        Prim::Sub => binary(|a: f32, b: f32| a - b),
        Prim::Mul => binary(|a: f32, b: f32| a * b),
        Prim::Div => binary(|a: f32, b: f32| a / b),
        Prim::FMod => binary(|a: f32, b: f32| a % b),
        Prim::Fma => ternary(|a: f32, b: f32, c: f32| a.mul_add(b, c)),
        Prim::Neg => unary(|a: f32| -a),
        Prim::Abs => unary(f32::abs),
        Prim::Sqrt => unary(f32::sqrt),
        Prim::Floor => unary(f32::floor),
        Prim::Ceil => unary(f32::ceil),
        Prim::Trunc => unary(f32::trunc),
        Prim::Rint => unary(f32::round_ties_even),
        _ => return None,
    })
}

fn double(prim: Prim) -> Option<Run> {
    Some(match prim {
        Prim::Add => binary(|a: f64, b: f64| a + b),
        Prim::Sub => binary(|a: f64, b: f64| a - b),
        Prim::Mul => binary(|a: f64, b: f64| a * b),
        Prim::Div => binary(|a: f64, b: f64| a / b),
        Prim::FMod => binary(|a: f64, b: f64| a % b),
        Prim::Fma => ternary(|a: f64, b: f64, c: f64| a.mul_add(b, c)),
        Prim::Neg => unary(|a: f64| -a),
        Prim::Abs => unary(f64::abs),
        Prim::Sqrt => unary(f64::sqrt),
        Prim::Floor => unary(f64::floor),
        Prim::Ceil => unary(f64::ceil),
        Prim::Trunc => unary(f64::trunc),
        Prim::Rint => unary(f64::round_ties_even),
        _ => return None,
    })
}

#[expect(clippy::unnecessary_cast, reason = "one of the types is the target")]
fn integer(prim: Prim, ty: Ty) -> Result<Run> {
    Ok(match prim {
        Prim::Add => by_width!(ty, T => binary(|a: T, b: T| a.wrapping_add(b))),
        Prim::Sub => by_width!(ty, T => binary(|a: T, b: T| a.wrapping_sub(b))),
        Prim::Mul => by_width!(ty, T => binary(|a: T, b: T| a.wrapping_mul(b))),
        Prim::Neg => by_width!(ty, T => unary(|a: T| a.wrapping_neg())),
        Prim::And => by_width!(ty, T => binary(|a: T, b: T| a & b)),
        Prim::Or => by_width!(ty, T => binary(|a: T, b: T| a | b)),
        Prim::Xor => by_width!(ty, T => binary(|a: T, b: T| a ^ b)),
        Prim::Not if ty == Ty::Bool => unary(|a: u8| a ^ 1),
        Prim::Not => by_width!(ty, T => unary(|a: T| !a)),
        Prim::Shl => by_width!(ty, T => binary(|a: T, b: T| a.wrapping_shl(b as u32))),
        Prim::Shr => by_integer!(ty, prim, T => binary(|a: T, b: T| a.wrapping_shr(b as u32))),
        Prim::Abs => by_integer!(ty, prim, T => unary(|a: T| a.magnitude())),
        Prim::FloorDiv => by_integer!(ty, prim, T => binary(|a: T, b: T| a.floor_div(b))),
        Prim::FloorMod => by_integer!(ty, prim, T => binary(|a: T, b: T| a.floor_mod(b))),
        Prim::PowInt => by_integer!(ty, prim, T => binary(|a: T, b: T| a.power(b))),
        Prim::MulHigh if ty == Ty::U32 => binary(|a: u32, b: u32| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        Prim::MulHigh if ty == Ty::U64 => binary(|a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 64) as u64),
        _ => return Err(unsupported(prim, ty)),
    })
}

//! Conversions between register types, by NumPy's x86-64 table.

use super::{by_type, by_width, unsupported};
use crate::level::{Run, unary};
use cupric_core::{
    Result, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, f32_to_i8, f32_to_i16, f32_to_i32, f32_to_i64, f32_to_u8,
    f32_to_u16, f32_to_u32, f32_to_u64, f64_to_bf16, f64_to_f16, f64_to_i8, f64_to_i16, f64_to_i32, f64_to_i64,
    f64_to_u8, f64_to_u16, f64_to_u32, f64_to_u64,
};
use cupric_ir::{Prim, Ty};

/// The loop that converts one type to another.
#[expect(clippy::unnecessary_cast, reason = "one of the types is the target")]
pub(crate) fn cast(from: Ty, to: Ty) -> Run {
    match (from, to) {
        _ if from == to => bits(from),
        (_, Ty::Bool) => truth(from),
        (Ty::F32, _) => from_single(to),
        (Ty::F64, _) => from_double(to),
        (_, Ty::F32) => by_type!(from, T => unary(|a: T| a as f32)),
        (_, Ty::F64) => by_type!(from, T => unary(|a: T| a as f64)),
        _ if to.size() == from.size() => bits(from),
        // What fills the upper bits depends on the source alone.
        _ => match to.size() {
            1 => by_type!(from, T => unary(|a: T| a as u8)),
            2 => by_type!(from, T => unary(|a: T| a as u16)),
            4 => by_type!(from, T => unary(|a: T| a as u32)),
            _ => by_type!(from, T => unary(|a: T| a as u64)),
        },
    }
}

/// The loop that copies registers.
pub(super) fn bits(from: Ty) -> Run {
    by_width!(from, T => unary(|a: T| a))
}

/// The loop that rounds to a half format and stays in single precision.
pub(super) fn round(prim: Prim, from: Ty) -> Result<Run> {
    Ok(match (prim, from) {
        (Prim::RoundF16, Ty::F32) => unary(|a: f32| f16_to_f32(f32_to_f16(a))),
        (Prim::RoundF16, Ty::F64) => unary(|a: f64| f16_to_f32(f64_to_f16(a))),
        (Prim::RoundBF16, Ty::F32) => unary(|a: f32| bf16_to_f32(f32_to_bf16(a))),
        (Prim::RoundBF16, Ty::F64) => unary(|a: f64| bf16_to_f32(f64_to_bf16(a))),
        _ => return Err(unsupported(prim, from)),
    })
}

fn truth(from: Ty) -> Run {
    match from {
        Ty::F32 => unary(|a: f32| u8::from(a != 0.0)),
        Ty::F64 => unary(|a: f64| u8::from(a != 0.0)),
        _ => by_width!(from, T => unary(|a: T| u8::from(a != 0))),
    }
}

fn from_single(to: Ty) -> Run {
    match to {
        Ty::Bool => truth(Ty::F32),
        Ty::I8 => unary(f32_to_i8),
        Ty::I16 => unary(f32_to_i16),
        Ty::I32 => unary(f32_to_i32),
        Ty::I64 => unary(f32_to_i64),
        Ty::U8 => unary(f32_to_u8),
        Ty::U16 => unary(f32_to_u16),
        Ty::U32 => unary(f32_to_u32),
        Ty::U64 => unary(f32_to_u64),
        Ty::F32 => bits(Ty::F32),
        Ty::F64 => unary(|a: f32| f64::from(a)),
    }
}

fn from_double(to: Ty) -> Run {
    match to {
        Ty::Bool => truth(Ty::F64),
        Ty::I8 => unary(f64_to_i8),
        Ty::I16 => unary(f64_to_i16),
        Ty::I32 => unary(f64_to_i32),
        Ty::I64 => unary(f64_to_i64),
        Ty::U8 => unary(f64_to_u8),
        Ty::U16 => unary(f64_to_u16),
        Ty::U32 => unary(f64_to_u32),
        Ty::U64 => unary(f64_to_u64),
        Ty::F32 => unary(|a: f64| a as f32),
        Ty::F64 => bits(Ty::F64),
    }
}

//! Comparisons, extremes, choices.

use super::{by_type, by_width};
use crate::{
    level::{Run, binary, ternary},
    number::Extreme,
};
use cupric_ir::{Prim, Ty};

/// The loop of a comparison, of an extreme, or of a choice between registers of a type.
pub(super) fn kernel(prim: Prim, ty: Ty) -> Run {
    match prim {
        Prim::Eq if !ty.is_float() => by_width!(ty, T => binary(|a: T, b: T| u8::from(a == b))),
        Prim::Eq => by_type!(ty, T => binary(|a: T, b: T| u8::from(a == b))),
        Prim::Ne if !ty.is_float() => by_width!(ty, T => binary(|a: T, b: T| u8::from(a != b))),
        Prim::Ne => by_type!(ty, T => binary(|a: T, b: T| u8::from(a != b))),
        Prim::Lt => by_type!(ty, T => binary(|a: T, b: T| u8::from(a < b))),
        Prim::Le => by_type!(ty, T => binary(|a: T, b: T| u8::from(a <= b))),
        Prim::Max => by_type!(ty, T => binary(|a: T, b: T| a.larger(b))),
        Prim::Min => by_type!(ty, T => binary(|a: T, b: T| a.smaller(b))),
        _ => by_width!(ty, T => ternary(|which: u8, a: T, b: T| if which != 0 { a } else { b })),
    }
}

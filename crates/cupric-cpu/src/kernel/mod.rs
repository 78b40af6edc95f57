//! The loop of every primitive, for every type.

mod arithmetic;
mod cast;
mod compare;
mod function;

pub(crate) use self::{cast::cast, function::function};

use crate::level::Run;
use cupric_core::{Error, Result};
use cupric_ir::{Prim, Ty};

/// Runs an expression with `$T` standing for the unsigned integer that is as wide as a register.
macro_rules! by_width {
    ($ty:expr, $T:ident => $body:expr) => {
        match $ty.size() {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            _ => {
                type $T = u64;
                $body
            }
        }
    };
}
pub(crate) use by_width;

/// Runs one expression with `$T` standing for an integer type, or the other two for floating point and bool.
macro_rules! by_type {
    ($ty:expr, $T:ident => $body:expr) => {
        match $ty {
            Ty::Bool | Ty::U8 => {
                type $T = u8;
                $body
            }
            Ty::I8 => {
                type $T = i8;
                $body
            }
            Ty::I16 => {
                type $T = i16;
                $body
            }
            Ty::I32 => {
                type $T = i32;
                $body
            }
            Ty::I64 => {
                type $T = i64;
                $body
            }
            Ty::U16 => {
                type $T = u16;
                $body
            }
            Ty::U32 => {
                type $T = u32;
                $body
            }
            Ty::U64 => {
                type $T = u64;
                $body
            }
            Ty::F32 => {
                type $T = f32;
                $body
            }
            Ty::F64 => {
                type $T = f64;
                $body
            }
        }
    };
}
pub(crate) use by_type;

/// Runs an expression with `$T` standing for an integer type; floating point is an error.
macro_rules! by_integer {
    ($ty:expr, $prim:expr, $T:ident => $body:expr) => {
        match $ty {
            Ty::Bool | Ty::U8 => {
                type $T = u8;
                $body
            }
            Ty::I8 => {
                type $T = i8;
                $body
            }
            Ty::I16 => {
                type $T = i16;
                $body
            }
            Ty::I32 => {
                type $T = i32;
                $body
            }
            Ty::I64 => {
                type $T = i64;
                $body
            }
            Ty::U16 => {
                type $T = u16;
                $body
            }
            Ty::U32 => {
                type $T = u32;
                $body
            }
            Ty::U64 => {
                type $T = u64;
                $body
            }
            Ty::F32 | Ty::F64 => return Err(crate::kernel::unsupported($prim, $ty)),
        }
    };
}
pub(crate) use by_integer;

/// The loop of a primitive whose arguments (the last one, where they differ) are of type `from`, giving `to`.
pub(crate) fn kernel(prim: Prim, from: Ty, to: Ty) -> Result<Run> {
    match prim {
        Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Select | Prim::Max | Prim::Min => {
            Ok(compare::kernel(prim, from))
        }
        Prim::Cast => Ok(cast(from, to)),
        Prim::Bitcast => Ok(cast::bits(from)),
        Prim::RoundF16 | Prim::RoundBF16 => cast::round(prim, from),
        _ => arithmetic::kernel(prim, from),
    }
}

fn unsupported(prim: Prim, ty: Ty) -> Error {
    Error::Unsupported { what: format!("{prim:?} of {ty:?}") }
}

//! What an array is, without any array: dtypes, promotion, shapes, layouts, indexing arithmetic, errors.
//!
//! Everything here is arithmetic on small values: no storage, no device, no unsafe code.
//!
//! ```
//! use cupric_core::{DType, Index, Layout, promote, select};
//!
//! assert_eq!(promote(DType::Int16, DType::Float16), DType::Float32);
//!
//! let every_other = Index::Slice { start: None, stop: None, step: Some(2) };
//! let selection = select(&Layout::row_major(&[3, 4], 8), &[Index::Int(1), every_other])?;
//! assert_eq!(selection.view, Layout { shape: [2][..].into(), strides: [16][..].into(), offset: 32 });
//! # Ok::<(), cupric_core::Error>(())
//! ```
#![forbid(unsafe_code)]

mod cast;
mod coalesce;
mod convert;
mod dtype;
mod error;
mod index;
mod layout;
mod overlap;
mod promote;
mod reshape;
mod scalar;
mod shape;

pub use self::{
    cast::cast_bits,
    coalesce::{coalesce, sort_axes},
    convert::{
        bf16_to_f16, bf16_to_f32, bf16_to_f64, f16_to_bf16, f16_to_f32, f16_to_f64, f32_to_bf16, f32_to_f16, f32_to_i8,
        f32_to_i16, f32_to_i32, f32_to_i64, f32_to_u8, f32_to_u16, f32_to_u32, f32_to_u64, f64_to_bf16, f64_to_f16,
        f64_to_i8, f64_to_i16, f64_to_i32, f64_to_i64, f64_to_u8, f64_to_u16, f64_to_u32, f64_to_u64, i64_to_bf16,
        u64_to_bf16,
    },
    dtype::{DType, Kind},
    error::{Error, Exception, Result},
    index::{Advanced, Index, Selection, select, slice_bounds},
    layout::{Layout, Order, Part},
    promote::{Casting, Typed, Weak, can_cast, promote, result_type},
    scalar::{Bits, Scalar},
    shape::{
        Dims, MAX_DIMENSIONS, Strides, broadcast_shapes, byte_count, element_count, infer_shape, normalize_axes,
        normalize_axis, normalize_named_axis, normalize_permutation,
    },
};

//! NumPy on the GPU and the CPU: arrays, functions on them, and where they run.
//!
//! ```
//! # fn main() -> cupric::Result<()> {
//! use cupric::{DType, Reduction, arange, reduce, ufunc};
//!
//! let a = arange(10, DType::Float32)?;
//! let doubled = ufunc::call(ufunc::row("multiply"), &[(&a).into(), 2.0.into()], Default::default())?.remove(0);
//! let total = reduce("sum", &doubled, Reduction::default())?;
//! assert_eq!(total.item()?, cupric::Scalar::Float(90.0));
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod array;
mod creation;
mod devices;
mod indexing;
mod logic;
mod manipulation;
mod product;
pub mod random;
mod reduction;
mod sorting;
pub mod ufunc;

#[cfg(any(feature = "cpu", feature = "gpu"))]
pub use self::devices::set_library_search;
pub use self::{
    array::{Access, Array},
    creation::{Endpoint, arange, arange_between, default_dtype, eye, full, integer_dtype, linspace, ones, zeros},
    indexing::Item,
    logic::{NanEqual, allclose, isclose},
    manipulation::{concatenate, ravel, stack},
    product::{dot, matmul},
    reduction::{Initial, KeepAxes, Reduction, Spread, count_true, mean, reduce, scan, spread},
    sorting::sort,
};
pub use cupric_core::{
    Bits, Casting, DType, Dims, Error, Exception, Kind, Layout, Order, Part, Result, Scalar, Strides, Typed, Weak,
    byte_count, can_cast, promote, result_type,
};
pub use cupric_ir::{Bounds, Sorted, Ufunc, ufuncs};
pub use cupric_runtime as runtime;

/// Makes the backends known, for those who ask the [`runtime`] for a device before they make an array.
pub fn init() {
    devices::ensure();
}

/// The device that this thread's arrays are made on.
///
/// # Errors
/// When it cannot be opened.
pub fn current_device() -> Result<std::sync::Arc<runtime::Device>> {
    devices::ensure();
    runtime::current_device()
}

//! Joining arrays, and reading them as one axis.

use crate::{array::Array, ufunc::order_axes};
use cupric_core::{DType, Dims, Error, Order, Result, Strides, Typed, normalize_axis, result_type};
use smallvec::SmallVec;

/// Joins arrays along an axis that they have; flattened first if `axis` is `None`.
///
/// # Errors
/// When there are no arrays, or their shapes differ elsewhere.
///
/// ```
/// # fn main() -> cupric::Result<()> {
/// let a = cupric::ones(&[2, 3], cupric::DType::Float64)?;
/// assert_eq!(cupric::concatenate(&[a.clone(), a], Some(0), None)?.shape(), [4, 3]);
/// # Ok(())
/// # }
/// ```
pub fn concatenate(arrays: &[Array], axis: Option<isize>, dtype: Option<DType>) -> Result<Array> {
    let Some(first) = arrays.first() else {
        return Err(Error::Value("need at least one array to concatenate".into()));
    };
    let Some(axis) = axis else {
        let flat = arrays.iter().map(|array| array.reshape(&[-1])).collect::<Result<Vec<_>>>()?;
        return concatenate(&flat, Some(0), dtype);
    };
    if first.ndim() == 0 {
        return Err(Error::Value("zero-dimensional arrays cannot be concatenated".into()));
    }
    let axis = normalize_axis(axis, first.ndim())?;
    let mut shape: Dims = first.shape().into();
    shape[axis] = 0;
    for (index, array) in arrays.iter().enumerate() {
        check(first, array, index, axis)?;
        shape[axis] += array.shape()[axis];
    }
    let types: SmallVec<[Typed; 8]> = arrays.iter().map(|array| Typed::Strong(array.dtype())).collect();
    let joined = first.empty_beside(&shape, dtype.unwrap_or_else(|| result_type(&types)))?;
    let mut start = 0;
    for array in arrays {
        let mut layout = joined.layout().clone();
        layout.offset += start * layout.strides[axis].unsigned_abs();
        layout.shape[axis] = array.shape()[axis];
        joined.with_layout(layout).assign(array)?;
        start += array.shape()[axis];
    }
    Ok(joined)
}

/// The elements in one axis, in the order asked for: a view where the strides allow it, else a copy.
///
/// # Errors
/// When there is not enough memory.
pub fn ravel(a: &Array, order: Order) -> Result<Array> {
    let column = a.is_column_major() && !a.is_row_major();
    match order {
        Order::ColumnMajor => a.reversed_axes().reshape(&[-1]),
        Order::Any if column => a.reversed_axes().reshape(&[-1]),
        Order::Keep if !a.is_row_major() => {
            let axes = order_axes(a.shape(), &[a.layout().strides.clone()]);
            let axes: Strides = axes.iter().map(|&axis| axis as isize).collect();
            a.transpose(&axes)?.reshape(&[-1])
        }
        _ => a.reshape(&[-1]),
    }
}

fn check(first: &Array, array: &Array, index: usize, axis: usize) -> Result<()> {
    if array.ndim() != first.ndim() {
        return Err(Error::ConcatenateDimensions { first: first.ndim(), index, ndim: array.ndim() });
    }
    let other = (0..first.ndim()).find(|&other| other != axis && first.shape()[other] != array.shape()[other]);
    match other {
        Some(axis) => {
            let (first, size) = (first.shape()[axis], array.shape()[axis]);
            Err(Error::ConcatenateMismatch { axis, first, index, size })
        }
        None => Ok(()),
    }
}

/// Joins arrays of one shape along a new axis.
///
/// # Errors
/// When there are no arrays, or their shapes differ.
pub fn stack(arrays: &[Array], axis: isize, dtype: Option<DType>) -> Result<Array> {
    let Some(first) = arrays.first() else { return Err(Error::Value("need at least one array to stack".into())) };
    if arrays.iter().any(|array| array.shape() != first.shape()) {
        return Err(Error::Value("all input arrays must have the same shape".into()));
    }
    let axis = normalize_axis(axis, first.ndim() + 1)?;
    let expanded: Vec<Array> =
        arrays.iter().map(|array| array.with_layout(array.layout().expand_dims(&[axis]))).collect();
    concatenate(&expanded, Some(axis as isize), dtype)
}

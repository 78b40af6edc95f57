//! Joining arrays.

use crate::array::Array;
use cupric_core::{DType, Dims, Error, Result, Typed, normalize_axis, result_type};
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

//! Shapes and axes.

use smallvec::SmallVec;

use crate::error::{Error, Result};

/// A shape or a list of axes; no heap up to 6 dimensions.
pub type Dims = SmallVec<[usize; 6]>;

/// Strides in bytes; no heap up to 6 dimensions.
pub type Strides = SmallVec<[isize; 6]>;

/// The most dimensions an array may have: NumPy's limit.
pub const MAX_DIMENSIONS: usize = 64;

/// The shape that all `shapes` broadcast to.
/// # Errors
/// When two sizes differ and neither is 1.
pub fn broadcast_shapes(shapes: &[&[usize]]) -> Result<Dims> {
    let ndim = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut result = Dims::from_elem(1, ndim);
    for shape in shapes {
        for (size, &given) in result.iter_mut().rev().zip(shape.iter().rev()) {
            if *size == 1 {
                *size = given;
            } else if given != 1 && given != *size {
                return Err(Error::Broadcast { shapes: shapes.iter().map(|&shape| shape.into()).collect() });
            }
        }
    }
    Ok(result)
}

/// The number of elements.
/// # Errors
/// When it does not fit an `isize`.
pub fn element_count(shape: &[usize]) -> Result<usize> {
    byte_count(shape, 1)
}

/// The number of bytes of a packed array.
/// # Errors
/// When it does not fit an `isize`, sizes of zero counting as one, as in NumPy.
pub fn byte_count(shape: &[usize], item: usize) -> Result<usize> {
    // Zero counts as one: the strides of an empty array have to fit too.
    let bytes = shape.iter().try_fold(item, |bytes, &size| bytes.checked_mul(size.max(1)));
    let bytes = bytes.filter(|&bytes| bytes <= LARGEST);
    let bytes = bytes.ok_or_else(|| Error::TooBig { shape: shape.into(), item })?;
    Ok(if shape.contains(&0) { 0 } else { bytes })
}

const LARGEST: usize = isize::MAX as usize;

/// Turns a possibly negative axis into one from the front.
/// # Errors
/// When it lies outside of `-ndim..ndim`.
pub fn normalize_axis(axis: isize, ndim: usize) -> Result<usize> {
    let error = Error::AxisOutOfBounds { axis, ndim, argument: None };
    let shifted = if axis < 0 { axis + ndim as isize } else { axis };
    usize::try_from(shifted).ok().filter(|&axis| axis < ndim).ok_or(error)
}

/// As [`normalize_axis`], for a named argument: the message begins with the name.
/// # Errors
/// When it lies outside of `-ndim..ndim`.
pub fn normalize_named_axis(axis: isize, ndim: usize, argument: &'static str) -> Result<usize> {
    normalize_axis(axis, ndim).map_err(|_| Error::AxisOutOfBounds { axis, ndim, argument: Some(argument) })
}

/// As [`normalize_axis`], for several axes, whose order is kept.
/// # Errors
/// When one is out of bounds or comes twice.
pub fn normalize_axes(axes: &[isize], ndim: usize) -> Result<Dims> {
    normalize_distinct(axes, ndim, Error::DuplicateAxis)
}

/// The axes of a transpose, from the front.
/// # Errors
/// When they are no permutation of `0..ndim`.
pub fn normalize_permutation(axes: &[isize], ndim: usize) -> Result<Dims> {
    if axes.len() != ndim {
        return Err(Error::AxesDoNotMatch);
    }
    normalize_distinct(axes, ndim, Error::RepeatedAxisInTranspose)
}

fn normalize_distinct(axes: &[isize], ndim: usize, duplicate: Error) -> Result<Dims> {
    let mut result = Dims::new();
    for &axis in axes {
        let axis = normalize_axis(axis, ndim)?;
        if result.contains(&axis) {
            return Err(duplicate);
        }
        result.push(axis);
    }
    Ok(result)
}

/// The shape that `reshape` means for an array of `len` elements: a negative size stands for what is left.
/// # Errors
/// When two sizes are negative, or the product cannot be `len`.
pub fn infer_shape(shape: &[isize], len: usize) -> Result<Dims> {
    if shape.len() > MAX_DIMENSIONS {
        return Err(Error::TooManyDimensions { found: shape.len() });
    }
    if shape.iter().filter(|&&size| size < 0).count() > 1 {
        return Err(Error::Value("can only specify one unknown dimension".to_owned()));
    }
    let mismatch = || Error::Reshape { len, shape: shape.into() };
    let known: Dims = shape.iter().filter(|&&size| size >= 0).map(|&size| size as usize).collect();
    let known = if known.contains(&0) { 0 } else { element_count(&known).map_err(|_| mismatch())? };
    let unknown = shape.len() > shape.iter().filter(|&&size| size >= 0).count();
    let fits = if unknown { known != 0 && len.is_multiple_of(known) } else { known == len };
    if !fits {
        return Err(mismatch());
    }
    Ok(shape.iter().map(|&size| usize::try_from(size).unwrap_or_else(|_| len / known)).collect())
}

//! Where the elements of an array lie in its storage.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::shape::{Dims, Strides, element_count, normalize_axes, normalize_named_axis};

/// Shape, strides and offset, in bytes from the start of the storage.
#[derive(PartialEq, Eq, Hash, Debug, Default)]
pub struct Layout {
    /// Size of each axis.
    pub shape: Dims,
    /// Bytes from one element to the next along each axis.
    pub strides: Strides,
    /// Bytes from the start of the storage to the first element.
    pub offset: usize,
}

/// How the axes of a packed array follow each other in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// The last axis varies fastest: "C".
    RowMajor,
    /// The first axis varies fastest: "F".
    ColumnMajor,
    /// As in the source: "K".
    Keep,
    /// Column-major when the source is that and not row-major, else row-major: "A".
    Any,
}

/// A component of a complex number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// The real one.
    Real,
    /// The imaginary one.
    Imag,
}

/// Strides of a packed array whose axes, from the fastest on, are `axes`. All zero when the array is empty.
fn packed(shape: &[usize], item: usize, axes: impl Iterator<Item = usize>) -> Strides {
    let mut strides = Strides::from_elem(0, shape.len());
    if shape.contains(&0) {
        return strides;
    }
    let mut stride = item as isize;
    for axis in axes {
        strides[axis] = stride;
        stride *= shape[axis] as isize;
    }
    strides
}

impl Clone for Layout {
    // Layouts are copied on every call: as slices, which is several times as fast as element by element.
    fn clone(&self) -> Self {
        Self { shape: Dims::from_slice(&self.shape), strides: Strides::from_slice(&self.strides), offset: self.offset }
    }
}

impl Layout {
    /// A packed array in row-major order. The caller has checked that its bytes can be counted.
    pub fn row_major(shape: &[usize], item: usize) -> Self {
        Self { shape: shape.into(), strides: packed(shape, item, (0..shape.len()).rev()), offset: 0 }
    }

    /// A packed array in column-major order. The caller has checked that its bytes can be counted.
    pub fn column_major(shape: &[usize], item: usize) -> Self {
        Self { shape: shape.into(), strides: packed(shape, item, 0..shape.len()), offset: 0 }
    }

    /// The packed layout of a copy of this array, from offset 0.
    pub fn ordered_like(&self, order: Order, item: usize) -> Self {
        let (row, column) = (self.is_row_major(item), self.is_column_major(item));
        match order {
            Order::ColumnMajor => Self::column_major(&self.shape, item),
            Order::Keep | Order::Any if column && !row => Self::column_major(&self.shape, item),
            Order::Keep if !row => self.keep_order(item),
            _ => Self::row_major(&self.shape, item),
        }
    }

    fn keep_order(&self, item: usize) -> Self {
        let mut axes: Dims = (0..self.ndim()).collect();
        axes.sort_by_key(|&axis| std::cmp::Reverse(self.strides[axis].unsigned_abs()));
        Self { shape: self.shape.clone(), strides: packed(&self.shape, item, axes.into_iter().rev()), offset: 0 }
    }

    /// The number of axes.
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Whether the elements are packed in row-major order; strides of unit axes do not matter, and an empty array is.
    pub fn is_row_major(&self, item: usize) -> bool {
        self.is_packed(item, (0..self.ndim()).rev())
    }

    /// Whether the elements are packed in column-major order; strides of unit axes do not matter, and an empty array is.
    pub fn is_column_major(&self, item: usize) -> bool {
        self.is_packed(item, 0..self.ndim())
    }

    /// Whether this is just what [`Layout::row_major`] makes for the shape.
    pub fn is_fresh_row_major(&self, item: usize) -> bool {
        let mut expected = if self.is_empty() { 0 } else { item as isize };
        let mut same = self.offset == 0;
        for (&size, &stride) in self.shape.iter().zip(&self.strides).rev() {
            same &= stride == expected;
            expected = expected.wrapping_mul(size as isize);
        }
        same
    }

    fn is_packed(&self, item: usize, axes: impl Iterator<Item = usize>) -> bool {
        let mut expected = item as isize;
        let mut matches = true;
        for axis in axes.filter(|&axis| self.shape[axis] != 1) {
            matches &= self.strides[axis] == expected;
            expected = expected.wrapping_mul(self.shape[axis] as isize);
        }
        matches || self.is_empty()
    }

    /// The bytes of the storage from the lowest to the highest that belong to an element; empty when there is none.
    pub fn byte_range(&self, item: usize) -> Range<usize> {
        if self.is_empty() {
            return self.offset..self.offset;
        }
        let (mut low, mut high) = (self.offset as isize, (self.offset + item) as isize);
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            let reach = (size as isize - 1) * stride;
            if reach < 0 { low += reach } else { high += reach }
        }
        low as usize..high as usize
    }

    /// Whether every element begins at a multiple of `align` bytes from the start of the storage.
    pub fn is_aligned(&self, align: usize) -> bool {
        let steps = self.shape.iter().zip(&self.strides).filter(|&(&size, _)| size > 1);
        self.is_empty()
            || self.offset.is_multiple_of(align)
                && steps.map(|(_, stride)| stride.unsigned_abs()).all(|stride| stride.is_multiple_of(align))
    }

    /// Axis `k` of the result is axis `axes[k]` of this; `axes` is a permutation (see `normalize_permutation`).
    pub fn transpose(&self, axes: &[usize]) -> Self {
        Self {
            shape: axes.iter().map(|&axis| self.shape[axis]).collect(),
            strides: axes.iter().map(|&axis| self.strides[axis]).collect(),
            offset: self.offset,
        }
    }

    /// All axes in reverse: `.T`.
    pub fn reversed_axes(&self) -> Self {
        let axes: Dims = (0..self.ndim()).rev().collect();
        self.transpose(&axes)
    }

    /// Repeats unit axes, and axes added in front, to reach `shape`.
    /// # Errors
    /// When this shape does not broadcast to `shape`, or the elements cannot be counted.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self> {
        let added = shape.len().checked_sub(self.ndim()).ok_or_else(|| {
            Error::Value("input operand has more dimensions than allowed by the axis remapping".to_owned())
        })?;
        let fits = self.shape.iter().zip(&shape[added..]).all(|(&size, &wanted)| size == 1 || size == wanted);
        if !fits {
            return Err(Error::BroadcastTo { shape: self.shape.to_vec(), requested: shape.to_vec() });
        }
        element_count(shape).map_err(|_| Error::Value("iterator is too large".to_owned()))?;
        let mut strides = Strides::from_elem(0, added);
        strides.extend(self.shape.iter().zip(&self.strides).map(|(&size, &stride)| if size == 1 { 0 } else { stride }));
        Ok(Self { shape: shape.into(), strides, offset: self.offset })
    }

    /// Unit axes at the positions `axes` of the result; the axes are distinct and in bounds of it.
    pub fn expand_dims(&self, axes: &[usize]) -> Self {
        let mut old = self.shape.iter().zip(&self.strides);
        let mut result = Self { offset: self.offset, ..Self::default() };
        for axis in 0..self.ndim() + axes.len() {
            let unit = (&1, &0);
            let (&size, &stride) = if axes.contains(&axis) { unit } else { old.next().unwrap_or(unit) };
            result.shape.push(size);
            result.strides.push(stride);
        }
        result
    }

    /// Without the given unit axes, or without all of them.
    /// # Errors
    /// When a given axis is out of bounds, comes twice, or has another size than 1.
    pub fn squeeze(&self, axes: Option<&[isize]>) -> Result<Self> {
        let units = || (0..self.ndim()).filter(|&axis| self.shape[axis] == 1).collect();
        let removed: Dims = match axes {
            // NumPy takes a 0-d array for a 1-d one here.
            Some([0 | -1]) if self.ndim() == 0 => Dims::new(),
            Some(axes) => normalize_axes(axes, self.ndim())?,
            None => units(),
        };
        if removed.iter().any(|&axis| self.shape[axis] != 1) {
            return Err(Error::Value(
                "cannot select an axis to squeeze out which has size not equal to one".to_owned(),
            ));
        }
        let kept: Dims = (0..self.ndim()).filter(|axis| !removed.contains(axis)).collect();
        Ok(self.transpose(&kept))
    }

    /// The elements whose indices along the two axes differ by `offset`, as a new last axis.
    /// # Errors
    /// When there are fewer than two axes, or the two are out of bounds or the same.
    pub fn diagonal(&self, offset: isize, axis1: isize, axis2: isize) -> Result<Self> {
        if self.ndim() < 2 {
            return Err(Error::Value("diag requires an array of at least two dimensions".to_owned()));
        }
        let axis1 = normalize_named_axis(axis1, self.ndim(), "axis1")?;
        let axis2 = normalize_named_axis(axis2, self.ndim(), "axis2")?;
        if axis1 == axis2 {
            return Err(Error::Value("axis1 and axis2 cannot be the same".to_owned()));
        }
        let kept: Dims = (0..self.ndim()).filter(|&axis| axis != axis1 && axis != axis2).collect();
        let mut result = self.transpose(&kept);
        let (skipped, skipping) = if offset < 0 { (axis1, axis2) } else { (axis2, axis1) };
        let left = self.shape[skipped].saturating_sub(offset.unsigned_abs());
        let size = left.min(self.shape[skipping]);
        if size > 0 {
            result.offset = moved(self.offset, offset.unsigned_abs() as isize * self.strides[skipped]);
        }
        result.shape.push(size);
        result.strides.push(self.strides[axis1] + self.strides[axis2]);
        Ok(result)
    }

    /// One component of complex elements of `item` bytes.
    pub fn part(&self, part: Part, item: usize) -> Self {
        let skipped = match part {
            Part::Real => 0,
            Part::Imag => item / 2,
        };
        Self { offset: self.offset + skipped, ..self.clone() }
    }

    /// The same bytes as elements of another size: the last axis grows or shrinks.
    /// # Errors
    /// When the sizes differ and the array is 0-d, its last axis is not packed, or its bytes cannot be divided.
    pub fn view_item(&self, from_item: usize, to_item: usize) -> Result<Self> {
        let mut result = self.clone();
        if from_item == to_item {
            return Ok(result);
        }
        let fail = |text: &str| Err(Error::Value(text.to_owned()));
        let (Some(size), Some(stride)) = (result.shape.last_mut(), result.strides.last_mut()) else {
            return fail("Changing the dtype of a 0d array is only supported if the itemsize is unchanged");
        };
        if !self.is_empty() && *size != 1 && *stride != from_item as isize {
            return fail("To change to a dtype of a different size, the last axis must be contiguous");
        }
        if to_item < from_item && !from_item.is_multiple_of(to_item) {
            return fail("When changing to a smaller dtype, its size must be a divisor of the size of original dtype");
        }
        let bytes = *size * from_item;
        if !bytes.is_multiple_of(to_item) {
            return fail(
                "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array.",
            );
        }
        *size = bytes / to_item;
        *stride = to_item as isize;
        Ok(result)
    }

    /// Reverses an axis.
    pub fn flip(&self, axis: usize) -> Self {
        let mut result = self.clone();
        if !self.is_empty() {
            result.offset = moved(self.offset, (self.shape[axis] as isize - 1) * self.strides[axis]);
        }
        result.strides[axis] = self.strides[axis].wrapping_neg();
        result
    }
}

/// An offset inside of the storage, moved within it.
pub(crate) fn moved(offset: usize, by: isize) -> usize {
    offset.wrapping_add_signed(by)
}

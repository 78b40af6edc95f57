//! Indexing: what `a[...]` selects.

use std::ops::Range;

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::layout::{Layout, moved};
use crate::shape::{Dims, MAX_DIMENSIONS};

/// One argument of an indexing expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Index {
    /// A position, from the end when negative.
    Int(isize),
    /// `start:stop:step`.
    Slice {
        /// The first position; the near end when left out.
        start: Option<isize>,
        /// The position to stop before; the far end when left out.
        stop: Option<isize>,
        /// The step; 1 when left out.
        step: Option<isize>,
    },
    /// `...`: as many full slices as there are axes left.
    Ellipsis,
    /// `None`: a new unit axis.
    NewAxis,
    /// An array of integers with this shape, 0-d ones included.
    Integers(Dims),
    /// An array of booleans with this shape; a 0-d one (or a Python bool) takes no axis.
    Mask(Dims),
}

/// An index array: which argument it is, and which axes of the view it selects from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Advanced {
    /// Its position in the indexing expression.
    pub argument: usize,
    /// The axes of [`Selection::view`] it consumes: one for integers, as many as it has for a mask, none for a 0-d mask.
    pub axes: Range<usize>,
}

/// What an indexing expression selects. Slices, integers and new axes are applied to `view`; index arrays are left to
/// do. A mask becomes one vector of positions per axis, a 0-d mask one of length 0 or 1 for no axis; the shapes of all
/// of these and of integer arrays broadcast together.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Selection {
    /// The array with the basic indices applied; axes of index arrays are still in place.
    pub view: Layout,
    /// The index arrays, in order.
    pub advanced: SmallVec<[Advanced; 4]>,
    /// Where the broadcast axes of the index arrays go, counted in the axes of `view` that no index array consumes.
    pub position: usize,
}

impl Selection {
    /// Whether no index array takes part, so that `view` is the result.
    pub fn is_basic(&self) -> bool {
        self.advanced.is_empty()
    }

    /// The axes of `view` that no index array consumes.
    pub fn kept_axes(&self) -> Dims {
        (0..self.view.ndim()).filter(|axis| !self.advanced.iter().any(|one| one.axes.contains(axis))).collect()
    }

    /// The shape of the result, where `broadcast` is the common shape of the index arrays (ignored without any).
    pub fn result_shape(&self, broadcast: &[usize]) -> Dims {
        let mut shape: Dims = self.kept_axes().iter().map(|&axis| self.view.shape[axis]).collect();
        if !self.is_basic() {
            shape.insert_from_slice(self.position, broadcast);
        }
        shape
    }
}

/// Applies NumPy's indexing rules to a layout.
/// # Errors
/// Too many indices, an integer out of bounds, a mask that does not fit, a step of zero, several ellipses.
pub fn select(layout: &Layout, indices: &[Index]) -> Result<Selection> {
    let skipped = ellipsis_len(layout, indices)?;
    check_masks(layout, indices, skipped)?;
    let mut walk = Walk::new(layout);
    for (argument, index) in indices.iter().enumerate() {
        walk.apply(argument, index, skipped)?;
    }
    let explicit = indices.contains(&Index::Ellipsis);
    if !explicit {
        walk.keep(skipped);
    }
    walk.finish(indices)
}

fn consumed(index: &Index) -> usize {
    match index {
        Index::Int(_) | Index::Slice { .. } | Index::Integers(_) => 1,
        Index::Mask(shape) => shape.len(),
        Index::Ellipsis | Index::NewAxis => 0,
    }
}

/// The number of axes that the ellipsis, written or implied at the end, stands for.
fn ellipsis_len(layout: &Layout, indices: &[Index]) -> Result<usize> {
    if indices.iter().filter(|&index| *index == Index::Ellipsis).count() > 1 {
        return Err(Error::SeveralEllipses);
    }
    let given = indices.iter().map(consumed).sum();
    layout.ndim().checked_sub(given).ok_or(Error::TooManyIndices { ndim: layout.ndim(), given })
}

/// Masks are checked before integers, as in NumPy.
fn check_masks(layout: &Layout, indices: &[Index], skipped: usize) -> Result<()> {
    let mut first = 0;
    for index in indices {
        if let Index::Mask(shape) = index {
            let mut sizes = layout.shape[first..].iter().zip(shape).enumerate();
            if let Some((axis, (&size, &given))) = sizes.find(|(_, (size, given))| size != given) {
                return Err(Error::MaskMismatch { axis: first + axis, size, given });
            }
        }
        first += if *index == Index::Ellipsis { skipped } else { consumed(index) };
    }
    Ok(())
}

/// The view so far, and the next axis of the source.
struct Walk<'a> {
    source: &'a Layout,
    axis: usize,
    view: Layout,
    advanced: SmallVec<[Advanced; 4]>,
}

impl<'a> Walk<'a> {
    fn new(source: &'a Layout) -> Self {
        let view = Layout { offset: source.offset, ..Layout::default() };
        Self { source, axis: 0, view, advanced: SmallVec::new() }
    }

    fn apply(&mut self, argument: usize, index: &Index, skipped: usize) -> Result<()> {
        match index {
            Index::Int(index) => self.pick(*index)?,
            Index::Slice { start, stop, step } => self.slice(*start, *stop, step.unwrap_or(1))?,
            Index::Ellipsis => self.keep(skipped),
            Index::NewAxis => {
                self.view.shape.push(1);
                self.view.strides.push(0);
            }
            Index::Integers(_) | Index::Mask(_) => {
                let first = self.view.ndim();
                self.keep(consumed(index));
                self.advanced.push(Advanced { argument, axes: first..self.view.ndim() });
            }
        }
        Ok(())
    }

    fn keep(&mut self, count: usize) {
        let axes = self.axis..self.axis + count;
        self.view.shape.extend_from_slice(&self.source.shape[axes.clone()]);
        self.view.strides.extend_from_slice(&self.source.strides[axes]);
        self.axis += count;
    }

    fn pick(&mut self, index: isize) -> Result<()> {
        let size = self.source.shape[self.axis];
        let shifted = if index < 0 { index.wrapping_add(size as isize) } else { index };
        if shifted < 0 || shifted as usize >= size {
            return Err(Error::IndexOutOfBounds { index, axis: self.axis, size });
        }
        self.view.offset = moved(self.view.offset, shifted.wrapping_mul(self.source.strides[self.axis]));
        self.axis += 1;
        Ok(())
    }

    fn slice(&mut self, start: Option<isize>, stop: Option<isize>, step: isize) -> Result<()> {
        if step == 0 {
            return Err(Error::ZeroStep);
        }
        let (size, stride) = (self.source.shape[self.axis], self.source.strides[self.axis]);
        let (first, len) = slice_bounds(start, stop, step, size);
        self.view.shape.push(len);
        self.view.strides.push(if len == 0 { stride } else { stride.wrapping_mul(step) });
        if len > 0 {
            self.view.offset = moved(self.view.offset, first.wrapping_mul(stride));
        }
        self.axis += 1;
        Ok(())
    }

    fn finish(self, indices: &[Index]) -> Result<Selection> {
        let found = self.view.ndim();
        if found > MAX_DIMENSIONS {
            return Err(Error::TooManyResultDimensions { found });
        }
        let position = position(indices, &self.advanced);
        Ok(Selection { view: self.view, advanced: self.advanced, position })
    }
}

/// The first position and the number of positions of a slice, as Python counts them.
pub fn slice_bounds(start: Option<isize>, stop: Option<isize>, step: isize, size: usize) -> (isize, usize) {
    let size = size as isize;
    let (low, high) = if step < 0 { (-1, size - 1) } else { (0, size) };
    let clip = |position: isize| if position < 0 { position.saturating_add(size).max(low) } else { position.min(high) };
    let first = start.map_or(if step < 0 { high } else { low }, clip);
    let last = stop.map_or(if step < 0 { low } else { high }, clip);
    let span = if step < 0 { first - last } else { last - first };
    let len = if span <= 0 { 0 } else { (span as usize - 1) / step.unsigned_abs() + 1 };
    (first, len)
}

/// Where the axes of the index arrays go: in front when a slice, new axis or ellipsis, were it of no axis, stands
/// between two of them; else where the first one stood. Beside an index array a plain integer counts as one.
fn position(indices: &[Index], advanced: &[Advanced]) -> usize {
    if advanced.is_empty() {
        return 0;
    }
    let is_advanced = |index: &Index| matches!(index, Index::Int(_) | Index::Integers(_) | Index::Mask(_));
    let first = indices.iter().position(is_advanced).unwrap_or(0);
    let last = indices.iter().rposition(is_advanced).unwrap_or(0);
    if !indices[first..=last].iter().all(is_advanced) {
        return 0;
    }
    // Within one run, the first index array starts behind exactly the view axes that precede the run.
    advanced[0].axes.start
}

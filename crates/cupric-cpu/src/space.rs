//! Iteration spaces: which elements a tile has, and where they lie for each operand.

use cupric_core::{Dims, Strides, coalesce, sort_axes};
use smallvec::SmallVec;

/// The most elements that a tile has: registers of this many stay in the first cache.
pub(crate) const TILE: usize = 1024;

// From this length on, tiles keep within rows, so that operands can be used where they lie.
const LONG_ROW: usize = 256;

/// A shape, its axes joined where every operand allows it, with the strides of the operands.
pub(crate) struct Space {
    pub(crate) dims: Dims,
    pub(crate) strides: SmallVec<[Strides; 4]>,
    pub(crate) len: usize,
}

impl Space {
    /// The elements in row-major order.
    pub(crate) fn new(shape: &[usize], operands: &[&[isize]]) -> Space {
        let (mut dims, mut strides) = coalesce(shape, operands);
        if dims.is_empty() {
            dims.push(1);
            strides.iter_mut().for_each(|strides| strides.push(0));
        }
        Space { len: dims.iter().product(), dims, strides }
    }

    /// The elements in the order that suits their places in memory best.
    pub(crate) fn reordered(shape: &[usize], operands: &[&[isize]]) -> Space {
        if shape.len() < 2 {
            return Space::new(shape, operands);
        }
        let axes = sort_axes(shape, operands);
        let shape: Dims = axes.iter().map(|&axis| shape[axis]).collect();
        let strides: SmallVec<[Strides; 8]> =
            operands.iter().map(|strides| axes.iter().map(|&axis| strides[axis]).collect()).collect();
        let strides: SmallVec<[&[isize]; 8]> = strides.iter().map(|strides| &strides[..]).collect();
        Space::new(&shape, &strides)
    }

    /// The length of the last axis.
    pub(crate) fn row(&self) -> usize {
        self.dims[self.dims.len() - 1]
    }

    /// An operand's stride along the last axis.
    pub(crate) fn step(&self, operand: usize) -> isize {
        self.strides[operand][self.dims.len() - 1]
    }

    /// Calls `run(offset, count, done)` for each stretch of the last axis among elements `start .. start + n`: where it
    /// begins for an operand, how many elements it has, and how many came before.
    #[inline]
    pub(crate) fn runs(&self, operand: usize, start: usize, n: usize, mut run: impl FnMut(isize, usize, usize)) {
        let (last, strides) = (self.dims.len() - 1, &self.strides[operand]);
        if last == 0 {
            return run(start as isize * strides[0], n, 0);
        }
        let (mut row, mut at) = (start / self.dims[last], start % self.dims[last]);
        let mut done = 0;
        while done < n {
            let count = (self.dims[last] - at).min(n - done);
            run(self.outer(strides, row) + at as isize * strides[last], count, done);
            done += count;
            (row, at) = (row + 1, 0);
        }
    }

    /// Where a row begins.
    fn outer(&self, strides: &Strides, mut row: usize) -> isize {
        let mut offset = 0;
        for axis in (1..self.dims.len() - 1).rev() {
            offset += (row % self.dims[axis]) as isize * strides[axis];
            row /= self.dims[axis];
        }
        offset + row as isize * strides[0]
    }

    /// Where one element lies.
    pub(crate) fn offset(&self, operand: usize, index: usize) -> isize {
        let mut offset = 0;
        self.runs(operand, index, 1, |at, _, _| offset = at);
        offset
    }

    /// How the space is cut into tiles.
    pub(crate) fn tiles(&self) -> Tiles {
        let row = self.row();
        if self.dims.len() == 1 || row < LONG_ROW {
            return Tiles { len: self.len, row: self.len, size: TILE, per_row: self.len.div_ceil(TILE) };
        }
        // Equal parts, in whole cache lines.
        let size = row.div_ceil(row.div_ceil(TILE)).next_multiple_of(64).min(TILE);
        Tiles { len: self.len, row, size, per_row: row.div_ceil(size) }
    }
}

/// Tiles, numbered.
#[derive(Clone, Copy)]
pub(crate) struct Tiles {
    len: usize,
    row: usize,
    size: usize,
    per_row: usize,
}

impl Tiles {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        if self.len == 0 { 0 } else { self.len / self.row * self.per_row }
    }

    /// The most elements in one.
    pub(crate) fn width(&self) -> usize {
        self.size.min(self.len)
    }

    /// The first element of a tile and how many it has.
    pub(crate) fn tile(&self, index: usize) -> (usize, usize) {
        let (row, part) = (index / self.per_row, index % self.per_row);
        let at = part * self.size;
        (row * self.row + at, self.size.min(self.row - at))
    }
}

//! How a matrix product becomes calls of a BLAS: which operands it can take as they lie, which are packed first, and how
//! the batch is walked. Pure: no device.

use crate::{
    cublas::{Element, Gemm, Transpose},
    driver::DevicePtr,
};
use cupric_core::{DType, Layout, Strides};
use cupric_ir::{MatMul, Operand};
use smallvec::SmallVec;

const ALIGNMENT: usize = 256;

/// The element that the library knows a dtype by.
pub(crate) const fn element(dtype: DType) -> Option<Element> {
    match dtype {
        DType::Float16 => Some(Element::F16),
        DType::BFloat16 => Some(Element::BF16),
        DType::Float32 => Some(Element::F32),
        DType::Float64 => Some(Element::F64),
        DType::Complex64 => Some(Element::C64),
        DType::Complex128 => Some(Element::C128),
        _ => None,
    }
}

/// A product, planned.
pub(crate) struct Product {
    /// The left and the right operand.
    pub(crate) inputs: [Matrices; 2],
    output: Matrices,
    element: Element,
    // Rows and columns of the result, and the terms of a sum.
    sizes: [i64; 3],
    item: usize,
    batch: Batch,
    scratch: usize,
}

/// A batch of matrices as the library reads them.
pub(crate) struct Matrices {
    /// Whether they are packed first: where in the workspace, and how they lie there.
    pub(crate) packed: Option<Layout>,
    // Bytes from where the storage (or the workspace) begins.
    offset: usize,
    transpose: Transpose,
    // In elements.
    leading: i64,
    // In bytes, one for each axis of the batch.
    strides: Strides,
}

/// A batch: the axes that are walked here, and the one that the library walks. Strides are in bytes, of left, right, output.
struct Batch {
    outer: SmallVec<[(usize, [isize; 3]); 4]>,
    inner: (usize, [isize; 3]),
}

impl Product {
    /// The plan, or `None` for what the library has no type or no sizes for.
    pub(crate) fn plan(op: &MatMul) -> Option<Product> {
        let element = element(op.output.dtype)?;
        let same = op.left.dtype == op.output.dtype && op.right.dtype == op.output.dtype;
        let sizes = [op.rows, op.columns, op.inner];
        if !same || sizes.contains(&0) || op.batch.contains(&0) {
            return None;
        }
        let output = Matrices::in_place(&op.output, op.rows, op.columns)?;
        if output.transpose != Transpose::None {
            return None;
        }
        let mut scratch = 0;
        let left = Matrices::of(&op.left, op.rows, op.inner, &mut scratch);
        let right = Matrices::of(&op.right, op.inner, op.columns, &mut scratch);
        let batch = Batch::of(&op.batch, [&left.strides, &right.strides, &output.strides]);
        let [rows, columns, inner] = sizes.map(|size| size as i64);
        let (sizes, item) = ([rows, columns, inner], op.output.dtype.size());
        Some(Product { inputs: [left, right], output, element, sizes, item, batch, scratch })
    }

    /// Bytes of the workspace that packed operands take; a multiple of 256.
    pub(crate) const fn scratch(&self) -> usize {
        self.scratch
    }

    /// The calls. `bases` are where the storages of left, right and output begin.
    pub(crate) fn calls(&self, bases: [u64; 3], workspace: u64) -> impl Iterator<Item = Gemm> {
        let [left, right] = &self.inputs;
        let start = |matrices: &Matrices, base: u64| {
            let base = if matrices.packed.is_some() { workspace } else { base };
            base + matrices.offset as u64
        };
        let starts = [start(left, bases[0]), start(right, bases[1]), start(&self.output, bases[2])];
        let (batch, strides) = self.batch.inner;
        let [a, b, c] = strides.map(|stride| (stride / self.item as isize) as i64);
        let [rows, columns, inner] = self.sizes;
        // Row-major `c = a @ b` is column-major `c.T = b.T @ a.T`.
        let gemm = Gemm {
            element: self.element,
            transpose: (right.transpose, left.transpose),
            m: columns,
            n: rows,
            k: inner,
            alpha: 1.0,
            beta: 0.0,
            pointers: [DevicePtr::NULL; 3],
            leading: [right.leading, left.leading, self.output.leading],
            batch_strides: [b, a, c],
            batch: batch as i64,
        };
        self.batch.steps().map(move |steps| {
            let [a, b, c] = [0, 1, 2].map(|index| DevicePtr(starts[index].wrapping_add_signed(steps[index] as i64)));
            Gemm { pointers: [b, a, c], ..gemm }
        })
    }
}

impl Matrices {
    fn of(operand: &Operand, rows: usize, columns: usize, scratch: &mut usize) -> Matrices {
        if let Some(matrices) = Matrices::in_place(operand, rows, columns) {
            return matrices;
        }
        let item = operand.dtype.size();
        // A matrix that a batch repeats is packed once.
        let mut shape = operand.layout.shape.clone();
        let axes = shape.len() - 2;
        for axis in 0..axes {
            if operand.layout.strides[axis] == 0 {
                shape[axis] = 1;
            }
        }
        let layout = Layout { offset: *scratch, ..Layout::row_major(&shape, item) };
        *scratch += (layout.len() * item).next_multiple_of(ALIGNMENT);
        let mut strides: Strides = layout.strides[..axes].into();
        for axis in 0..axes {
            if shape[axis] != operand.layout.shape[axis] {
                strides[axis] = 0;
            }
        }
        let (offset, leading) = (layout.offset, columns as i64);
        Matrices { packed: Some(layout), offset, transpose: Transpose::None, leading, strides }
    }

    /// The matrices where they lie, if the library can read them there.
    fn in_place(operand: &Operand, rows: usize, columns: usize) -> Option<Matrices> {
        let (layout, item) = (&operand.layout, operand.dtype.size());
        if !layout.is_aligned(item) {
            return None;
        }
        let axes = layout.ndim() - 2;
        let [down, along] = [layout.strides[axes], layout.strides[axes + 1]];
        let (transpose, leading) = leading(down, rows, along, columns, item)
            .map(|leading| (Transpose::None, leading))
            .or_else(|| leading(along, columns, down, rows, item).map(|leading| (Transpose::Transposed, leading)))?;
        Some(Matrices {
            packed: None,
            offset: layout.offset,
            transpose,
            leading,
            strides: layout.strides[..axes].into(),
        })
    }
}

/// Elements from one line to the next where lines of `length` packed elements do not overlap.
fn leading(outer: isize, lines: usize, inner: isize, length: usize, item: usize) -> Option<i64> {
    let packed = inner == item as isize || length == 1;
    if lines == 1 {
        return packed.then_some(length as i64);
    }
    let apart = outer >= (length * item) as isize;
    (packed && apart).then_some((outer / item as isize) as i64)
}

impl Batch {
    fn of(shape: &[usize], strides: [&Strides; 3]) -> Batch {
        let mut axes: SmallVec<[(usize, [isize; 3]); 4]> = SmallVec::new();
        for (axis, &size) in shape.iter().enumerate().filter(|&(_, &size)| size != 1) {
            let here = strides.map(|strides| strides[axis]);
            match axes.last_mut() {
                // The axis before steps over exactly what this one covers: one axis.
                Some((count, before)) if (0..3).all(|k| before[k] == here[k] * size as isize) => {
                    (*count, *before) = (*count * size, here);
                }
                _ => axes.push((size, here)),
            }
        }
        // The library steps forward only.
        let forward = axes.last().is_some_and(|(_, strides)| strides.iter().all(|&stride| stride >= 0));
        let inner = if forward { axes.pop() } else { None };
        Batch { outer: axes, inner: inner.unwrap_or((1, [0; 3])) }
    }

    /// The bytes from the first matrices to those that each call begins with.
    fn steps(&self) -> impl Iterator<Item = [isize; 3]> + use<> {
        let outer = self.outer.clone();
        let count: usize = outer.iter().map(|(size, _)| size).product();
        (0..count).map(move |mut index| {
            let mut steps = [0; 3];
            for (size, strides) in outer.iter().rev() {
                let place = (index % size) as isize;
                index /= size;
                (0..3).for_each(|k| steps[k] += place * strides[k]);
            }
            steps
        })
    }
}

#[cfg(test)]
mod tests;

//! Matrix products: OpenBLAS where it has them, own loops else.

use crate::{
    blas::{Blas, Matrix, Order, Product},
    product::{Complex, Ring, Truth, multiply},
    scratch::Scratch,
    space::{Space, TILE},
    threads::Threads,
    transfer::{Field, Stretch, Wanted, gather, scatter},
};
use cupric_core::{DType, Result};
use cupric_ir::{Component, MatMul, Operand};
use std::ffi::c_void;

/// Runs a product; `addresses` are the bases of left, right and output.
pub(crate) fn matmul(op: &MatMul, addresses: &[u64], threads: &Threads) -> Result<()> {
    if op.batch.contains(&0) || op.rows == 0 || op.columns == 0 {
        return Ok(());
    }
    let plan = Plan::new(op, addresses);
    let one = |part: Part<'_>| plan.one(part, threads);
    (0..plan.batch.len).for_each(|index| one(plan.part(index)));
    Ok(())
}

/// A matrix of an operand.
#[derive(Clone, Copy)]
struct View {
    field: Field,
    shape: [usize; 2],
    strides: [isize; 2],
}

struct Part<'a> {
    left: View,
    right: View,
    output: View,
    op: &'a MatMul,
}

struct Plan<'a> {
    op: &'a MatMul,
    // Operands: left, right, output.
    batch: Space,
    views: [View; 3],
}

impl<'a> Plan<'a> {
    fn new(op: &'a MatMul, addresses: &[u64]) -> Plan<'a> {
        let split = op.batch.len();
        let outer = [&op.left, &op.right, &op.output].map(|operand| &operand.layout.strides[..split]);
        let view = |operand: &Operand, base: u64, rows: usize, columns: usize| View {
            field: Field::new(operand, base),
            shape: [rows, columns],
            strides: [operand.layout.strides[split], operand.layout.strides[split + 1]],
        };
        let views = [
            view(&op.left, addresses[0], op.rows, op.inner),
            view(&op.right, addresses[1], op.inner, op.columns),
            view(&op.output, addresses[2], op.rows, op.columns),
        ];
        Plan { op, batch: Space::new(&op.batch, &outer), views }
    }

    fn part(&self, index: usize) -> Part<'a> {
        let [left, right, output] = [0, 1, 2].map(|operand| {
            let view = self.views[operand];
            View { field: view.field.moved(self.batch.offset(operand, index)), ..view }
        });
        Part { left, right, output, op: self.op }
    }

    fn one(&self, part: Part<'_>, threads: &Threads) {
        let blas = || Blas::here().filter(|_| part.op.inner > 0);
        match part.left.field.dtype {
            DType::Float32 | DType::Float16 | DType::BFloat16 => {
                part.library(blas().map(|blas| blas.single), [1.0_f32, 0.0], threads);
            }
            DType::Float64 => part.library(blas().map(|blas| blas.double), [1.0_f64, 0.0], threads),
            DType::Complex64 => {
                let numbers = [[1.0_f32, 0.0], [0.0, 0.0]];
                let numbers = numbers.each_ref().map(|number| std::ptr::from_ref(number).cast::<c_void>());
                part.library_of::<Complex<f32>, _>(blas().map(|blas| blas.single_complex), numbers, threads);
            }
            DType::Complex128 => {
                let numbers = [[1.0_f64, 0.0], [0.0, 0.0]];
                let numbers = numbers.each_ref().map(|number| std::ptr::from_ref(number).cast::<c_void>());
                part.library_of::<Complex<f64>, _>(blas().map(|blas| blas.double_complex), numbers, threads);
            }
            DType::Bool => part.own::<Truth>(threads),
            // Wrapping arithmetic does not know signs.
            dtype => match dtype.size() {
                1 => part.own::<u8>(threads),
                2 => part.own::<u16>(threads),
                4 => part.own::<u32>(threads),
                _ => part.own::<u64>(threads),
            },
        }
    }
}

impl Part<'_> {
    fn library<T: Ring>(&self, product: Option<Product<T>>, numbers: [T; 2], threads: &Threads) {
        self.library_of::<T, T>(product, numbers, threads);
    }

    /// By the library, on matrices of `T`, or by own loops where there is none.
    fn library_of<T: Ring, S: Copy>(&self, product: Option<Product<S>>, numbers: [S; 2], threads: &Threads) {
        let Some(product) = product else { return self.own::<T>(threads) };
        let sizes = [self.op.rows, self.op.columns, self.op.inner];
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let matrices = [self.left.matrix::<T>(&mut left), self.right.matrix::<T>(&mut right)];
        let place = self.output.target::<T>();
        let mut packed = vec![T::default(); if place.is_some() { 0 } else { self.op.rows * self.op.columns }];
        let (output, leading) = place.unwrap_or((packed.as_mut_ptr(), self.op.columns));
        // SAFETY: the views are as large as the sizes tell, by the operation's caller or by packing.
        if !unsafe { product.run(sizes, matrices, numbers, output.cast(), leading) } {
            return self.own::<T>(threads);
        }
        if place.is_none() {
            self.output.unpack(&packed);
        }
    }

    fn own<T: Ring>(&self, threads: &Threads) {
        let mut output = vec![T::default(); self.op.rows * self.op.columns];
        let sizes = [self.op.rows, self.op.columns, self.op.inner];
        multiply(sizes, &self.left.pack::<T>(), &self.right.pack::<T>(), &mut output, threads);
        self.output.unpack(&output);
    }
}

impl View {
    /// As a matrix for the library, packed if it has to be.
    fn matrix<T: Ring>(&self, packed: &mut Vec<T>) -> Matrix {
        if let Some(matrix) = self.plain::<T>() {
            return matrix;
        }
        *packed = self.pack();
        Matrix { address: packed.as_ptr().cast(), leading: self.shape[1].max(1), order: Order::Rows }
    }

    /// As it lies, if one axis is packed and the other far enough from it.
    fn plain<T>(&self) -> Option<Matrix> {
        let size = size_of::<T>() as isize;
        let aligned = self.field.address.is_multiple_of(align_of::<T>()) && self.field.dtype.size() == size_of::<T>();
        let address = std::ptr::with_exposed_provenance(self.field.address);
        let fits = |outer: usize, inner: usize| {
            let (stride, length) = (self.strides[outer], self.shape[inner].max(1));
            let single = self.shape[outer] == 1;
            let packed = self.strides[inner] == size || self.shape[inner] <= 1;
            let apart = single || stride >= length as isize * size && stride % size == 0;
            (aligned && packed && apart).then(|| if single { length } else { (stride / size) as usize })
        };
        let rows = fits(0, 1).map(|leading| Matrix { address, leading, order: Order::Rows });
        rows.or_else(|| fits(1, 0).map(|leading| Matrix { address, leading, order: Order::Columns }))
    }

    /// Where results may be written directly.
    fn target<T>(&self) -> Option<(*mut T, usize)> {
        let matrix = self.plain::<T>().filter(|matrix| matrix.order == Order::Rows)?;
        Some((std::ptr::with_exposed_provenance_mut(self.field.address), matrix.leading))
    }

    /// The elements in row-major order, halves widened.
    fn pack<T: Ring>(&self) -> Vec<T> {
        let mut packed = vec![T::default(); self.shape[0] * self.shape[1]];
        let space = Space::new(&self.shape, &[&self.strides]);
        let mut scratch = Scratch::new(2 * TILE * 16);
        let base = scratch.base();
        for start in (0..space.len).step_by(TILE) {
            let n = TILE.min(space.len - start);
            let out: *mut T = packed[start..].as_mut_ptr();
            if self.field.dtype.is_complex() {
                space.runs(0, start, n, |offset, count, done| {
                    let from = std::ptr::with_exposed_provenance(self.field.address.wrapping_add_signed(offset));
                    // SAFETY: the operation's caller vouches for the elements; the vector has room for them.
                    unsafe { gather(size_of::<T>(), out.add(done).cast(), from, space.step(0), count) };
                });
            } else {
                let at = Stretch { space: &space, operand: 0, start, n };
                // SAFETY: as above; registers of the dtype are what `T` is.
                unsafe {
                    let registers = self.field.load(Wanted::One(Component::Real), at, base, base.add(TILE * 16));
                    std::ptr::copy_nonoverlapping(registers.cast::<T>(), out, n);
                }
            }
        }
        packed
    }

    /// Stores elements that are in row-major order, halves rounded.
    fn unpack<T: Ring>(&self, packed: &[T]) {
        let space = Space::new(&self.shape, &[&self.strides]);
        let mut scratch = Scratch::new(TILE * 16);
        for start in (0..space.len).step_by(TILE) {
            let n = TILE.min(space.len - start);
            let from: *const T = packed[start..].as_ptr();
            if self.field.dtype.is_complex() {
                space.runs(0, start, n, |offset, count, done| {
                    let to = std::ptr::with_exposed_provenance_mut(self.field.address.wrapping_add_signed(offset));
                    // SAFETY: the operation's caller vouches for the elements.
                    unsafe { scatter(size_of::<T>(), to, space.step(0), from.add(done).cast(), count) };
                });
            } else {
                let at = Stretch { space: &space, operand: 0, start, n };
                // SAFETY: as above; registers of the dtype are what `T` is.
                unsafe { self.field.store(Component::Real, at, from.cast(), None, scratch.base()) };
            }
        }
    }
}

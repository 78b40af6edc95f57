//! Own loops for matrix products: panels of both sides, sums kept in registers.

use crate::{
    level::{Kernel, best},
    threads::Threads,
};
use std::{marker::PhantomData, ops::Range};

/// What can be multiplied and summed.
pub(crate) trait Ring: Copy + Default + Send + Sync {
    /// `self + a * b`, rounded after each step.
    fn add_product(self, a: Self, b: Self) -> Self;
}

macro_rules! wrapping {
    ($($T:ty)*) => {$(
        impl Ring for $T {
            #[inline(always)]
            fn add_product(self, a: $T, b: $T) -> $T { self.wrapping_add(a.wrapping_mul(b)) }
        }
    )*};
}

macro_rules! rounding {
    ($($T:ty)*) => {$(
        impl Ring for $T {
            #[inline(always)]
            fn add_product(self, a: $T, b: $T) -> $T { self + a * b }
        }

        impl Ring for Complex<$T> {
            #[inline(always)]
            fn add_product(self, a: Self, b: Self) -> Self {
                Complex { re: self.re + (a.re * b.re - a.im * b.im), im: self.im + (a.re * b.im + a.im * b.re) }
            }
        }
    )*};
}

wrapping!(u8 u16 u32 u64);
rounding!(f32 f64);

/// A complex number as it lies in memory.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Complex<T> {
    re: T,
    im: T,
}

/// A truth value: sums are "or", products "and".
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub(crate) struct Truth(u8);

impl Ring for Truth {
    #[inline(always)]
    fn add_product(self, a: Truth, b: Truth) -> Truth {
        Truth(self.0 | a.0 & b.0)
    }
}

// A block of sums: so many rows and columns stay in vector registers.
const ROWS: usize = 4;
const COLUMNS: usize = 32;

/// `output = left @ right`, all packed in row-major order; sizes are rows, columns, inner.
pub(crate) fn multiply<T: Ring>(
    [rows, columns, inner]: [usize; 3],
    left: &[T],
    right: &[T],
    output: &mut [T],
    threads: &Threads,
) {
    let panels: Vec<T> = (0..columns.div_ceil(COLUMNS)).flat_map(|panel| columns_of(right, columns, panel)).collect();
    let blocks = rows.div_ceil(ROWS);
    let out = output.as_mut_ptr().expose_provenance();
    threads.share(blocks, rows.saturating_mul(columns).saturating_mul(inner) / 8, |range: Range<usize>| {
        let mut rows_panel = vec![T::default(); ROWS * inner];
        for block in range {
            let first = block * ROWS;
            let count = ROWS.min(rows - first);
            rows_of(&left[first * inner..(first + count) * inner], inner, &mut rows_panel);
            for (panel, right) in panels.chunks(COLUMNS * inner.max(1)).enumerate() {
                let sums = block_of(&rows_panel, right, inner);
                let width = COLUMNS.min(columns - panel * COLUMNS);
                for (row, sums) in sums.iter().enumerate().take(count) {
                    let to = std::ptr::with_exposed_provenance_mut::<T>(out);
                    // SAFETY: these rows belong to this task, and the columns are in bounds.
                    unsafe {
                        let to = to.add((first + row) * columns + panel * COLUMNS);
                        std::ptr::copy_nonoverlapping(sums.as_ptr(), to, width);
                    }
                }
            }
        }
    });
}

/// Columns of a panel, one row of it after the other, missing ones zero.
fn columns_of<T: Ring>(right: &[T], columns: usize, panel: usize) -> impl Iterator<Item = T> + '_ {
    let first = panel * COLUMNS;
    let at = move |row: &[T], column: usize| row.get(first + column).copied().unwrap_or_default();
    right.chunks(columns).flat_map(move |row| (0..COLUMNS).map(move |column| at(row, column)).collect::<Vec<_>>())
}

fn rows_of<T: Ring>(left: &[T], inner: usize, panel: &mut [T]) {
    for (row, elements) in left.chunks(inner.max(1)).enumerate() {
        for (k, &element) in elements.iter().enumerate() {
            panel[k * ROWS + row] = element;
        }
    }
}

type Sums<T> = [[T; COLUMNS]; ROWS];

fn block_of<T: Ring>(left: &[T], right: &[T], inner: usize) -> Sums<T> {
    let mut sums: Sums<T> = [[T::default(); COLUMNS]; ROWS];
    let (left, right) = (left.as_ptr().cast(), right.as_ptr().cast());
    // SAFETY: both panels have `inner` rows.
    unsafe { best::<Block<T>>()(sums.as_mut_ptr().cast(), left, right, right, inner) };
    sums
}

struct Block<T>(PhantomData<T>);

impl<T: Ring> Kernel for Block<T> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, left: *const u8, right: *const u8, _: *const u8, n: usize) {
        let (left, right) = (left.cast::<[T; ROWS]>(), right.cast::<[T; COLUMNS]>());
        let mut sums: Sums<T> = [[T::default(); COLUMNS]; ROWS];
        for k in 0..n {
            // SAFETY: the caller has `n` rows of both panels.
            let (left, right) = unsafe { (&*left.add(k), &*right.add(k)) };
            for row in 0..ROWS {
                for column in 0..COLUMNS {
                    sums[row][column] = sums[row][column].add_product(left[row], right[column]);
                }
            }
        }
        // SAFETY: the caller has room for the sums.
        unsafe { out.cast::<Sums<T>>().write(sums) }
    }
}

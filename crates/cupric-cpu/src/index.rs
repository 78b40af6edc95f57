//! Taking and putting elements by index arrays.

use crate::{
    kernel::cast,
    scratch::Scratch,
    space::Space,
    threads::Threads,
    transfer::{Field, Stretch, Wanted, gather, scatter},
};
use cupric_core::{Error, Result};
use cupric_ir::{Bounds, Component, Gather, IndexOperand, Operand, Scatter, Ty};
use smallvec::SmallVec;
use std::sync::Mutex;

/// Takes elements; `addresses` are the bases of source, indices and output.
pub(crate) fn take(op: &Gather, addresses: &[u64], threads: &Threads) -> Result<()> {
    let output = addresses[addresses.len() - 1];
    let plan =
        Plan::new(&op.shape, &op.indices, op.bounds, [(&op.source, addresses[0]), (&op.output, output)], addresses);
    let tiles = plan.space.tiles();
    let failure = Failure::default();
    threads.share(tiles.count(), plan.space.len, |range| {
        let mut walker = Walker::new(&plan, tiles.width());
        for (start, n) in range.map(|tile| tiles.tile(tile)) {
            match walker.locate(start, n) {
                Ok(located) => walker.take(start, n, located),
                Err(error) => return failure.note(start, error),
            }
        }
    });
    failure.result()
}

/// Puts elements, the last of several for one place winning; `addresses` are the bases of source, indices and target.
pub(crate) fn put(op: &Scatter, addresses: &[u64]) -> Result<()> {
    let target = addresses[addresses.len() - 1];
    let plan =
        Plan::new(&op.shape, &op.indices, op.bounds, [(&op.source, addresses[0]), (&op.target, target)], addresses);
    let tiles = plan.space.tiles();
    let mut walker = Walker::new(&plan, tiles.width());
    // All indices are looked at first: a failed call changes nothing.
    for pass in [Pass::Check, Pass::Put] {
        if pass == Pass::Check && op.bounds != Bounds::Raise {
            continue;
        }
        for (start, n) in (0..tiles.count()).map(|tile| tiles.tile(tile)) {
            let located = walker.locate(start, n)?;
            if pass == Pass::Put {
                walker.put(start, n, located);
            }
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Check,
    Put,
}

/// The first failure in row-major order.
#[derive(Default)]
struct Failure(Mutex<Option<(usize, Error)>>);

impl Failure {
    fn note(&self, at: usize, error: Error) {
        let mut first = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if first.as_ref().is_none_or(|(earlier, _)| at < *earlier) {
            *first = Some((at, error));
        }
    }

    fn result(self) -> Result<()> {
        match self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }
}

struct Axis {
    field: Field,
    length: i64,
    stride: isize,
}

struct Plan {
    // Operands: where elements come from, where they go, the indices.
    space: Space,
    from: Field,
    to: Field,
    axes: SmallVec<[Axis; 3]>,
    bounds: Bounds,
}

const FROM: usize = 0;
const TO: usize = 1;
const INDICES: usize = 2;

impl Plan {
    fn new(
        shape: &[usize],
        indices: &[IndexOperand],
        bounds: Bounds,
        [from, to]: [(&Operand, u64); 2],
        addresses: &[u64],
    ) -> Plan {
        let operands = [from.0, to.0].into_iter().chain(indices.iter().map(|index| &index.operand));
        let strides: SmallVec<[&[isize]; 8]> = operands.map(|operand| &operand.layout.strides[..]).collect();
        let axis = |(index, &base): (&IndexOperand, &u64)| Axis {
            field: Field::new(&index.operand, base),
            length: index.length as i64,
            stride: index.stride,
        };
        Plan {
            space: Space::new(shape, &strides),
            from: Field::new(from.0, from.1),
            to: Field::new(to.0, to.1),
            axes: indices.iter().zip(&addresses[1..]).map(axis).collect(),
            bounds,
        }
    }
}

/// Where the indices of a tile lead.
#[derive(Clone, Copy)]
enum Located {
    /// All elements are moved by so many bytes.
    Together(isize),
    /// Each element by its own number, in the walker's offsets.
    Apart,
}

struct Walker<'a> {
    plan: &'a Plan,
    offsets: *mut isize,
    indices: *mut u8,
    raw: *mut u8,
    elements: *mut u8,
    _scratch: Scratch,
}

impl<'a> Walker<'a> {
    fn new(plan: &'a Plan, width: usize) -> Walker<'a> {
        let room = (width * 16).next_multiple_of(64);
        let mut scratch = Scratch::new(4 * room);
        let base = scratch.base();
        let part = |index: usize| base.wrapping_add(index * room);
        Walker { plan, offsets: part(0).cast(), indices: part(1), raw: part(2), elements: part(3), _scratch: scratch }
    }

    /// Checks the indices of a tile and adds up where they lead.
    fn locate(&mut self, start: usize, n: usize) -> Result<Located> {
        let space = &self.plan.space;
        let one_row = space.dims.len() == 1 || start % space.row() + n <= space.row();
        let fixed = |axis: usize| space.step(INDICES + axis) == 0;
        let together = one_row && (0..self.plan.axes.len()).all(fixed);
        let count = if together { 1 } else { n };
        // SAFETY: the buffer has room for a tile.
        let offsets = unsafe { std::slice::from_raw_parts_mut(self.offsets, count) };
        offsets.fill(0);
        for (index, axis) in self.plan.axes.iter().enumerate() {
            let at = Stretch { space, operand: INDICES + index, start, n: count };
            // SAFETY: the operation's caller vouches for its operands; the buffers have room for a tile.
            let indices = unsafe {
                let raw = axis.field.load(Wanted::One(Component::Real), at, self.raw, self.elements);
                cast(Ty::of(axis.field.dtype), Ty::I64)(self.indices, raw, raw, raw, count);
                std::slice::from_raw_parts(self.indices.cast::<i64>(), count)
            };
            match self.plan.bounds {
                Bounds::Raise => raise(axis, indices, offsets)?,
                Bounds::Wrap => add(axis, indices, offsets, |index| index.rem_euclid(axis.length)),
                Bounds::Clip => add(axis, indices, offsets, |index| index.clamp(0, axis.length - 1)),
            }
        }
        Ok(if together { Located::Together(offsets[0]) } else { Located::Apart })
    }

    fn take(&mut self, start: usize, n: usize, located: Located) {
        let (space, size) = (&self.plan.space, self.plan.to.dtype.size());
        space.runs(FROM, start, n, |offset, count, done| {
            let from = self.plan.from.address.wrapping_add_signed(offset);
            // SAFETY: the indices are in bounds, and the operation's caller vouches for its operands.
            unsafe { self.fetch(size, from, space.step(FROM), count, done, located) };
        });
        space.runs(TO, start, n, |offset, count, done| {
            let to = self.plan.to.address.wrapping_add_signed(offset);
            let to = std::ptr::with_exposed_provenance_mut(to);
            // SAFETY: the operation's caller vouches for its operands.
            unsafe { scatter(size, to, space.step(TO), self.elements.add(done * size), count) };
        });
    }

    unsafe fn fetch(&self, size: usize, from: usize, step: isize, count: usize, done: usize, located: Located) {
        // SAFETY: the caller vouches for the elements; the buffers have room for a tile.
        unsafe {
            let out = self.elements.add(done * size);
            let offsets = self.offsets.add(done).cast_const();
            match (located, size) {
                (Located::Together(by), _) => {
                    let from = std::ptr::with_exposed_provenance(from.wrapping_add_signed(by));
                    gather(size, out, from, step, count);
                }
                (Located::Apart, 1) => fetch_of::<u8>(out.cast(), from, step, offsets, count),
                (Located::Apart, 2) => fetch_of::<u16>(out.cast(), from, step, offsets, count),
                (Located::Apart, 4) => fetch_of::<u32>(out.cast(), from, step, offsets, count),
                (Located::Apart, 8) => fetch_of::<u64>(out.cast(), from, step, offsets, count),
                (Located::Apart, _) => fetch_of::<u128>(out.cast(), from, step, offsets, count),
            }
        }
    }

    fn put(&mut self, start: usize, n: usize, located: Located) {
        let (space, size) = (&self.plan.space, self.plan.to.dtype.size());
        space.runs(FROM, start, n, |offset, count, done| {
            let from = std::ptr::with_exposed_provenance(self.plan.from.address.wrapping_add_signed(offset));
            // SAFETY: the operation's caller vouches for its operands.
            unsafe { gather(size, self.elements.add(done * size), from, space.step(FROM), count) };
        });
        space.runs(TO, start, n, |offset, count, done| {
            let to = self.plan.to.address.wrapping_add_signed(offset);
            for i in 0..count {
                let by = match located {
                    Located::Together(by) => by,
                    // SAFETY: the offsets of this tile are there.
                    Located::Apart => unsafe { *self.offsets.add(done + i) },
                };
                let place = to.wrapping_add_signed(i as isize * space.step(TO) + by);
                let place = std::ptr::with_exposed_provenance_mut::<u8>(place);
                // SAFETY: the indices are in bounds, and the operation's caller vouches for its operands.
                unsafe { std::ptr::copy_nonoverlapping(self.elements.add((done + i) * size), place, size) };
            }
        });
    }
}

unsafe fn fetch_of<T: Copy>(out: *mut T, from: usize, step: isize, offsets: *const isize, n: usize) {
    for i in 0..n {
        // SAFETY: the caller vouches for the elements and the offsets.
        unsafe {
            let place = from.wrapping_add_signed(i as isize * step + *offsets.add(i));
            *out.add(i) = std::ptr::with_exposed_provenance::<T>(place).read_unaligned();
        }
    }
}

fn raise(axis: &Axis, indices: &[i64], offsets: &mut [isize]) -> Result<()> {
    let length = axis.length;
    let outside = |&index: &i64| index < -length || index >= length;
    if indices.iter().fold(false, |any, index| any | outside(index))
        && let Some(&index) = indices.iter().find(|index| outside(index))
    {
        return Err(Error::IndexOutOfBounds { index: index as isize, axis: 0, size: length as usize });
    }
    add(axis, indices, offsets, |index| if index < 0 { index + length } else { index });
    Ok(())
}

fn add(axis: &Axis, indices: &[i64], offsets: &mut [isize], place: impl Fn(i64) -> i64) {
    for (offset, &index) in offsets.iter_mut().zip(indices) {
        *offset += place(index) as isize * axis.stride;
    }
}

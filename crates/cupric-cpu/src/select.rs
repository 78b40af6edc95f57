//! Picking the elements (or positions) where a mask is true.

use crate::scratch::Scratch;
use crate::{
    space::Space,
    threads::Threads,
    transfer::{Field, Stretch, Wanted, gather, scatter},
};
use cupric_core::{Error, Result};
use cupric_ir::{Component, Select};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs a selection; `addresses` are the bases of the mask, of the source if there is one, and of the output.
pub(crate) fn select(select: &Select, addresses: &[u64], threads: &Threads) -> Result<()> {
    let mask = Field::new(&select.mask, addresses[0]);
    let source = select.source.as_ref().map(|source| Field::new(source, addresses[1]));
    let output = Field::new(&select.output, addresses[addresses.len() - 1]);
    let no_strides = [][..].into();
    let strides = select.source.as_ref().map_or(&no_strides, |source| &source.layout.strides);
    let operands = [&select.mask.layout.strides[..], &strides[..]];
    let space = Space::new(&select.shape, &operands[..1 + usize::from(source.is_some())]);
    let length = select.output.layout.shape[0];
    let plan = Plan { space, mask, source, output, length, step: select.output.layout.strides[0] };
    plan.run(threads)
}

struct Plan {
    // Operands: the mask, then the source.
    space: Space,
    mask: Field,
    source: Option<Field>,
    output: Field,
    length: usize,
    step: isize,
}

impl Plan {
    fn run(&self, threads: &Threads) -> Result<()> {
        let tiles = self.space.tiles();
        let counts: Vec<AtomicUsize> = (0..tiles.count()).map(|_| AtomicUsize::new(0)).collect();
        threads.share(tiles.count(), self.space.len, |range| {
            let mut picker = Picker::new(self, tiles.width());
            for tile in range {
                let (start, n) = tiles.tile(tile);
                counts[tile]
                    .store(picker.mask(start, n).iter().map(|&byte| usize::from(byte)).sum(), Ordering::Relaxed);
            }
        });
        let mut total = 0;
        let mut firsts = Vec::with_capacity(counts.len());
        for count in &counts {
            firsts.push(total);
            total += count.load(Ordering::Relaxed);
        }
        if total != self.length {
            let text = format!("the mask has {total} true elements and the output has room for {}", self.length);
            return Err(Error::Value(text));
        }
        threads.share(tiles.count(), self.space.len, |range| {
            let mut picker = Picker::new(self, tiles.width());
            for tile in range {
                let (start, n) = tiles.tile(tile);
                picker.pick(start, n, firsts[tile]);
            }
        });
        Ok(())
    }
}

struct Picker<'a> {
    plan: &'a Plan,
    mask: *mut u8,
    elements: *mut u8,
    picked: *mut u8,
    _scratch: Scratch,
}

impl<'a> Picker<'a> {
    fn new(plan: &'a Plan, width: usize) -> Picker<'a> {
        let room = (width * 16).next_multiple_of(64);
        let mut scratch = Scratch::new(3 * room);
        let base = scratch.base();
        let part = |index: usize| base.wrapping_add(index * room);
        Picker { plan, mask: part(0), elements: part(1), picked: part(2), _scratch: scratch }
    }

    /// A tile of the mask, as zeros and ones.
    fn mask(&mut self, start: usize, n: usize) -> &[u8] {
        let at = Stretch { space: &self.plan.space, operand: 0, start, n };
        // SAFETY: the operation's caller vouches for its operands; the buffers have room for a tile.
        unsafe {
            let mask = self.plan.mask.load(Wanted::One(Component::Real), at, self.mask, self.picked);
            std::slice::from_raw_parts(mask, n)
        }
    }

    fn pick(&mut self, start: usize, n: usize, first: usize) {
        let plan = self.plan;
        self.mask(start, n);
        let size = plan.output.dtype.size();
        let count = match plan.source {
            None => {
                // SAFETY: mask and picked have room for a tile.
                unsafe { compress(self.mask, n, self.picked.cast::<i64>(), |i| (start + i) as i64) }
            }
            Some(source) => {
                plan.space.runs(1, start, n, |offset, count, done| {
                    let from = std::ptr::with_exposed_provenance(source.address.wrapping_add_signed(offset));
                    // SAFETY: the operation's caller vouches for its operands.
                    unsafe { gather(size, self.elements.add(done * size), from, plan.space.step(1), count) };
                });
                // SAFETY: mask, elements and picked have room for a tile.
                unsafe { self.compress_elements(size, n) }
            }
        };
        let to = plan.output.address.wrapping_add_signed(first as isize * plan.step);
        // SAFETY: as many elements of the output belong to this tile.
        unsafe { scatter(size, std::ptr::with_exposed_provenance_mut(to), plan.step, self.picked, count) };
    }

    unsafe fn compress_elements(&self, size: usize, n: usize) -> usize {
        // SAFETY: the caller has filled a tile of the mask and of the elements.
        unsafe {
            match size {
                1 => compress(self.mask, n, self.picked, |i| *self.elements.add(i)),
                2 => compress(self.mask, n, self.picked.cast(), |i| *self.elements.cast::<u16>().add(i)),
                4 => compress(self.mask, n, self.picked.cast(), |i| *self.elements.cast::<u32>().add(i)),
                8 => compress(self.mask, n, self.picked.cast(), |i| *self.elements.cast::<u64>().add(i)),
                _ => compress(self.mask, n, self.picked.cast(), |i| *self.elements.cast::<u128>().add(i)),
            }
        }
    }
}

/// Writes the elements whose mask is 1 one after the other, without a branch; gives their number.
unsafe fn compress<T>(mask: *const u8, n: usize, out: *mut T, element: impl Fn(usize) -> T) -> usize {
    let mut count = 0;
    for i in 0..n {
        // SAFETY: there is room for `n` elements, and `count` is at most `i`.
        unsafe {
            out.add(count).write(element(i));
            count += usize::from(*mask.add(i));
        }
    }
    count
}

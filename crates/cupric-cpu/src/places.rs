//! Reductions that find the place of an extreme. Whatever the order of combining, the first place wins, so elements are taken in
//! the order of their places: most are only compared with the best so far.

use crate::{
    folder::{Combiner, States},
    kernel::by_type,
    level::{Kernel, Run, best, only},
    number::Extreme,
    reduce::{Finisher, Partials, Plan, Reader},
    space::Tiles,
    threads::Threads,
};
use cupric_ir::{CHUNK, CompiledFold, Ty};
use std::{marker::PhantomData, ops::Range};

/// The most elements of one result that a task takes.
const PIECE: usize = 64 * CHUNK;

/// The loops of a fold of places.
#[derive(Clone, Copy)]
pub(crate) struct Loops {
    /// Along elements; arguments are the elements, the place of the first, and the best place so far.
    along: Run,
    /// Across results; arguments are an element of each, the place of all of them, and the best places so far.
    across: Run,
}

/// The loops of a fold that finds the place of an extreme number.
#[expect(clippy::neg_cmp_op_on_partial_ord, clippy::nonminimal_bool, reason = "a NaN beats whatever stands before it")]
pub(crate) fn loops(fold: &CompiledFold) -> Option<Loops> {
    let &[ty, Ty::I64] = &fold.state[..] else { return None };
    match fold.fold.name {
        "argmax" => Some(by_type!(ty, T => of(|a: T, b: T| a.larger(b), |a: T, b: T| !(a <= b)))),
        "argmin" => Some(by_type!(ty, T => of(|a: T, b: T| a.smaller(b), |a: T, b: T| !(a >= b)))),
        _ => None,
    }
}

fn of<T: Extreme>(extreme: impl Fn(T, T) -> T + Copy, beats: impl Fn(T, T) -> bool + Copy) -> Loops {
    fn loops<F: Fn(T, T) -> T + Copy, B: Fn(T, T) -> bool + Copy, T: Extreme>(_: F, _: B) -> Loops {
        Loops { along: best::<Along<F, B, T>>(), across: best::<Across<B, T>>() }
    }
    loops(extreme, beats)
}

struct Along<F, B, T>(PhantomData<(F, B, T)>);

impl<F: Fn(T, T) -> T + Copy, B: Fn(T, T) -> bool + Copy, T: Extreme> Kernel for Along<F, B, T> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, values: *const u8, first: *const u8, place: *const u8, n: usize) {
        const BLOCK: usize = 256;
        let (extreme, beats) = (only::<F>(), only::<B>());
        // SAFETY: the caller has `n` elements, a place, and the best so far.
        let (values, first, best, place) = unsafe {
            let values = std::slice::from_raw_parts(values.cast::<T>(), n);
            (values, *first.cast::<i64>(), &mut *out.cast::<T>(), &mut *place.cast_mut().cast::<i64>())
        };
        if best.is_nan() {
            return;
        }
        for (index, block) in values.chunks(BLOCK).enumerate() {
            let bar = *best;
            if !block.iter().fold(false, |any, &value| any | beats(value, bar)) {
                continue;
            }
            let mut lanes = [block[0]; 64];
            let rows = block.chunks_exact(64);
            let rest = rows.remainder();
            for row in rows {
                let before = lanes;
                (0..64).for_each(|lane| lanes[lane] = extreme(before[lane], row[lane]));
            }
            *best = lanes.iter().chain(rest).fold(block[0], |best, &value| extreme(best, value));
            // A NaN beats itself; of others, the first that is as good.
            let found =
                block.iter().position(|&value| if best.is_nan() { value.is_nan() } else { !beats(*best, value) });
            *place = first + (index * BLOCK + found.unwrap_or(0)) as i64;
            if best.is_nan() {
                return;
            }
        }
    }
}

struct Across<B, T>(PhantomData<(B, T)>);

impl<B: Fn(T, T) -> bool + Copy, T: Extreme> Kernel for Across<B, T> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, values: *const u8, at: *const u8, places: *const u8, n: usize) {
        const BLOCK: usize = 32;
        let beats = only::<B>();
        // SAFETY: the caller has `n` elements, a place, and the best of each result so far.
        let (values, at, bests, places) = unsafe {
            let bests = std::slice::from_raw_parts_mut(out.cast::<T>(), n);
            let places = std::slice::from_raw_parts_mut(places.cast_mut().cast::<i64>(), n);
            (std::slice::from_raw_parts(values.cast::<T>(), n), *at.cast::<i64>(), bests, places)
        };
        let blocks = values.chunks(BLOCK).zip(bests.chunks_mut(BLOCK)).zip(places.chunks_mut(BLOCK));
        for ((values, bests), places) in blocks {
            let any = values.iter().zip(&*bests).fold(false, |any, (&value, &best)| any | beats(value, best));
            if !any {
                continue;
            }
            for ((&value, best), place) in values.iter().zip(bests).zip(places) {
                let better = beats(value, *best) & !best.is_nan();
                (*best, *place) = if better { (value, at) } else { (*best, *place) };
            }
        }
    }
}

/// Finds the places along the elements of each result.
pub(crate) fn along(plan: &Plan<'_>, loops: Loops, threads: &Threads) {
    let (width, pieces) = (plan.kept.len, plan.reduced.len.div_ceil(PIECE));
    let found = Partials::new(plan.folder.types(), width * pieces);
    threads.share(width * pieces, plan.elements(), |range| {
        let mut reader = Reader::new(plan);
        for task in range {
            let (row, piece) = (task / pieces, task % pieces);
            let best = found.at(piece * width + row);
            let first = piece * PIECE;
            let end = plan.reduced.len.min(first + PIECE);
            for start in (first..end).step_by(CHUNK) {
                let n = CHUNK.min(end - start);
                let (values, place) = (reader.along(row, start, n)[0], start as i64);
                if start == first {
                    // SAFETY: there is an element; this task's result is its own.
                    unsafe { begin(plan, values, start, &best, 1) };
                }
                // SAFETY: the elements are `n` registers.
                unsafe { (loops.along)(best[0], values, std::ptr::from_ref(&place).cast(), best[1], n) };
            }
        }
    });
    finish(plan, &found, pieces, plan.kept.tiles(), threads);
}

/// Finds the places of many results side by side.
pub(crate) fn across(plan: &Plan<'_>, loops: Loops, threads: &Threads) {
    let tiles = plan.kept.tiles();
    // So many rows that all threads have some.
    let size = (plan.reduced.len * tiles.count()).div_ceil(4 * threads.count()).clamp(CHUNK / 8, PIECE);
    let (width, pieces) = (plan.kept.len, plan.reduced.len.div_ceil(size));
    let found = Partials::new(plan.folder.types(), width * pieces);
    threads.share(tiles.count() * pieces, plan.elements(), |range| {
        let mut reader = Reader::new(plan);
        for task in range {
            let ((start, n), piece) = (tiles.tile(task / pieces), task % pieces);
            let best = found.at(piece * width + start);
            let first = piece * size;
            // SAFETY: the elements are `n` registers; this task's results are its own.
            unsafe { begin(plan, reader.across(first, start, n)[0], first, &best, n) };
            for row in first + 1..plan.reduced.len.min(first + size) {
                let (values, place) = (reader.across(row, start, n)[0], row as i64);
                // SAFETY: as above.
                unsafe { (loops.across)(best[0], values, std::ptr::from_ref(&place).cast(), best[1], n) };
            }
        }
    });
    finish(plan, &found, pieces, tiles, threads);
}

/// Takes elements at one place as the best so far.
unsafe fn begin(plan: &Plan<'_>, values: *const u8, place: usize, best: &States, n: usize) {
    let size = plan.folder.types()[0].size();
    // SAFETY: the caller has `n` elements, and room for as many results.
    unsafe {
        std::ptr::copy_nonoverlapping(values, best[0], n * size);
        std::slice::from_raw_parts_mut(best[1].cast::<i64>(), n).fill(place as i64);
    }
}

/// Combines the results of pieces, and stores what becomes of them.
fn finish(plan: &Plan<'_>, found: &Partials, pieces: usize, tiles: Tiles, threads: &Threads) {
    let width = plan.kept.len;
    threads.share(tiles.count(), width * pieces, |range: Range<usize>| {
        let (mut finisher, mut combiner) = (Finisher::new(plan), Combiner::new(plan.folder));
        let states = States::from(&finisher.states[..]);
        for (start, n) in range.map(|tile| tiles.tile(tile)) {
            let first = found.at(start);
            for piece in 1..pieces {
                // SAFETY: each piece has its results, which nobody else needs any more; a tile fits into the finisher.
                unsafe {
                    combiner.combine(&first, &found.at(piece * width + start), &states, n);
                    combiner.copy(&states, &first, n);
                }
            }
            finisher.finish(&first, start, n);
        }
    });
}

//! Many short rows, sorted side by side.

use crate::{
    key::{Form, Key},
    network::{LONGEST, WIDTH, from_keys, sort as sort_lanes, to_keys},
    scratch::Scratch,
    sort::Plan,
    threads::Threads,
};
use cupric_ir::Sorted;
use smallvec::SmallVec;

/// The most rows that are sorted at once.
const MOST: usize = WIDTH;

/// How many rows are sorted at once.
fn lanes(plan: &Plan) -> usize {
    match plan.answer {
        Sorted::Values => WIDTH / plan.input.dtype.size(),
        Sorted::Positions => WIDTH / 8,
    }
}

/// Whether there are enough rows, of elements that have a key to compare.
pub(crate) fn suits(plan: &Plan) -> bool {
    let dtype = plan.input.dtype;
    let keys = !dtype.is_complex() && (plan.answer == Sorted::Values || dtype.size() < 8);
    keys && (2..=LONGEST).contains(&plan.length) && 2 * plan.rows.len >= lanes(plan)
}

/// Sorts all rows.
pub(crate) fn sort(plan: &Plan, threads: &Threads) {
    let lanes = lanes(plan);
    let groups = plan.rows.len.div_ceil(lanes);
    threads.share(groups, plan.rows.len * plan.length, |range| {
        let mut scratch = Scratch::new(plan.length * WIDTH);
        let base = scratch.base();
        for first in range.map(|group| group * lanes) {
            let ends: SmallVec<[_; MOST]> =
                (first..plan.rows.len.min(first + lanes)).map(|row| plan.ends(row)).collect();
            match (plan.answer, plan.input.dtype.size()) {
                (Sorted::Values, 1) => values(plan, base.cast::<u8>(), &ends),
                (Sorted::Values, 2) => values(plan, base.cast::<u16>(), &ends),
                (Sorted::Values, 4) => values(plan, base.cast::<u32>(), &ends),
                (Sorted::Values, _) => values(plan, base.cast::<u64>(), &ends),
                (Sorted::Positions, 1) => positions::<u8>(plan, base.cast(), &ends),
                (Sorted::Positions, 2) => positions::<u16>(plan, base.cast(), &ends),
                (Sorted::Positions, _) => positions::<u32>(plan, base.cast(), &ends),
            }
        }
    });
}

/// Where rows of the input and of the output begin.
type Ends = [(*const u8, *mut u8)];

fn values<K: Key>(plan: &Plan, room: *mut K, ends: &Ends) {
    let (form, n, lanes) = (Form::of(plan.input.dtype), plan.length, WIDTH / size_of::<K>());
    // SAFETY: the room has as many lanes for each element.
    let rows = unsafe { std::slice::from_raw_parts_mut(room, n * lanes) };
    for (at, row) in rows.chunks_exact_mut(lanes).enumerate() {
        let offset = at as isize * plan.steps[0];
        for (lane, &(from, _)) in row.iter_mut().zip(ends) {
            // SAFETY: the operation's caller vouches for the row.
            *lane = unsafe { from.offset(offset).cast::<K>().read_unaligned() };
        }
        row[ends.len()..].fill(K::default());
    }
    let forgotten = to_keys(rows, form);
    // SAFETY: there are `n` rows of lanes.
    unsafe { sort_lanes(room, n) };
    from_keys(rows, form);
    if forgotten {
        ends.iter().enumerate().for_each(|(lane, &(from, _))| remember(plan, form, from, &mut rows[lane..]));
    }
    for (at, row) in rows.chunks_exact(lanes).enumerate() {
        let offset = at as isize * plan.steps[1];
        for (&lane, &(_, to)) in row.iter().zip(ends) {
            // SAFETY: the operation's caller vouches for the row.
            unsafe { to.offset(offset).cast::<K>().write_unaligned(lane) };
        }
    }
}

/// Keys forget the sign of zero and what a NaN holds: those of a row are put back into its sorted lane, in their order.
fn remember<K: Key>(plan: &Plan, form: Form, from: *const u8, lane: &mut [K]) {
    let (n, lanes, zero) = (plan.length, WIDTH / size_of::<K>(), K::default().key(form));
    // SAFETY: the operation's caller vouches for the row.
    let element = |at: usize| unsafe { from.offset(at as isize * plan.steps[0]).cast::<K>().read_unaligned() };
    let below = (0..n).filter(|&at| element(at).key(form) < zero).count();
    let nans = (0..n).filter(|&at| element(at).key(form) == K::LAST).count();
    let (mut next_zero, mut next_nan) = (below, n - nans);
    for bits in (0..n).map(element) {
        let next = match bits.key(form) {
            key if key == zero => &mut next_zero,
            key if key == K::LAST => &mut next_nan,
            _ => continue,
        };
        lane[*next * lanes] = bits;
        *next += 1;
    }
}

fn positions<K: Key>(plan: &Plan, room: *mut u64, ends: &Ends) {
    let (form, n, lanes) = (Form::of(plan.input.dtype), plan.length, WIDTH / 8);
    // SAFETY: the room has as many lanes for each element.
    let rows = unsafe { std::slice::from_raw_parts_mut(room, n * lanes) };
    for (at, row) in rows.chunks_exact_mut(lanes).enumerate() {
        let offset = at as isize * plan.steps[0];
        for (lane, &(from, _)) in row.iter_mut().zip(ends) {
            // SAFETY: the operation's caller vouches for the row.
            let bits = unsafe { from.offset(offset).cast::<K>().read_unaligned() };
            // With the position in it no two keys are equal, so any sort is stable.
            *lane = bits.key(form).wide() << 32 | at as u64;
        }
        row[ends.len()..].fill(0);
    }
    // SAFETY: there are `n` rows of lanes.
    unsafe { sort_lanes(room, n) };
    for (at, row) in rows.chunks_exact(lanes).enumerate() {
        let offset = at as isize * plan.steps[1];
        for (&lane, &(_, to)) in row.iter().zip(ends) {
            // SAFETY: the operation's caller vouches for the row.
            unsafe { to.offset(offset).cast::<i64>().write_unaligned((lane & 0xffff_ffff) as i64) };
        }
    }
}

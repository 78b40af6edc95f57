//! The loops of common folds: a chunk at once, in the order that is written down.

use crate::{
    kernel::by_type,
    level::{Kernel, Run, best, only},
    number::Extreme,
};
use cupric_ir::{CompiledFold, LANES, Node, Prim, Ty};
use std::marker::PhantomData;

/// The loop that folds a chunk, for a fold that is one primitive.
pub(crate) fn chunk_loop(fold: &CompiledFold) -> Option<Run> {
    let (prim, ty) = primitive(fold)?;
    Some(match (prim, ty) {
        (Prim::Add, Ty::F32) => folding(|a: f32, b: f32| a + b),
        (Prim::Add, Ty::F64) => folding(|a: f64, b: f64| a + b),
        (Prim::Add, Ty::I64 | Ty::U64) => folding(|a: u64, b: u64| a.wrapping_add(b)),
        (Prim::Mul, Ty::F32) => folding(|a: f32, b: f32| a * b),
        (Prim::Mul, Ty::F64) => folding(|a: f64, b: f64| a * b),
        (Prim::Mul, Ty::I64 | Ty::U64) => folding(|a: u64, b: u64| a.wrapping_mul(b)),
        (Prim::Max, _) => by_type!(ty, T => folding(|a: T, b: T| a.larger(b))),
        (Prim::Min, _) => by_type!(ty, T => folding(|a: T, b: T| a.smaller(b))),
        (Prim::And, Ty::Bool) => folding(|a: u8, b: u8| a & b),
        (Prim::Or, Ty::Bool) => folding(|a: u8, b: u8| a | b),
        _ => return None,
    })
}

/// The loop that scans a chunk, for a sum or a product.
pub(crate) fn scan_loop(fold: &CompiledFold) -> Option<Run> {
    Some(match primitive(fold)? {
        (Prim::Add, Ty::F32) => scanning(|a: f32, b: f32| a + b),
        (Prim::Add, Ty::F64) => scanning(|a: f64, b: f64| a + b),
        (Prim::Add, Ty::I64 | Ty::U64) => scanning(|a: u64, b: u64| a.wrapping_add(b)),
        (Prim::Mul, Ty::F32) => scanning(|a: f32, b: f32| a * b),
        (Prim::Mul, Ty::F64) => scanning(|a: f64, b: f64| a * b),
        (Prim::Mul, Ty::I64 | Ty::U64) => scanning(|a: u64, b: u64| a.wrapping_mul(b)),
        _ => return None,
    })
}

fn primitive(fold: &CompiledFold) -> Option<(Prim, Ty)> {
    let [root] = fold.combined[..] else { return None };
    match fold.combine.nodes()[root as usize] {
        (Node::Op { prim, .. }, ty) => Some((prim, ty)),
        _ => None,
    }
}

/// The loop that finds the place of an extreme. Any order gives the first place, so this one looks for the extreme before
/// it looks for the place.
pub(crate) fn place_loop(fold: &CompiledFold) -> Option<Run> {
    let &[ty, Ty::I64] = &fold.state[..] else { return None };
    match fold.fold.name {
        "argmax" => Some(by_type!(ty, T => placing(|a: T, b: T| a.larger(b)))),
        "argmin" => Some(by_type!(ty, T => placing(|a: T, b: T| a.smaller(b)))),
        _ => None,
    }
}

/// `next[i] = body(left[i], right[i])`: three arrays, since in place the compiler makes masked stores, which are slow.
#[inline(always)]
fn pairs<T: Copy>(body: impl Fn(T, T) -> T, left: &[T], right: &[T], next: &mut [T]) {
    for ((next, &left), &right) in next.iter_mut().zip(left).zip(right) {
        *next = body(left, right);
    }
}

struct Chunk<F, T>(PhantomData<(F, T)>);

impl<F: Fn(T, T) -> T + Copy, T: Copy> Kernel for Chunk<F, T> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, a: *const u8, _: *const u8, _: *const u8, n: usize) {
        let body = only::<F>();
        // SAFETY: the caller has `n` elements.
        let elements = unsafe { std::slice::from_raw_parts(a.cast::<T>(), n) };
        let count = n.min(LANES);
        let (mut lanes, mut next) = ([elements[0]; LANES], [elements[0]; LANES]);
        lanes[..count].copy_from_slice(&elements[..count]);
        let rows = elements[count..].chunks_exact(LANES);
        let rest = rows.remainder();
        for row in rows {
            pairs(body, &lanes, row, &mut next);
            lanes = next;
        }
        pairs(body, &lanes[..rest.len()], rest, &mut next);
        lanes[..rest.len()].copy_from_slice(&next[..rest.len()]);
        let mut half = LANES / 2;
        while half > 0 {
            let both = count.saturating_sub(half).min(half);
            pairs(body, &lanes[..both], &lanes[half..half + both], &mut next);
            lanes[..both].copy_from_slice(&next[..both]);
            half /= 2;
        }
        // SAFETY: the caller has room for one element.
        unsafe { out.cast::<T>().write(lanes[0]) }
    }
}

fn folding<T: Copy>(body: impl Fn(T, T) -> T + Copy) -> Run {
    fn of<F: Fn(T, T) -> T + Copy, T: Copy>(_: F) -> Run {
        best::<Chunk<F, T>>()
    }
    of(body)
}

struct Place<F, T>(PhantomData<(F, T)>);

impl<F: Fn(T, T) -> T + Copy, T: Copy + PartialOrd> Kernel for Place<F, T> {
    /// Arguments are the values, their positions, and where the position goes.
    #[inline(always)]
    unsafe fn run(out: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize) {
        const BLOCK: usize = 64;
        let body = only::<F>();
        // SAFETY: the caller has `n` elements.
        let (values, positions) =
            unsafe { (std::slice::from_raw_parts(a.cast::<T>(), n), std::slice::from_raw_parts(b.cast::<i64>(), n)) };
        let (mut best, mut next) = ([values[0]; BLOCK], [values[0]; BLOCK]);
        let blocks = values.chunks_exact(BLOCK);
        let rest = blocks.remainder();
        for block in blocks {
            pairs(body, &best, block, &mut next);
            best = next;
        }
        let extreme = best.iter().chain(rest).fold(values[0], |best, &value| body(best, value));
        let is_nan = |value: T| value.partial_cmp(&value).is_none();
        let place = if is_nan(extreme) { first(values, is_nan) } else { first(values, |value| value == extreme) };
        // SAFETY: the caller has room for one element of both.
        unsafe {
            out.cast::<T>().write(values[place]);
            c.cast::<i64>().cast_mut().write(positions[place]);
        }
    }
}

/// The first place of a value that is wanted: whole blocks are asked first.
#[inline(always)]
fn first<T: Copy>(values: &[T], wanted: impl Fn(T) -> bool) -> usize {
    const BLOCK: usize = 64;
    let any = |block: &[T]| block.iter().fold(false, |any, &value| any | wanted(value));
    let block = values.chunks(BLOCK).position(any).unwrap_or(0) * BLOCK;
    block + values[block..].iter().position(|&value| wanted(value)).unwrap_or(0)
}

fn placing<T: Copy + PartialOrd>(body: impl Fn(T, T) -> T + Copy) -> Run {
    fn of<F: Fn(T, T) -> T + Copy, T: Copy + PartialOrd>(_: F) -> Run {
        best::<Place<F, T>>()
    }
    of(body)
}

const GROUP: usize = 4;
const GROUPS: usize = 32;
const SEGMENT: usize = GROUP * GROUPS;

struct Running<F, T>(PhantomData<(F, T)>);

impl<F: Fn(T, T) -> T + Copy, T: Copy> Kernel for Running<F, T> {
    /// Arguments are the elements, and what comes before the chunk if there is something.
    #[inline(always)]
    unsafe fn run(out: *mut u8, a: *const u8, carry: *const u8, _: *const u8, n: usize) {
        let body = only::<F>();
        // SAFETY: the caller has `n` elements, and room for as many.
        let (elements, out) = unsafe {
            (std::slice::from_raw_parts(a.cast::<T>(), n), std::slice::from_raw_parts_mut(out.cast::<T>(), n))
        };
        // SAFETY: the carry is one value, where there is one.
        let carry = unsafe { carry.cast::<T>().as_ref() }.copied();
        let mut before = None;
        for (elements, out) in elements.chunks(SEGMENT).zip(out.chunks_mut(SEGMENT)) {
            let mut segment = [elements[0]; SEGMENT];
            segment[..elements.len()].copy_from_slice(elements);
            let total = scan_segment(body, &mut segment, before);
            if let Some(carry) = carry {
                let plain = segment;
                pairs(body, &[carry; SEGMENT], &plain, &mut segment);
            }
            out.copy_from_slice(&segment[..out.len()]);
            before = Some(before.map_or(total, |before| body(before, total)));
        }
    }
}

/// Scans a segment that stands behind others; gives its total.
#[inline(always)]
fn scan_segment<T: Copy>(body: impl Fn(T, T) -> T + Copy, segment: &mut [T; SEGMENT], before: Option<T>) -> T {
    let mut places: [[T; GROUPS]; GROUP] =
        std::array::from_fn(|place| std::array::from_fn(|group| segment[group * GROUP + place]));
    for place in 1..GROUP {
        let (left, right) = (places[place - 1], places[place]);
        pairs(body, &left, &right, &mut places[place]);
    }
    let mut totals = places[GROUP - 1];
    let mut distance = 1;
    while distance < GROUPS {
        let now = totals;
        pairs(body, &now[..GROUPS - distance], &now[distance..], &mut totals[distance..]);
        distance *= 2;
    }
    // What comes before each group; the first group of all has nothing.
    let mut ahead = [totals[0]; GROUPS];
    ahead[1..].copy_from_slice(&totals[..GROUPS - 1]);
    if let Some(before) = before {
        let groups = ahead;
        pairs(body, &[before; GROUPS], &groups, &mut ahead);
        ahead[0] = before;
    }
    for place in &mut places {
        let own = *place;
        pairs(body, &ahead, &own, place);
        if before.is_none() {
            place[0] = own[0];
        }
    }
    for group in 0..GROUPS {
        for place in 0..GROUP {
            segment[group * GROUP + place] = places[place][group];
        }
    }
    totals[GROUPS - 1]
}

fn scanning<T: Copy>(body: impl Fn(T, T) -> T + Copy) -> Run {
    fn of<F: Fn(T, T) -> T + Copy, T: Copy>(_: F) -> Run {
        best::<Running<F, T>>()
    }
    of(body)
}

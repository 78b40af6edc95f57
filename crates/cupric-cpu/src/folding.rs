//! The loops of common folds: a chunk at once, in the order that is written down.

use crate::{
    kernel::{by_type, kernel},
    level::{Kernel, Run, best, only},
    number::Extreme,
};
use cupric_core::Result;
use cupric_ir::{CHUNK, CompiledFold, Id, LANES, Node, Prim, Ty};
use smallvec::SmallVec;
use std::marker::PhantomData;

/// The loops of a fold of one register by one primitive.
#[derive(Clone, Copy)]
pub(crate) struct Loops {
    pub(crate) prim: Prim,
    pub(crate) ty: Ty,
    /// Pairs of states.
    pub(crate) pair: Run,
    /// Up to a chunk of states to one, where there is a loop for it.
    pub(crate) chunk: Option<Run>,
    /// The elements of a lane, whole rows of them: arguments are where the rows' addresses are, and how many.
    pub(crate) column: Option<Run>,
    /// The running results of a chunk.
    pub(crate) scan: Option<Run>,
}

/// The loops of a fold whose registers do not mix, one for each register.
pub(crate) fn loops(fold: &CompiledFold) -> Result<Option<SmallVec<[Loops; 2]>>> {
    let Some(primitives) = primitives(fold) else { return Ok(None) };
    let of = |(prim, ty)| {
        let [chunk, column] = folding(prim, ty).map_or([None; 2], |both| both.map(Some));
        Ok(Loops { prim, ty, pair: kernel(prim, ty, ty)?, chunk, column, scan: scanning(prim, ty) })
    };
    primitives.into_iter().map(of).collect::<Result<_>>().map(Some)
}

/// The primitive that combines each register with its like.
fn primitives(fold: &CompiledFold) -> Option<SmallVec<[(Prim, Ty); 2]>> {
    let (nodes, states) = (fold.combine.nodes(), fold.state.len());
    let argument = |id: Id, index: usize| nodes[id as usize].0 == Node::Argument(index as u16);
    let one = |(state, &root): (usize, &Id)| match nodes[root as usize] {
        (Node::Op { prim, args }, ty)
            if prim.arity() == 2 && argument(args[0], state) && argument(args[1], state + states) =>
        {
            Some((prim, ty))
        }
        _ => None,
    };
    fold.combined.iter().enumerate().map(one).collect()
}

/// The loops that fold a chunk and a column.
fn folding(prim: Prim, ty: Ty) -> Option<[Run; 2]> {
    Some(match (prim, ty) {
        (Prim::Add, Ty::F32) => chunk_and_column(|a: f32, b: f32| a + b),
        (Prim::Add, Ty::F64) => chunk_and_column(|a: f64, b: f64| a + b),
        (Prim::Add, Ty::I64 | Ty::U64) => chunk_and_column(|a: u64, b: u64| a.wrapping_add(b)),
        (Prim::Mul, Ty::F32) => chunk_and_column(|a: f32, b: f32| a * b),
        (Prim::Mul, Ty::F64) => chunk_and_column(|a: f64, b: f64| a * b),
        (Prim::Mul, Ty::I64 | Ty::U64) => chunk_and_column(|a: u64, b: u64| a.wrapping_mul(b)),
        (Prim::Max, _) => by_type!(ty, T => chunk_and_column(|a: T, b: T| a.larger(b))),
        (Prim::Min, _) => by_type!(ty, T => chunk_and_column(|a: T, b: T| a.smaller(b))),
        (Prim::And, Ty::Bool) => chunk_and_column(|a: u8, b: u8| a & b),
        (Prim::Or, Ty::Bool) => chunk_and_column(|a: u8, b: u8| a | b),
        _ => return None,
    })
}

/// The loop that scans a chunk, for a sum or a product.
fn scanning(prim: Prim, ty: Ty) -> Option<Run> {
    Some(match (prim, ty) {
        (Prim::Add, Ty::F32) => running(|a: f32, b: f32| a + b),
        (Prim::Add, Ty::F64) => running(|a: f64, b: f64| a + b),
        (Prim::Add, Ty::I64 | Ty::U64) => running(|a: u64, b: u64| a.wrapping_add(b)),
        (Prim::Mul, Ty::F32) => running(|a: f32, b: f32| a * b),
        (Prim::Mul, Ty::F64) => running(|a: f64, b: f64| a * b),
        (Prim::Mul, Ty::I64 | Ty::U64) => running(|a: u64, b: u64| a.wrapping_mul(b)),
        _ => return None,
    })
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
        let result = match elements.first_chunk() {
            Some(chunk) if n == CHUNK => whole(body, chunk),
            _ => part(body, elements),
        };
        // SAFETY: the caller has room for one element.
        unsafe { out.cast::<T>().write(result) }
    }
}

/// A whole chunk: lane by lane, so that lanes stay in registers.
#[inline(always)]
fn whole<T: Copy>(body: impl Fn(T, T) -> T, chunk: &[T; CHUNK]) -> T {
    let mut lanes = [chunk[0]; LANES];
    for (at, lane) in lanes.iter_mut().enumerate() {
        *lane = (1..CHUNK / LANES).fold(chunk[at], |lane, row| body(lane, chunk[at + row * LANES]));
    }
    halve::<T, 64>(&body, &mut lanes);
    halve::<T, 32>(&body, &mut lanes);
    halve::<T, 16>(&body, &mut lanes);
    halve::<T, 8>(&body, &mut lanes);
    halve::<T, 4>(&body, &mut lanes);
    halve::<T, 2>(&body, &mut lanes);
    body(lanes[0], lanes[1])
}

#[inline(always)]
fn halve<T: Copy, const HALF: usize>(body: impl Fn(T, T) -> T, lanes: &mut [T; LANES]) {
    let before = *lanes;
    for at in 0..HALF {
        lanes[at] = body(before[at], before[at + HALF]);
    }
}

#[inline(always)]
fn part<T: Copy>(body: impl Fn(T, T) -> T + Copy, elements: &[T]) -> T {
    let count = elements.len().min(LANES);
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
    lanes[0]
}

struct Column<F, T>(PhantomData<(F, T)>);

impl<F: Fn(T, T) -> T + Copy, T: Copy> Kernel for Column<F, T> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, rows: *const u8, count: *const u8, _: *const u8, n: usize) {
        let (body, out) = (only::<F>(), out.cast::<T>());
        // SAFETY: the caller gives from 2 to 8 rows of `n` elements, and their number.
        unsafe {
            let rows = std::slice::from_raw_parts(rows.cast::<*const T>(), *count.cast::<usize>());
            match rows.len() {
                2 => column::<T, 2>(body, out, rows, n),
                3 => column::<T, 3>(body, out, rows, n),
                4 => column::<T, 4>(body, out, rows, n),
                5 => column::<T, 5>(body, out, rows, n),
                6 => column::<T, 6>(body, out, rows, n),
                7 => column::<T, 7>(body, out, rows, n),
                _ => column::<T, { CHUNK / LANES }>(body, out, rows, n),
            }
        }
    }
}

#[inline(always)]
unsafe fn column<T: Copy, const COUNT: usize>(body: impl Fn(T, T) -> T, out: *mut T, rows: &[*const T], n: usize) {
    let rows: [*const T; COUNT] = std::array::from_fn(|row| rows[row]);
    for at in 0..n {
        // SAFETY: the caller has `n` elements in each row, and room for as many.
        unsafe {
            let value = rows[1..].iter().fold(*rows[0].add(at), |value, row| body(value, *row.add(at)));
            out.add(at).write(value);
        }
    }
}

fn chunk_and_column<T: Copy>(body: impl Fn(T, T) -> T + Copy) -> [Run; 2] {
    fn of<F: Fn(T, T) -> T + Copy, T: Copy>(_: F) -> [Run; 2] {
        [best::<Chunk<F, T>>(), best::<Column<F, T>>()]
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

fn running<T: Copy>(body: impl Fn(T, T) -> T + Copy) -> Run {
    fn of<F: Fn(T, T) -> T + Copy, T: Copy>(_: F) -> Run {
        best::<Running<F, T>>()
    }
    of(body)
}

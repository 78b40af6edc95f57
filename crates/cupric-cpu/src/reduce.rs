//! Reductions, in the order that `cupric_ir::LANES` and `CHUNK` tell, whatever the layout and the threads.

use crate::{
    folder::{Combiner, Folder, States},
    program::{Machine, Position, Program},
    scratch::Scratch,
    space::{Space, TILE, Tiles},
    threads::Threads,
    transfer::{Field, Stretch, fill},
};
use cupric_core::{Error, Result};
use cupric_ir::{CHUNK, Component, Id, LANES, Reduce, Ty};
use smallvec::SmallVec;
use std::ops::Range;

/// Runs a reduction; `addresses` are the bases of what it reads and of what it writes.
pub(crate) fn reduce(reduce: &Reduce, addresses: &[u64], threads: &Threads) -> Result<()> {
    let element = Program::new(&reduce.graph, &reduce.parameters, &reduce.element)?;
    let value = reduce.finish.value;
    let results: SmallVec<[Id; 2]> = std::iter::once(value.real).chain(value.imaginary).collect();
    let finish = Program::new(&reduce.finish.graph, &reduce.finish.parameters, &results)?;
    let folder = Folder::new(&reduce.fold)?;
    let plan = Plan::new(reduce, &element, &finish, &folder, addresses);
    if plan.kept.len == 0 {
        return Ok(());
    }
    if plan.reduced.len == 0 {
        return plan.nothing();
    }
    if plan.is_across() {
        across(&plan, threads)
    } else {
        along(&plan, threads)
    }
    Ok(())
}

struct Plan<'a> {
    reduce: &'a Reduce,
    element: &'a Program,
    finish: &'a Program,
    folder: &'a Folder<'a>,
    // Both spaces' operands: the inputs; the output comes last in the kept one.
    kept: Space,
    reduced: Space,
    inputs: SmallVec<[Field; 4]>,
    output: Field,
}

impl<'a> Plan<'a> {
    fn new(
        reduce: &'a Reduce,
        element: &'a Program,
        finish: &'a Program,
        folder: &'a Folder<'a>,
        addresses: &[u64],
    ) -> Plan<'a> {
        let split = reduce.kept.len();
        let kept = reduce.inputs.iter().map(|input| &input.layout.strides[..split]);
        let kept: SmallVec<[&[isize]; 8]> = kept.chain(std::iter::once(&reduce.output.layout.strides[..])).collect();
        let reduced: SmallVec<[&[isize]; 8]> =
            reduce.inputs.iter().map(|input| &input.layout.strides[split..]).collect();
        Plan {
            reduce,
            element,
            finish,
            folder,
            kept: Space::reordered(&reduce.kept, &kept),
            reduced: Space::new(&reduce.reduced, &reduced),
            inputs: reduce.inputs.iter().zip(addresses).map(|(input, &base)| Field::new(input, base)).collect(),
            output: Field::new(&reduce.output, addresses[reduce.inputs.len()]),
        }
    }

    fn elements(&self) -> usize {
        self.kept.len * self.reduced.len
    }

    fn chunks(&self) -> usize {
        self.reduced.len.div_ceil(CHUNK)
    }

    /// Whether tiles lie across the results, and not along the elements of one.
    fn is_across(&self) -> bool {
        let steps = |input| (self.kept.step(input).unsigned_abs(), self.reduced.step(input).unsigned_abs());
        let nearer = || (0..self.inputs.len()).filter(|&input| steps(input).0 < steps(input).1).count();
        self.kept.len >= 16 && (self.reduced.len <= 32 || 2 * nearer() > self.inputs.len())
    }

    /// What no elements give.
    fn nothing(&self) -> Result<()> {
        let Some(identity) = &self.folder.fold.identity else {
            return Err(Error::ReductionOfEmpty { operation: self.folder.fold.fold.ufunc.into() });
        };
        let mut finisher = Finisher::new(self);
        let states = States::from(&finisher.states[..]);
        for ((&state, &ty), &bits) in states.iter().zip(self.folder.types()).zip(identity) {
            // SAFETY: the finisher's states have room for a tile.
            unsafe { fill(ty, state, bits, TILE) };
        }
        let tiles = self.kept.tiles();
        for (start, n) in (0..tiles.count()).map(|tile| tiles.tile(tile)) {
            finisher.finish(&states, start, n);
        }
        Ok(())
    }
}

/// Turns states into results.
struct Finisher<'a> {
    plan: &'a Plan<'a>,
    machine: Machine<'a>,
    // Room for a tile of states.
    states: States,
    _scratch: Scratch,
}

impl<'a> Finisher<'a> {
    fn new(plan: &'a Plan<'a>) -> Finisher<'a> {
        let count = plan.folder.types().len();
        let room = TILE * 8 + 64;
        let mut scratch = Scratch::new(count * room);
        let base = scratch.base();
        let states = (0..count).map(|state| base.wrapping_add(state * room)).collect();
        Finisher { plan, machine: Machine::new(plan.finish, TILE), states, _scratch: scratch }
    }

    /// Finishes and stores the results `start .. start + n`, whose states are given.
    fn finish(&mut self, states: &[*mut u8], start: usize, n: usize) {
        let arguments: SmallVec<[*const u8; 3]> = states.iter().map(|&state| state.cast_const()).collect();
        // SAFETY: the states are `n` registers each; a finish loads nothing.
        unsafe { self.machine.run(n, Position::At(0), &arguments, |_, _, buffer, _| buffer) };
        let at = Stretch { space: &self.plan.kept, operand: self.plan.inputs.len(), start, n };
        let value = self.plan.reduce.finish.value;
        let (output, spare) = (self.plan.output, self.machine.spare());
        // SAFETY: the operation's caller vouches for the output; the values are `n` registers.
        unsafe { output.store(Component::Real, at, self.machine.value(value.real), None, spare) };
        if let Some(imaginary) = value.imaginary {
            // SAFETY: as above.
            unsafe { output.store(Component::Imaginary, at, self.machine.value(imaginary), None, spare) };
        }
    }
}

/// States in memory that several threads write.
struct Partials {
    arrays: SmallVec<[Vec<u64>; 3]>,
    types: SmallVec<[Ty; 3]>,
}

impl Partials {
    fn new(types: &[Ty], len: usize) -> Partials {
        let arrays = types.iter().map(|ty| Vec::with_capacity((len * ty.size()).div_ceil(8))).collect();
        Partials { arrays, types: types.into() }
    }

    /// The states from `index` on. Threads write to places of their own.
    fn at(&self, index: usize) -> States {
        let address =
            |(array, ty): (&Vec<u64>, &Ty)| array.as_ptr().cast::<u8>().cast_mut().wrapping_add(index * ty.size());
        self.arrays.iter().zip(&self.types).map(address).collect()
    }
}

/// Runs the program of the elements.
struct Reader<'a> {
    plan: &'a Plan<'a>,
    machine: Machine<'a>,
}

impl<'a> Reader<'a> {
    fn new(plan: &'a Plan<'a>) -> Reader<'a> {
        Reader { plan, machine: Machine::new(plan.element, TILE) }
    }

    /// What elements `start .. start + n` of a space contribute; the other space is at `fixed`.
    fn read(
        &mut self,
        space: &Space,
        other: &Space,
        fixed: usize,
        start: usize,
        n: usize,
        position: Position,
    ) -> States {
        let plan = self.plan;
        let load = |input: usize, component: Component, buffer, spare| {
            let field = plan.inputs[input].moved(other.offset(input, fixed));
            // SAFETY: the operation's caller vouches for its operands; the machine for its buffers.
            unsafe { field.load(component, Stretch { space, operand: input, start, n }, buffer, spare) }
        };
        // SAFETY: a tile has no more elements than the machine is wide; `load` gives as many registers.
        unsafe { self.machine.run(n, position, &[], load) };
        plan.reduce.element.iter().map(|&id| self.machine.value(id)).collect()
    }
}

/// Tiles along the elements of one result, a chunk each.
fn along(plan: &Plan<'_>, threads: &Threads) {
    let (rows, chunks) = (plan.kept.len, plan.chunks());
    if chunks == 1 {
        // Blocks of results, small enough to occupy all threads.
        let block = rows.div_ceil(8 * threads.count()).clamp(1, TILE);
        let blocks = rows.div_ceil(block);
        return threads.share(blocks, plan.elements(), |range| along_rows(plan, range, block));
    }
    let types = plan.folder.types();
    let mut partials = Partials::new(types, rows * chunks);
    threads.share(rows * chunks, plan.elements(), |range| along_chunks(plan, range, &partials));
    let mut left = chunks;
    while left > 1 {
        let next = left.div_ceil(CHUNK);
        let results = Partials::new(types, rows * next);
        threads.share(rows * next, rows * left, |range| {
            let mut combiner = Combiner::new(plan.folder);
            for task in range {
                let (row, chunk) = (task / next, task % next);
                let n = CHUNK.min(left - chunk * CHUNK);
                // SAFETY: the partial results are there, and this task's result is its own.
                unsafe { combiner.chunk(&partials.at(row * left + chunk * CHUNK), n, &results.at(task)) };
            }
        });
        (partials, left) = (results, next);
    }
    finish_all(plan, &partials, plan.kept.tiles(), threads);
}

fn along_rows(plan: &Plan<'_>, range: Range<usize>, block: usize) {
    let (mut reader, mut combiner) = (Reader::new(plan), Combiner::new(plan.folder));
    let mut finisher = Finisher::new(plan);
    let states = States::from(&finisher.states[..]);
    for first in range.map(|index| index * block) {
        let count = block.min(plan.kept.len - first);
        for row in 0..count {
            let elements = reader.read(&plan.reduced, &plan.kept, first + row, 0, plan.reduced.len, Position::From(0));
            let out = combiner.further(&states, row);
            // SAFETY: the elements are a chunk at most; the states have room for a block.
            unsafe { combiner.chunk(&elements, plan.reduced.len, &out) };
        }
        finisher.finish(&states, first, count);
    }
}

fn along_chunks(plan: &Plan<'_>, range: Range<usize>, partials: &Partials) {
    let (mut reader, mut combiner) = (Reader::new(plan), Combiner::new(plan.folder));
    let chunks = plan.chunks();
    for task in range {
        let (row, start) = (task / chunks, task % chunks * CHUNK);
        let n = CHUNK.min(plan.reduced.len - start);
        let elements = reader.read(&plan.reduced, &plan.kept, row, start, n, Position::From(start));
        // SAFETY: the elements are a chunk at most; this task's result is its own.
        unsafe { combiner.chunk(&elements, n, &partials.at(task)) };
    }
}

fn finish_all(plan: &Plan<'_>, partials: &Partials, tiles: Tiles, threads: &Threads) {
    threads.share(tiles.count(), plan.kept.len, |range| {
        let mut finisher = Finisher::new(plan);
        for (start, n) in range.map(|tile| tiles.tile(tile)) {
            finisher.finish(&partials.at(start), start, n);
        }
    });
}

/// Tiles across the results: whole rows of elements are folded.
fn across(plan: &Plan<'_>, threads: &Threads) {
    let (tiles, width, chunks) = (plan.kept.tiles(), plan.kept.len, plan.chunks());
    if chunks == 1 {
        return threads.share(tiles.count(), plan.elements(), |range| across_tiles(plan, tiles, range));
    }
    let types = plan.folder.types();
    let mut partials = Partials::new(types, width * chunks);
    threads.share(tiles.count() * chunks, plan.elements(), |range| {
        let (mut reader, mut tree) = (Reader::new(plan), Tree::new(plan.folder));
        for task in range {
            let ((start, n), chunk) = (tiles.tile(task / chunks), task % chunks);
            let first = chunk * CHUNK;
            let count = CHUNK.min(plan.reduced.len - first);
            let mut leaf =
                |k: usize| reader.read(&plan.kept, &plan.reduced, first + k, start, n, Position::At(first + k));
            tree.fold(count, n, &partials.at(chunk * width + start), &mut leaf);
        }
    });
    let mut left = chunks;
    while left > 1 {
        let next = left.div_ceil(CHUNK);
        let results = Partials::new(types, width * next);
        threads.share(tiles.count() * next, width * left, |range| {
            let mut tree = Tree::new(plan.folder);
            for task in range {
                let ((start, n), chunk) = (tiles.tile(task / next), task % next);
                let count = CHUNK.min(left - chunk * CHUNK);
                let mut leaf = |k: usize| partials.at((chunk * CHUNK + k) * width + start);
                tree.fold(count, n, &results.at(chunk * width + start), &mut leaf);
            }
        });
        (partials, left) = (results, next);
    }
    finish_all(plan, &partials, tiles, threads);
}

fn across_tiles(plan: &Plan<'_>, tiles: Tiles, range: Range<usize>) {
    let (mut reader, mut tree) = (Reader::new(plan), Tree::new(plan.folder));
    let mut finisher = Finisher::new(plan);
    let states = States::from(&finisher.states[..]);
    for (start, n) in range.map(|tile| tiles.tile(tile)) {
        let mut leaf = |k: usize| reader.read(&plan.kept, &plan.reduced, k, start, n, Position::At(k));
        tree.fold(plan.reduced.len, n, &states, &mut leaf);
        finisher.finish(&states, start, n);
    }
}

/// Folds up to `CHUNK` tiles of states to one tile, in the order of lanes and halves: depth first, so that few tiles are held.
struct Tree<'a> {
    combiner: Combiner<'a>,
    tiles: Vec<States>,
    _scratch: Scratch,
}

/// Tiles that a level of the tree holds: its two sides.
const SIDES: usize = 2;

impl<'a> Tree<'a> {
    fn new(folder: &'a Folder<'a>) -> Tree<'a> {
        let states = folder.types().len();
        let levels = LANES.ilog2() as usize + 1;
        let room = TILE * 8 + 128;
        let mut scratch = Scratch::new(levels * SIDES * states * room);
        let base = scratch.base();
        let tile = |tile: usize| (0..states).map(|state| base.wrapping_add((tile * states + state) * room)).collect();
        Tree { combiner: Combiner::new(folder), tiles: (0..levels * SIDES).map(tile).collect(), _scratch: scratch }
    }

    /// Folds `count` tiles of `n` states each; `leaf` gives the tiles, each of which is read before the next is asked for.
    fn fold(&mut self, count: usize, n: usize, out: &[*mut u8], leaf: &mut dyn FnMut(usize) -> States) {
        self.lane(0, 1, count, n, out, leaf);
    }

    /// The lane `at` as it is when `lanes` of them are left.
    fn lane(
        &mut self,
        at: usize,
        lanes: usize,
        count: usize,
        n: usize,
        out: &[*mut u8],
        leaf: &mut dyn FnMut(usize) -> States,
    ) {
        let level = lanes.ilog2() as usize * SIDES;
        let (left, right) = (self.tiles[level].clone(), self.tiles[level + 1].clone());
        if lanes == LANES {
            return self.leaves(at, count, n, [&left, &right], out, leaf);
        }
        if at + lanes >= count {
            return self.lane(at, 2 * lanes, count, n, out, leaf);
        }
        self.lane(at, 2 * lanes, count, n, &left, leaf);
        self.lane(at + lanes, 2 * lanes, count, n, &right, leaf);
        // SAFETY: the two sides were just computed, in tiles of this level alone.
        unsafe { self.combiner.combine(&left, &right, out, n) };
    }

    /// The elements of a lane, in their order.
    fn leaves(
        &mut self,
        at: usize,
        count: usize,
        n: usize,
        mut turns: [&States; SIDES],
        out: &[*mut u8],
        leaf: &mut dyn FnMut(usize) -> States,
    ) {
        let last = (count - 1 - at) / LANES;
        let first = leaf(at);
        let mut now: &[*mut u8] = if last == 0 { out } else { turns[0] };
        // SAFETY: a leaf has `n` states, as the tiles of this level have; the next leaf may take the place of this one.
        unsafe { self.combiner.copy(&first, now, n) };
        for k in 1..=last {
            let next: &[*mut u8] = if k == last { out } else { turns[1] };
            let element = leaf(at + k * LANES);
            // SAFETY: as above; the tiles take turns.
            unsafe { self.combiner.combine(now, &element, next, n) };
            now = next;
            turns.swap(0, 1);
        }
    }
}

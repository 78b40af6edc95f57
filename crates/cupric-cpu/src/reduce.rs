//! Reductions, in the order that `cupric_ir::LANES` and `CHUNK` tell, whatever the layout and the threads.

use crate::{
    folder::{Combiner, Folder, States},
    places,
    program::{Machine, Position, Program},
    programs::program,
    scratch::Scratch,
    space::{Space, TILE, Tiles},
    threads::Threads,
    transfer::{Field, Stretch, Wanted, fill},
};
use cupric_core::{Error, Result};
use cupric_ir::{CHUNK, Component, Id, LANES, Reduce, Ty};
use smallvec::SmallVec;
use std::ops::Range;

/// Runs a reduction; `addresses` are the bases of what it reads and of what it writes.
pub(crate) fn reduce(reduce: &Reduce, addresses: &[u64], threads: &Threads) -> Result<()> {
    let places = places::loops(&reduce.fold);
    // Whoever finds places knows them without the program.
    let roots = if places.is_some() { &reduce.element[..1] } else { &reduce.element[..] };
    let element = program(&reduce.graph, roots)?;
    let value = reduce.finish.value;
    let results: SmallVec<[Id; 2]> = std::iter::once(value.real).chain(value.imaginary).collect();
    let finish = program(&reduce.finish.graph, &results)?;
    let folder = Folder::new(&reduce.fold)?;
    let plan = Plan::new(reduce, (&element, roots), &finish, &folder, addresses);
    if plan.kept.len == 0 {
        return Ok(());
    }
    if plan.reduced.len == 0 {
        return plan.nothing();
    }
    let across_results = plan.is_across();
    match places {
        Some(loops) if across_results => places::across(&plan, loops, threads),
        Some(loops) => places::along(&plan, loops, threads),
        None if across_results => across(&plan, threads),
        None => along(&plan, threads),
    }
    Ok(())
}

pub(crate) struct Plan<'a> {
    reduce: &'a Reduce,
    element: &'a Program,
    // What an element contributes.
    roots: &'a [Id],
    finish: &'a Program,
    pub(crate) folder: &'a Folder<'a>,
    // Both spaces' operands: the inputs; the output comes last in the kept one.
    pub(crate) kept: Space,
    pub(crate) reduced: Space,
    inputs: SmallVec<[Field; 4]>,
    output: Field,
}

impl<'a> Plan<'a> {
    fn new(
        reduce: &'a Reduce,
        (element, roots): (&'a Program, &'a [Id]),
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
            roots,
            finish,
            folder,
            kept: Space::reordered(&reduce.kept, &kept),
            reduced: Space::new(&reduce.reduced, &reduced),
            inputs: reduce.inputs.iter().zip(addresses).map(|(input, &base)| Field::new(input, base)).collect(),
            output: Field::new(&reduce.output, addresses[reduce.inputs.len()]),
        }
    }

    pub(crate) fn elements(&self) -> usize {
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

    /// Among how many tasks the lanes of a chunk are shared, where there are few `tasks`: narrower tiles would be read more slowly.
    fn sides(&self, tasks: usize, threads: &Threads) -> usize {
        const MANY: usize = 1 << 16;
        if self.elements() < MANY || threads.count() == 1 || self.reduced.len < LANES {
            return 1;
        }
        (4 * threads.count()).div_ceil(tasks).next_power_of_two().min(LANES / 2)
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
pub(crate) struct Finisher<'a> {
    plan: &'a Plan<'a>,
    machine: Machine<'a>,
    // Room for a tile of states.
    pub(crate) states: States,
    _scratch: Scratch,
}

impl<'a> Finisher<'a> {
    pub(crate) fn new(plan: &'a Plan<'a>) -> Finisher<'a> {
        let count = plan.folder.types().len();
        let room = TILE * 8 + 64;
        let mut scratch = Scratch::new(count * room);
        let base = scratch.base();
        let states = (0..count).map(|state| base.wrapping_add(state * room)).collect();
        Finisher {
            plan,
            machine: Machine::new(plan.finish, &plan.reduce.finish.parameters, TILE),
            states,
            _scratch: scratch,
        }
    }

    /// Finishes and stores the results `start .. start + n`, whose states are given.
    pub(crate) fn finish(&mut self, states: &[*mut u8], start: usize, n: usize) {
        let arguments: SmallVec<[*const u8; 3]> = states.iter().map(|&state| state.cast_const()).collect();
        // SAFETY: the states are `n` registers each; a finish loads nothing.
        unsafe { self.machine.run(n, Position::At(0), &arguments, |_, _, buffer, _| buffer) };
        let at = Stretch { space: &self.plan.kept, operand: self.plan.inputs.len(), start, n };
        let value = self.plan.reduce.finish.value;
        let (output, spare) = (self.plan.output, self.machine.spare());
        let real = self.machine.value(value.real);
        // SAFETY: the operation's caller vouches for the output; the values are `n` registers.
        unsafe {
            match value.imaginary {
                None => output.store(Component::Real, at, real, None, spare),
                Some(id) => output.store_parts(at, [real, self.machine.value(id)], None),
            }
        }
    }
}

/// States in memory that several threads write.
pub(crate) struct Partials {
    arrays: SmallVec<[Vec<u64>; 3]>,
    types: SmallVec<[Ty; 3]>,
}

impl Partials {
    pub(crate) fn new(types: &[Ty], len: usize) -> Partials {
        let arrays = types.iter().map(|ty| Vec::with_capacity((len * ty.size()).div_ceil(8))).collect();
        Partials { arrays, types: types.into() }
    }

    /// The states from `index` on. Threads write to places of their own.
    pub(crate) fn at(&self, index: usize) -> States {
        let address =
            |(array, ty): (&Vec<u64>, &Ty)| array.as_ptr().cast::<u8>().cast_mut().wrapping_add(index * ty.size());
        self.arrays.iter().zip(&self.types).map(address).collect()
    }
}

/// Runs the program of the elements.
pub(crate) struct Reader<'a> {
    plan: &'a Plan<'a>,
    machine: Machine<'a>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(plan: &'a Plan<'a>) -> Reader<'a> {
        Reader { plan, machine: Machine::new(plan.element, &plan.reduce.parameters, TILE) }
    }

    /// What elements `start .. start + n` of a result contribute.
    pub(crate) fn along(&mut self, row: usize, start: usize, n: usize) -> States {
        let plan = self.plan;
        self.read(&plan.reduced, &plan.kept, row, start, n, Position::From(start))
    }

    /// What the elements at one place of the results `start .. start + n` contribute.
    pub(crate) fn across(&mut self, place: usize, start: usize, n: usize) -> States {
        let plan = self.plan;
        self.read(&plan.kept, &plan.reduced, place, start, n, Position::At(place))
    }

    /// As [`Reader::across`], with where the states are.
    fn leaf(&mut self, place: usize, start: usize, n: usize) -> Leaf {
        let states = self.across(place, start, n);
        let moves = self.plan.roots.iter().zip(&states).any(|(&id, &state)| self.machine.home(id) == state);
        if moves { Leaf::Passing(states) } else { Leaf::Lasting(states) }
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
        let load = |input: usize, wanted: Wanted, buffer, spare| {
            let field = plan.inputs[input].moved(other.offset(input, fixed));
            // SAFETY: the operation's caller vouches for its operands; the machine for its buffers.
            unsafe { field.load(wanted, Stretch { space, operand: input, start, n }, buffer, spare) }
        };
        // SAFETY: a tile has no more elements than the machine is wide; `load` gives as many registers.
        unsafe { self.machine.run(n, position, &[], load) };
        plan.roots.iter().map(|&id| self.machine.value(id)).collect()
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
            let elements = reader.along(first + row, 0, plan.reduced.len);
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
    // The row whose result is known, whatever comes.
    let mut settled = None;
    for task in range {
        let (row, start) = (task / chunks, task % chunks * CHUNK);
        let n = CHUNK.min(plan.reduced.len - start);
        let out = partials.at(task);
        if settled == Some(row) {
            // SAFETY: this task's result and the one before, which is there, are truth values.
            unsafe { out[0].write(*out[0].sub(1)) };
            continue;
        }
        let elements = reader.along(row, start, n);
        // SAFETY: the elements are a chunk at most; this task's result is its own.
        unsafe { combiner.chunk(&elements, n, &out) };
        // SAFETY: the result was just written.
        if plan.folder.settles.is_some_and(|value| unsafe { *out[0] } == value) {
            settled = Some(row);
        }
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
    let (types, sides) = (plan.folder.types(), plan.sides(tiles.count() * chunks, threads));
    if chunks == 1 && sides == 1 {
        return threads.share(tiles.count(), plan.elements(), |range| across_tiles(plan, tiles, range));
    }
    let mut partials = across_chunks(plan, tiles, sides, threads);
    let mut left = chunks;
    while left > 1 {
        let next = left.div_ceil(CHUNK);
        let results = Partials::new(types, width * next);
        threads.share(tiles.count() * next, width * left, |range| {
            let mut tree = Tree::new(plan.folder);
            for task in range {
                let ((start, n), chunk) = (tiles.tile(task / next), task % next);
                let count = CHUNK.min(left - chunk * CHUNK);
                let mut leaf = |k: usize| Leaf::Lasting(partials.at((chunk * CHUNK + k) * width + start));
                tree.fold(count, n, &results.at(chunk * width + start), &mut leaf);
            }
        });
        (partials, left) = (results, next);
    }
    finish_all(plan, &partials, tiles, threads);
}

/// The results of the chunks; the lanes of each are shared among `sides` tasks.
fn across_chunks(plan: &Plan<'_>, tiles: Tiles, sides: usize, threads: &Threads) -> Partials {
    let (width, chunks, types) = (plan.kept.len, plan.chunks(), plan.folder.types());
    let tasks = tiles.count() * chunks;
    let partials = Partials::new(types, width * chunks * sides);
    threads.share(tasks * sides, plan.elements(), |range| {
        let (mut reader, mut tree) = (Reader::new(plan), Tree::new(plan.folder));
        for task in range {
            let ((start, n), chunk, side) = (tiles.tile(task / sides / chunks), task / sides % chunks, task % sides);
            let first = chunk * CHUNK;
            let lanes = Lanes { first: side, apart: sides, count: CHUNK.min(plan.reduced.len - first), n };
            let mut leaf = |k: usize| reader.leaf(first + k, start, n);
            tree.fold_lanes(lanes, &partials.at((chunk * sides + side) * width + start), &mut leaf);
        }
    });
    if sides == 1 {
        return partials;
    }
    let results = Partials::new(types, width * chunks);
    threads.share(tasks, width * chunks * sides, |range| {
        let mut tree = Tree::new(plan.folder);
        for task in range {
            let ((start, n), chunk) = (tiles.tile(task / chunks), task % chunks);
            let count = sides.min(plan.reduced.len - chunk * CHUNK);
            let mut leaf = |side: usize| Leaf::Lasting(partials.at((chunk * sides + side) * width + start));
            tree.fold(count, n, &results.at(chunk * width + start), &mut leaf);
        }
    });
    results
}

fn across_tiles(plan: &Plan<'_>, tiles: Tiles, range: Range<usize>) {
    let (mut reader, mut tree) = (Reader::new(plan), Tree::new(plan.folder));
    let mut finisher = Finisher::new(plan);
    let states = States::from(&finisher.states[..]);
    for (start, n) in range.map(|tile| tiles.tile(tile)) {
        let mut leaf = |k: usize| reader.leaf(k, start, n);
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

/// Lane `first` of `count` tiles of `n` states, when lanes that are not a multiple of `apart` from each other have been combined.
struct Lanes {
    first: usize,
    apart: usize,
    count: usize,
    n: usize,
}

/// A tile of states that the tree takes in.
enum Leaf {
    /// It stays where it is.
    Lasting(States),
    /// The next one takes its place.
    Passing(States),
}

impl Leaf {
    fn states(self) -> States {
        match self {
            Leaf::Lasting(states) | Leaf::Passing(states) => states,
        }
    }
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

    /// Folds `count` tiles of `n` states each.
    fn fold(&mut self, count: usize, n: usize, out: &States, leaf: &mut dyn FnMut(usize) -> Leaf) {
        self.fold_lanes(Lanes { first: 0, apart: 1, count, n }, out, leaf);
    }

    /// Folds those of the tiles that end in one of several lanes.
    fn fold_lanes(&mut self, lanes: Lanes, out: &States, leaf: &mut dyn FnMut(usize) -> Leaf) {
        let Lanes { first, apart, count, n } = lanes;
        if first >= count {
            return;
        }
        let result = self.lane(first, apart, count, n, out, leaf);
        if result != *out {
            // SAFETY: both are `n` states, and one tile does not overlap another.
            unsafe { self.combiner.copy(&result, out, n) };
        }
    }

    /// The lane `at` as it is when `lanes` of them are left: in `out`, or where it lies anyway.
    fn lane(
        &mut self,
        at: usize,
        lanes: usize,
        count: usize,
        n: usize,
        out: &States,
        leaf: &mut dyn FnMut(usize) -> Leaf,
    ) -> States {
        let level = lanes.ilog2() as usize * SIDES;
        let (left, right) = (self.tiles[level].clone(), self.tiles[level + 1].clone());
        if lanes == LANES {
            return self.leaves(at, count, n, [&left, &right], out, leaf);
        }
        if at + lanes >= count {
            return self.lane(at, 2 * lanes, count, n, out, leaf);
        }
        let left = self.lane(at, 2 * lanes, count, n, &left, leaf);
        let right = self.lane(at + lanes, 2 * lanes, count, n, &right, leaf);
        // SAFETY: the two sides were just computed, in tiles of this level alone.
        unsafe { self.combiner.combine(&left, &right, out, n) };
        out.clone()
    }

    /// The elements of a lane, in their order.
    fn leaves(
        &mut self,
        at: usize,
        count: usize,
        n: usize,
        mut turns: [&States; SIDES],
        out: &States,
        leaf: &mut dyn FnMut(usize) -> Leaf,
    ) -> States {
        let last = (count - 1 - at) / LANES;
        let first = match leaf(at) {
            Leaf::Lasting(first) if last == 0 => return first,
            Leaf::Lasting(first) => return self.lasting_leaves(at, last, n, first, turns, out, leaf),
            Leaf::Passing(first) => first,
        };
        let mut now: &States = if last == 0 { out } else { turns[0] };
        // SAFETY: a leaf has `n` states, as the tiles of this level have; the next leaf may take the place of this one.
        unsafe { self.combiner.copy(&first, now, n) };
        for k in 1..=last {
            let next: &States = if k == last { out } else { turns[1] };
            let element = leaf(at + k * LANES).states();
            // SAFETY: as above; the tiles take turns.
            unsafe { self.combiner.combine(now, &element, next, n) };
            now = next;
            turns.swap(0, 1);
        }
        out.clone()
    }

    /// The same where the elements lie in memory.
    #[expect(clippy::too_many_arguments, reason = "the second half of a function")]
    fn lasting_leaves(
        &mut self,
        at: usize,
        last: usize,
        n: usize,
        first: States,
        turns: [&States; SIDES],
        out: &States,
        leaf: &mut dyn FnMut(usize) -> Leaf,
    ) -> States {
        let rest = (1..=last).map(|k| leaf(at + k * LANES).states());
        let rows: SmallVec<[States; CHUNK / LANES]> = std::iter::once(first).chain(rest).collect();
        // SAFETY: each row has `n` states, and `out` is a tile of its own.
        if unsafe { self.combiner.column(&rows, out, n) } {
            return out.clone();
        }
        let mut now = rows[0].clone();
        for (k, row) in rows.iter().enumerate().skip(1) {
            let next = if k == last { out } else { turns[k % SIDES] };
            // SAFETY: as above; the tiles take turns.
            unsafe { self.combiner.combine(&now, row, next, n) };
            now = next.clone();
        }
        now
    }
}

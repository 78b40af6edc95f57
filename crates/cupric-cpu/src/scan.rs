//! Scans: running results along the last axis, in one fixed order.
//!
//! A chunk is 1024 elements: 256 groups of 4 consecutive ones. Within a group results run left to right: `p[0..4]`. The totals
//! of the groups are scanned in segments of 32 groups by Kogge and Stone: for `d = 1, 2, 4, 8, 16`,
//! `t[g] = combine(t[g - d], t[g])` where group `g - d` is in the segment. The totals of the 8 segments are scanned left to
//! right. An element's result within the chunk is `combine(combine(result of the segments before, result of the groups
//! before), p)`, where parts that are absent are left out. The totals of the chunks (their last elements' results) are scanned
//! by the same rule; an element's result is `combine(result of the chunks before, result within the chunk)`.

use crate::{
    folder::{Combiner, Folder, States},
    level::Run,
    program::{Machine, Position, Program},
    programs::program,
    scratch::Scratch,
    space::{Space, TILE},
    threads::Threads,
    transfer::{Field, Stretch, Wanted},
};
use cupric_core::{DType, Error, Result};
use cupric_ir::{Builder, Component, Graph, Id, Node, Register, Scan, Ty, convert};
use smallvec::SmallVec;

const CHUNK: usize = 1024;
const GROUP: usize = 4;
const GROUPS: usize = 32;
const SEGMENT: usize = GROUP * GROUPS;
const SEGMENTS: usize = CHUNK / SEGMENT;
const TOTALS: usize = GROUPS * SEGMENTS;
const _: () = assert!(CHUNK <= TILE);

/// Runs a scan; `addresses` are the bases of input and output.
pub(crate) fn scan(scan: &Scan, addresses: &[u64], threads: &Threads) -> Result<()> {
    let Some((&length, outer)) = scan.shape.split_last() else {
        return Err(Error::Unsupported { what: "a scan without an axis".into() });
    };
    if scan.shape.contains(&0) {
        return Ok(());
    }
    let (read, loaded) = conversion(scan.input.dtype, scan.fold.accumulator, Source::Element);
    let (write, stored) = conversion(scan.fold.accumulator, scan.output.dtype, Source::Register);
    let folder = Folder::new(&scan.fold)?;
    if folder.types().len() != loaded.len() {
        return Err(Error::Unsupported { what: format!("a scan by {}", scan.fold.fold.name) });
    }
    let strides = [&scan.input.layout.strides[..], &scan.output.layout.strides[..]];
    let last = scan.shape.len() - 1;
    let (read, write) = (program(&read, &loaded)?, program(&write, &stored)?);
    let plan = Plan {
        read: &read,
        write: &write,
        loaded,
        stored,
        folder: &folder,
        rows: Space::new(outer, &[&strides[0][..last], &strides[1][..last]]),
        row: Space::new(&[length], &[&strides[0][last..], &strides[1][last..]]),
        input: Field::new(&scan.input, addresses[0]),
        output: Field::new(&scan.output, addresses[1]),
    };
    plan.run(threads);
    Ok(())
}

enum Source {
    Element,
    Register,
}

type Parts = SmallVec<[Id; 2]>;

/// The program that converts an element.
fn conversion(from: DType, to: DType, source: Source) -> (Graph, Parts) {
    let mut builder = Builder::default();
    let mut leaf = |component: Component| {
        let node = match source {
            Source::Element => Node::Load { input: 0, component },
            Source::Register => Node::Argument(component as u16),
        };
        builder.node(node, Ty::of(from))
    };
    let real = leaf(Component::Real);
    let imaginary = from.is_complex().then(|| leaf(Component::Imaginary));
    let result = convert(&mut builder, Register { real, imaginary }, from, to);
    let mut roots: Vec<Id> = std::iter::once(result.real).chain(result.imaginary).collect();
    let graph = builder.finish(&mut roots);
    (graph, roots.into())
}

struct Plan<'a> {
    read: &'a Program,
    write: &'a Program,
    loaded: Parts,
    stored: Parts,
    folder: &'a Folder<'a>,
    rows: Space,
    row: Space,
    input: Field,
    output: Field,
}

impl Plan<'_> {
    fn run(&self, threads: &Threads) {
        let (rows, chunks) = (self.rows.len, self.row.len.div_ceil(CHUNK));
        let elements = rows * self.row.len;
        if chunks == 1 {
            return threads.share(rows, elements, |range| {
                let mut worker = Worker::new(self);
                range.for_each(|row| worker.write(row, 0, None));
            });
        }
        let totals = Totals::new(self.folder.types(), rows * chunks);
        threads.share(rows * chunks, elements, |range| {
            let mut worker = Worker::new(self);
            range.for_each(|task| worker.total(task / chunks, task % chunks, &totals.at(task)));
        });
        threads.share(rows, rows * chunks, |range| {
            let mut chunker = Chunker::new(self.folder);
            range.for_each(|row| chunker.all(&totals.at(row * chunks), chunks));
        });
        threads.share(rows * chunks, elements, |range| {
            let mut worker = Worker::new(self);
            for task in range {
                let carry = (task % chunks > 0).then(|| totals.at(task - 1));
                worker.write(task / chunks, task % chunks, carry.as_deref());
            }
        });
    }
}

/// States in memory that several threads write.
struct Totals {
    arrays: SmallVec<[Vec<u64>; 2]>,
    types: SmallVec<[Ty; 3]>,
}

impl Totals {
    fn new(types: &[Ty], len: usize) -> Totals {
        let arrays = types.iter().map(|ty| Vec::with_capacity((len * ty.size()).div_ceil(8))).collect();
        Totals { arrays, types: types.into() }
    }

    fn at(&self, index: usize) -> States {
        let address =
            |(array, ty): (&Vec<u64>, &Ty)| array.as_ptr().cast::<u8>().cast_mut().wrapping_add(index * ty.size());
        self.arrays.iter().zip(&self.types).map(address).collect()
    }
}

/// A thread's part in a scan.
struct Worker<'a> {
    plan: &'a Plan<'a>,
    reader: Machine<'a>,
    writer: Machine<'a>,
    chunker: Chunker<'a>,
}

impl<'a> Worker<'a> {
    fn new(plan: &'a Plan<'a>) -> Worker<'a> {
        let (reader, writer) = (Machine::new(plan.read, &[], CHUNK), Machine::new(plan.write, &[], CHUNK));
        Worker { plan, reader, writer, chunker: Chunker::new(plan.folder) }
    }

    fn read(&mut self, row: usize, chunk: usize) -> (States, usize) {
        let plan = self.plan;
        let (start, field) = (chunk * CHUNK, plan.input.moved(plan.rows.offset(0, row)));
        let n = CHUNK.min(plan.row.len - start);
        let load = |_, wanted: Wanted, buffer, spare| {
            let at = Stretch { space: &plan.row, operand: 0, start, n };
            // SAFETY: the operation's caller vouches for its operands; the machine for its buffers.
            unsafe { field.load(wanted, at, buffer, spare) }
        };
        // SAFETY: a chunk is not wider than the machine; `load` gives as many registers.
        unsafe { self.reader.run(n, Position::At(0), &[], load) };
        (plan.loaded.iter().map(|&id| self.reader.value(id)).collect(), n)
    }

    /// A chunk's total.
    fn total(&mut self, row: usize, chunk: usize, out: &[*mut u8]) {
        let (elements, n) = self.read(row, chunk);
        // SAFETY: the elements are `n` registers; the total is this task's own.
        unsafe {
            let results = self.chunker.chunk(&elements, n, None);
            let last = self.chunker.combiner.further(&results, n - 1);
            self.chunker.combiner.copy(&last, out, 1);
        }
    }

    /// A chunk's results, stored.
    fn write(&mut self, row: usize, chunk: usize, carry: Option<&[*mut u8]>) {
        let (elements, n) = self.read(row, chunk);
        // SAFETY: the elements are `n` registers.
        let results = unsafe { self.chunker.chunk(&elements, n, carry) };
        let arguments: SmallVec<[*const u8; 2]> = results.iter().map(|&result| result.cast_const()).collect();
        // SAFETY: the results are `n` registers; a conversion of registers loads nothing.
        unsafe { self.writer.run(n, Position::At(0), &arguments, |_, _, buffer, _| buffer) };
        let plan = self.plan;
        let field = plan.output.moved(plan.rows.offset(1, row));
        let at = Stretch { space: &plan.row, operand: 1, start: chunk * CHUNK, n };
        let real = self.writer.value(plan.stored[0]);
        // SAFETY: the operation's caller vouches for the output; the values are `n` registers.
        unsafe {
            match plan.stored.get(1) {
                None => field.store(Component::Real, at, real, None, self.writer.spare()),
                Some(&imaginary) => field.store_parts(at, [real, self.writer.value(imaginary)], None),
            }
        }
    }
}

/// Scans chunks of states.
///
/// Elements are kept by their places: first by the place in the group, then by the group's place in its segment, then by
/// segment; so that all steps are between whole stretches.
struct Chunker<'a> {
    combiner: Combiner<'a>,
    // `p`, the totals twice, what comes before groups, and the results in the chunk's order.
    places: States,
    totals: [States; 2],
    before: States,
    results: States,
    carried: States,
    types: &'a [Ty],
    scans: Option<&'a [Run]>,
    _scratch: Scratch,
}

impl<'a> Chunker<'a> {
    fn new(folder: &'a Folder<'a>) -> Chunker<'a> {
        let types = folder.types();
        let room = CHUNK * 8 + 64;
        let mut scratch = Scratch::new(6 * types.len() * room);
        let base = scratch.base();
        let set = |index: usize| -> States {
            (0..types.len()).map(|state| base.wrapping_add((index * types.len() + state) * room)).collect()
        };
        Chunker {
            combiner: Combiner::new(folder),
            places: set(0),
            totals: [set(1), set(2)],
            before: set(3),
            results: set(4),
            carried: set(5),
            types,
            scans: folder.scans.as_deref(),
            _scratch: scratch,
        }
    }

    /// The results of up to a chunk of elements, combined with what comes before the chunk.
    ///
    /// # Safety
    /// `elements` are `n` registers, the carry is one.
    unsafe fn chunk(&mut self, elements: &[*mut u8], n: usize, carry: Option<&[*mut u8]>) -> States {
        if let Some(scans) = self.scans {
            for (state, scan) in scans.iter().enumerate() {
                let carry = carry.map_or(std::ptr::null(), |carry| carry[state].cast_const());
                // SAFETY: the elements are `n` registers, and the results have room for a chunk.
                unsafe { scan(self.results[state], elements[state], carry, carry, n) };
            }
            return self.results.clone();
        }
        // SAFETY: the buffers have room for a chunk, and places beyond `n` hold bits of earlier uses that nothing before
        // them depends on.
        unsafe {
            self.spread(elements, n);
            self.groups();
            self.segments();
            self.join();
            self.collect(n);
            if let Some(carry) = carry {
                self.fill_before(carry);
                self.combiner.combine(&self.before, &self.results, &self.carried, n);
                return self.carried.clone();
            }
        }
        self.results.clone()
    }

    /// Scans states in memory in place.
    fn all(&mut self, states: &[*mut u8], n: usize) {
        let chunks = n.div_ceil(CHUNK);
        let totals = Totals::new(self.types, chunks);
        for pass in [Pass::Totals, Pass::Results] {
            if pass == Pass::Results && chunks > 1 {
                self.all(&totals.at(0), chunks);
            }
            for chunk in 0..chunks {
                let (at, count) = (self.combiner.further(states, chunk * CHUNK), CHUNK.min(n - chunk * CHUNK));
                let carry = (pass == Pass::Results && chunk > 0).then(|| totals.at(chunk - 1));
                // SAFETY: the states are there; a chunk's results are copied back once all of it is read.
                unsafe {
                    let results = self.chunk(&at, count, carry.as_deref());
                    match pass {
                        Pass::Totals => {
                            self.combiner.copy(&self.combiner.further(&results, count - 1), &totals.at(chunk), 1);
                        }
                        Pass::Results => self.combiner.copy(&results, &at, count),
                    }
                }
            }
        }
    }

    unsafe fn spread(&self, elements: &[*mut u8], n: usize) {
        for ((&from, &to), ty) in elements.iter().zip(&self.places).zip(self.types) {
            // SAFETY: `n` elements there, room for a chunk here.
            unsafe {
                match ty.size() {
                    8 => spread_of::<u64>(from.cast(), to.cast(), n),
                    4 => spread_of::<u32>(from.cast(), to.cast(), n),
                    2 => spread_of::<u16>(from.cast(), to.cast(), n),
                    _ => spread_of::<u8>(from.cast(), to.cast(), n),
                }
            }
        }
    }

    unsafe fn collect(&self, n: usize) {
        for ((&from, &to), ty) in self.places.iter().zip(&self.results).zip(self.types) {
            // SAFETY: both have room for a chunk.
            unsafe {
                match ty.size() {
                    8 => collect_of::<u64>(from.cast(), to.cast(), n),
                    4 => collect_of::<u32>(from.cast(), to.cast(), n),
                    2 => collect_of::<u16>(from.cast(), to.cast(), n),
                    _ => collect_of::<u8>(from.cast(), to.cast(), n),
                }
            }
        }
    }

    /// Left to right within groups; the totals are left in `totals[0]`.
    unsafe fn groups(&mut self) {
        for place in 1..GROUP {
            let (left, right) = (self.place(place - 1), self.place(place));
            // SAFETY: places of groups are apart from each other.
            unsafe {
                self.combiner.combine(&left, &right, &self.totals[0], TOTALS);
                self.combiner.copy(&self.totals[0], &right, TOTALS);
            }
        }
    }

    fn place(&self, place: usize) -> States {
        self.combiner.further(&self.places, place * TOTALS)
    }

    /// Scans the totals of groups within their segments.
    unsafe fn segments(&mut self) {
        let mut distance = 1;
        while distance < GROUPS {
            let moved = distance * SEGMENTS;
            let [now, next] = &self.totals;
            let (right, out) = (self.combiner.further(now, moved), self.combiner.further(next, moved));
            // SAFETY: the two sets of totals are apart.
            unsafe {
                self.combiner.copy(now, next, moved);
                self.combiner.combine(now, &right, &out, TOTALS - moved);
            }
            self.totals.swap(0, 1);
            distance *= 2;
        }
    }

    /// Combines what comes before a group, in its segment and before that, with the group's own results.
    unsafe fn join(&mut self) {
        let [totals, spare] = self.totals.clone();
        let last = self.combiner.further(&totals, (GROUPS - 1) * SEGMENTS);
        let across = self.carried.clone();
        let next = self.before.clone();
        // SAFETY: all of these are buffers of their own with room for a chunk.
        unsafe {
            // Running totals of segments; `across[s]` is what comes before segment `s + 1`.
            self.combiner.copy(&last, &across, 1);
            for segment in 1..SEGMENTS {
                let left = self.combiner.further(&across, segment - 1);
                let right = self.combiner.further(&last, segment);
                self.combiner.combine(&left, &right, &next, 1);
                self.combiner.copy(&next, &self.combiner.further(&across, segment), 1);
            }
            // `before[group][segment]`: the first group of a segment has only the segments before, the first segment only
            // the groups before.
            self.combiner.copy(&across, &self.combiner.further(&next, 1), SEGMENTS - 1);
            for group in 1..GROUPS {
                let here = self.combiner.further(&next, group * SEGMENTS);
                let groups = self.combiner.further(&totals, (group - 1) * SEGMENTS);
                self.combiner.copy(&groups, &here, 1);
                let (here, groups) = (self.combiner.further(&here, 1), self.combiner.further(&groups, 1));
                self.combiner.combine(&across, &groups, &here, SEGMENTS - 1);
            }
            // The very first group has nothing before it.
            let before = self.combiner.further(&next, 1);
            for place in 0..GROUP {
                let results = self.combiner.further(&self.place(place), 1);
                self.combiner.combine(&before, &results, &spare, TOTALS - 1);
                self.combiner.copy(&spare, &results, TOTALS - 1);
            }
        }
    }

    unsafe fn fill_before(&self, carry: &[*mut u8]) {
        for ((&from, &to), ty) in carry.iter().zip(&self.before).zip(self.types) {
            // SAFETY: one value there, room for a chunk here.
            unsafe { crate::transfer::gather(ty.size(), to, from, 0, CHUNK) };
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Totals,
    Results,
}

/// The segment, group and place of each element, in the order of elements: `act(element, where it is kept)`.
#[inline(always)]
fn each_place(n: usize, mut act: impl FnMut(usize, usize)) {
    for segment in 0..n.div_ceil(SEGMENT) {
        for group in 0..GROUPS {
            for place in 0..GROUP {
                let element = (segment * GROUPS + group) * GROUP + place;
                if element < n {
                    act(element, place * TOTALS + group * SEGMENTS + segment);
                }
            }
        }
    }
}

unsafe fn spread_of<T: Copy>(from: *const T, to: *mut T, n: usize) {
    // SAFETY: the caller has `n` elements and room for a chunk.
    each_place(n, |element, kept| unsafe { *to.add(kept) = *from.add(element) });
}

unsafe fn collect_of<T: Copy>(from: *const T, to: *mut T, n: usize) {
    // SAFETY: the caller has room for a chunk in both.
    each_place(n, |element, kept| unsafe { *to.add(element) = *from.add(kept) });
}

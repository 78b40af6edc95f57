//! How partial results combine, over tiles.

use crate::{
    folding::{Loops, loops},
    level::Run,
    program::{Machine, Position, Program},
    programs::program,
    scratch::Scratch,
    space::TILE,
};
use cupric_core::Result;
use cupric_ir::{CHUNK, CompiledFold, LANES, Prim, Ty};
use smallvec::SmallVec;
use std::sync::Arc;

/// Pointers to the registers of partial results, one for each register of a state.
pub(crate) type States = SmallVec<[*mut u8; 3]>;

/// A compiled fold.
pub(crate) struct Folder<'a> {
    pub(crate) fold: &'a CompiledFold,
    program: Arc<Program>,
    /// Loops for each register, where registers do not mix.
    pub(crate) loops: Option<SmallVec<[Loops; 2]>>,
    // The same where each register has the loop.
    chunks: Option<SmallVec<[Run; 2]>>,
    columns: Option<SmallVec<[Run; 2]>>,
    pub(crate) scans: Option<SmallVec<[Run; 2]>>,
    /// The truth value that stays whatever is combined with it.
    pub(crate) settles: Option<u8>,
}

impl<'a> Folder<'a> {
    /// Compiles a fold's combine.
    pub(crate) fn new(fold: &'a CompiledFold) -> Result<Folder<'a>> {
        let program = program(&fold.combine, &fold.combined)?;
        let loops = loops(fold)?;
        let each = |of: fn(&Loops) -> Option<Run>| loops.as_ref().and_then(|loops| loops.iter().map(of).collect());
        let (chunks, columns, scans) = (each(|one| one.chunk), each(|one| one.column), each(|one| one.scan));
        let settles = loops.as_ref().and_then(|loops| match loops[..] {
            [Loops { prim: Prim::Or, ty: Ty::Bool, .. }] => Some(1),
            [Loops { prim: Prim::And, ty: Ty::Bool, .. }] => Some(0),
            _ => None,
        });
        Ok(Folder { fold, program, loops, chunks, columns, scans, settles })
    }

    /// The types of a state's registers.
    pub(crate) fn types(&self) -> &[Ty] {
        &self.fold.state
    }
}

/// A folder at work, with registers of its own.
pub(crate) struct Combiner<'a> {
    folder: &'a Folder<'a>,
    machine: Machine<'a>,
    // Two sets of lanes.
    lanes: [States; 2],
    _scratch: Scratch,
}

impl<'a> Combiner<'a> {
    pub(crate) fn new(folder: &'a Folder<'a>) -> Combiner<'a> {
        let states = folder.types().len();
        let room = LANES * 8 + 64;
        let mut scratch = Scratch::new(2 * states * room);
        let base = scratch.base();
        let set = |first: usize| (0..states).map(|state| base.wrapping_add((first + state) * room)).collect();
        let lanes = [set(0), set(states)];
        Combiner { folder, machine: Machine::new(&folder.program, &[], TILE), lanes, _scratch: scratch }
    }

    /// Combines `n` pairs of states.
    ///
    /// # Safety
    /// All pointers are to `n` registers; `out` overlaps neither side.
    pub(crate) unsafe fn combine(&mut self, left: &[*mut u8], right: &[*mut u8], out: &[*mut u8], n: usize) {
        if let Some(loops) = &self.folder.loops {
            for (state, one) in loops.iter().enumerate() {
                // SAFETY: the caller's promise is the loop's.
                unsafe { (one.pair)(out[state], left[state], right[state], right[state], n) };
            }
            return;
        }
        let arguments: SmallVec<[*const u8; 6]> = left.iter().chain(right).map(|&side| side.cast_const()).collect();
        // SAFETY: the arguments are `n` registers each; the graph of a fold loads nothing.
        unsafe { self.machine.run(n, Position::At(0), &arguments, |_, _, buffer, _| buffer) };
        for ((&root, &ty), &out) in self.folder.fold.combined.iter().zip(self.folder.types()).zip(out) {
            // SAFETY: both are `n` registers of this type.
            unsafe { std::ptr::copy_nonoverlapping(self.machine.value(root), out, n * ty.size()) };
        }
    }

    /// Folds from 2 to `CHUNK / LANES` rows of `n` states, one after the other, to one row, if there is a loop for that.
    ///
    /// # Safety
    /// All pointers are to `n` registers; `out` overlaps no row.
    pub(crate) unsafe fn column(&self, rows: &[States], out: &[*mut u8], n: usize) -> bool {
        let Some(columns) = &self.folder.columns else { return false };
        for (state, column) in columns.iter().enumerate() {
            let rows: SmallVec<[*mut u8; CHUNK / LANES]> = rows.iter().map(|row| row[state]).collect();
            let count = rows.len();
            let (rows, count) = (rows.as_ptr().cast(), std::ptr::from_ref(&count).cast());
            // SAFETY: the caller's promise is the loop's.
            unsafe { column(out[state], rows, count, count, n) };
        }
        true
    }

    /// The states `at` elements further.
    pub(crate) fn further(&self, states: &[*mut u8], at: usize) -> States {
        states.iter().zip(self.folder.types()).map(|(state, ty)| state.wrapping_add(at * ty.size())).collect()
    }

    /// Copies `n` states.
    ///
    /// # Safety
    /// All pointers are to `n` registers, apart from each other.
    pub(crate) unsafe fn copy(&self, from: &[*mut u8], to: &[*mut u8], n: usize) {
        for ((from, to), ty) in from.iter().zip(to).zip(self.folder.types()) {
            // SAFETY: the caller's promise.
            unsafe { std::ptr::copy_nonoverlapping(from.cast_const(), *to, n * ty.size()) };
        }
    }

    /// Folds from 1 to `CHUNK` states, in the order that [`LANES`] tells, to one.
    ///
    /// # Safety
    /// `elements` are `n` registers, `out` is one.
    pub(crate) unsafe fn chunk(&mut self, elements: &[*mut u8], n: usize, out: &[*mut u8]) {
        if let Some(chunks) = &self.folder.chunks {
            for (state, chunk) in chunks.iter().enumerate() {
                // SAFETY: the caller's promise is the loop's.
                unsafe { chunk(out[state], elements[state], elements[state], elements[state], n) };
            }
            return;
        }
        let mut lanes = n.min(LANES);
        let mut now: States = elements.into();
        let mut turn = 0;
        for at in (LANES..n).step_by(LANES) {
            let right = self.further(elements, at);
            // SAFETY: lanes stand before `right`, and the two sets of lanes take turns.
            now = unsafe { self.round(&now, &right, turn, LANES.min(n - at), lanes) };
            turn ^= 1;
        }
        let mut half = LANES / 2;
        while half > 0 {
            if lanes > half {
                let right = self.further(&now, half);
                // SAFETY: as above.
                now = unsafe { self.round(&now, &right, turn, lanes - half, half) };
                (lanes, turn) = (half, turn ^ 1);
            }
            half /= 2;
        }
        // SAFETY: one state is left.
        unsafe { self.copy(&now, out, 1) };
    }

    /// Combines `count` lanes with what stands at their right, into a set of lanes; those up to `kept` stay as they are.
    unsafe fn round(&mut self, left: &[*mut u8], right: &[*mut u8], set: usize, count: usize, kept: usize) -> States {
        let out = self.lanes[set].clone();
        // SAFETY: the caller's lanes are not those of this set.
        unsafe {
            self.combine(left, right, &out, count);
            self.copy(&self.further(left, count), &self.further(&out, count), kept - count);
        }
        out
    }
}

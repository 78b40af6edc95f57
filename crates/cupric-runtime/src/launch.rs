//! From queued steps to work of the backend.

use crate::{
    backend::{RawStream, Ticket},
    device::Device,
    failures::placed,
    lock,
    pool::rounded,
    queue::Batch,
    storage::Storage,
    stream::{Stream, StreamId},
};
use cupric_core::{Error, Result};
use cupric_ir::{Fused, Op, Operand, Step, StorageId, alone, fuse};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Where an operation is launched, and where it was asked for.
struct Origin<'a> {
    id: StreamId,
    raw: RawStream,
    captured: Captured,
    place: Option<&'a Arc<str>>,
}

/// Whether a stream is being recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Captured {
    Yes,
    No,
}

impl Captured {
    pub const fn of(is_capturing: bool) -> Captured {
        if is_capturing { Captured::Yes } else { Captured::No }
    }
}

/// An operation that did not run.
enum Unrun {
    /// It failed itself.
    Failed(Error),
    /// What it reads has no values.
    Inherited(Error),
}

type Tickets = SmallVec<[Ticket; 1]>;

// A result is tied to so many launches that may turn out to have failed, the latest ones.
const MOST_TICKETS: usize = 16;

/// A batch while it is being launched. Its storages are released from the queue at its end, whatever happens.
struct Launching<'a> {
    place: (StreamId, u64),
    storages: &'a [Arc<Storage>],
}

impl Drop for Launching<'_> {
    fn drop(&mut self) {
        let broken = std::thread::panicking();
        for storage in self.storages {
            let mut work = lock(&storage.work);
            work.pending.retain(|place| *place != self.place);
            if broken && work.address.is_none() {
                let text = "an operation before this one panicked".into();
                work.failure = Some(Box::new(Error::Panic { text }));
            }
        }
    }
}

impl Device {
    /// Launches a batch of steps; what fails, fails by itself.
    pub(crate) fn launch(&self, id: StreamId, raw: RawStream, captured: Captured, batch: Batch) {
        let Batch { generation, steps, places, storages, alive } = batch;
        let _launching = Launching { place: (id, generation), storages: &storages };
        let by_id: FxHashMap<StorageId, &Arc<Storage>> =
            storages.iter().map(|storage| (storage.id(), storage)).collect();
        let find = |id| by_id[&id];
        for fused in fuse(&steps, |storage| alive.contains(&storage)) {
            // Nobody holds what an operation without stores would have made.
            if !fused.op.writes().is_empty() {
                let place = fused.steps.iter().filter_map(|&step| places.get(step)?.as_ref()).next_back();
                self.launch_fused(&Origin { id, raw, captured, place }, &fused, &steps, &find);
            }
        }
    }

    fn launch_fused<'a>(
        &self,
        origin: &Origin<'_>,
        fused: &Fused,
        steps: &[Step],
        find: &impl Fn(StorageId) -> &'a Arc<Storage>,
    ) {
        if fused.steps.len() == 1 || self.backend.ready(&fused.op) {
            return self.run_queued(origin, &fused.op, find);
        }
        // Until its kernel is made, a group runs step by step, which gives the same bits.
        for &step in &fused.steps {
            self.run_queued(origin, &alone(&steps[step]), find);
        }
    }

    /// Runs an operation whose caller is gone: a failure stays with all that it should have written.
    fn run_queued<'a>(&self, origin: &Origin<'_>, op: &Op, find: &impl Fn(StorageId) -> &'a Arc<Storage>) {
        let error = match self.run(origin, op, find) {
            Ok(()) => return,
            // What made this fail is told of by itself.
            Err(Unrun::Inherited(error)) => error,
            Err(Unrun::Failed(error)) => {
                let error = placed(error, origin.place);
                self.fail(origin.id, error.clone());
                error
            }
        };
        for operand in op.writes() {
            lock(&find(operand.storage).work).failure = Some(Box::new(error.clone()));
        }
    }

    /// Runs an operation at its call. A failure is raised there; it stays only with results that are new.
    pub(crate) fn run_now<'a>(
        &self,
        stream: &Stream,
        op: &Op,
        find: &impl Fn(StorageId) -> &'a Arc<Storage>,
        place: Option<&Arc<str>>,
    ) -> Result<()> {
        let is_new = |storage: &Storage| lock(&storage.work).address.is_none();
        let writes = op.writes();
        let new: SmallVec<[&Arc<Storage>; 2]> =
            writes.iter().map(|operand| find(operand.storage)).filter(|storage| is_new(storage)).collect();
        let captured = Captured::of(stream.is_capturing());
        let error = match self.run(&Origin { id: stream.id(), raw: stream.raw(), captured, place }, op, find) {
            Ok(()) => return Ok(()),
            Err(Unrun::Failed(error)) => placed(error, place),
            Err(Unrun::Inherited(error)) => error,
        };
        for storage in new {
            lock(&storage.work).failure = Some(Box::new(error.clone()));
        }
        self.told(&error);
        Err(error)
    }

    fn run<'a>(
        &self,
        origin: &Origin<'_>,
        op: &Op,
        find: &impl Fn(StorageId) -> &'a Arc<Storage>,
    ) -> Result<(), Unrun> {
        let mut addresses: SmallVec<[u64; 8]> = SmallVec::new();
        let mut tickets = Tickets::new();
        for operand in op.reads() {
            let storage = find(operand.storage);
            let work = lock(&storage.work);
            if let Some(failure) = &work.failure {
                return Err(Unrun::Inherited(Error::clone(failure)));
            }
            tickets.extend(work.tickets.iter().copied());
            let known = work.address;
            drop(work);
            addresses.push(known.map_or_else(|| storage.materialise(origin.id), Ok).map_err(Unrun::Failed)?);
        }
        let writes = op.writes();
        for operand in &writes {
            addresses.push(find(operand.storage).materialise(origin.id).map_err(Unrun::Failed)?);
        }
        if origin.captured == Captured::Yes {
            let used = op.reads().into_iter().chain(op.writes()).map(|operand| find(operand.storage));
            return self.record(origin, op, &addresses, used).map_err(Unrun::Failed);
        }
        if let Some(ticket) = self.hand(origin, op, &addresses).map_err(Unrun::Failed)? {
            self.note_open(ticket, origin.id, origin.place);
            tickets.push(ticket);
        }
        for operand in writes {
            tie(find(operand.storage), operand, op, &tickets);
        }
        Ok(())
    }

    /// Makes an operation part of its stream's recording.
    fn record<'a>(
        &self,
        origin: &Origin<'_>,
        op: &Op,
        addresses: &[u64],
        used: impl Iterator<Item = &'a Arc<Storage>>,
    ) -> Result<()> {
        // Scratch memory of a recording is no other work's as long as the recording lives.
        let workspace = self.null_stream().device().storage_in(self.pool(), self.backend.workspace(op)?)?;
        let address = workspace.materialise(origin.id)?;
        self.recording(origin.id, |capture| {
            used.for_each(|storage| capture.keep(storage));
            capture.keep(&workspace);
            if !self.backend.records() {
                capture.call(op, addresses, address);
            }
        });
        if self.backend.records() {
            self.backend.execute(origin.raw, op, addresses, address)?;
        }
        Ok(())
    }

    fn hand(&self, origin: &Origin<'_>, op: &Op, addresses: &[u64]) -> Result<Option<Ticket>> {
        let bytes = self.backend.workspace(op)?;
        if bytes == 0 {
            return self.backend.execute(origin.raw, op, addresses, 0);
        }
        let workspace = self.take_block(self.pool(), rounded(bytes), origin.id)?;
        let outcome = self.backend.execute(origin.raw, op, addresses, workspace.address);
        self.pool().give(workspace, origin.id);
        outcome
    }
}

/// Ties what was written to the launches which may turn out to have failed. What was written as a whole has no other fate.
fn tie(storage: &Storage, operand: &Operand, op: &Op, tickets: &[Ticket]) {
    let mut work = lock(&storage.work);
    if tickets.is_empty() && work.tickets.is_empty() && work.failure.is_none() {
        return;
    }
    let masked = matches!(op, Op::Map(map) if map.stores.iter().any(|store| store.mask.is_some()));
    let item = operand.dtype.size();
    let whole = !masked
        && !matches!(op, Op::Scatter(_))
        && operand.layout.len() * item == storage.bytes()
        && !operand.layout.self_overlaps(item);
    if whole {
        work.failure = None;
        work.tickets.clear();
    }
    for &ticket in tickets {
        if !work.tickets.contains(&ticket) {
            work.tickets.push(ticket);
        }
    }
    let excess = work.tickets.len().saturating_sub(MOST_TICKETS);
    work.tickets.drain(..excess);
}

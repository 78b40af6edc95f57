//! What a stream has been asked for and has not launched yet.

use crate::{
    lock,
    storage::{Storage, Work},
    stream::StreamId,
};
use cupric_ir::{MOST_STEPS, Step, StorageId};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Memory that only a queue keeps alive is let go beyond this.
const MOST_HELD_BYTES: usize = 64 << 20;

/// The steps of one stream, with the storages that they use.
#[derive(Default)]
pub(crate) struct Queue {
    // Counts the flushes, so that what was queued before one is told from what came after.
    pub generation: u64,
    pub steps: Vec<Step>,
    // Where the caller was at each step, when failures are to tell it.
    pub places: Vec<Option<Arc<str>>>,
    pub storages: Vec<Arc<Storage>>,
    // The flusher's round in which the last step came.
    pub round: u64,
    // Steps that no later one can share a kernel with, and the bytes that they move if each goes to memory and back.
    closed: usize,
    closed_traffic: usize,
    open_traffic: usize,
    bytes: usize,
    bytes_looked_at: usize,
}

impl Queue {
    /// Keeps a storage until the steps have run; `work` is what is known of it.
    pub fn hold(&mut self, storage: &Arc<Storage>, work: &mut Work, stream: StreamId) {
        let place = (stream, self.generation);
        if !work.pending.contains(&place) {
            work.pending.push(place);
            self.bytes += storage.bytes();
            self.storages.push(storage.clone());
        }
    }

    /// Whether it must be launched before it grows.
    pub fn is_full(&mut self) -> bool {
        if self.steps.len() >= MOST_STEPS {
            return true;
        }
        if self.bytes < self.bytes_looked_at + MOST_HELD_BYTES {
            return false;
        }
        let held: usize = self.storages.iter().filter(|storage| only_here(storage)).map(|storage| holds(storage)).sum();
        self.bytes_looked_at = self.bytes - held.min(self.bytes);
        held > MOST_HELD_BYTES
    }

    /// Appends a step. One over another shape closes the groups before it.
    pub fn push(&mut self, step: Step) {
        if self.steps.last().is_some_and(|last| last.shape() != step.shape()) {
            self.closed = self.steps.len();
            self.closed_traffic += std::mem::take(&mut self.open_traffic);
        }
        self.open_traffic += step.traffic();
        self.steps.push(step);
    }

    /// Whether the closed groups move this many bytes. What closed them was queued by an earlier call, so that temporaries of the
    /// caller's that only they read have died by now.
    pub fn has_closed(&self, traffic: usize) -> bool {
        self.closed_traffic >= traffic
    }

    /// Hands out what is queued; the queue is empty afterwards.
    pub fn take(&mut self) -> Batch {
        let taken = std::mem::take(self);
        self.generation = taken.generation + 1;
        Batch::of(taken)
    }

    /// Hands out the closed groups; the open one stays.
    pub fn take_closed(&mut self, stream: StreamId) -> Batch {
        let mut taken = std::mem::take(self);
        let count = taken.closed;
        self.generation = taken.generation + 1;
        self.steps = taken.steps.drain(count..).collect();
        self.places = taken.places.drain(count.min(taken.places.len())..).collect();
        (self.round, self.open_traffic) = (taken.round, taken.open_traffic);
        let operands = self.steps.iter().flat_map(|step| step.reads().into_iter().chain(step.writes()));
        let used: FxHashSet<StorageId> = operands.map(|operand| operand.storage).collect();
        for storage in taken.storages.iter().filter(|storage| used.contains(&storage.id())) {
            self.hold(storage, &mut lock(&storage.work), stream);
        }
        Batch::of(taken)
    }
}

impl Batch {
    fn of(queue: Queue) -> Batch {
        let Queue { generation, steps, places, storages, .. } = queue;
        let alive = storages.iter().filter(|storage| !only_here(storage)).map(|storage| storage.id()).collect();
        Batch { generation, steps, places, storages, alive }
    }
}

fn only_here(storage: &Arc<Storage>) -> bool {
    Arc::strong_count(storage) == 1
}

/// Bytes that a storage really occupies; a result that was never written occupies none.
fn holds(storage: &Storage) -> usize {
    if lock(&storage.work).address.is_some() { storage.bytes() } else { 0 }
}

/// Steps that are about to be launched together.
pub(crate) struct Batch {
    pub generation: u64,
    pub steps: Vec<Step>,
    pub places: Vec<Option<Arc<str>>>,
    pub storages: Vec<Arc<Storage>>,
    pub alive: FxHashSet<StorageId>,
}

//! What a stream has been asked for and has not launched yet.

use crate::{lock, storage::Storage};
use cupric_ir::{MOST_STEPS, Step, StorageId};
use rustc_hash::FxHashSet;
use std::{sync::Arc, time::Instant};

/// Memory that only a queue keeps alive is let go beyond this.
const MOST_HELD_BYTES: usize = 64 << 20;

/// The steps of one stream, with the storages that they use.
#[derive(Default)]
pub(crate) struct Queue {
    // Counts the flushes, so that what was queued before one is told from what came after.
    pub generation: u64,
    pub steps: Vec<Step>,
    pub storages: Vec<Arc<Storage>>,
    pub last: Option<Instant>,
    bytes: usize,
    bytes_looked_at: usize,
}

impl Queue {
    /// Keeps a storage until the steps have run.
    pub fn hold(&mut self, storage: &Arc<Storage>) {
        self.bytes += storage.bytes();
        self.storages.push(storage.clone());
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

    /// Hands out what is queued; the queue is empty afterwards.
    pub fn take(&mut self) -> Batch {
        let generation = self.generation;
        let steps = std::mem::take(&mut self.steps);
        let storages = std::mem::take(&mut self.storages);
        *self = Queue { generation: generation + 1, ..Queue::default() };
        let alive = storages.iter().filter(|storage| !only_here(storage)).map(|storage| storage.id()).collect();
        Batch { generation, steps, storages, alive }
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
    pub storages: Vec<Arc<Storage>>,
    pub alive: FxHashSet<StorageId>,
}

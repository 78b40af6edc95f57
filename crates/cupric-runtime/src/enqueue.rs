//! How a step gets into its stream's queue.

use crate::{
    config::Running,
    device::{Device, Lane, Lanes, running},
    lock,
    outside::{lock_outside, outside},
    places::place,
    storage::Storage,
    stream::{Stream, StreamId},
};
use cupric_core::Result;
use cupric_ir::{MOST_STEPS, Step, StorageId, alone};
use smallvec::SmallVec;
use std::sync::{Arc, MutexGuard};

// Work at its call on more bytes than this may take so long that other threads of the interpreter should go on.
const BRIEF: usize = 1 << 16;

/// Streams whose work must be waited for.
type Streams = SmallVec<[StreamId; 2]>;

/// When a step is launched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    AtOnce,
    /// At once if nothing waits: work that is done sooner than queued is no reason to launch what is growing.
    IfIdle,
    Later,
}

impl Device {
    /// Queues a step on a stream. `reads` and `writes` are the storages that it names.
    ///
    /// # Errors
    /// When the step ran at once and failed.
    pub fn enqueue(
        self: &Arc<Device>,
        stream: &Arc<Stream>,
        step: Step,
        reads: &[&Arc<Storage>],
        writes: &[&Arc<Storage>],
    ) -> Result<()> {
        let place = place();
        let bytes = step.bytes();
        let when = self.when(stream, &step, bytes, reads, writes);
        let mut lanes = self.settled(stream.id(), reads, writes, when);
        let lane = lanes.get_mut(&stream.id()).expect("a stream is registered as long as it lives");
        if when != When::Later && lane.queue.steps.is_empty() {
            drop(lanes);
            let find = |id| find_in(reads, writes, id);
            let run = || {
                let _held = lock_outside(&stream.handing);
                let op = match step {
                    Step::Single(op) => *op,
                    step => alone(&step),
                };
                self.run_now(stream, &op, &find, place.as_ref())
            };
            return if bytes > BRIEF { outside(run) } else { run() };
        }
        let queue = &mut lane.queue;
        if place.is_some() {
            queue.places.resize(queue.steps.len(), None);
            queue.places.push(place);
        }
        queue.round = self.flusher.round();
        queue.push(step);
        let full = queue.is_full();
        drop(lanes);
        if full || when == When::AtOnce {
            outside(|| self.flush_stream(stream.id()));
        } else {
            self.flusher.wake(self);
        }
        if when != When::AtOnce {
            return Ok(());
        }
        writes.iter().find_map(|storage| self.known_failure(storage)).map_or(Ok(()), Err)
    }

    fn when(
        &self,
        stream: &Stream,
        step: &Step,
        bytes: usize,
        reads: &[&Arc<Storage>],
        writes: &[&Arc<Storage>],
    ) -> When {
        let shared = || reads.iter().chain(writes).any(|storage| storage.is_shared());
        let small = || running() != Running::Queued && bytes <= self.backend.small_work();
        let asked = || stream.is_eager() || running() == Running::Eager;
        if matches!(step, Step::Single(_)) || asked() || shared() {
            return When::AtOnce;
        }
        if small() { When::IfIdle } else { When::Later }
    }

    /// The queues, once there is room, no other stream's queue holds a step that must run before one on these storages, and the
    /// stream waits for what it must wait for.
    fn settled(
        &self,
        stream: StreamId,
        reads: &[&Arc<Storage>],
        writes: &[&Arc<Storage>],
        when: When,
    ) -> MutexGuard<'_, Lanes> {
        let mut waits = Streams::new();
        loop {
            let mut lanes = lock(&self.queues);
            let lane = lanes.get_mut(&stream).expect("a stream is registered as long as it lives");
            let full = lane.queue.steps.len() >= MOST_STEPS;
            let closed = !full && lane.queue.has_closed(self.worthwhile);
            let conflict =
                if full || closed { Some(stream) } else { note(lane, stream, reads, writes, when, &mut waits) };
            let Some(conflict) = conflict else {
                // What was done before a recording began has been waited for.
                let captured = lanes.get(&stream).is_some_and(|lane| lane.capture.is_some());
                for earlier in waits.into_iter().filter(|_| !captured) {
                    self.order_in(&lanes, stream, earlier);
                }
                return lanes;
            };
            drop(lanes);
            outside(|| if closed { self.flush_closed(stream) } else { self.flush_stream(conflict) });
        }
    }
}

/// Notes what a step on this stream does to its storages, and keeps them in the queue if it will wait there. Gives another stream
/// whose queue must be launched first; nothing is noted then.
fn note(
    lane: &mut Lane,
    stream: StreamId,
    reads: &[&Arc<Storage>],
    writes: &[&Arc<Storage>],
    when: When,
    waits: &mut Streams,
) -> Option<StreamId> {
    // Nothing is noted before all can be: another thread on this stream would take the note for a wait that was made.
    let conflict = reads.iter().chain(writes).find_map(|storage| lock(&storage.work).pending_elsewhere(stream));
    if conflict.is_some() {
        return conflict;
    }
    let waiting = when == When::Later || !lane.queue.steps.is_empty();
    for storage in reads {
        let mut work = lock(&storage.work);
        waits.extend(work.note_read(stream));
        if waiting {
            lane.queue.hold(storage, &mut work, stream);
        }
    }
    for storage in writes {
        let mut work = lock(&storage.work);
        waits.extend(work.note_write(stream));
        if waiting {
            lane.queue.hold(storage, &mut work, stream);
        }
    }
    None
}

/// The storage of this name among those of a step.
fn find_in<'a>(reads: &[&'a Arc<Storage>], writes: &[&'a Arc<Storage>], id: StorageId) -> &'a Arc<Storage> {
    reads.iter().chain(writes).find(|storage| storage.id() == id).expect("a step's storages are given with it")
}

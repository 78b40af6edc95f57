//! What is given up while the device still works with it.

use crate::{
    backend::{RawEvent, RawStream},
    device::{Device, Life},
    lock,
    stream::StreamId,
};
use smallvec::SmallVec;
use std::any::Any;

/// Somebody's memory that the device may still be using.
pub(crate) struct Parting {
    pub events: SmallVec<[RawEvent; 1]>,
    #[expect(dead_code, reason = "held only to be dropped")]
    pub owner: Box<dyn Any + Send + Sync>,
}

impl Device {
    /// Keeps an owner until the work that these streams have been given so far is done.
    pub(crate) fn part(&self, owner: Box<dyn Any + Send + Sync>, streams: &[StreamId]) {
        let events = self.events_after(streams);
        if !events.is_empty() {
            lock(&self.parting).push(Parting { events, owner });
            self.flusher.nudge();
        }
    }

    /// Notes that nobody holds a stream any more. This may come from a thread that is ending, which must not launch anything.
    pub(crate) fn give_up(&self, id: StreamId, ours: bool) {
        let mut lanes = lock(&self.queues);
        let Some(lane) = lanes.get_mut(&id) else { return };
        // A stream of somebody else's is never spoken to again: it may be gone when its work is asked after.
        lane.life = match ours {
            true => Life::GivenUp,
            false => self.event_after(lane.raw).map_or(Life::GivenUp, Life::Elsewhere),
        };
        drop(lanes);
        self.flusher.nudge();
    }

    /// Lets go of streams and owners whose work is done.
    pub(crate) fn tidy(&self) {
        let passed = |event: RawEvent| self.backend.event_done(event).unwrap_or(true);
        for id in self.streams_where(|lane| lane.life != Life::Held) {
            self.flush_stream(id);
            self.abandon_capture(id);
            self.forget_if_done(id);
        }
        let over = {
            let mut parting = lock(&self.parting);
            let is_over = |parting: &Parting| parting.events.iter().all(|&event| passed(event));
            let (over, open) = std::mem::take(&mut *parting).into_iter().partition::<Vec<_>, _>(is_over);
            *parting = open;
            over
        };
        for event in over.iter().flat_map(|parting| &parting.events) {
            self.backend.destroy_event(*event);
        }
        // Owners may be of any kind, and go when no lock is held.
        drop(over);
    }

    /// Ends the recording of a stream that nobody holds any more.
    fn abandon_capture(&self, id: StreamId) {
        let begun = lock(&self.queues).get_mut(&id).and_then(|lane| Some((lane.capture.take()?, lane.raw)));
        if let Some((capture, raw)) = begun {
            // Whatever was recorded is not wanted.
            drop((self.backend.end_capture(raw), capture));
        }
    }

    fn forget_if_done(&self, id: StreamId) {
        let mut lanes = lock(&self.queues);
        let Some(lane) = lanes.get(&id).filter(|lane| lane.queue.steps.is_empty()) else { return };
        let raw = lane.raw;
        let done = match lane.life {
            Life::Held => return,
            Life::GivenUp => self.backend.stream_done(raw).unwrap_or(true),
            Life::Elsewhere(end) => self.backend.event_done(end).unwrap_or(true),
        };
        if !done {
            return;
        }
        let gone = lanes.remove(&id);
        // Its blocks first: while it is still known, its memory is not taken by the null stream without a wait.
        self.adopt_blocks(id);
        drop(lanes);
        match gone.map(|lane| lane.life) {
            Some(Life::GivenUp) if raw != RawStream(0) => self.backend.destroy_stream(raw),
            Some(Life::Elsewhere(end)) => self.backend.destroy_event(end),
            _ => {}
        }
    }

    /// Gives the blocks of a stream whose work is done to the null stream.
    fn adopt_blocks(&self, id: StreamId) {
        let null = self.null_stream().id();
        for pool in lock(&self.pools).iter().filter_map(std::sync::Weak::upgrade) {
            pool.move_blocks(id, null);
        }
    }
}

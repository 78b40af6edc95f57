//! Which work waits for which: between streams, and between a stream and somebody outside.

use crate::{
    backend::{RawEvent, RawStream, Timing, Waiting},
    device::{Device, Lane, Lanes, Life},
    lock,
    pool::{Block, Pool},
    storage::Storage,
    stream::{Stream, StreamId},
};
use cupric_core::Result;
use smallvec::SmallVec;
use std::sync::Arc;

impl Device {
    /// Makes what a stream is given from now on wait for what another one has been given so far.
    pub(crate) fn order_after(&self, later: StreamId, earlier: StreamId) {
        let lanes = lock(&self.queues);
        self.order_in(&lanes, later, earlier);
    }

    pub(crate) fn order_in(&self, lanes: &Lanes, later: StreamId, earlier: StreamId) {
        // A stream that the device has forgotten has finished its work.
        let (Some(waiting), Some(first)) = (lanes.get(&later), lanes.get(&earlier)) else { return };
        // What came before a recording was waited for, and what is in it waits for nothing outside.
        if waiting.capture.is_some() || first.capture.is_some() {
            return;
        }
        if let Err(error) = self.wait_for(waiting.raw, first) {
            self.fail(later, error);
        }
    }

    /// Makes a stream of the backend wait for what a lane has been given so far.
    fn wait_for(&self, later: RawStream, lane: &Lane) -> Result<()> {
        if let Life::Elsewhere(end) = lane.life {
            return self.backend.wait_event(later, end);
        }
        let event = self.event_after(lane.raw)?;
        let outcome = self.backend.wait_event(later, event);
        self.backend.destroy_event(event);
        outcome
    }

    /// Gives a block back to a pool, for the stream that it was taken for, after all work that others were given on it; for the null
    /// stream where that one is gone or was somebody else's.
    pub(crate) fn return_block(&self, pool: &Pool, block: Block, home: StreamId, users: &[StreamId]) {
        // Under one lock: a stream that is forgotten meanwhile would take the block with it.
        let lanes = lock(&self.queues);
        let is_ours = lanes.get(&home).is_some_and(|lane| !matches!(lane.life, Life::Elsewhere(_)));
        let heir = if is_ours { home } else { self.null_stream().id() };
        for &other in users.iter().chain([&home]).filter(|&&stream| stream != heir) {
            self.order_in(&lanes, heir, other);
        }
        pool.give(block, heir);
    }

    /// An event after what a stream of the backend has been given so far.
    pub(crate) fn event_after(&self, raw: RawStream) -> Result<RawEvent> {
        let event = self.backend.create_event(Timing::Off, Waiting::Spin)?;
        let recorded = self.backend.record_event(event, raw);
        if recorded.is_err() {
            self.backend.destroy_event(event);
        }
        recorded.map(|()| event)
    }

    /// Makes work that somebody outside gives to a stream of the backend wait for all work on a storage.
    ///
    /// # Errors
    /// When an operation that should have written the storage failed.
    pub fn order_outside(&self, storage: &Arc<Storage>, raw: RawStream) -> Result<()> {
        storage.settle()?;
        let users = lock(&storage.work).users();
        let lanes = lock(&self.queues);
        let mut others =
            users.iter().filter_map(|user| lanes.get(user)).filter(|lane| lane.raw != raw && lane.capture.is_none());
        others.try_for_each(|lane| self.wait_for(raw, lane))
    }

    /// Makes the work of one of our streams wait for what somebody outside has given to a stream of the backend.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn order_inside(&self, stream: &Stream, raw: RawStream) -> Result<()> {
        if stream.raw() == raw {
            return Ok(());
        }
        stream.flush();
        let event = self.event_after(raw)?;
        let outcome = self.backend.wait_event(stream.raw(), event);
        self.backend.destroy_event(event);
        outcome
    }

    /// Events after all that streams have been given so far.
    pub(crate) fn events_after(&self, streams: &[StreamId]) -> SmallVec<[RawEvent; 1]> {
        let lanes = lock(&self.queues);
        let mut events = SmallVec::new();
        for lane in streams.iter().filter_map(|stream| lanes.get(stream)).filter(|lane| lane.capture.is_none()) {
            // An event that another owner keeps must not be destroyed twice: what that lane has done is behind it anyway, so the
            // null stream, which waits for it, stands for it.
            let raw = if matches!(lane.life, Life::Elsewhere(_)) { RawStream(0) } else { lane.raw };
            let waits = if raw == lane.raw { Ok(()) } else { self.wait_for(raw, lane) };
            match waits.and_then(|()| self.event_after(raw)) {
                Ok(event) => events.push(event),
                Err(error) => self.fail(self.null_stream().id(), error),
            }
        }
        events
    }
}

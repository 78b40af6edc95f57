//! Who is told of what has failed.

use crate::{backend::Ticket, device::Device, lock, storage::Storage, stream::StreamId};
use cupric_core::{Error, Result};
use rustc_hash::FxHashMap;
use std::{collections::BTreeMap, sync::Arc};

// What becomes of so many launches is remembered for the arrays that they should have made.
const MOST_LAUNCHES: usize = 1024;

/// What has failed, and what may turn out to have.
#[derive(Default)]
pub(crate) struct Failures {
    // The first of each stream that nobody has been told of.
    untold: FxHashMap<StreamId, Error>,
    // Launches that turned out to have failed.
    failed: BTreeMap<Ticket, Error>,
    // The stream that recorded work was last launched on.
    pub recorded: Option<StreamId>,
    // Launches that may: their streams, and where they were asked for.
    open: BTreeMap<Ticket, (StreamId, Option<Arc<str>>)>,
}

impl Failures {
    fn note(&mut self, ticket: Ticket, error: Error) -> (Option<StreamId>, Error) {
        let (stream, place) = self.open.remove(&ticket).unzip();
        let stream = stream.or(self.recorded.filter(|_| ticket == Ticket::RECORDED));
        let error = placed(error, place.flatten().as_ref());
        self.failed.insert(ticket, error.clone());
        if self.failed.len() > MOST_LAUNCHES {
            self.failed.pop_first();
        }
        (stream, error)
    }
}

impl Device {
    /// Keeps a failure for the next look at a stream.
    pub(crate) fn fail(&self, stream: StreamId, error: Error) {
        lock(&self.failures).untold.entry(stream).or_insert(error);
    }

    /// Notes a launch that may turn out to have failed.
    pub(crate) fn note_open(&self, ticket: Ticket, stream: StreamId, place: Option<&Arc<str>>) {
        let mut failures = lock(&self.failures);
        failures.open.insert(ticket, (stream, place.cloned()));
        if failures.open.len() > MOST_LAUNCHES {
            failures.open.pop_first();
        }
    }

    /// Takes from the backend which launches have turned out to have failed.
    fn learn(&self) {
        for (ticket, error) in self.backend.take_failures() {
            let (stream, error) = lock(&self.failures).note(ticket, error);
            self.fail(stream.unwrap_or_else(|| self.null_stream().id()), error);
        }
    }

    /// Why a storage has no values, as far as is known by now. Whoever asks is told by that.
    pub(crate) fn known_failure(&self, storage: &Storage) -> Option<Error> {
        let in_doubt = {
            let work = lock(&storage.work);
            work.failure.is_none() && !work.tickets.is_empty()
        };
        if in_doubt {
            self.learn();
        }
        let mut work = lock(&storage.work);
        if in_doubt && work.failure.is_none() {
            let failures = lock(&self.failures);
            let failed = work.tickets.iter().find_map(|ticket| failures.failed.get(ticket));
            work.failure = failed.cloned().map(Box::new);
        }
        let failure = work.failure.as_deref().cloned()?;
        drop(work);
        self.told(&failure);
        Some(failure)
    }

    /// Notes that somebody is being told of a failure.
    pub(crate) fn told(&self, failure: &Error) {
        lock(&self.failures).untold.retain(|_, untold| untold != failure);
    }

    /// Raises what has failed on a stream since anybody looked.
    ///
    /// # Errors
    /// The failure.
    pub fn report(&self, stream: StreamId) -> Result<()> {
        self.learn();
        lock(&self.failures).untold.remove(&stream).map_or(Ok(()), Err)
    }

    /// Raises what has failed on any stream since anybody looked.
    ///
    /// # Errors
    /// The failure; the others are raised by later looks.
    pub fn report_all(&self) -> Result<()> {
        self.learn();
        let stream = lock(&self.failures).untold.keys().next().copied();
        stream.map_or(Ok(()), |stream| self.report(stream))
    }
}

/// A failure with the place where its operation was asked for, if that is known.
pub(crate) fn placed(error: Error, place: Option<&Arc<str>>) -> Error {
    match place {
        Some(place) => Error::Placed { place: place.to_string(), cause: Box::new(error) },
        None => error,
    }
}

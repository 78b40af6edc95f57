//! What kernels report: an index out of range.

use crate::{
    driver::{DevicePtr, Driver, Event, EventFlags, Fill, Progress, Stream, StreamKind},
    error::Result,
    gpu::Gpu,
    lock,
};
use cupric_codegen::{FAILURE_WORDS, decode_failure};
use cupric_core::Error;
use cupric_runtime::Ticket;
use std::sync::{Arc, Mutex};

/// Launches whose reports are kept apart; beyond that the newest share one.
const SLOTS: usize = 64;
// What runs inside of a captured graph reports here, whenever the graph is launched.
const CAPTURED: usize = SLOTS;

type Report = [u64; FAILURE_WORDS];
const BYTES: usize = (SLOTS + 1) * size_of::<Report>();

/// The reports of kernels in device memory, and whose they are.
pub(crate) struct Failures {
    gpu: Arc<Gpu>,
    state: Mutex<Option<State>>,
}

struct State {
    buffer: DevicePtr,
    // Reading must not wait for anybody's work.
    stream: Stream,
    next: u64,
    launches: Vec<Launch>,
    // Failures that were found before anybody looked.
    untold: Vec<(Ticket, Error)>,
    captured: Option<&'static str>,
    marks: Vec<Mark>,
}

/// A launch that has not been found to be fine or to have failed.
struct Launch {
    ticket: Ticket,
    operation: &'static str,
    slot: usize,
    stream: Stream,
    // Whether its stream's mark comes after it, and whether that was passed.
    marked: bool,
    over: bool,
}

/// The end of a stream's last work that may fail.
struct Mark {
    stream: Stream,
    event: Event,
}

/// Where a launch reports to.
pub(crate) struct Slot {
    /// The address that its kernels are given.
    pub address: u64,
    /// The launch's name; none inside of a capture.
    pub ticket: Option<Ticket>,
}

impl Failures {
    pub(crate) fn new(gpu: Arc<Gpu>) -> Failures {
        Failures { gpu, state: Mutex::new(None) }
    }

    /// A place for the report of a launch that is about to be given to a stream.
    pub(crate) fn slot(&self, driver: &dyn Driver, stream: Stream, operation: &'static str) -> Result<Slot> {
        let mut guard = lock(&self.state);
        if guard.is_none() {
            *guard = Some(State::new(driver)?);
        }
        let state = guard.as_mut().expect("made just now");
        if driver.is_capturing(stream)? {
            state.captured = Some(operation);
            return Ok(Slot { address: state.address(CAPTURED), ticket: None });
        }
        let ticket = Ticket(state.next);
        state.next += 1;
        if state.launches.len() >= SLOTS {
            // What is over by now is told at the next look.
            let failed = state.take(driver)?;
            state.untold.extend(failed);
        }
        let used = |slot: &usize| state.launches.iter().any(|launch| launch.slot == *slot);
        let free = (0..SLOTS).find(|slot| !used(slot));
        let slot = free.or_else(|| state.launches.last().map(|launch| launch.slot)).unwrap_or(0);
        state.launches.push(Launch { ticket, operation, slot, stream, marked: false, over: false });
        Ok(Slot { address: state.address(slot), ticket: Some(ticket) })
    }

    /// The addresses of the reports.
    #[cfg(test)]
    pub(crate) fn range(&self) -> Option<std::ops::Range<u64>> {
        lock(&self.state).as_ref().map(|state| state.buffer.0..state.buffer.0 + BYTES as u64)
    }

    /// Notes that a launch was given to its stream.
    pub(crate) fn mark(&self, driver: &dyn Driver, ticket: Ticket) -> Result<()> {
        let mut state = lock(&self.state);
        let Some(state) = state.as_mut() else { return Ok(()) };
        let Some(launch) = state.launches.iter_mut().rev().find(|launch| launch.ticket == ticket) else {
            return Ok(());
        };
        launch.marked = true;
        let stream = launch.stream;
        let event = match state.marks.iter().find(|mark| mark.stream == stream) {
            Some(mark) => mark.event,
            None => {
                let event = driver.create_event(EventFlags::DISABLE_TIMING)?;
                state.marks.push(Mark { stream, event });
                event
            }
        };
        driver.record_event(event, stream)
    }

    /// The launches that have ended and turned out to have failed.
    pub(crate) fn take(&self) -> Vec<(Ticket, Error)> {
        let mut state = lock(&self.state);
        let Some(state) = state.as_mut() else { return Vec::new() };
        let mut failed = std::mem::take(&mut state.untold);
        // What cannot be read now is read at the next look.
        failed.extend(self.gpu.enter().and_then(|driver| state.take(driver)).unwrap_or_default());
        failed
    }
}

impl State {
    fn new(driver: &dyn Driver) -> Result<State> {
        let (buffer, stream) = (driver.allocate(BYTES)?, driver.create_stream(StreamKind::NonBlocking, 0)?);
        clear(driver, buffer.0, BYTES, stream)?;
        driver.synchronize_stream(stream)?;
        Ok(State {
            buffer,
            stream,
            next: 0,
            launches: Vec::new(),
            untold: Vec::new(),
            captured: None,
            marks: Vec::new(),
        })
    }

    const fn address(&self, slot: usize) -> u64 {
        self.buffer.0 + (slot * size_of::<Report>()) as u64
    }

    /// The streams whose marks are passed; the marks are gone then.
    fn pass_marks(&mut self, driver: &dyn Driver) -> Vec<Stream> {
        let ended = |mark: &Mark| driver.query_event(mark.event) != Ok(Progress::Pending);
        let (passed, ahead) = std::mem::take(&mut self.marks).into_iter().partition::<Vec<_>, _>(ended);
        self.marks = ahead;
        for mark in &passed {
            // SAFETY: the mark is passed, and nobody else knows its event.
            let _ = unsafe { driver.destroy_event(mark.event) };
        }
        passed.into_iter().map(|mark| mark.stream).collect()
    }

    fn take(&mut self, driver: &dyn Driver) -> Result<Vec<(Ticket, Error)>> {
        let ended = self.pass_marks(driver);
        for launch in self.launches.iter_mut().filter(|launch| launch.marked && ended.contains(&launch.stream)) {
            launch.over = true;
        }
        // No array is tied to what a graph did.
        let captured = self.captured.map(|operation| (Ticket::RECORDED, operation, CAPTURED));
        let own = self.launches.iter().filter(|launch| launch.over);
        let over: Vec<_> = own.map(|launch| (launch.ticket, launch.operation, launch.slot)).chain(captured).collect();
        let Some(last) = over.iter().map(|&(.., slot)| slot).max() else { return Ok(Vec::new()) };
        let reports = self.read(driver, last + 1)?;
        let mut failed = Vec::new();
        for (ticket, operation, slot) in over {
            if let Some(error) = deferred(operation, &reports[slot]) {
                failed.push((ticket, error));
                clear(driver, self.address(slot), size_of::<Report>(), self.stream)?;
            }
        }
        if !failed.is_empty() {
            driver.synchronize_stream(self.stream)?;
        }
        self.launches.retain(|launch| !launch.over);
        Ok(failed)
    }

    /// The first reports.
    fn read(&self, driver: &dyn Driver, count: usize) -> Result<Vec<Report>> {
        let mut reports = vec![[u64::MAX; FAILURE_WORDS]; count];
        let bytes = count * size_of::<Report>();
        // SAFETY: both are that long; pageable memory is written before the call returns, and the stream is waited for.
        unsafe { driver.copy_to_host(reports.as_mut_ptr().cast(), self.buffer, bytes, self.stream) }?;
        driver.synchronize_stream(self.stream)?;
        Ok(reports)
    }
}

fn deferred(operation: &'static str, report: &Report) -> Option<Error> {
    let failure = decode_failure(report)?;
    let cause =
        Error::IndexOutOfBounds { index: failure.index as isize, axis: failure.axis, size: failure.length as usize };
    Some(Error::Deferred { operation: operation.to_owned(), cause: Box::new(cause) })
}

fn clear(driver: &dyn Driver, address: u64, bytes: usize, stream: Stream) -> Result<()> {
    // SAFETY: it is part of the buffer, which lives as long as the device.
    unsafe { driver.fill(DevicePtr(address), Fill::U8(0xff), bytes, stream) }
}

impl Drop for Failures {
    fn drop(&mut self) {
        let (Some(state), Ok(driver)) = (lock(&self.state).take(), self.gpu.enter()) else { return };
        // SAFETY: freeing waits for work that uses the memory; nobody else knows the events and the stream. A driver that
        // is gone may refuse.
        unsafe {
            let _ = driver.free(state.buffer);
            let _ = driver.destroy_stream(state.stream);
            state.marks.into_iter().for_each(|mark| drop(driver.destroy_event(mark.event)));
        }
    }
}

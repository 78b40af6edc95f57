//! What kernels report: an index out of range.

use crate::{
    driver::{DevicePtr, Driver, Event, EventFlags, Fill, Progress, Stream, StreamKind},
    error::Result,
    gpu::Gpu,
    lock,
};
use cupric_codegen::{FAILURE_WORDS, decode_failure};
use cupric_core::Error;
use std::sync::{Arc, Mutex};

const BYTES: usize = FAILURE_WORDS * 8;

/// The buffer in device memory that kernels report to, and who may have written to it.
pub(crate) struct Failures {
    gpu: Arc<Gpu>,
    state: Mutex<Option<State>>,
}

struct State {
    buffer: DevicePtr,
    // Reading must not wait for anybody's work.
    stream: Stream,
    marks: Vec<Mark>,
}

/// The end of a stream's last work that may fail.
struct Mark {
    stream: Stream,
    operation: &'static str,
    // None inside of a capture, whose work runs whenever its graph is launched.
    event: Option<Event>,
}

impl Failures {
    pub(crate) fn new(gpu: Arc<Gpu>) -> Failures {
        Failures { gpu, state: Mutex::new(None) }
    }

    /// The buffer's address.
    pub(crate) fn buffer(&self) -> Result<DevicePtr> {
        let mut state = lock(&self.state);
        if let Some(state) = &*state {
            return Ok(state.buffer);
        }
        let driver = self.gpu.enter()?;
        let (buffer, stream) = (driver.allocate(BYTES)?, driver.create_stream(StreamKind::NonBlocking, 0)?);
        clear(driver, buffer, stream)?;
        driver.synchronize_stream(stream)?;
        *state = Some(State { buffer, stream, marks: Vec::new() });
        Ok(buffer)
    }

    /// Notes that work which may fail was given to a stream.
    pub(crate) fn note(&self, driver: &dyn Driver, stream: Stream, operation: &'static str) -> Result<()> {
        let mut state = lock(&self.state);
        let Some(state) = &mut *state else { return Ok(()) };
        let captured = driver.is_capturing(stream)?;
        let known = state.marks.iter().position(|mark| mark.stream == stream && mark.event.is_none() == captured);
        let place = match known {
            Some(place) => place,
            None => {
                let event = match captured {
                    true => None,
                    false => Some(driver.create_event(EventFlags::DISABLE_TIMING)?),
                };
                state.marks.push(Mark { stream, operation, event });
                state.marks.len() - 1
            }
        };
        let mark = &mut state.marks[place];
        mark.operation = operation;
        mark.event.map_or(Ok(()), |event| driver.record_event(event, stream))
    }

    /// The failure that was reported since the last look, if work that could report one has ended.
    pub(crate) fn take(&self) -> Option<Error> {
        let mut state = lock(&self.state);
        let state = state.as_mut().filter(|state| !state.marks.is_empty())?;
        let driver = self.gpu.enter().ok()?;
        let ended = |mark: &Mark| mark.event.is_none_or(|event| driver.query_event(event) != Ok(Progress::Pending));
        let operation = state.marks.iter().find(|mark| ended(mark))?.operation;
        state.marks.retain(|mark| match mark.event {
            Some(event) if ended(mark) => {
                // SAFETY: its mark is passed, and nobody else knows it.
                let _ = unsafe { driver.destroy_event(event) };
                false
            }
            _ => true,
        });
        let failure = decode_failure(&read(driver, state).ok()?)?;
        clear(driver, state.buffer, state.stream).and_then(|()| driver.synchronize_stream(state.stream)).ok()?;
        let cause = Error::IndexOutOfBounds {
            index: failure.index as isize,
            axis: failure.axis,
            size: failure.length as usize,
        };
        Some(Error::Deferred { operation: operation.to_owned(), cause: Box::new(cause) })
    }
}

fn clear(driver: &dyn Driver, buffer: DevicePtr, stream: Stream) -> Result<()> {
    // SAFETY: the buffer is that long, and lives as long as the device.
    unsafe { driver.fill(buffer, Fill::U8(0xff), BYTES, stream) }
}

fn read(driver: &dyn Driver, state: &State) -> Result<[u64; FAILURE_WORDS]> {
    let mut words = [u64::MAX; FAILURE_WORDS];
    // SAFETY: both are that long; pageable memory is written before the call returns, and the stream is waited for.
    unsafe { driver.copy_to_host(words.as_mut_ptr().cast(), state.buffer, BYTES, state.stream) }?;
    driver.synchronize_stream(state.stream)?;
    Ok(words)
}

impl Drop for Failures {
    fn drop(&mut self) {
        let (Some(state), Ok(driver)) = (lock(&self.state).take(), self.gpu.enter()) else { return };
        let events = state.marks.into_iter().filter_map(|mark| mark.event);
        // SAFETY: freeing waits for work that uses the memory; nobody else knows the events and the stream. A driver that
        // is gone may refuse.
        unsafe {
            let _ = driver.free(state.buffer);
            let _ = driver.destroy_stream(state.stream);
            events.for_each(|event| drop(driver.destroy_event(event)));
        }
    }
}

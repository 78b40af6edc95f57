//! Work of a stream, recorded once and launched as often as wanted.

use crate::{
    backend::Recording,
    device::Device,
    lock,
    outside::lock_outside,
    storage::Storage,
    stream::{Stream, StreamId, with_current_stream},
};
use cupric_core::{Error, Result};
use cupric_ir::{Op, StorageId};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::{Arc, atomic::Ordering};

/// What a stream is asked for while it is being recorded.
#[derive(Default)]
pub(crate) struct Capture {
    // Everything that the recorded work uses, temporaries included, lives as long as the graph does.
    storages: Vec<Arc<Storage>>,
    known: FxHashSet<StorageId>,
    calls: Vec<Call>,
}

/// An operation of a device that works in its caller's time and so records nothing itself.
struct Call {
    op: Op,
    addresses: SmallVec<[u64; 8]>,
    workspace: u64,
}

impl Capture {
    pub fn keep(&mut self, storage: &Arc<Storage>) {
        if self.known.insert(storage.id()) {
            self.storages.push(storage.clone());
        }
    }

    pub fn call(&mut self, op: &Op, addresses: &[u64], workspace: u64) {
        self.calls.push(Call { op: op.clone(), addresses: addresses.iter().copied().collect(), workspace });
    }
}

/// Recorded work, and the memory that it uses.
pub struct Graph {
    device: Arc<Device>,
    work: Work,
    storages: Vec<Arc<Storage>>,
}

enum Work {
    Device(Box<dyn Recording>),
    Calls(Vec<Call>),
}

impl Stream {
    /// Begins to record what the stream is asked for instead of doing it. What was asked for before is waited for.
    ///
    /// # Errors
    /// When it is being recorded already, or the device refuses: the null stream cannot be recorded.
    pub fn begin_capture(&self) -> Result<()> {
        if self.is_null() {
            return Err(Error::Runtime("the null stream cannot be captured: use a stream of your own".into()));
        }
        let device = self.device();
        if self.is_capturing() {
            return Err(Error::Runtime("the stream is being captured already".into()));
        }
        // Recorded work cannot wait for other work: it has to be done before.
        device.synchronize()?;
        let _held = lock_outside(&self.handing);
        if device.recording(self.id(), |_| ()).is_some() {
            return Err(Error::Runtime("the stream is being captured already".into()));
        }
        device.backend().begin_capture(self.raw())?;
        device.set_capture(self.id(), Some(Capture::default()));
        self.capturing.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// Ends the recording, and gives what was recorded.
    ///
    /// # Errors
    /// When nothing was begun, or something in it could not be recorded.
    pub fn end_capture(&self) -> Result<Graph> {
        let device = self.device();
        let _held = lock_outside(&self.handing);
        let capture = device.take_capture(self.id());
        self.capturing.store(false, Ordering::SeqCst);
        let Some(Capture { storages, calls, .. }) = capture else {
            return Err(Error::Runtime("the stream is not being captured".into()));
        };
        let work = match device.backend().end_capture(self.raw())? {
            Some(recording) => Work::Device(recording),
            None => Work::Calls(calls),
        };
        Ok(Graph { device: device.clone(), work, storages })
    }

    /// Whether it is being recorded.
    #[must_use]
    pub fn is_capturing(&self) -> bool {
        self.capturing.load(Ordering::Relaxed)
    }
}

impl Graph {
    /// Does the recorded work on a stream, after all other work on the memory that it uses.
    ///
    /// # Errors
    /// When an operation that should have written some of that memory failed, the stream is being recorded, or the device refuses.
    pub fn launch(&self, stream: &Arc<Stream>) -> Result<()> {
        if stream.is_capturing() {
            return Err(Error::Runtime("a graph cannot be launched on a stream that is being captured".into()));
        }
        let storages: Vec<&Arc<Storage>> = self.storages.iter().collect();
        lock(&self.device.failures).recorded = Some(stream.id());
        self.device.launch_own(stream, &storages, |_| match &self.work {
            Work::Device(recording) => recording.launch(stream.raw()),
            Work::Calls(calls) => calls.iter().try_for_each(|call| {
                let backend = self.device.backend();
                backend.execute(stream.raw(), &call.op, &call.addresses, call.workspace).map(drop)
            }),
        })
    }

    /// Loads it onto the device ahead of its first launch.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn upload(&self, stream: &Stream) -> Result<()> {
        match &self.work {
            Work::Device(recording) => recording.upload(stream.raw()),
            Work::Calls(_) => Ok(()),
        }
    }

    /// The driver's handle; 0 where there is none.
    #[must_use]
    pub fn raw(&self) -> u64 {
        match &self.work {
            Work::Device(recording) => recording.raw(),
            Work::Calls(_) => 0,
        }
    }
}

impl Device {
    fn set_capture(&self, stream: StreamId, capture: Option<Capture>) {
        if let Some(lane) = lock(&self.queues).get_mut(&stream) {
            lane.capture = capture.map(Box::new);
        }
    }

    fn take_capture(&self, stream: StreamId) -> Option<Capture> {
        lock(&self.queues).get_mut(&stream)?.capture.take().map(|capture| *capture)
    }

    /// Adds to what a stream's recording knows, if it is being recorded.
    pub(crate) fn recording<T>(&self, stream: StreamId, note: impl FnOnce(&mut Capture) -> T) -> Option<T> {
        lock(&self.queues).get_mut(&stream)?.capture.as_deref_mut().map(note)
    }

    /// Refuses what cannot be part of a recording.
    pub(crate) fn not_capturing(&self, what: &str) -> Result<()> {
        if with_current_stream(self, Stream::is_capturing) {
            return Err(Error::Runtime(format!("{what} while the stream is being captured")));
        }
        Ok(())
    }
}

//! Streams and events.

use crate::{
    backend::{Blocking, RawEvent, RawStream, Timing, Waiting},
    device::{Device, Lane, Life},
    lock,
    outside::{Handing, lock_outside},
    queue::Queue,
};
use cupric_core::{Error, Result};
use std::{
    cell::RefCell,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

/// Names a stream within the process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId(u32);

/// An ordered sequence of work on a device.
pub struct Stream {
    id: StreamId,
    device: Arc<Device>,
    raw: RawStream,
    blocking: Blocking,
    owner: Owner,
    eager: AtomicBool,
    pub(crate) capturing: AtomicBool,
    pub(crate) handing: Handing,
}

/// Who made the backend's stream, and destroys it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Ours,
    Theirs,
}

impl Stream {
    /// A new stream of a device; a lower priority number goes first.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn new(device: &Arc<Device>, blocking: Blocking, priority: i32) -> Result<Arc<Stream>> {
        let raw = device.backend().create_stream(blocking, priority)?;
        Ok(Stream::made(device, raw, blocking, Owner::Ours))
    }

    /// A stream that somebody else made and keeps alive; work on it never waits in a queue.
    #[must_use]
    pub fn external(device: &Arc<Device>, raw: RawStream) -> Arc<Stream> {
        let stream = Stream::over(device, raw, Blocking::WithNull);
        stream.eager.store(true, Ordering::Relaxed);
        stream
    }

    /// A stream over one of the backend's that lives longer.
    pub(crate) fn over(device: &Arc<Device>, raw: RawStream, blocking: Blocking) -> Arc<Stream> {
        Stream::made(device, raw, blocking, Owner::Theirs)
    }

    fn made(device: &Arc<Device>, raw: RawStream, blocking: Blocking, owner: Owner) -> Arc<Stream> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let id = StreamId(NEXT.fetch_add(1, Ordering::Relaxed));
        let (eager, handing) = (AtomicBool::new(false), Handing::default());
        let lane =
            Lane { raw, blocking, handing: handing.clone(), queue: Queue::default(), life: Life::Held, capture: None };
        lock(&device.queues).insert(id, lane);
        let capturing = AtomicBool::new(false);
        Arc::new(Stream { id, device: device.clone(), raw, blocking, owner, eager, capturing, handing })
    }

    /// Its name.
    #[must_use]
    pub const fn id(&self) -> StreamId {
        self.id
    }

    /// The device it belongs to.
    #[must_use]
    pub const fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The backend's handle, for work that is launched at once.
    #[must_use]
    pub const fn raw(&self) -> RawStream {
        self.raw
    }

    /// The backend's handle, given to somebody outside: from now on no work waits in this stream's queue.
    #[must_use]
    pub fn expose(&self) -> RawStream {
        self.eager.store(true, Ordering::Relaxed);
        self.device.flush_stream(self.id);
        self.raw
    }

    /// How it relates to the null stream.
    #[must_use]
    pub const fn blocking(&self) -> Blocking {
        self.blocking
    }

    /// Whether it is the stream that work goes to when nobody says otherwise.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.raw == RawStream(0)
    }

    pub(crate) fn is_eager(&self) -> bool {
        self.eager.load(Ordering::Relaxed) || self.is_capturing()
    }

    /// Launches what is queued.
    pub fn flush(&self) {
        if self.is_null() {
            self.device.flush_blocking();
        } else {
            self.device.flush_stream(self.id);
        }
    }

    /// Launches what is queued and waits until it is done.
    ///
    /// # Errors
    /// When work has failed.
    pub fn synchronize(&self) -> Result<()> {
        if self.is_capturing() {
            return Err(Error::Runtime("nothing can be waited for while the stream is being captured".into()));
        }
        self.flush();
        self.device.backend().synchronize_stream(self.raw)?;
        // The null stream's end is that of all streams that wait for it.
        if self.is_null() { self.device.report_all() } else { self.device.report(self.id) }
    }

    /// Whether everything that was given to it is done.
    ///
    /// # Errors
    /// When work has failed.
    pub fn done(&self) -> Result<bool> {
        self.flush();
        self.device.backend().stream_done(self.raw)
    }

    /// Makes what is given to it from now on wait for an event.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        self.flush();
        self.device.backend().wait_event(self.raw, event.raw)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.device.give_up(self.id, self.owner == Owner::Ours);
    }
}

/// A point in a stream's work.
pub struct Event {
    device: Arc<Device>,
    raw: RawEvent,
}

impl Event {
    /// A new event.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn new(device: &Arc<Device>, timing: Timing, waiting: Waiting) -> Result<Event> {
        Ok(Event { raw: device.backend().create_event(timing, waiting)?, device: device.clone() })
    }

    /// Marks the point that a stream has come to, launching what is queued before.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        stream.flush();
        let _held = lock_outside(&stream.handing);
        self.device.backend().record_event(self.raw, stream.raw)
    }

    /// Waits until the point is passed.
    ///
    /// # Errors
    /// When work before it has failed.
    pub fn synchronize(&self) -> Result<()> {
        self.device.backend().synchronize_event(self.raw)
    }

    /// Whether the point is passed.
    ///
    /// # Errors
    /// When work before it has failed.
    pub fn done(&self) -> Result<bool> {
        self.device.backend().event_done(self.raw)
    }

    /// Milliseconds from this point to a later one.
    ///
    /// # Errors
    /// When one of them is not passed, or keeps no time.
    pub fn elapsed_until(&self, end: &Event) -> Result<f32> {
        self.device.backend().elapsed(self.raw, end.raw)
    }

    /// The backend's handle.
    #[must_use]
    pub const fn raw(&self) -> RawEvent {
        self.raw
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        self.device.backend().destroy_event(self.raw);
    }
}

thread_local! {
    static CURRENT: RefCell<Vec<Arc<Stream>>> = const { RefCell::new(Vec::new()) };
}

/// The stream that this thread's calls on a device go to.
#[must_use]
pub fn current_stream(device: &Arc<Device>) -> Arc<Stream> {
    CURRENT.with_borrow(|current| {
        current.iter().find(|stream| Arc::ptr_eq(&stream.device, device)).unwrap_or(device.null_stream()).clone()
    })
}

/// What `look` finds in the stream that this thread's calls on a device go to.
pub(crate) fn with_current_stream<T>(device: &Device, look: impl FnOnce(&Stream) -> T) -> T {
    CURRENT.with_borrow(|current| {
        let own = current.iter().find(|stream| std::ptr::eq(&*stream.device, device));
        look(own.unwrap_or(device.null_stream()))
    })
}

/// Sends this thread's calls on the stream's device to it; gives the one before.
pub fn use_stream(stream: &Arc<Stream>) -> Arc<Stream> {
    let before = current_stream(&stream.device);
    let gone = CURRENT.with_borrow_mut(|current| {
        let place = current.iter().position(|other| Arc::ptr_eq(&other.device, &stream.device));
        let gone = place.map(|place| current.swap_remove(place));
        current.push(stream.clone());
        gone
    });
    // Dropped here: a stream's end may come back to this thread's list.
    drop(gone);
    before
}

//! A device: its backend, its memory, its streams and their queues.

use crate::{
    allocator::{Allocator, current_allocator},
    backend::{Backend, Blocking, DeviceKind, RawEvent, RawStream},
    capture::Capture,
    config::{Config, Running},
    failures::Failures,
    flusher::Flusher,
    launch::Captured,
    lock,
    outside::{Handing, lock_outside},
    parting::Parting,
    pool::{Block, Pool, Reservation},
    queue::{Batch, Queue},
    storage::Storage,
    stream::{Stream, StreamId},
};
use cupric_core::Result;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::{
    cell::Cell,
    sync::{Arc, Mutex, OnceLock, TryLockError, Weak},
};

/// A device that arrays live on.
pub struct Device {
    pub(crate) backend: Arc<dyn Backend>,
    pool: Arc<Pool>,
    // Every pool of the device's memory.
    pub(crate) pools: Mutex<Vec<Weak<Pool>>>,
    null: OnceLock<Arc<Stream>>,
    // Guards all queues. Nobody waits for the device, or runs foreign code, while holding it.
    pub(crate) queues: Mutex<Lanes>,
    pub(crate) failures: Mutex<Failures>,
    pub(crate) parting: Mutex<Vec<Parting>>,
    pub(crate) flusher: Flusher,
    // Queued groups that move so many bytes are launched once no more steps can join them.
    pub(crate) worthwhile: usize,
}

/// The device's streams.
pub(crate) type Lanes = FxHashMap<StreamId, Lane>;

/// What the device knows of a stream.
pub(crate) struct Lane {
    pub raw: RawStream,
    pub blocking: Blocking,
    pub handing: Handing,
    pub queue: Queue,
    pub life: Life,
    // What the stream is asked for while it is being recorded.
    pub capture: Option<Box<Capture>>,
}

/// How long a stream is there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// Somebody holds it.
    Held,
    /// Nobody does; it is destroyed when its work is done.
    GivenUp,
    /// It was somebody else's, and may be gone; this event comes after the work that we gave it.
    Elsewhere(RawEvent),
}

thread_local! {
    static RUNNING: Cell<Running> = Cell::new(Config::get().running);
}

/// Sets when this thread's operations run; gives what was set before.
pub fn set_running(running: Running) -> Running {
    RUNNING.replace(running)
}

/// When this thread's operations run.
pub(crate) fn running() -> Running {
    RUNNING.get()
}

impl Device {
    /// A device over a backend.
    #[must_use]
    pub fn new(backend: Box<dyn Backend>) -> Arc<Device> {
        let backend: Arc<dyn Backend> = Arc::from(backend);
        let worthwhile = backend.worthwhile_traffic();
        let pool = Pool::new(backend.clone());
        let device = Arc::new(Device {
            pools: Mutex::new(vec![Arc::downgrade(&pool)]),
            pool,
            backend,
            null: OnceLock::new(),
            queues: Mutex::default(),
            failures: Mutex::default(),
            parting: Mutex::default(),
            flusher: Flusher::default(),
            worthwhile,
        });
        let null = Stream::over(&device, RawStream(0), Blocking::WithNull);
        assert!(device.null.set(null).is_ok(), "a new device has no null stream yet");
        device
    }

    /// What drives it.
    #[must_use]
    pub fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// What kind of device it is.
    #[must_use]
    pub fn kind(&self) -> DeviceKind {
        self.backend.kind()
    }

    /// Its own pool.
    #[must_use]
    pub const fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// A pool of its memory beside its own.
    #[must_use]
    pub fn new_pool(&self) -> Arc<Pool> {
        let pool = Pool::new(self.backend.clone());
        let mut pools = lock(&self.pools);
        pools.retain(|known| known.strong_count() > 0);
        pools.push(Arc::downgrade(&pool));
        pool
    }

    /// The stream that work goes to when nobody says otherwise.
    ///
    /// # Panics
    /// Never: every device is made with one.
    #[must_use]
    pub fn null_stream(&self) -> &Arc<Stream> {
        self.null.get().expect("set when the device was made")
    }

    /// Memory for an array of this many bytes, promised now and taken when it is first written.
    ///
    /// # Errors
    /// `OutOfMemory`, once queued work has been launched and caches have been given back.
    pub fn storage(self: &Arc<Device>, bytes: usize) -> Result<Arc<Storage>> {
        let pool = match current_allocator() {
            Allocator::Pool(pool) if Arc::ptr_eq(pool.backend(), &self.backend) => pool,
            Allocator::Function(function) if bytes > 0 => {
                let (address, owner) = function(bytes)?;
                return Ok(Storage::foreign(self.clone(), address, bytes, owner));
            }
            _ => self.pool.clone(),
        };
        self.storage_in(&pool, bytes)
    }

    /// The same from a pool of the device.
    ///
    /// # Errors
    /// As there.
    pub fn storage_in(self: &Arc<Device>, pool: &Arc<Pool>, bytes: usize) -> Result<Arc<Storage>> {
        let reservation = self.reserve(pool, bytes)?;
        Ok(Storage::reserved(self.clone(), bytes, reservation))
    }

    fn reserve(&self, pool: &Arc<Pool>, bytes: usize) -> Result<Reservation> {
        pool.reserve(bytes).or_else(|_| {
            self.flush();
            pool.free_all();
            pool.reserve(bytes)
        })
    }

    /// A block of a pool, for use on a stream.
    ///
    /// # Errors
    /// `OutOfMemory` when the device has no more, even after the caches have been given back.
    pub(crate) fn take_block(&self, pool: &Pool, size: usize, stream: StreamId) -> Result<Block> {
        if let Some(block) = pool.cached(size, stream) {
            return Ok(block);
        }
        // What another stream has let go may be used once that one is done with it; the device need not be asked for more then.
        for other in pool.streams_with(size) {
            // Taken first: what is let go after the look does not count.
            let Some(block) = pool.cached(size, other) else { continue };
            if self.is_idle(other) {
                return Ok(block);
            }
            pool.give(block, other);
        }
        pool.allocate(size)
    }

    fn is_idle(&self, stream: StreamId) -> bool {
        let lanes = lock(&self.queues);
        // A question may break a recording.
        if lanes.values().any(|lane| lane.capture.is_some()) {
            return false;
        }
        let known = lanes.get(&stream).map(|lane| (lane.raw, lane.life));
        drop(lanes);
        match known {
            Some((raw, Life::Held | Life::GivenUp)) => self.backend.stream_done(raw).unwrap_or(false),
            Some((_, Life::Elsewhere(end))) => self.backend.event_done(end).unwrap_or(false),
            None => true,
        }
    }

    /// Launches what all queues hold, and lets go of what is over.
    pub fn flush(&self) {
        self.flush_where(|_| true);
        self.tidy();
    }

    /// Launches what the queues hold that the null stream waits for.
    pub(crate) fn flush_blocking(&self) {
        self.flush_where(|lane| lane.blocking == Blocking::WithNull);
    }

    fn flush_where(&self, wanted: impl Fn(&Lane) -> bool) {
        for id in self.streams_where(|lane| wanted(lane) && !lane.queue.steps.is_empty()) {
            self.flush_stream(id);
        }
    }

    pub(crate) fn streams_where(&self, wanted: impl Fn(&Lane) -> bool) -> SmallVec<[StreamId; 4]> {
        let queues = lock(&self.queues);
        queues.iter().filter(|(_, lane)| wanted(lane)).map(|(&id, _)| id).collect()
    }

    /// Launches what came before a round of the flusher, where nobody else is handing work to the stream.
    pub(crate) fn flush_older(&self, round: u64) {
        let is_old = |lane: &Lane| !lane.queue.steps.is_empty() && lane.queue.round < round;
        for id in self.streams_where(is_old) {
            let Some(handing) = self.handing(id) else { continue };
            match handing.try_lock() {
                Ok(_held) => self.launch_queued(id),
                Err(TryLockError::Poisoned(_held)) => self.launch_queued(id),
                // Whoever holds it may take long, and other streams do not wait for that.
                Err(TryLockError::WouldBlock) => {}
            }
        }
    }

    /// Whether there is anything that will have to be launched or tidied up.
    pub(crate) fn has_more_to_do(&self) -> bool {
        let busy = lock(&self.queues).values().any(|lane| !lane.queue.steps.is_empty() || lane.life != Life::Held);
        busy || !lock(&self.parting).is_empty()
    }

    fn handing(&self, id: StreamId) -> Option<Handing> {
        lock(&self.queues).get(&id).map(|lane| lane.handing.clone())
    }

    /// Launches what one queue holds; failures stay with the results, and are told at the next look at the stream.
    pub(crate) fn flush_stream(&self, id: StreamId) {
        let Some(handing) = self.handing(id) else { return };
        let _held = lock_outside(&handing);
        self.launch_queued(id);
    }

    /// Launches the groups of one queue that are closed.
    pub(crate) fn flush_closed(&self, id: StreamId) {
        let Some(handing) = self.handing(id) else { return };
        let _held = lock_outside(&handing);
        self.launch_taken(id, |queue| queue.take_closed(id));
    }

    /// Launches what one queue holds, where the stream's `handing` is held.
    fn launch_queued(&self, id: StreamId) {
        self.launch_taken(id, Queue::take);
    }

    fn launch_taken(&self, id: StreamId, take: impl FnOnce(&mut Queue) -> Batch) {
        let taken = match lock(&self.queues).get_mut(&id) {
            Some(lane) if !lane.queue.steps.is_empty() => {
                (lane.raw, Captured::of(lane.capture.is_some()), take(&mut lane.queue))
            }
            _ => return,
        };
        let (raw, captured, batch) = taken;
        self.launch(id, raw, captured, batch);
    }

    /// Launches everything and waits until it is done.
    ///
    /// # Errors
    /// When work has failed.
    pub fn synchronize(&self) -> Result<()> {
        self.flush();
        self.backend.synchronize()?;
        self.tidy();
        self.report_all()
    }

    /// Stops the background launches; they start again by themselves.
    pub fn pause(&self) {
        self.flush();
        self.flusher.stop();
    }
}

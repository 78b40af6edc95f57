//! A device: its backend, its memory, its streams and their queues.

use crate::{
    backend::{Backend, Blocking, DeviceKind, RawStream, Timing, Waiting},
    config::{Config, Running},
    flusher::Flusher,
    lock,
    pool::{Pool, Reservation},
    queue::{Batch, Queue},
    storage::Storage,
    stream::{Stream, StreamId, current_stream},
};
use cupric_core::{Error, Result};
use cupric_ir::{MOST_STEPS, Op, Step, StorageId, alone, fuse};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::{
    any::Any,
    cell::{Cell, RefCell},
    sync::{Arc, Mutex, OnceLock, Weak},
    time::Instant,
};

/// A device that arrays live on.
pub struct Device {
    backend: Arc<dyn Backend>,
    pool: Arc<Pool>,
    null: OnceLock<Arc<Stream>>,
    // Guards all queues. Nobody waits for the device, or runs foreign code, while holding it.
    queues: Mutex<FxHashMap<StreamId, Lane>>,
    failure: Mutex<Option<Error>>,
    flusher: Flusher,
}

struct Lane {
    stream: Weak<Stream>,
    raw: RawStream,
    queue: Queue,
}

thread_local! {
    static EAGER: Cell<bool> = Cell::new(Config::get().running == Running::Eager);
    static ALLOCATOR: RefCell<Allocator> = const { RefCell::new(Allocator::Device) };
}

/// Somebody else's memory: its address, and what keeps it.
pub type ForeignMemory = (u64, Box<dyn Any + Send + Sync>);

/// Where a thread's new arrays take their memory from.
#[derive(Clone, Default)]
pub enum Allocator {
    /// The device's own pool.
    #[default]
    Device,
    /// This pool, for arrays on its device.
    Pool(Arc<Pool>),
    /// A function of the number of bytes, called whenever an array is made.
    Function(Arc<dyn Fn(usize) -> Result<ForeignMemory> + Send + Sync>),
}

/// Sets whether this thread's operations run at their calls; gives what was set before.
pub fn set_running(running: Running) -> Running {
    let before = EAGER.replace(running == Running::Eager);
    if before { Running::Eager } else { Running::Deferred }
}

/// Sets where this thread's new arrays take memory from; gives what was set before.
pub fn set_allocator(allocator: Allocator) -> Allocator {
    ALLOCATOR.replace(allocator)
}

impl Device {
    /// A device over a backend.
    #[must_use]
    pub fn new(backend: Box<dyn Backend>) -> Arc<Device> {
        let backend: Arc<dyn Backend> = Arc::from(backend);
        let device = Arc::new(Device {
            pool: Pool::new(backend.clone()),
            backend,
            null: OnceLock::new(),
            queues: Mutex::default(),
            failure: Mutex::default(),
            flusher: Flusher::default(),
        });
        let null = Stream::over(&device, RawStream(0), Blocking::WithNull, false);
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
        Pool::new(self.backend.clone())
    }

    /// The stream that work goes to when nobody says otherwise.
    ///
    /// # Panics
    /// Never: every device is made with one.
    #[must_use]
    pub fn null_stream(&self) -> &Arc<Stream> {
        self.null.get().expect("set when the device was made")
    }

    pub(crate) fn register(&self, stream: &Arc<Stream>) {
        let lane = Lane { stream: Arc::downgrade(stream), raw: stream.raw(), queue: Queue::default() };
        lock(&self.queues).insert(stream.id(), lane);
    }

    /// Forgets a stream whose owner is gone, after launching what it still has.
    pub(crate) fn retire(&self, id: StreamId, raw: RawStream) {
        let lane = lock(&self.queues).remove(&id);
        if let Some(mut lane) = lane
            && !lane.queue.steps.is_empty()
        {
            let outcome = self.launch(id, raw, lane.queue.take());
            outcome.unwrap_or_else(|error| self.fail(error));
        }
    }

    /// Memory for an array of this many bytes, promised now and taken when it is first written.
    ///
    /// # Errors
    /// `OutOfMemory`, once queued work has been launched and caches have been given back.
    pub fn storage(self: &Arc<Device>, bytes: usize) -> Result<Arc<Storage>> {
        let pool = match ALLOCATOR.with_borrow(Allocator::clone) {
            Allocator::Pool(pool) if Arc::ptr_eq(pool.backend(), &self.backend) => pool,
            Allocator::Function(function) if bytes > 0 => {
                let (address, owner) = function(bytes)?;
                return Ok(Storage::foreign(self.clone(), address, bytes, owner));
            }
            _ => self.pool.clone(),
        };
        let reservation = self.reserve(&pool, bytes)?;
        let home = current_stream(self).id();
        Ok(Storage::reserved(self.clone(), bytes, reservation, home))
    }

    fn reserve(&self, pool: &Arc<Pool>, bytes: usize) -> Result<Reservation> {
        pool.reserve(bytes).or_else(|_| {
            self.flush();
            pool.free_all();
            pool.reserve(bytes)
        })
    }

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
        let shared = reads.iter().chain(writes).any(|storage| storage.is_shared());
        let single = matches!(step, Step::Single(_));
        let now = single || shared || stream.is_eager() || EAGER.get() || step.bytes() <= self.backend.small_work();
        let mut queues = self.settled(stream.id(), reads, writes);
        let waits: SmallVec<[StreamId; 2]> = reads
            .iter()
            .filter_map(|storage| note_read(storage, stream.id()))
            .chain(writes.iter().flat_map(|storage| note_write(storage, stream.id())))
            .collect();
        for other in waits {
            self.order_in(&queues, stream.id(), other);
        }
        let lane = queues.get_mut(&stream.id()).expect("a stream is registered as long as it lives");
        if now && lane.queue.steps.is_empty() {
            drop(queues);
            let _handing = lock(&stream.handing);
            let find = |id| find_in(reads, writes, id);
            return self.run(stream.id(), stream.raw(), &alone(&step), &find);
        }
        let place = (stream.id(), lane.queue.generation);
        for storage in reads.iter().chain(writes) {
            hold(&mut lane.queue, storage, place);
        }
        lane.queue.steps.push(step);
        let now = now || lane.queue.is_full();
        if !now {
            lane.queue.last = Some(Instant::now());
        }
        drop(queues);
        if now {
            return self.flush_stream_reporting(stream.id());
        }
        self.flusher.wake(self);
        Ok(())
    }

    /// The queues, once there is room and no other stream's queue holds a step that must run before one on these storages.
    fn settled(
        &self,
        stream: StreamId,
        reads: &[&Arc<Storage>],
        writes: &[&Arc<Storage>],
    ) -> std::sync::MutexGuard<'_, FxHashMap<StreamId, Lane>> {
        loop {
            let queues = lock(&self.queues);
            let other = reads.iter().chain(writes).find_map(|storage| {
                let work = lock(&storage.work);
                work.pending.iter().map(|&(other, _)| other).find(|&other| other != stream)
            });
            let full = queues.get(&stream).is_some_and(|lane| lane.queue.steps.len() >= MOST_STEPS);
            let Some(wanted) = other.or(full.then_some(stream)) else { return queues };
            drop(queues);
            self.flush_stream(wanted);
        }
    }

    /// Makes what a stream is given from now on wait for what another one has been given so far.
    pub(crate) fn order_after(&self, later: StreamId, earlier: StreamId) {
        let queues = lock(&self.queues);
        self.order_in(&queues, later, earlier);
    }

    fn order_in(&self, queues: &FxHashMap<StreamId, Lane>, later: StreamId, earlier: StreamId) {
        let raw = |id: StreamId| queues.get(&id).map(|lane| lane.raw);
        // A stream that is gone has finished its work.
        let (Some(later), Some(earlier)) = (raw(later), raw(earlier)) else { return };
        let Ok(event) = self.backend.create_event(Timing::Off, Waiting::Spin) else { return };
        let ordered = self.backend.record_event(event, earlier).and_then(|()| self.backend.wait_event(later, event));
        self.backend.destroy_event(event);
        if let Err(error) = ordered {
            self.fail(error);
        }
    }

    /// Launches what all queues hold.
    pub fn flush(&self) {
        self.flush_where(|_| true);
    }

    /// Launches what the queues hold that the null stream waits for.
    pub(crate) fn flush_blocking(&self) {
        self.flush_where(|stream| stream.blocking() == Blocking::WithNull);
    }

    fn flush_where(&self, wanted: impl Fn(&Stream) -> bool) {
        // Collected whole: dropping a stream's last owner takes the lock again.
        let streams: SmallVec<[Arc<Stream>; 4]> =
            lock(&self.queues).values().filter_map(|lane| lane.stream.upgrade()).collect();
        for stream in streams.iter().filter(|stream| wanted(stream)) {
            self.flush_stream(stream.id());
        }
    }

    /// Launches what has been waiting since before `deadline`; gives the time of the oldest call that still waits.
    pub(crate) fn flush_older(&self, deadline: Instant) -> Option<Instant> {
        let mut old: SmallVec<[StreamId; 4]> = SmallVec::new();
        let mut oldest = None;
        for (&id, lane) in lock(&self.queues).iter() {
            match lane.queue.last {
                Some(last) if last <= deadline => old.push(id),
                Some(last) => oldest = Some(oldest.map_or(last, |known: Instant| known.min(last))),
                None => {}
            }
        }
        for id in old {
            self.flush_stream(id);
        }
        oldest
    }

    /// Launches what one queue holds; a failure is kept for the next look.
    pub(crate) fn flush_stream(&self, id: StreamId) {
        if let Err(error) = self.flush_stream_reporting(id) {
            self.fail(error);
        }
    }

    fn flush_stream_reporting(&self, id: StreamId) -> Result<()> {
        let Some(stream) = lock(&self.queues).get(&id).and_then(|lane| lane.stream.upgrade()) else { return Ok(()) };
        let handing = lock(&stream.handing);
        let batch = match lock(&self.queues).get_mut(&id) {
            Some(lane) if !lane.queue.steps.is_empty() => lane.queue.take(),
            _ => return Ok(()),
        };
        let result = self.launch(id, stream.raw(), batch);
        drop(handing);
        result
    }

    fn launch(&self, id: StreamId, raw: RawStream, batch: Batch) -> Result<()> {
        let Batch { generation, steps, storages, alive } = batch;
        let by_id: FxHashMap<StorageId, &Arc<Storage>> =
            storages.iter().map(|storage| (storage.id(), storage)).collect();
        let find = |id| by_id[&id];
        let mut result = Ok(());
        for fused in fuse(&steps, |storage| alive.contains(&storage)) {
            if fused.op.writes().is_empty() {
                // Nobody holds what it would have made.
                continue;
            }
            let outcome = if fused.steps.len() == 1 || self.backend.ready(&fused.op) {
                self.run(id, raw, &fused.op, &find)
            } else {
                // Until its kernel is made, a group runs step by step, which gives the same bits.
                fused.steps.iter().try_for_each(|&step| self.run(id, raw, &alone(&steps[step]), &find))
            };
            result = result.and(outcome);
        }
        for storage in &storages {
            lock(&storage.work).pending.retain(|place| *place != (id, generation));
        }
        result
    }

    fn run<'a>(
        &self,
        id: StreamId,
        raw: RawStream,
        op: &Op,
        find: &impl Fn(StorageId) -> &'a Arc<Storage>,
    ) -> Result<()> {
        let writes = op.writes();
        let reads = op.reads();
        let failed = reads.iter().find_map(|operand| lock(&find(operand.storage).work).failure.clone());
        let fresh: SmallVec<[&Arc<Storage>; 2]> = writes
            .iter()
            .map(|operand| find(operand.storage))
            .filter(|storage| lock(&storage.work).address.is_none())
            .collect();
        let inherited = failed.is_some();
        let outcome = match failed {
            Some(error) => Err(error),
            None => reads
                .iter()
                .chain(writes.iter())
                .map(|operand| find(operand.storage).materialise())
                .collect::<Result<SmallVec<[u64; 8]>>>()
                .and_then(|addresses| self.hand(id, raw, op, &addresses)),
        };
        let Err(error) = outcome else { return Ok(()) };
        for storage in fresh {
            lock(&storage.work).failure = Some(error.clone());
        }
        // What a failed operation has made fail was told of once already.
        if inherited { Ok(()) } else { Err(error) }
    }

    fn hand(&self, id: StreamId, raw: RawStream, op: &Op, addresses: &[u64]) -> Result<()> {
        let bytes = self.backend.workspace(op)?;
        let size = crate::pool::rounded(bytes);
        let workspace = self.pool.take(size, id)?;
        let outcome = self.backend.execute(raw, op, addresses, workspace);
        self.pool.give(workspace, size, id);
        outcome
    }

    fn fail(&self, error: Error) {
        lock(&self.failure).get_or_insert(error);
    }

    /// Raises what has failed since anybody looked.
    ///
    /// # Errors
    /// The failure.
    pub fn report(&self) -> Result<()> {
        let failure = lock(&self.failure).take().or_else(|| self.backend.take_failure());
        failure.map_or(Ok(()), Err)
    }

    /// Launches everything and waits until it is done.
    ///
    /// # Errors
    /// When work has failed.
    pub fn synchronize(&self) -> Result<()> {
        self.flush();
        self.backend.synchronize()?;
        self.report()
    }

    /// Copies bytes of a storage to the host, after all work on it.
    ///
    /// # Errors
    /// When an operation that should have written them failed.
    pub fn download(self: &Arc<Device>, storage: &Arc<Storage>, offset: usize, to: &mut [u8]) -> Result<()> {
        storage.settle()?;
        let stream = current_stream(self);
        let _handing = lock(&stream.handing);
        if let Some(writer) = note_read(storage, stream.id()) {
            self.order_after(stream.id(), writer);
        }
        let address = storage.materialise()? + offset as u64;
        self.backend.download(stream.raw(), address, to)?;
        self.report()
    }

    /// Copies bytes from the host into a storage, after all work on it.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn upload(self: &Arc<Device>, storage: &Arc<Storage>, offset: usize, from: &[u8]) -> Result<()> {
        storage.settle()?;
        let stream = current_stream(self);
        stream.flush();
        let _handing = lock(&stream.handing);
        for other in note_write(storage, stream.id()) {
            self.order_after(stream.id(), other);
        }
        let address = storage.materialise()? + offset as u64;
        self.backend.upload(stream.raw(), address, from)
    }

    /// Runs a launch of the caller's own on a stream, after all work on these storages, any of which it may write. It is given
    /// their addresses.
    ///
    /// # Errors
    /// When an operation that should have written one of them failed, or the launch did.
    pub fn launch_own(
        self: &Arc<Device>,
        stream: &Arc<Stream>,
        storages: &[&Arc<Storage>],
        launch: impl FnOnce(&[u64]) -> Result<()>,
    ) -> Result<()> {
        for storage in storages {
            storage.settle()?;
        }
        stream.flush();
        let _handing = lock(&stream.handing);
        for storage in storages {
            for other in note_write(storage, stream.id()) {
                self.order_after(stream.id(), other);
            }
        }
        let addresses: SmallVec<[u64; 8]> =
            storages.iter().map(|storage| storage.materialise()).collect::<Result<_>>()?;
        launch(&addresses)
    }

    /// Stops the background launches, so that the process may fork; they start again by themselves.
    pub fn pause(&self) {
        self.flush();
        self.flusher.stop();
    }
}

/// The storage of this name among those of a step.
fn find_in<'a>(reads: &[&'a Arc<Storage>], writes: &[&'a Arc<Storage>], id: StorageId) -> &'a Arc<Storage> {
    reads.iter().chain(writes).find(|storage| storage.id() == id).expect("a step's storages are given with it")
}

fn hold(queue: &mut Queue, storage: &Arc<Storage>, place: (StreamId, u64)) {
    let mut work = lock(&storage.work);
    if !work.pending.contains(&place) {
        work.pending.push(place);
        drop(work);
        queue.hold(storage);
    }
}

/// Notes that a stream reads a storage; gives the stream that it must wait for.
fn note_read(storage: &Storage, stream: StreamId) -> Option<StreamId> {
    let mut work = lock(&storage.work);
    if work.writer == Some(stream) || work.readers.contains(&stream) {
        return None;
    }
    work.readers.push(stream);
    work.writer
}

/// Notes that a stream writes a storage; gives the streams that it must wait for.
fn note_write(storage: &Storage, stream: StreamId) -> SmallVec<[StreamId; 2]> {
    let mut work = lock(&storage.work);
    let others = work.readers.iter().copied().chain(work.writer).filter(|&other| other != stream).collect();
    work.writer = Some(stream);
    work.readers.clear();
    others
}

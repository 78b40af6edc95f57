//! Copies between ordinary host memory and the device, through pinned memory that is kept.

use crate::{
    driver::{DevicePtr, Driver, Event, EventFlags, HostFlags, MemoryKind, Stream},
    error::Result,
    gpu::Gpu,
    lock,
};
use std::{
    ffi::c_void,
    ptr::NonNull,
    sync::{Arc, Mutex, OnceLock},
};

/// Up to here the driver's own staging is as fast.
const SMALL: usize = 32 << 10;
/// One thread keeps about this much under way at a time.
const CHUNK: usize = 2 << 20;
// More threads add nothing: measured 45 GB/s with 8, the bus takes 55.
const MOST_THREADS: usize = 8;

/// A piece of pinned memory, and the end of the last copy that uses it.
struct Slot {
    memory: NonNull<c_void>,
    event: Event,
}

// SAFETY: the memory belongs to the slot, and pinned memory may be used from any thread.
unsafe impl Send for Slot {}

/// Two slots, so that one is filled while the other one is copied.
type Lane = [Slot; 2];

pub(crate) struct Staging {
    gpu: Arc<Gpu>,
    idle: Mutex<Vec<Lane>>,
}

impl Staging {
    pub(crate) fn new(gpu: Arc<Gpu>) -> Staging {
        Staging { gpu, idle: Mutex::default() }
    }

    /// Copies to the device in a stream's order; the source is free when this returns.
    pub(crate) fn upload(&self, stream: Stream, to: DevicePtr, from: &[u8]) -> Result<()> {
        let driver = self.gpu.enter()?;
        if from.len() <= SMALL {
            // SAFETY: the caller vouches for the device's side; pageable memory is read before the call returns.
            unsafe { driver.copy_to_device(to, from.as_ptr().cast(), from.len(), stream) }?;
            return self.settle_pinned(driver, from.as_ptr(), stream);
        }
        if is_pinned(driver, from.as_ptr()) {
            // SAFETY: the caller vouches for the device's side; the source is borrowed until the copy has ended.
            unsafe { driver.copy_to_device(to, from.as_ptr().cast(), from.len(), stream) }?;
            return driver.synchronize_stream(stream);
        }
        let chunks = Mutex::new(from.chunks(CHUNK).enumerate());
        self.in_threads(from.len(), || self.upload_chunks(stream, to, || lock(&chunks).next()))
    }

    // A small source that happens to be pinned would be read later.
    fn settle_pinned(&self, driver: &dyn Driver, from: *const u8, stream: Stream) -> Result<()> {
        if is_pinned(driver, from) { driver.synchronize_stream(stream) } else { Ok(()) }
    }

    fn upload_chunks<'a>(
        &self,
        stream: Stream,
        to: DevicePtr,
        next: impl Fn() -> Option<(usize, &'a [u8])>,
    ) -> Result<()> {
        let driver = self.gpu.enter()?;
        self.with_lane(driver, |lane| {
            for turn in (0..2).cycle() {
                let Some((index, chunk)) = next() else { break };
                let slot = &lane[turn];
                driver.synchronize_event(slot.event)?;
                let target = to.offset((index * CHUNK) as u64);
                // SAFETY: the slot holds a chunk and its last copy has ended; the next use of it waits for this one. The
                // caller vouches for the device's side.
                unsafe {
                    slot.memory.as_ptr().cast::<u8>().copy_from_nonoverlapping(chunk.as_ptr(), chunk.len());
                    driver.copy_to_device(target, slot.memory.as_ptr(), chunk.len(), stream)?;
                }
                driver.record_event(slot.event, stream)?;
            }
            Ok(())
        })
    }

    /// Copies to the host after the stream's work so far, and waits for the bytes.
    pub(crate) fn download(&self, stream: Stream, from: DevicePtr, to: &mut [u8]) -> Result<()> {
        let driver = self.gpu.enter()?;
        if to.len() > SMALL && is_pinned(driver, to.as_ptr()) {
            // SAFETY: the caller vouches for the device's side; the target is borrowed until the copy has ended.
            unsafe { driver.copy_to_host(to.as_mut_ptr().cast(), from, to.len(), stream) }?;
            return driver.synchronize_stream(stream);
        }
        let length = to.len();
        let chunks = Mutex::new(to.chunks_mut(CHUNK).enumerate());
        self.in_threads(length, || self.download_chunks(stream, from, || lock(&chunks).next()))
    }

    fn download_chunks<'a>(
        &self,
        stream: Stream,
        from: DevicePtr,
        next: impl Fn() -> Option<(usize, &'a mut [u8])>,
    ) -> Result<()> {
        let driver = self.gpu.enter()?;
        self.with_lane(driver, |lane| {
            let mut waiting: Option<(usize, &mut [u8])> = None;
            for turn in (0..2).cycle() {
                let following = next();
                if let Some((index, chunk)) = &following {
                    let slot = &lane[turn];
                    driver.synchronize_event(slot.event)?;
                    let source = from.offset((index * CHUNK) as u64);
                    // SAFETY: the slot holds a chunk and its last copy has ended; the caller vouches for the device's side.
                    unsafe { driver.copy_to_host(slot.memory.as_ptr(), source, chunk.len(), stream) }?;
                    driver.record_event(slot.event, stream)?;
                }
                let done = following.is_none();
                if let Some((turn, chunk)) = std::mem::replace(&mut waiting, following.map(|(_, chunk)| (turn, chunk)))
                {
                    empty(driver, &lane[turn], chunk)?;
                }
                if done {
                    break;
                }
            }
            Ok(())
        })
    }

    fn with_lane(&self, driver: &dyn Driver, work: impl FnOnce(&Lane) -> Result<()>) -> Result<()> {
        let idle = lock(&self.idle).pop();
        let lane = match idle {
            Some(lane) => lane,
            None => [new_slot(driver)?, new_slot(driver)?],
        };
        let outcome = work(&lane);
        lock(&self.idle).push(lane);
        outcome
    }

    /// Runs the same work in as many threads as pay for this many bytes.
    fn in_threads(&self, bytes: usize, work: impl Fn() -> Result<()> + Sync) -> Result<()> {
        // Asking the system takes longer than a small copy.
        static CORES: OnceLock<usize> = OnceLock::new();
        let cores = || *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
        let threads = bytes / (2 * CHUNK);
        if threads <= 1 {
            return work();
        }
        let threads = threads.min(MOST_THREADS).min(cores());
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(&work)).collect();
            let mine = work();
            // A panic of another thread has told its own story; here it only must not pass for success.
            others.into_iter().map(|other| other.join().expect("copying does not panic")).fold(mine, Result::and)
        })
    }
}

fn is_pinned(driver: &dyn Driver, address: *const u8) -> bool {
    driver.pointer_info(address as u64).is_ok_and(|info| info.kind != MemoryKind::Unregistered)
}

fn new_slot(driver: &dyn Driver) -> Result<Slot> {
    let event = driver.create_event(EventFlags::DISABLE_TIMING)?;
    Ok(Slot { memory: driver.allocate_host(CHUNK, HostFlags::PORTABLE)?, event })
}

/// Waits for a slot's copy, and moves what it brought to its place.
fn empty(driver: &dyn Driver, slot: &Slot, to: &mut [u8]) -> Result<()> {
    driver.synchronize_event(slot.event)?;
    // SAFETY: the copy into the slot has ended, and was as long as `to`.
    unsafe { slot.memory.as_ptr().cast::<u8>().copy_to_nonoverlapping(to.as_mut_ptr(), to.len()) };
    Ok(())
}

impl Drop for Staging {
    fn drop(&mut self) {
        let Ok(driver) = self.gpu.enter() else { return };
        for slot in std::mem::take(&mut *lock(&self.idle)).into_iter().flatten() {
            // SAFETY: the slot's last copy has ended before its memory goes. A driver that is gone may refuse.
            unsafe {
                let _ = driver.synchronize_event(slot.event);
                let _ = driver.free_host(slot.memory);
                let _ = driver.destroy_event(slot.event);
            }
        }
    }
}

//! The host as a device.

use crate::{index, map, matmul, memory, random, reduce, scan, select, sort, threads::Threads};
use cupric_core::{Error, Result};
use cupric_ir::Op;
use cupric_runtime::{Backend, Blocking, DeviceKind, RawEvent, RawStream, Ticket, Timing, Waiting};
use std::{
    any::Any,
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

/// The host as a device: everything is done when its call returns, so streams have nothing to wait for.
pub struct Cpu {
    threads: Threads,
    // Names of streams and events; 0 is the null stream.
    names: AtomicU64,
    events: Mutex<HashMap<u64, Event>>,
}

struct Event {
    timing: Timing,
    recorded: Option<Instant>,
}

impl Cpu {
    /// The host, with so many threads; 0 stands for one a core.
    #[must_use]
    pub fn new(threads: usize) -> Cpu {
        Cpu { threads: Threads::new(threads), names: AtomicU64::new(1), events: Mutex::default() }
    }

    fn name(&self) -> u64 {
        self.names.fetch_add(1, Ordering::Relaxed)
    }

    /// Copies bytes, with several threads where they are many. The two places may overlap.
    ///
    /// # Safety
    /// So many bytes can be read at `from` and written at `to`.
    unsafe fn move_bytes(&self, from: *const u8, to: *mut u8, len: usize) {
        let (start, end) = (from.addr(), to.addr());
        if start.abs_diff(end) < len {
            // SAFETY: the caller vouches for both places.
            return unsafe { std::ptr::copy(from, to, len) };
        }
        let (from, to) = (from.expose_provenance(), to.expose_provenance());
        self.threads.share(len.div_ceil(COPIED_AT_ONCE), len / 8, |range| {
            let (first, last) = (range.start * COPIED_AT_ONCE, (range.end * COPIED_AT_ONCE).min(len));
            let source = std::ptr::with_exposed_provenance::<u8>(from + first);
            // SAFETY: the caller vouches for both places, which do not overlap; every range is copied once.
            unsafe { source.copy_to_nonoverlapping(pointer((to + first) as u64), last - first) };
        });
    }

    fn events(&self) -> MutexGuard<'_, HashMap<u64, Event>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Large enough that the copy's own start does not count, small enough to be shared out.
const COPIED_AT_ONCE: usize = 64 << 10;

fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

impl Backend for Cpu {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Cpu
    }

    fn ordinal(&self) -> usize {
        0
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        memory::allocate(bytes)
    }

    fn release(&self, address: u64, bytes: usize) {
        memory::release(address, bytes);
    }

    fn memory(&self) -> Result<(usize, usize)> {
        memory::amounts()
    }

    fn create_stream(&self, _: Blocking, _: i32) -> Result<RawStream> {
        Ok(RawStream(self.name()))
    }

    fn destroy_stream(&self, _: RawStream) {}

    fn synchronize_stream(&self, _: RawStream) -> Result<()> {
        Ok(())
    }

    fn stream_done(&self, _: RawStream) -> Result<bool> {
        Ok(true)
    }

    fn wait_event(&self, _: RawStream, _: RawEvent) -> Result<()> {
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn create_event(&self, timing: Timing, _: Waiting) -> Result<RawEvent> {
        let name = self.name();
        self.events().insert(name, Event { timing, recorded: None });
        Ok(RawEvent(name))
    }

    fn destroy_event(&self, event: RawEvent) {
        self.events().remove(&event.0);
    }

    fn record_event(&self, event: RawEvent, _: RawStream) -> Result<()> {
        if let Some(event) = self.events().get_mut(&event.0) {
            event.recorded = Some(Instant::now());
        }
        Ok(())
    }

    fn event_done(&self, _: RawEvent) -> Result<bool> {
        Ok(true)
    }

    fn synchronize_event(&self, _: RawEvent) -> Result<()> {
        Ok(())
    }

    fn elapsed(&self, start: RawEvent, end: RawEvent) -> Result<f32> {
        let events = self.events();
        let time = |event: RawEvent| {
            let event = events.get(&event.0).filter(|event| event.timing == Timing::Kept);
            event.and_then(|event| event.recorded).ok_or_else(|| Error::Runtime("the event keeps no time".into()))
        };
        let (start, end) = (time(start)?, time(end)?);
        let seconds = if end >= start { (end - start).as_secs_f64() } else { -(start - end).as_secs_f64() };
        Ok((seconds * 1e3) as f32)
    }

    fn upload(&self, _: RawStream, to: u64, from: &[u8]) -> Result<()> {
        // SAFETY: whoever calls a backend names memory that it may use; it may be the very memory that is copied from.
        unsafe { self.move_bytes(from.as_ptr(), pointer(to), from.len()) };
        Ok(())
    }

    fn download(&self, _: RawStream, from: u64, to: &mut [u8]) -> Result<()> {
        // SAFETY: as for uploads.
        unsafe { self.move_bytes(pointer(from), to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn small_work(&self) -> usize {
        // Below this an operation takes less time than the queue does.
        16 << 10
    }

    fn workspace(&self, op: &Op) -> Result<usize> {
        Ok(if let Op::Sort(op) = op { sort::workspace(op) } else { 0 })
    }

    fn execute(&self, _: RawStream, op: &Op, addresses: &[u64], workspace: u64) -> Result<Option<Ticket>> {
        match op {
            Op::Map(op) => map::map(op, addresses, &self.threads),
            Op::Reduce(op) => reduce::reduce(op, addresses, &self.threads),
            Op::Scan(op) => scan::scan(op, addresses, &self.threads),
            Op::Sort(op) => sort::sort(op, addresses, workspace, &self.threads),
            Op::Select(op) => select::select(op, addresses, &self.threads),
            Op::Gather(op) => index::take(op, addresses, &self.threads),
            Op::Scatter(op) => index::put(op, addresses),
            Op::MatMul(op) => matmul::matmul(op, addresses, &self.threads),
            Op::Random(op) => random::random(op, addresses, &self.threads),
        }?;
        Ok(None)
    }

    fn take_failures(&self) -> Vec<(Ticket, Error)> {
        Vec::new()
    }
}

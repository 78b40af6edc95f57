//! What a device must be able to do.

use cupric_core::{Error, Result};
use cupric_ir::Op;
use std::{any::Any, fmt};

/// What kind of device a backend drives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DeviceKind {
    /// The host itself.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// A GPU simulated by the host.
    Sim,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceKind::Cpu => "cpu",
            DeviceKind::Cuda => "cuda",
            DeviceKind::Sim => "sim",
        })
    }
}

/// A backend's own name for a stream; 0 is the null stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RawStream(pub u64);

/// A backend's own name for an event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RawEvent(pub u64);

/// Names a launch that may turn out to have failed; later launches have larger names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticket(pub u64);

impl Ticket {
    /// All launches within recorded work, whenever that is launched.
    pub const RECORDED: Ticket = Ticket(u64::MAX);
}

/// How a stream relates to the null stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Blocking {
    /// It and the null stream wait for each other.
    WithNull,
    /// It runs beside the null stream.
    Free,
}

/// Whether an event keeps the time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Timing {
    /// It does.
    Kept,
    /// It does not, which is faster.
    Off,
}

/// How a thread waits for an event or a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Waiting {
    /// It looks again and again.
    Spin,
    /// It sleeps.
    Block,
}

/// Work of a stream that a device has recorded.
pub trait Recording: Send + Sync {
    /// Does it again on a stream. The memory that it uses must still be there.
    ///
    /// # Errors
    /// When the device refuses.
    fn launch(&self, stream: RawStream) -> Result<()>;
    /// Loads it onto the device ahead of its first launch.
    ///
    /// # Errors
    /// When the device refuses.
    fn upload(&self, stream: RawStream) -> Result<()>;
    /// The driver's handle.
    fn raw(&self) -> u64;
}

/// A device, as the queue sees it: memory, streams, events, copies, and one door for all operations.
///
/// Addresses are plain numbers. Every call may come from any thread; calls on one stream are made in their order. Work that is
/// given to a stream runs after all that was given to it before.
pub trait Backend: Send + Sync + 'static {
    /// What kind of device this is.
    fn kind(&self) -> DeviceKind;
    /// Its number among those of its kind.
    fn ordinal(&self) -> usize;
    /// For what only this backend can do.
    fn as_any(&self) -> &dyn Any;

    /// Takes memory from the device, aligned to 256 bytes at least.
    ///
    /// # Errors
    /// `OutOfMemory` when there is not enough.
    fn allocate(&self, bytes: usize) -> Result<u64>;
    /// Gives memory back. Work that uses it may still be running on the device.
    fn release(&self, address: u64, bytes: usize);
    /// Takes host memory that copies from and to the device run fastest with; any memory where the device is the host.
    ///
    /// # Errors
    /// `OutOfMemory` when there is not enough.
    fn allocate_host(&self, bytes: usize) -> Result<u64> {
        self.allocate(bytes)
    }
    /// Gives memory of [`Backend::allocate_host`] back.
    fn release_host(&self, address: u64, bytes: usize) {
        self.release(address, bytes);
    }
    /// Free and total bytes of the device.
    ///
    /// # Errors
    /// When the device cannot be asked.
    fn memory(&self) -> Result<(usize, usize)>;

    /// Makes a stream; a lower priority number goes first.
    ///
    /// # Errors
    /// When the device refuses.
    fn create_stream(&self, blocking: Blocking, priority: i32) -> Result<RawStream>;
    /// Forgets a stream once its work is done.
    fn destroy_stream(&self, stream: RawStream);
    /// Waits until all work of a stream is done.
    ///
    /// # Errors
    /// When work of the stream has failed.
    fn synchronize_stream(&self, stream: RawStream) -> Result<()>;
    /// Whether all work of a stream is done.
    ///
    /// # Errors
    /// When work of the stream has failed.
    fn stream_done(&self, stream: RawStream) -> Result<bool>;
    /// Makes later work of a stream wait for an event.
    ///
    /// # Errors
    /// When the device refuses.
    fn wait_event(&self, stream: RawStream, event: RawEvent) -> Result<()>;
    /// Waits until all work of the device is done.
    ///
    /// # Errors
    /// When work has failed.
    fn synchronize(&self) -> Result<()>;

    /// Makes an event.
    ///
    /// # Errors
    /// When the device refuses.
    fn create_event(&self, timing: Timing, waiting: Waiting) -> Result<RawEvent>;
    /// Forgets an event.
    fn destroy_event(&self, event: RawEvent);
    /// Marks the point that a stream's work has come to.
    ///
    /// # Errors
    /// When the device refuses.
    fn record_event(&self, event: RawEvent, stream: RawStream) -> Result<()>;
    /// Whether the point has been passed; true for an event that was never recorded.
    ///
    /// # Errors
    /// When work before it has failed.
    fn event_done(&self, event: RawEvent) -> Result<bool>;
    /// Waits until the point is passed.
    ///
    /// # Errors
    /// When work before it has failed.
    fn synchronize_event(&self, event: RawEvent) -> Result<()>;
    /// Milliseconds between two passed points.
    ///
    /// # Errors
    /// When one of them was not recorded, keeps no time or is not passed.
    fn elapsed(&self, start: RawEvent, end: RawEvent) -> Result<f32>;

    /// Copies from the host. The source may be changed as soon as this returns.
    ///
    /// # Errors
    /// When the device refuses.
    fn upload(&self, stream: RawStream, to: u64, from: &[u8]) -> Result<()>;
    /// Copies to the host, waiting until the bytes are there.
    ///
    /// # Errors
    /// When the device refuses, or earlier work of the stream has failed.
    fn download(&self, stream: RawStream, from: u64, to: &mut [u8]) -> Result<()>;

    /// Begins to record what a stream is given instead of doing it.
    ///
    /// # Errors
    /// When the device refuses.
    fn begin_capture(&self, stream: RawStream) -> Result<()> {
        let _ = stream;
        Ok(())
    }
    /// Ends a recording. None from a device that works in its caller's time: its operations are repeated one by one.
    ///
    /// # Errors
    /// When something in it could not be recorded.
    fn end_capture(&self, stream: RawStream) -> Result<Option<Box<dyn Recording>>> {
        let _ = stream;
        Ok(None)
    }
    /// Whether operations on a stream that is being recorded are given to the device, which records them.
    fn records(&self) -> bool {
        false
    }

    /// The bytes of scratch memory that an operation wants; 0 if none.
    ///
    /// # Errors
    /// When the operation cannot be planned.
    fn workspace(&self, op: &Op) -> Result<usize>;
    /// Steps over at most this many bytes are done sooner than queued.
    fn small_work(&self) -> usize {
        0
    }
    /// Bytes of memory traffic that keep the device busy for longer than the next launches take: about 20 us. More than there can
    /// be where the device works in its caller's time, so that nothing is won by starting early.
    fn worthwhile_traffic(&self) -> usize {
        usize::MAX
    }
    /// Whether an operation can run without waiting for a compiler; if not, its kernel is being made in the background.
    fn ready(&self, op: &Op) -> bool {
        let _ = op;
        true
    }
    /// Runs an operation. `addresses` are the bases of the storages of its reads and then of its writes; layouts' offsets
    /// count from there. A failure that the values decide (an index out of bounds) comes here on the CPU; a GPU gives a ticket
    /// for a launch that may find one, and tells of it by [`Backend::take_failures`].
    ///
    /// # Errors
    /// When the operation failed or could not be launched.
    fn execute(&self, stream: RawStream, op: &Op, addresses: &[u64], workspace: u64) -> Result<Option<Ticket>>;
    /// Launches that have turned out to have failed since this was last asked.
    fn take_failures(&self) -> Vec<(Ticket, Error)>;
}

//! What a GPU vendor must give: devices, memory, streams, events, modules, launches, graphs.

mod cuda;
#[cfg(test)]
pub(crate) mod mock;
mod properties;

pub use self::{
    cuda::CudaDriver,
    properties::{Attribute, Properties},
};

use crate::error::Result;
use std::{ffi::c_void, ptr::NonNull};

/// Declares a handle of the driver.
macro_rules! handle {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name(usize);

        impl $name {
            /// Wraps a raw handle.
            ///
            /// # Safety
            /// `raw` was made by the driver that it is handed to, and is not used after it was destroyed.
            pub const unsafe fn from_raw(raw: usize) -> Self {
                Self(raw)
            }

            /// The raw handle.
            pub const fn raw(self) -> usize {
                self.0
            }
        }
    };
}

handle!(
    /// A device's context.
    Context
);
handle!(
    /// A queue of work on a device.
    Stream
);
handle!(
    /// A mark in a stream.
    Event
);
handle!(
    /// Loaded code.
    Module
);
handle!(
    /// A kernel of a module.
    Function
);
handle!(
    /// Captured work.
    Graph
);
handle!(
    /// Captured work, ready to launch.
    Executable
);

impl Stream {
    /// The null stream: it and all blocking streams wait for each other.
    pub const NULL: Self = Self(0);
    /// The calling thread's own default stream.
    pub const PER_THREAD: Self = Self(2);
}

/// A device, as the driver numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Device(pub i32);

/// An address in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevicePtr(pub u64);

impl DevicePtr {
    /// No address.
    pub const NULL: Self = Self(0);

    /// The address `bytes` further on.
    pub const fn offset(self, bytes: u64) -> Self {
        Self(self.0 + bytes)
    }
}

/// Whether a stream and the null stream wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamKind {
    /// They do.
    Blocking,
    /// They do not.
    NonBlocking,
}

/// How an event is made: a sum of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventFlags(pub u32);

impl EventFlags {
    /// Takes times; waiting spins.
    pub const DEFAULT: Self = Self(0);
    /// Waiting sleeps.
    pub const BLOCKING_SYNC: Self = Self(1);
    /// Takes no times, which is cheaper.
    pub const DISABLE_TIMING: Self = Self(2);
    /// May be shared with other processes.
    pub const INTERPROCESS: Self = Self(4);
}

/// How pinned host memory is made: a sum of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostFlags(pub u32);

impl HostFlags {
    /// Pinned only.
    pub const DEFAULT: Self = Self(0);
    /// Pinned in the eyes of every context.
    pub const PORTABLE: Self = Self(1);
    /// The device may use it directly.
    pub const MAPPED: Self = Self(2);
    /// Fast for the host to write, slow to read. Not for registering.
    pub const WRITE_COMBINED: Self = Self(4);
}

/// Which other calls a capture forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureMode(pub i32);

impl CaptureMode {
    /// Unsafe calls fail in every thread.
    pub const GLOBAL: Self = Self(0);
    /// Unsafe calls fail in this thread.
    pub const THREAD_LOCAL: Self = Self(1);
    /// No call fails.
    pub const RELAXED: Self = Self(2);
}

/// A number that the driver keeps for a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionAttribute(pub i32);

impl FunctionAttribute {
    /// The largest block.
    pub const MAX_THREADS_PER_BLOCK: Self = Self(0);
    /// Static shared memory, in bytes.
    pub const SHARED_BYTES: Self = Self(1);
    /// Constant memory, in bytes.
    pub const CONSTANT_BYTES: Self = Self(2);
    /// Local memory of a thread, in bytes.
    pub const LOCAL_BYTES: Self = Self(3);
    /// Registers of a thread.
    pub const REGISTERS: Self = Self(4);
    /// The PTX version, times ten.
    pub const PTX_VERSION: Self = Self(5);
    /// The architecture of the binary, times ten.
    pub const BINARY_VERSION: Self = Self(6);
    /// Whether global loads are cached in L1.
    pub const CACHE_MODE_CA: Self = Self(7);
    /// The most dynamic shared memory that a launch may ask for, in bytes. May be set.
    pub const MAX_DYNAMIC_SHARED_BYTES: Self = Self(8);
    /// Per cent of the L1 that serve as shared memory, -1 for the default. May be set.
    pub const SHARED_MEMORY_CARVEOUT: Self = Self(9);
}

/// A value to fill memory with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// One byte.
    U8(u8),
    /// Two bytes.
    U16(u16),
    /// Four bytes.
    U32(u32),
}

/// Whether work has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// All of it.
    Done,
    /// Not all of it.
    Pending,
}

/// Memory of the current device, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Not in use by any process.
    pub free: u64,
    /// All there is.
    pub total: u64,
}

/// What an address points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryKind {
    /// Nothing that the driver knows: ordinary host memory.
    Unregistered,
    /// Pinned host memory.
    Host,
    /// Device memory.
    Device,
    /// Memory that moves between host and device.
    Managed,
}

/// What the driver knows of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointerInfo {
    /// What it points to.
    pub kind: MemoryKind,
    /// The device that it belongs to, if any.
    pub device: Option<Device>,
}

/// How a kernel is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The stream.
    pub stream: Stream,
}

/// A GPU vendor's driver.
///
/// Calls on memory, streams, events and modules work in the thread's current context (see [`Driver::make_current`]).
/// Handles are plain numbers, so whatever ends a handle's life or touches memory is `unsafe`: the caller promises that
/// handles are alive, that memory spans are allocated and stay so until the work has ended, and that no other work
/// races with it.
#[expect(clippy::missing_safety_doc, reason = "the trait states the one contract of all its unsafe functions")]
pub trait Driver: Send + Sync {
    /// The driver's version: 1000 * major + 10 * minor of the newest CUDA it serves.
    fn version(&self) -> Result<i32>;
    /// How many devices there are.
    fn device_count(&self) -> Result<usize>;
    /// The device with this ordinal.
    fn device(&self, ordinal: usize) -> Result<Device>;
    /// One number about a device.
    fn attribute(&self, device: Device, attribute: Attribute) -> Result<i32>;
    /// All that is commonly asked about a device.
    fn properties(&self, device: Device) -> Result<Properties>;

    /// Retains the device's primary context, making it if need be.
    fn retain_context(&self, device: Device) -> Result<Context>;
    /// Gives back what [`Driver::retain_context`] took.
    unsafe fn release_context(&self, device: Device) -> Result<()>;
    /// Makes `context` the calling thread's current one.
    fn make_current(&self, context: Context) -> Result<()>;
    /// The calling thread's current context.
    fn current_context(&self) -> Result<Option<Context>>;
    /// Waits for all work of the current context.
    fn synchronize(&self) -> Result<()>;
    /// The least and the greatest stream priority; greater priorities are smaller numbers.
    fn priority_range(&self) -> Result<(i32, i32)>;

    /// One of the current context's limits, by CUDA's numbering.
    fn limit(&self, limit: i32) -> Result<usize>;
    /// Sets one of the current context's limits; the driver may round it up.
    fn set_limit(&self, limit: i32, value: usize) -> Result<()>;

    /// Free and total memory.
    fn memory_info(&self) -> Result<MemoryInfo>;
    /// Allocates device memory.
    fn allocate(&self, bytes: usize) -> Result<DevicePtr>;
    /// Frees memory of [`Driver::allocate`].
    unsafe fn free(&self, pointer: DevicePtr) -> Result<()>;
    /// Allocates pinned host memory.
    fn allocate_host(&self, bytes: usize, flags: HostFlags) -> Result<NonNull<c_void>>;
    /// Frees memory of [`Driver::allocate_host`].
    unsafe fn free_host(&self, pointer: NonNull<c_void>) -> Result<()>;
    /// What the driver knows of an address.
    fn pointer_info(&self, address: u64) -> Result<PointerInfo>;

    /// Copies from the host. Memory that is not pinned is read before the call returns.
    unsafe fn copy_to_device(&self, to: DevicePtr, from: *const c_void, bytes: usize, stream: Stream) -> Result<()>;
    /// Copies to the host.
    unsafe fn copy_to_host(&self, to: *mut c_void, from: DevicePtr, bytes: usize, stream: Stream) -> Result<()>;
    /// Copies within a device.
    unsafe fn copy_on_device(&self, to: DevicePtr, from: DevicePtr, bytes: usize, stream: Stream) -> Result<()>;
    /// Fills `count` elements with one value.
    unsafe fn fill(&self, to: DevicePtr, value: Fill, count: usize, stream: Stream) -> Result<()>;

    /// Whether `device` can reach `peer`'s memory.
    fn can_access_peer(&self, device: Device, peer: Device) -> Result<bool>;

    /// Makes a stream.
    fn create_stream(&self, kind: StreamKind, priority: i32) -> Result<Stream>;
    /// Ends a stream; its work still runs.
    unsafe fn destroy_stream(&self, stream: Stream) -> Result<()>;
    /// Waits for a stream's work.
    fn synchronize_stream(&self, stream: Stream) -> Result<()>;
    /// Whether a stream's work has ended.
    fn query_stream(&self, stream: Stream) -> Result<Progress>;
    /// Makes a stream's later work wait for an event.
    fn wait_event(&self, stream: Stream, event: Event) -> Result<()>;

    /// Makes an event.
    fn create_event(&self, flags: EventFlags) -> Result<Event>;
    /// Ends an event.
    unsafe fn destroy_event(&self, event: Event) -> Result<()>;
    /// Marks the present end of a stream.
    fn record_event(&self, event: Event, stream: Stream) -> Result<()>;
    /// Waits until the mark is reached.
    fn synchronize_event(&self, event: Event) -> Result<()>;
    /// Whether the mark is reached.
    fn query_event(&self, event: Event) -> Result<Progress>;
    /// The time between two events, in milliseconds.
    fn elapsed(&self, start: Event, end: Event) -> Result<f32>;

    /// Loads code: a whole binary, or text in the vendor's assembly. The error tells the loader's own log.
    unsafe fn load_module(&self, image: &[u8]) -> Result<Module>;
    /// Unloads code.
    unsafe fn unload_module(&self, module: Module) -> Result<()>;
    /// A module's kernel.
    fn function(&self, module: Module, name: &str) -> Result<Function>;
    /// A module's global variable and its size in bytes.
    fn global(&self, module: Module, name: &str) -> Result<(DevicePtr, usize)>;
    /// One number about a kernel.
    fn function_attribute(&self, function: Function, attribute: FunctionAttribute) -> Result<i32>;
    /// Sets one number of a kernel.
    fn set_function_attribute(&self, function: Function, attribute: FunctionAttribute, value: i32) -> Result<()>;
    /// The sizes of a kernel's parameters, where the driver is new enough to tell.
    fn parameter_sizes(&self, function: Function) -> Result<Option<Vec<usize>>>;
    /// How many blocks of this size one multiprocessor holds at once.
    fn active_blocks(&self, function: Function, block: u32, shared_bytes: usize) -> Result<u32>;
    /// Launches a kernel; `parameters` point to its arguments, which are read before the call returns.
    unsafe fn launch(&self, function: Function, launch: &Launch, parameters: &mut [*mut c_void]) -> Result<()>;
    /// Launches a kernel whose blocks may wait for each other.
    unsafe fn launch_cooperative(
        &self,
        function: Function,
        launch: &Launch,
        parameters: &mut [*mut c_void],
    ) -> Result<()>;

    /// Starts to record a stream's work instead of running it.
    fn begin_capture(&self, stream: Stream, mode: CaptureMode) -> Result<()>;
    /// Ends a capture.
    fn end_capture(&self, stream: Stream) -> Result<Graph>;
    /// Whether a stream is being captured; one that was broken counts.
    fn is_capturing(&self, stream: Stream) -> Result<bool>;
    /// Makes a graph ready to launch.
    fn instantiate(&self, graph: Graph) -> Result<Executable>;
    /// Loads a graph onto the device ahead of its first launch.
    fn upload_graph(&self, graph: Executable, stream: Stream) -> Result<()>;
    /// Launches a graph.
    unsafe fn launch_graph(&self, graph: Executable, stream: Stream) -> Result<()>;
    /// Ends captured work.
    unsafe fn destroy_graph(&self, graph: Graph) -> Result<()>;
    /// Ends a launchable graph.
    unsafe fn destroy_executable(&self, graph: Executable) -> Result<()>;
}

//! A driver for tests: device memory is host memory, work is done when it is queued, launches are written down.

use super::*;
use crate::{error::GpuError, lock};
use std::{alloc::Layout, collections::HashMap, sync::Mutex};

/// What tests look at.
#[derive(Default)]
pub(crate) struct Seen {
    /// The launched kernels by name, with grid, shared memory and the first word of each parameter.
    pub(crate) launches: Vec<(String, [u32; 3], u32, Vec<u64>)>,
    /// Text or binaries that were loaded.
    pub(crate) images: Vec<Vec<u8>>,
    /// Attributes that were set.
    pub(crate) attributes: Vec<(FunctionAttribute, i32)>,
    /// The sizes of every kernel's parameters, if the driver is one that tells.
    pub(crate) parameters: Option<Vec<usize>>,
    /// How many events were made.
    pub(crate) events: usize,
    /// Whether allocations are refused.
    pub(crate) full: bool,
    /// What queries of streams and events answer.
    pub(crate) pending: bool,
}

#[derive(Default)]
pub(crate) struct MockDriver {
    pub(crate) seen: Mutex<Seen>,
    names: Mutex<Vec<String>>,
    memory: Mutex<HashMap<usize, Layout>>,
}

fn refused(call: &'static str, code: i32) -> GpuError {
    GpuError::Driver { call, code, name: "REFUSED".to_owned(), message: "as the test wants it".to_owned() }
}

impl MockDriver {
    fn take(&self, bytes: usize) -> Result<usize> {
        if lock(&self.seen).full {
            return Err(refused("cuMemAlloc_v2", 2));
        }
        let layout = Layout::from_size_align(bytes.max(1), 256).map_err(|_| refused("cuMemAlloc_v2", 2))?;
        // SAFETY: the size is not zero.
        let address = unsafe { std::alloc::alloc(layout) } as usize;
        lock(&self.memory).insert(address, layout);
        Ok(address)
    }

    fn give(&self, address: usize) {
        let layout = lock(&self.memory).remove(&address).expect("memory is freed once");
        // SAFETY: it was allocated with this layout, and the table knew it until now.
        unsafe { std::alloc::dealloc(address as *mut u8, layout) };
    }

    /// How many allocations are alive.
    pub(crate) fn allocations(&self) -> usize {
        lock(&self.memory).len()
    }

    fn progress(&self) -> Progress {
        if lock(&self.seen).pending { Progress::Pending } else { Progress::Done }
    }
}

unsafe fn copy(to: usize, from: usize, bytes: usize) {
    // SAFETY: the caller of the driver vouches for both spans.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
}

impl Driver for MockDriver {
    fn version(&self) -> Result<i32> {
        Ok(12_000)
    }
    fn device_count(&self) -> Result<usize> {
        Ok(1)
    }
    fn device(&self, ordinal: usize) -> Result<Device> {
        if ordinal == 0 { Ok(Device(0)) } else { Err(refused("cuDeviceGet", 101)) }
    }
    fn attribute(&self, _: Device, attribute: Attribute) -> Result<i32> {
        Ok(if attribute == Attribute::COMPUTE_CAPABILITY_MAJOR { 9 } else { 0 })
    }
    fn properties(&self, device: Device) -> Result<Properties> {
        let identity =
            properties::Identity { name: "mock".to_owned(), uuid: [0; 16], pci_bus: String::new(), total_memory: 1 };
        Properties::read(self, device, identity)
    }
    fn retain_context(&self, _: Device) -> Result<Context> {
        Ok(Context(1))
    }
    unsafe fn release_context(&self, _: Device) -> Result<()> {
        Ok(())
    }
    fn make_current(&self, _: Context) -> Result<()> {
        Ok(())
    }
    fn current_context(&self) -> Result<Option<Context>> {
        Ok(None)
    }
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }
    fn priority_range(&self) -> Result<(i32, i32)> {
        Ok((0, 0))
    }
    fn limit(&self, _: i32) -> Result<usize> {
        Ok(1024)
    }
    fn set_limit(&self, _: i32, _: usize) -> Result<()> {
        Ok(())
    }
    fn memory_info(&self) -> Result<MemoryInfo> {
        Ok(MemoryInfo { free: 1, total: 2 })
    }
    fn allocate(&self, bytes: usize) -> Result<DevicePtr> {
        self.take(bytes).map(|address| DevicePtr(address as u64))
    }
    unsafe fn free(&self, pointer: DevicePtr) -> Result<()> {
        self.give(pointer.0 as usize);
        Ok(())
    }
    fn allocate_host(&self, bytes: usize, _: HostFlags) -> Result<NonNull<c_void>> {
        let address = self.take(bytes)? as *mut c_void;
        NonNull::new(address).ok_or_else(|| refused("cuMemHostAlloc", 2))
    }
    unsafe fn free_host(&self, pointer: NonNull<c_void>) -> Result<()> {
        self.give(pointer.as_ptr() as usize);
        Ok(())
    }
    fn pointer_info(&self, _: u64) -> Result<PointerInfo> {
        Ok(PointerInfo { kind: MemoryKind::Unregistered, device: None })
    }
    unsafe fn copy_to_device(&self, to: DevicePtr, from: *const c_void, bytes: usize, _: Stream) -> Result<()> {
        // SAFETY: the caller vouches for both spans.
        unsafe { copy(to.0 as usize, from as usize, bytes) };
        Ok(())
    }
    unsafe fn copy_to_host(&self, to: *mut c_void, from: DevicePtr, bytes: usize, _: Stream) -> Result<()> {
        // SAFETY: the caller vouches for both spans.
        unsafe { copy(to as usize, from.0 as usize, bytes) };
        Ok(())
    }
    unsafe fn copy_on_device(&self, to: DevicePtr, from: DevicePtr, bytes: usize, _: Stream) -> Result<()> {
        // SAFETY: the caller vouches for both spans.
        unsafe { copy(to.0 as usize, from.0 as usize, bytes) };
        Ok(())
    }
    unsafe fn fill(&self, to: DevicePtr, value: Fill, count: usize, _: Stream) -> Result<()> {
        let Fill::U8(byte) = value else { return Err(refused("cuMemsetD16Async", 1)) };
        // SAFETY: the caller vouches for the span.
        unsafe { std::ptr::write_bytes(to.0 as *mut u8, byte, count) };
        Ok(())
    }
    fn can_access_peer(&self, _: Device, _: Device) -> Result<bool> {
        Ok(false)
    }
    fn create_stream(&self, _: StreamKind, _: i32) -> Result<Stream> {
        Ok(Stream(100))
    }
    unsafe fn destroy_stream(&self, _: Stream) -> Result<()> {
        Ok(())
    }
    fn synchronize_stream(&self, _: Stream) -> Result<()> {
        Ok(())
    }
    fn query_stream(&self, _: Stream) -> Result<Progress> {
        Ok(self.progress())
    }
    fn wait_event(&self, _: Stream, _: Event) -> Result<()> {
        Ok(())
    }
    fn create_event(&self, _: EventFlags) -> Result<Event> {
        let mut seen = lock(&self.seen);
        seen.events += 1;
        Ok(Event(seen.events))
    }
    unsafe fn destroy_event(&self, _: Event) -> Result<()> {
        Ok(())
    }
    fn record_event(&self, _: Event, _: Stream) -> Result<()> {
        Ok(())
    }
    fn synchronize_event(&self, _: Event) -> Result<()> {
        Ok(())
    }
    fn query_event(&self, _: Event) -> Result<Progress> {
        Ok(self.progress())
    }
    fn elapsed(&self, _: Event, _: Event) -> Result<f32> {
        Ok(1.0)
    }
    unsafe fn load_module(&self, image: &[u8]) -> Result<Module> {
        let mut seen = lock(&self.seen);
        seen.images.push(image.to_vec());
        Ok(Module(seen.images.len()))
    }
    unsafe fn unload_module(&self, _: Module) -> Result<()> {
        Ok(())
    }
    fn function(&self, _: Module, name: &str) -> Result<Function> {
        let mut names = lock(&self.names);
        names.push(name.to_owned());
        Ok(Function(names.len() - 1))
    }
    fn global(&self, _: Module, _: &str) -> Result<(DevicePtr, usize)> {
        Err(refused("cuModuleGetGlobal_v2", 500))
    }
    fn function_attribute(&self, _: Function, _: FunctionAttribute) -> Result<i32> {
        Ok(0)
    }
    fn set_function_attribute(&self, _: Function, attribute: FunctionAttribute, value: i32) -> Result<()> {
        lock(&self.seen).attributes.push((attribute, value));
        Ok(())
    }
    fn parameter_sizes(&self, _: Function) -> Result<Option<Vec<usize>>> {
        Ok(lock(&self.seen).parameters.clone())
    }
    fn active_blocks(&self, _: Function, _: u32, _: usize) -> Result<u32> {
        Ok(1)
    }
    unsafe fn launch(&self, function: Function, launch: &Launch, parameters: &mut [*mut c_void]) -> Result<()> {
        let name = lock(&self.names)[function.0].clone();
        // SAFETY: our own parameters begin at whole words.
        let words = parameters.iter().map(|pointer| unsafe { pointer.cast::<u64>().read() }).collect();
        lock(&self.seen).launches.push((name, launch.grid, launch.shared_bytes, words));
        Ok(())
    }
    unsafe fn launch_cooperative(
        &self,
        function: Function,
        launch: &Launch,
        parameters: &mut [*mut c_void],
    ) -> Result<()> {
        // SAFETY: the caller vouches for the same.
        unsafe { self.launch(function, launch, parameters) }
    }
    fn begin_capture(&self, _: Stream, _: CaptureMode) -> Result<()> {
        Ok(())
    }
    fn end_capture(&self, _: Stream) -> Result<Graph> {
        Ok(Graph(1))
    }
    fn is_capturing(&self, _: Stream) -> Result<bool> {
        Ok(false)
    }
    fn instantiate(&self, _: Graph) -> Result<Executable> {
        Ok(Executable(1))
    }
    fn upload_graph(&self, _: Executable, _: Stream) -> Result<()> {
        Ok(())
    }
    unsafe fn launch_graph(&self, _: Executable, _: Stream) -> Result<()> {
        Ok(())
    }
    unsafe fn destroy_graph(&self, _: Graph) -> Result<()> {
        Ok(())
    }
    unsafe fn destroy_executable(&self, _: Executable) -> Result<()> {
        Ok(())
    }
}

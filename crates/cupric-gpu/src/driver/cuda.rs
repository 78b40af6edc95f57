//! NVIDIA's driver, `libcuda.so.1`.

use super::{
    Attribute, CaptureMode, Context, Device, DevicePtr, Driver, Event, EventFlags, Executable, Fill, Function,
    FunctionAttribute, Graph, HostFlags, Launch, MemoryInfo, MemoryKind, Module, PointerInfo, Progress, Properties,
    Stream, StreamKind, properties::Identity,
};
use crate::{
    error::{GpuError, Result},
    library::{Library, Soname, Spec, functions},
};
use std::{
    ffi::{CStr, CString, c_char, c_uint, c_void},
    path::PathBuf,
    ptr::{NonNull, null, null_mut},
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

static LIBCUDA: Spec = Spec {
    name: "The NVIDIA driver (libcuda)",
    variable: "CUPRIC_CUDA_DRIVER",
    sonames: &[Soname::new("libcuda.so.1", 0), Soname::new("libcuda.so", 0)],
    companions: &[],
    help: "Install NVIDIA's driver, version 525 or newer (in a container, start it with access to the GPU).",
};

/// The oldest driver that serves CUDA 12.0.
const OLDEST: i32 = 12_000;

const INVALID_VALUE: i32 = 1;
const NOT_READY: i32 = 600;

const FORKED_MESSAGE: &str = "CUDA was initialised before this process was forked; \
     use multiprocessing's 'spawn' start method";

// A fork handler has no state to hang on, so this one flag is a global. It costs a load where the process's number
// would cost a system call at each launch.
static FORKED: AtomicBool = AtomicBool::new(false);
static WATCH_FORKS: Once = Once::new();

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> i32;
}

extern "C" fn in_forked_child() {
    FORKED.store(true, Ordering::Relaxed);
}

fn watch_forks() {
    // SAFETY: the handler only stores to an atomic.
    WATCH_FORKS.call_once(|| unsafe {
        pthread_atfork(None, None, Some(in_forked_child));
    });
}

fn not_forked() -> Result<()> {
    match FORKED.load(Ordering::Relaxed) {
        true => Err(GpuError::Unsupported(FORKED_MESSAGE.to_owned())),
        false => Ok(()),
    }
}

functions! {
    /// What is needed to tell whether the rest can be used.
    #[expect(non_snake_case, reason = "the driver's own names")]
    Entry {
        cuInit(c_uint);
        cuDriverGetVersion(*mut i32);
        cuDeviceGetCount(*mut i32);
        cuGetErrorName(i32, *mut *const c_char);
        cuGetErrorString(i32, *mut *const c_char);
    }
}

functions! {
    /// The driver's functions.
    #[expect(non_snake_case, reason = "the driver's own names")]
    Api {
        cuDeviceGet(*mut i32, i32);
        cuDeviceGetName(*mut c_char, i32, i32);
        cuDeviceGetUuid_v2(*mut u8, i32);
        cuDeviceGetPCIBusId(*mut c_char, i32, i32);
        cuDeviceTotalMem_v2(*mut usize, i32);
        cuDeviceGetAttribute(*mut i32, i32, i32);
        cuDevicePrimaryCtxRetain(*mut usize, i32);
        cuDevicePrimaryCtxRelease_v2(i32);
        cuCtxSetCurrent(usize);
        cuCtxGetCurrent(*mut usize);
        cuCtxSynchronize();
        cuCtxGetStreamPriorityRange(*mut i32, *mut i32);
        cuCtxGetLimit(*mut usize, i32);
        cuCtxSetLimit(i32, usize);
        cuMemGetInfo_v2(*mut usize, *mut usize);
        cuMemAlloc_v2(*mut u64, usize);
        cuMemFree_v2(u64);
        cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
        cuMemFreeHost(*mut c_void);
        cuPointerGetAttributes(c_uint, *const i32, *mut *mut c_void, u64);
        cuMemcpyHtoDAsync_v2(u64, *const c_void, usize, usize);
        cuMemcpyDtoHAsync_v2(*mut c_void, u64, usize, usize);
        cuMemcpyDtoDAsync_v2(u64, u64, usize, usize);
        cuMemsetD8Async(u64, u8, usize, usize);
        cuMemsetD16Async(u64, u16, usize, usize);
        cuMemsetD32Async(u64, u32, usize, usize);
        cuDeviceCanAccessPeer(*mut i32, i32, i32);
        cuStreamCreateWithPriority(*mut usize, c_uint, i32);
        cuStreamDestroy_v2(usize);
        cuStreamSynchronize(usize);
        cuStreamQuery(usize);
        cuStreamWaitEvent(usize, usize, c_uint);
        cuEventCreate(*mut usize, c_uint);
        cuEventDestroy_v2(usize);
        cuEventRecord(usize, usize);
        cuEventSynchronize(usize);
        cuEventQuery(usize);
        cuEventElapsedTime(*mut f32, usize, usize);
        cuModuleLoadDataEx(*mut usize, *const c_void, c_uint, *mut i32, *mut *mut c_void);
        cuModuleUnload(usize);
        cuModuleGetFunction(*mut usize, usize, *const c_char);
        cuModuleGetGlobal_v2(*mut u64, *mut usize, usize, *const c_char);
        cuFuncGetAttribute(*mut i32, i32, usize);
        cuFuncSetAttribute(usize, i32, i32);
        cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut i32, usize, i32, usize);
        cuLaunchKernel(usize, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, usize, *mut *mut c_void, *mut *mut c_void);
        cuLaunchCooperativeKernel(usize, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, usize, *mut *mut c_void);
        cuStreamBeginCapture_v2(usize, i32);
        cuStreamEndCapture(usize, *mut usize);
        cuStreamIsCapturing(usize, *mut i32);
        cuGraphInstantiateWithFlags(*mut usize, usize, u64);
        cuGraphUpload(usize, usize);
        cuGraphLaunch(usize, usize);
        cuGraphDestroy(usize);
        cuGraphExecDestroy(usize);
    }
}

/// Calls a function of a table and turns its status into a result that names the call.
macro_rules! call {
    ($driver:ident.$table:ident.$function:ident($($argument:expr),* $(,)?)) => {{
        not_forked()?;
        // SAFETY: the driver checks numbers itself; pointers to results are to live locals; for handles and memory
        // the trait's contract holds.
        let code = unsafe { ($driver.$table.$function)($($argument),*) };
        $driver.entry.check(stringify!($function), code)
    }};
}

/// NVIDIA's driver, opened at run time.
pub struct CudaDriver {
    library: Library,
    entry: Entry,
    api: Api,
    // Since CUDA 12.4.
    parameter_info: Option<ParameterInfo>,
}

/// `cuFuncGetParamInfo`: function, index, offset, size.
type ParameterInfo = unsafe extern "C" fn(usize, usize, *mut usize, *mut usize) -> i32;

impl Entry {
    fn check(&self, call: &'static str, code: i32) -> Result<()> {
        match code {
            0 => Ok(()),
            _ => Err(self.error(call, code)),
        }
    }

    #[cold]
    fn error(&self, call: &'static str, code: i32) -> GpuError {
        let name = self.text(self.cuGetErrorName, code).unwrap_or_else(|| "unknown error".to_owned());
        let message = self.text(self.cuGetErrorString, code).unwrap_or_else(|| "unknown error".to_owned());
        GpuError::Driver { call, code, name, message }
    }

    fn text(&self, function: unsafe extern "C" fn(i32, *mut *const c_char) -> i32, code: i32) -> Option<String> {
        let mut text = null();
        // SAFETY: `text` is a live local.
        unsafe { function(code, &mut text) };
        // SAFETY: the driver leaves null, or a string that lives as long as it does.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }

    /// Refuses a driver that is too old, then starts it.
    fn start(&self) -> Result<()> {
        let mut version = 0;
        // SAFETY: `version` is a live local.
        let code = unsafe { (self.cuDriverGetVersion)(&mut version) };
        self.check("cuDriverGetVersion", code)?;
        if version < OLDEST {
            return Err(GpuError::Unsupported(format!(
                "the NVIDIA driver serves CUDA {}.{}, which is too old: CUDA 12.0 is needed; install driver 525 or newer",
                version / 1000,
                version % 1000 / 10
            )));
        }
        // SAFETY: zero is the one legal flag.
        let code = unsafe { (self.cuInit)(0) };
        self.check("cuInit", code).map_err(with_remedy)
    }
}

// What the driver says of these is true but does not help.
fn with_remedy(error: GpuError) -> GpuError {
    let GpuError::Driver { call, code, name, message } = error else { return error };
    let remedy = match code {
        34 => "libcuda is the toolkit's stub; install NVIDIA's driver, or take the stubs folder off LD_LIBRARY_PATH",
        803 | 804 => "the driver's library and its kernel module do not match; update the driver and restart",
        100 => "there is no GPU here, or CUDA_VISIBLE_DEVICES hides it",
        802 => "the driver is not ready yet; on machines with NVSwitch start the fabric manager",
        999 => "the driver's kernel module may not be loaded; see whether nvidia-smi works",
        _ => return GpuError::Driver { call, code, name, message },
    };
    GpuError::Driver { call, code, name, message: format!("{message}: {remedy}") }
}

impl CudaDriver {
    /// Finds, opens and starts the driver. `search` lists directories that may hold pip wheels.
    ///
    /// # Errors
    /// When there is no driver, when it is too old, and when it finds no device; each says what helps.
    pub fn open(search: &[PathBuf]) -> Result<Self> {
        not_forked()?;
        Self::start(Library::open(&LIBCUDA, search, None)?)
    }

    fn start(library: Library) -> Result<Self> {
        let entry = Entry::load(&library)?;
        watch_forks();
        entry.start()?;
        let api = Api::load(&library)?;
        // SAFETY: the signature is the header's.
        let parameter_info = unsafe { library.function("cuFuncGetParamInfo") }.ok();
        let driver = Self { library, entry, api, parameter_info };
        match driver.device_count()? {
            0 => Err(with_remedy(driver.entry.error("cuDeviceGetCount", 100))),
            _ => Ok(driver),
        }
    }

    /// The library, for a report of where it was found.
    pub fn library(&self) -> &Library {
        &self.library
    }

    fn identity(&self, device: Device) -> Result<Identity> {
        let (mut name, mut pci_bus) = ([0 as c_char; 256], [0 as c_char; 32]);
        let (mut uuid, mut total) = ([0; 16], 0);
        call!(self.api.cuDeviceGetName(name.as_mut_ptr(), 256, device.0))?;
        call!(self.api.cuDeviceGetPCIBusId(pci_bus.as_mut_ptr(), 32, device.0))?;
        call!(self.api.cuDeviceGetUuid_v2(uuid.as_mut_ptr(), device.0))?;
        call!(self.api.cuDeviceTotalMem_v2(&mut total, device.0))?;
        Ok(Identity { name: text_of(&name), uuid, pci_bus: text_of(&pci_bus), total_memory: total as u64 })
    }
}

fn text_of(buffer: &[c_char]) -> String {
    let bytes: Vec<u8> = buffer.iter().map(|&byte| byte as u8).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn c_name(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| GpuError::Unsupported(format!("a name may not hold a NUL character: {name:?}")))
}

fn progress(result: Result<()>) -> Result<Progress> {
    match result {
        Ok(()) => Ok(Progress::Done),
        Err(GpuError::Driver { code: NOT_READY, .. }) => Ok(Progress::Pending),
        Err(error) => Err(error),
    }
}

/// The loader's log, and the options that ask for it.
struct JitLog {
    text: Vec<u8>,
}

impl JitLog {
    const ERROR_LOG_BUFFER: i32 = 5;
    const ERROR_LOG_BUFFER_SIZE: i32 = 6;

    fn new() -> Self {
        Self { text: vec![0; 8192] }
    }

    fn options(&mut self) -> ([i32; 2], [*mut c_void; 2]) {
        let (buffer, size) = (self.text.as_mut_ptr().cast(), self.text.len());
        ([Self::ERROR_LOG_BUFFER, Self::ERROR_LOG_BUFFER_SIZE], [buffer, std::ptr::without_provenance_mut(size)])
    }

    fn added_to(&self, error: GpuError) -> GpuError {
        let end = self.text.iter().position(|&byte| byte == 0).unwrap_or(self.text.len());
        let log = String::from_utf8_lossy(&self.text[..end]);
        match error {
            GpuError::Driver { call, code, name, message } if end > 0 => {
                GpuError::Driver { call, code, name, message: format!("{message}\n{}", log.trim_end()) }
            }
            error => error,
        }
    }
}

impl Driver for CudaDriver {
    fn version(&self) -> Result<i32> {
        let mut version = 0;
        call!(self.entry.cuDriverGetVersion(&mut version))?;
        Ok(version)
    }

    fn device_count(&self) -> Result<usize> {
        let mut count = 0;
        call!(self.entry.cuDeviceGetCount(&mut count))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    fn device(&self, ordinal: usize) -> Result<Device> {
        let mut device = 0;
        // An ordinal that does not fit is refused by the driver like any other that does not exist.
        call!(self.api.cuDeviceGet(&mut device, i32::try_from(ordinal).unwrap_or(i32::MAX)))?;
        Ok(Device(device))
    }

    fn attribute(&self, device: Device, attribute: Attribute) -> Result<i32> {
        let mut value = 0;
        call!(self.api.cuDeviceGetAttribute(&mut value, attribute.0, device.0))?;
        Ok(value)
    }

    fn properties(&self, device: Device) -> Result<Properties> {
        Properties::read(self, device, self.identity(device)?)
    }

    fn retain_context(&self, device: Device) -> Result<Context> {
        let mut context = 0;
        call!(self.api.cuDevicePrimaryCtxRetain(&mut context, device.0))?;
        Ok(Context(context))
    }

    unsafe fn release_context(&self, device: Device) -> Result<()> {
        call!(self.api.cuDevicePrimaryCtxRelease_v2(device.0))
    }

    fn make_current(&self, context: Context) -> Result<()> {
        call!(self.api.cuCtxSetCurrent(context.0))
    }

    fn current_context(&self) -> Result<Option<Context>> {
        let mut context = 0;
        call!(self.api.cuCtxGetCurrent(&mut context))?;
        Ok((context != 0).then_some(Context(context)))
    }

    fn synchronize(&self) -> Result<()> {
        call!(self.api.cuCtxSynchronize())
    }

    fn priority_range(&self) -> Result<(i32, i32)> {
        let (mut least, mut greatest) = (0, 0);
        call!(self.api.cuCtxGetStreamPriorityRange(&mut least, &mut greatest))?;
        Ok((least, greatest))
    }

    fn limit(&self, limit: i32) -> Result<usize> {
        let mut value = 0;
        call!(self.api.cuCtxGetLimit(&mut value, limit))?;
        Ok(value)
    }

    fn set_limit(&self, limit: i32, value: usize) -> Result<()> {
        call!(self.api.cuCtxSetLimit(limit, value))
    }

    fn memory_info(&self) -> Result<MemoryInfo> {
        let (mut free, mut total) = (0, 0);
        call!(self.api.cuMemGetInfo_v2(&mut free, &mut total))?;
        Ok(MemoryInfo { free: free as u64, total: total as u64 })
    }

    fn allocate(&self, bytes: usize) -> Result<DevicePtr> {
        let mut pointer = 0;
        call!(self.api.cuMemAlloc_v2(&mut pointer, bytes))?;
        Ok(DevicePtr(pointer))
    }

    unsafe fn free(&self, pointer: DevicePtr) -> Result<()> {
        call!(self.api.cuMemFree_v2(pointer.0))
    }

    fn allocate_host(&self, bytes: usize, flags: HostFlags) -> Result<NonNull<c_void>> {
        let mut pointer = null_mut();
        call!(self.api.cuMemHostAlloc(&mut pointer, bytes, flags.0))?;
        NonNull::new(pointer).ok_or_else(|| self.entry.error("cuMemHostAlloc", INVALID_VALUE))
    }

    unsafe fn free_host(&self, pointer: NonNull<c_void>) -> Result<()> {
        call!(self.api.cuMemFreeHost(pointer.as_ptr()))
    }

    fn pointer_info(&self, address: u64) -> Result<PointerInfo> {
        // Memory type, whether it is managed, device ordinal. Asked for one by one, an unknown address would be a failure, which
        // tools report.
        const ASKED: [i32; 3] = [2, 8, 9];
        // Wide enough for every attribute asked here, and zero where the driver knows nothing.
        let (mut memory_type, mut managed, mut ordinal) = (0_u64, 0_u64, 0_u64);
        let mut answers =
            [&raw mut memory_type, &raw mut managed, &raw mut ordinal].map(|answer| answer.cast::<c_void>());
        call!(self.api.cuPointerGetAttributes(ASKED.len() as c_uint, ASKED.as_ptr(), answers.as_mut_ptr(), address))?;
        let kind = match (managed as u8 != 0, memory_type as u32) {
            (true, _) => MemoryKind::Managed,
            (false, 1) => MemoryKind::Host,
            (false, 2) => MemoryKind::Device,
            (false, _) => MemoryKind::Unregistered,
        };
        // The driver writes -2 for an address that belongs to no device.
        let known = kind != MemoryKind::Unregistered && ordinal as i32 >= 0;
        Ok(PointerInfo { kind, device: known.then_some(Device(ordinal as i32)) })
    }

    unsafe fn copy_to_device(&self, to: DevicePtr, from: *const c_void, bytes: usize, stream: Stream) -> Result<()> {
        call!(self.api.cuMemcpyHtoDAsync_v2(to.0, from, bytes, stream.0))
    }

    unsafe fn copy_to_host(&self, to: *mut c_void, from: DevicePtr, bytes: usize, stream: Stream) -> Result<()> {
        call!(self.api.cuMemcpyDtoHAsync_v2(to, from.0, bytes, stream.0))
    }

    unsafe fn copy_on_device(&self, to: DevicePtr, from: DevicePtr, bytes: usize, stream: Stream) -> Result<()> {
        call!(self.api.cuMemcpyDtoDAsync_v2(to.0, from.0, bytes, stream.0))
    }

    unsafe fn fill(&self, to: DevicePtr, value: Fill, count: usize, stream: Stream) -> Result<()> {
        match value {
            Fill::U8(value) => call!(self.api.cuMemsetD8Async(to.0, value, count, stream.0)),
            Fill::U16(value) => call!(self.api.cuMemsetD16Async(to.0, value, count, stream.0)),
            Fill::U32(value) => call!(self.api.cuMemsetD32Async(to.0, value, count, stream.0)),
        }
    }

    fn can_access_peer(&self, device: Device, peer: Device) -> Result<bool> {
        let mut answer = 0;
        call!(self.api.cuDeviceCanAccessPeer(&mut answer, device.0, peer.0))?;
        Ok(answer != 0)
    }

    fn create_stream(&self, kind: StreamKind, priority: i32) -> Result<Stream> {
        let flags = match kind {
            StreamKind::Blocking => 0,
            StreamKind::NonBlocking => 1,
        };
        let mut stream = 0;
        call!(self.api.cuStreamCreateWithPriority(&mut stream, flags, priority))?;
        Ok(Stream(stream))
    }

    unsafe fn destroy_stream(&self, stream: Stream) -> Result<()> {
        call!(self.api.cuStreamDestroy_v2(stream.0))
    }

    fn synchronize_stream(&self, stream: Stream) -> Result<()> {
        call!(self.api.cuStreamSynchronize(stream.0))
    }

    fn query_stream(&self, stream: Stream) -> Result<Progress> {
        progress(call!(self.api.cuStreamQuery(stream.0)))
    }

    fn wait_event(&self, stream: Stream, event: Event) -> Result<()> {
        call!(self.api.cuStreamWaitEvent(stream.0, event.0, 0))
    }

    fn create_event(&self, flags: EventFlags) -> Result<Event> {
        let mut event = 0;
        call!(self.api.cuEventCreate(&mut event, flags.0))?;
        Ok(Event(event))
    }

    unsafe fn destroy_event(&self, event: Event) -> Result<()> {
        call!(self.api.cuEventDestroy_v2(event.0))
    }

    fn record_event(&self, event: Event, stream: Stream) -> Result<()> {
        call!(self.api.cuEventRecord(event.0, stream.0))
    }

    fn synchronize_event(&self, event: Event) -> Result<()> {
        call!(self.api.cuEventSynchronize(event.0))
    }

    fn query_event(&self, event: Event) -> Result<Progress> {
        progress(call!(self.api.cuEventQuery(event.0)))
    }

    fn elapsed(&self, start: Event, end: Event) -> Result<f32> {
        let mut milliseconds = 0.0;
        call!(self.api.cuEventElapsedTime(&mut milliseconds, start.0, end.0))?;
        Ok(milliseconds)
    }

    unsafe fn load_module(&self, image: &[u8]) -> Result<Module> {
        // Text must end with a NUL; a binary carries its own length.
        let text = (!image.starts_with(b"\x7fELF")).then(|| [image, b"\0"].concat());
        let start = text.as_deref().unwrap_or(image).as_ptr();
        let mut log = JitLog::new();
        let (mut options, mut values) = log.options();
        let mut module = 0;
        call!(self.api.cuModuleLoadDataEx(&mut module, start.cast(), 2, options.as_mut_ptr(), values.as_mut_ptr()))
            .map_err(|error| log.added_to(error))?;
        Ok(Module(module))
    }

    unsafe fn unload_module(&self, module: Module) -> Result<()> {
        call!(self.api.cuModuleUnload(module.0))
    }

    fn function(&self, module: Module, name: &str) -> Result<Function> {
        let name = c_name(name)?;
        let mut function = 0;
        call!(self.api.cuModuleGetFunction(&mut function, module.0, name.as_ptr()))?;
        Ok(Function(function))
    }

    fn global(&self, module: Module, name: &str) -> Result<(DevicePtr, usize)> {
        let name = c_name(name)?;
        let (mut pointer, mut bytes) = (0, 0);
        call!(self.api.cuModuleGetGlobal_v2(&mut pointer, &mut bytes, module.0, name.as_ptr()))?;
        Ok((DevicePtr(pointer), bytes))
    }

    fn function_attribute(&self, function: Function, attribute: FunctionAttribute) -> Result<i32> {
        let mut value = 0;
        call!(self.api.cuFuncGetAttribute(&mut value, attribute.0, function.0))?;
        Ok(value)
    }

    fn set_function_attribute(&self, function: Function, attribute: FunctionAttribute, value: i32) -> Result<()> {
        call!(self.api.cuFuncSetAttribute(function.0, attribute.0, value))
    }

    fn parameter_sizes(&self, function: Function) -> Result<Option<Vec<usize>>> {
        let Some(info) = self.parameter_info else { return Ok(None) };
        not_forked()?;
        let (mut sizes, mut offset, mut size) = (Vec::new(), 0, 0);
        loop {
            // SAFETY: the driver checks the index; both results are live locals.
            let code = unsafe { info(function.0, sizes.len(), &mut offset, &mut size) };
            match code {
                // The first index that is none.
                INVALID_VALUE => return Ok(Some(sizes)),
                code => self.entry.check("cuFuncGetParamInfo", code)?,
            }
            sizes.push(size);
        }
    }

    fn active_blocks(&self, function: Function, block: u32, shared_bytes: usize) -> Result<u32> {
        let mut blocks = 0;
        call!(self.api.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &mut blocks,
            function.0,
            i32::try_from(block).unwrap_or(i32::MAX),
            shared_bytes
        ))?;
        Ok(blocks.max(0) as u32)
    }

    unsafe fn launch(&self, function: Function, launch: &Launch, parameters: &mut [*mut c_void]) -> Result<()> {
        let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
        let (shared, stream) = (launch.shared_bytes, launch.stream.0);
        let parameters = parameters.as_mut_ptr();
        call!(self.api.cuLaunchKernel(function.0, gx, gy, gz, bx, by, bz, shared, stream, parameters, null_mut()))
    }

    unsafe fn launch_cooperative(
        &self,
        function: Function,
        launch: &Launch,
        parameters: &mut [*mut c_void],
    ) -> Result<()> {
        let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
        let (shared, stream) = (launch.shared_bytes, launch.stream.0);
        let parameters = parameters.as_mut_ptr();
        call!(self.api.cuLaunchCooperativeKernel(function.0, gx, gy, gz, bx, by, bz, shared, stream, parameters))
    }

    fn begin_capture(&self, stream: Stream, mode: CaptureMode) -> Result<()> {
        call!(self.api.cuStreamBeginCapture_v2(stream.0, mode.0))
    }

    fn end_capture(&self, stream: Stream) -> Result<Graph> {
        let mut graph = 0;
        call!(self.api.cuStreamEndCapture(stream.0, &mut graph))?;
        Ok(Graph(graph))
    }

    fn is_capturing(&self, stream: Stream) -> Result<bool> {
        let mut status = 0;
        call!(self.api.cuStreamIsCapturing(stream.0, &mut status))?;
        Ok(status != 0)
    }

    fn instantiate(&self, graph: Graph) -> Result<Executable> {
        let mut executable = 0;
        call!(self.api.cuGraphInstantiateWithFlags(&mut executable, graph.0, 0))?;
        Ok(Executable(executable))
    }

    fn upload_graph(&self, graph: Executable, stream: Stream) -> Result<()> {
        call!(self.api.cuGraphUpload(graph.0, stream.0))
    }

    unsafe fn launch_graph(&self, graph: Executable, stream: Stream) -> Result<()> {
        call!(self.api.cuGraphLaunch(graph.0, stream.0))
    }

    unsafe fn destroy_graph(&self, graph: Graph) -> Result<()> {
        call!(self.api.cuGraphDestroy(graph.0))
    }

    unsafe fn destroy_executable(&self, graph: Executable) -> Result<()> {
        call!(self.api.cuGraphExecDestroy(graph.0))
    }
}

#[cfg(test)]
mod tests;

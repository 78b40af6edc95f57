//! Opens the driver, NVRTC and cuBLAS, and computes a little with each: `probe [directory with pip wheels]...`

use cupric_gpu::{
    Arch, Cublas, CudaDriver, DevicePtr, Driver, Element, EventFlags, Fill, FunctionAttribute, Gemm, HostFlags, Launch,
    MemoryKind, Nvrtc, Progress, Request, Stream, StreamKind, Transpose, Workspace,
};
use std::{error::Error, ffi::c_void, path::PathBuf, process::ExitCode};

type Outcome<T> = Result<T, Box<dyn Error>>;

const SAXPY: &str = r#"
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__device__ int answer = 42;
"#;
const COUNT: usize = 1 << 20;
const SIDE: usize = 64;

fn main() -> ExitCode {
    match probe() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn probe() -> Outcome<()> {
    let search: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let driver = CudaDriver::open(&search)?;
    let version = driver.version()?;
    println!("driver: {} ({}), CUDA {version}", driver.library().path().display(), driver.library().place());
    let device = driver.device(0)?;
    println!("{:#?}", driver.properties(device)?);
    driver.make_current(driver.retain_context(device)?)?;
    println!("{:?}, priorities {:?}", driver.memory_info()?, driver.priority_range()?);
    let stream = driver.create_stream(StreamKind::NonBlocking, 0)?;
    refusals(&driver)?;
    saxpy(&driver, &search, stream)?;
    product(&driver, &search, stream, version / 1000)?;
    // SAFETY: nothing uses the stream or the context any more.
    unsafe { driver.destroy_stream(stream).and_then(|()| driver.release_context(device)) }?;
    println!("probe ok");
    Ok(())
}

fn refusals(driver: &CudaDriver) -> Outcome<()> {
    let error = driver.allocate(1 << 50).err().ok_or("a petabyte was allocated")?;
    println!("too much memory: {error} (out of memory: {})", error.is_out_of_memory());
    // SAFETY: the loader refuses the text.
    let error =
        unsafe { driver.load_module(b".version 8.0\n.target sm_80\nnonsense\n") }.err().ok_or("nonsense loads")?;
    println!("bad PTX: {error}");
    Ok(())
}

fn upload(driver: &CudaDriver, values: &[f32], stream: Stream) -> Outcome<DevicePtr> {
    let memory = driver.allocate(size_of_val(values))?;
    // SAFETY: both spans are that long; pageable memory is read before the call returns.
    unsafe { driver.copy_to_device(memory, values.as_ptr().cast(), size_of_val(values), stream) }?;
    Ok(memory)
}

fn download(driver: &CudaDriver, from: DevicePtr, count: usize, stream: Stream) -> Outcome<Vec<f32>> {
    let pinned = driver.allocate_host(count * 4, HostFlags::DEFAULT)?;
    // SAFETY: both spans are that long, and the stream is waited for.
    unsafe { driver.copy_to_host(pinned.as_ptr(), from, count * 4, stream) }?;
    driver.synchronize_stream(stream)?;
    // SAFETY: the copy has ended, and has filled `count` numbers.
    let values = unsafe { std::slice::from_raw_parts(pinned.as_ptr().cast::<f32>(), count) }.to_vec();
    // SAFETY: nothing uses it any more.
    unsafe { driver.free_host(pinned) }?;
    Ok(values)
}

fn saxpy(driver: &CudaDriver, search: &[PathBuf], stream: Stream) -> Outcome<()> {
    let nvrtc = Nvrtc::open_at_most(search, driver.version()? / 1000)?;
    println!("NVRTC {:?}: {} ({})", nvrtc.version(), nvrtc.library().path().display(), nvrtc.library().place());
    let (major, minor) = driver.properties(driver.device(0)?)?.compute_capability;
    let capability = (10 * major + minor) as u32;
    for arch in [Arch::Sm(capability), Arch::Compute(80)] {
        let start = std::time::Instant::now();
        let options = ["-minimal".to_owned(), "-fmad=false".to_owned()];
        let request =
            Request { source: SAXPY, name: "saxpy.cu", arch, options: &options, name_expressions: &[], headers: &[] };
        let image = nvrtc.compile(&request)?;
        println!("{arch:?}: {} bytes in {:?}", image.bytes.len(), start.elapsed());
        run_saxpy(driver, &image.bytes, stream)?;
    }
    Ok(())
}

fn run_saxpy(driver: &CudaDriver, image: &[u8], stream: Stream) -> Outcome<()> {
    // SAFETY: NVRTC made the image.
    let module = unsafe { driver.load_module(image) }?;
    let function = driver.function(module, "saxpy")?;
    let registers = driver.function_attribute(function, FunctionAttribute::REGISTERS)?;
    println!("registers {registers}, blocks of 256 on a multiprocessor {}", driver.active_blocks(function, 256, 0)?);
    println!("global answer: {:?}; missing: {}", driver.global(module, "answer")?, driver.global(module, "x").is_err());
    let x: Vec<f32> = (0..COUNT).map(|i| i as f32).collect();
    let (mut px, mut py) = (upload(driver, &x, stream)?, driver.allocate(COUNT * 4)?);
    println!("{:?}", driver.pointer_info(px.0)?);
    if driver.pointer_info(x.as_ptr() as u64)?.kind == MemoryKind::Device {
        return Err("host memory passes for device memory".into());
    }
    // SAFETY: `py` holds that many words.
    unsafe { driver.fill(py, Fill::U32(1.0_f32.to_bits()), COUNT, stream) }?;
    let (mut a, mut n) = (2.0_f32, COUNT as i32);
    let mut parameters: [*mut c_void; 4] =
        [(&raw mut a).cast(), (&raw mut px).cast(), (&raw mut py).cast(), (&raw mut n).cast()];
    let launch = Launch { grid: [COUNT as u32 / 256, 1, 1], block: [256, 1, 1], shared_bytes: 0, stream };
    let [start, end] = [driver.create_event(EventFlags::DEFAULT)?, driver.create_event(EventFlags::DEFAULT)?];
    driver.record_event(start, stream)?;
    // SAFETY: the parameters are those of the kernel, whose memory is alive.
    unsafe { driver.launch(function, &launch, &mut parameters) }?;
    driver.record_event(end, stream)?;
    driver.synchronize_event(end)?;
    println!("saxpy took {} ms; {:?}", driver.elapsed(start, end)?, driver.query_stream(stream)?);
    let y = download(driver, py, COUNT, stream)?;
    if driver.query_event(end)? != Progress::Done || (0..COUNT).any(|i| y[i] != 2.0 * i as f32 + 1.0) {
        return Err("saxpy is wrong".into());
    }
    replay(driver, stream, || {
        // SAFETY: as above.
        unsafe { driver.launch(function, &launch, &mut parameters) }
    })?;
    let y = download(driver, py, COUNT, stream)?;
    if y[5] != 2.0 * 5.0 * 3.0 + 1.0 {
        return Err(format!("two replays give {} for 31", y[5]).into());
    }
    // SAFETY: the stream is idle, and nothing uses these any more.
    unsafe {
        driver.free(px)?;
        driver.free(py)?;
        driver.destroy_event(start)?;
        driver.destroy_event(end)?;
        driver.unload_module(module)?;
    }
    Ok(())
}

/// Captures work and runs it twice.
fn replay(driver: &CudaDriver, stream: Stream, work: impl FnOnce() -> cupric_gpu::Result<()>) -> Outcome<()> {
    driver.begin_capture(stream, cupric_gpu::CaptureMode::THREAD_LOCAL)?;
    work()?;
    println!("capturing: {}", driver.is_capturing(stream)?);
    let graph = driver.end_capture(stream)?;
    let executable = driver.instantiate(graph)?;
    driver.upload_graph(executable, stream)?;
    // SAFETY: the graph's memory is alive; both handles end once the stream is idle.
    unsafe {
        driver.launch_graph(executable, stream)?;
        driver.launch_graph(executable, stream)?;
        driver.synchronize_stream(stream)?;
        driver.destroy_executable(executable)?;
        driver.destroy_graph(graph)?;
    }
    Ok(())
}

fn product(driver: &CudaDriver, search: &[PathBuf], stream: Stream, major: i32) -> Outcome<()> {
    let cublas = match Cublas::open(search, major) {
        Ok(cublas) => cublas,
        Err(error) => {
            println!("no product: {error}");
            return Ok(());
        }
    };
    let handle = cublas.create()?;
    let library = cublas.library();
    println!("cuBLAS {}: {} ({})", cublas.version(&handle)?, library.path().display(), library.place());
    let workspace = Workspace { pointer: driver.allocate(32 << 20)?, bytes: 32 << 20 };
    // SAFETY: the workspace serves this handle alone.
    unsafe { cublas.bind(&handle, stream, workspace) }?;
    // Small whole numbers: every sum is exact.
    let a: Vec<f32> = (0..SIDE * SIDE).map(|i| (i % 7) as f32).collect();
    let b: Vec<f32> = (0..SIDE * SIDE).map(|i| (i % 5) as f32).collect();
    let pointers = [upload(driver, &a, stream)?, upload(driver, &b, stream)?, driver.allocate(2 * SIDE * SIDE * 4)?];
    let side = SIDE as i64;
    let one = Gemm {
        element: Element::F32,
        transpose: (Transpose::None, Transpose::Transposed),
        m: side,
        n: side,
        k: side,
        alpha: 1.0,
        beta: 0.0,
        pointers,
        leading: [side; 3],
        batch_strides: [0, 0, side * side],
        batch: 1,
    };
    for gemm in [one, Gemm { batch: 2, ..one }] {
        // SAFETY: the three matrices are alive until the stream is idle.
        unsafe { cublas.gemm(&handle, &gemm) }?;
        let c = download(driver, pointers[2], SIDE * SIDE * gemm.batch as usize, stream)?;
        let wrong = (0..c.len()).find(|&at| {
            let (row, column) = (at % SIDE, at / SIDE % SIDE);
            c[at] != (0..SIDE).map(|k| a[row + k * SIDE] * b[column + k * SIDE]).sum::<f32>()
        });
        println!("product of {SIDE}x{SIDE}, batch {}: first wrong element {wrong:?}", gemm.batch);
        if wrong.is_some() {
            return Err("the product is wrong".into());
        }
    }
    cublas.destroy(handle)?;
    for memory in pointers.into_iter().chain([workspace.pointer]) {
        // SAFETY: the stream is idle, and nothing uses these any more.
        unsafe { driver.free(memory) }?;
    }
    Ok(())
}

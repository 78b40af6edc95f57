//! Handles of devices, streams, events and memory pools; the classes that people see are Python's.

use crate::{
    array::PyArray,
    errors::{self, enter, enter_waiting},
    gate,
};
use cupric::{
    Array, DType,
    runtime::{
        self, Allocator, Blocking, Config, Device, DeviceChoice, DeviceKind, Event, Graph, Pool, RawStream, Running,
        Stream, Timing, Waiting, current_stream, use_stream,
    },
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    intern,
    prelude::*,
    types::PyDict,
};
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// A device.
#[pyclass(name = "Device", module = "cupric._core", frozen)]
pub(crate) struct PyDevice(pub(crate) Arc<Device>);

/// How many GPUs there are.
#[pyfunction]
fn gpu_count(py: Python<'_>) -> PyResult<usize> {
    enter_waiting(py, || {
        cupric::init();
        Ok(runtime::device_count(DeviceKind::Cuda))
    })
}

/// The thread's current device, or that of a number.
#[pyfunction]
#[pyo3(signature = (ordinal = None))]
fn device(py: Python<'_>, ordinal: Option<usize>) -> PyResult<PyDevice> {
    let found = enter_waiting(py, || {
        let Some(ordinal) = ordinal else { return cupric::current_device() };
        cupric::init();
        runtime::device(runtime::default_kind(), ordinal)
    })?;
    Ok(PyDevice(found))
}

#[pymethods]
impl PyDevice {
    #[getter]
    fn kind(&self) -> String {
        self.0.kind().to_string()
    }

    #[getter]
    fn ordinal(&self) -> usize {
        self.0.backend().ordinal()
    }

    /// Makes it the thread's current device.
    fn r#use(&self) {
        runtime::use_device(self.0.clone());
    }

    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        enter_waiting(py, || self.0.synchronize())
    }

    /// Free and total bytes.
    fn memory(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        enter_waiting(py, || {
            self.0.flush();
            self.0.backend().memory()
        })
    }

    fn pool(&self) -> PyPool {
        PyPool { device: self.0.clone(), pool: self.0.pool().clone() }
    }

    fn new_pool(&self) -> PyPool {
        PyPool { device: self.0.clone(), pool: self.0.new_pool() }
    }

    fn null_stream(&self) -> PyStream {
        PyStream(self.0.null_stream().clone())
    }

    fn current_stream(&self) -> PyStream {
        PyStream(current_stream(&self.0))
    }

    /// The properties that CUDA names; nothing for the host.
    fn properties<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        #[cfg(feature = "gpu")]
        add_properties(&self.0, &found)?;
        Ok(found)
    }
}

#[cfg(feature = "gpu")]
fn add_properties(device: &Device, found: &Bound<'_, PyDict>) -> PyResult<()> {
    use cupric_gpu::{GpuBackend, Property};
    use pyo3::types::{PyBytes, PyTuple};
    let py = found.py();
    let Some(gpu) = device.backend().as_any().downcast_ref::<GpuBackend>() else { return Ok(()) };
    for (name, value) in enter_waiting(py, || gpu.named_properties())? {
        match value {
            Property::Number(value) => found.set_item(name, value)?,
            Property::Numbers(values) => found.set_item(name, PyTuple::new(py, values)?)?,
            Property::Text(text) => found.set_item(name, text)?,
            Property::Bytes(bytes) => found.set_item(name, PyBytes::new(py, &bytes))?,
        }
    }
    Ok(())
}

/// A stream.
#[pyclass(name = "Stream", module = "cupric._core", frozen)]
pub(crate) struct PyStream(pub(crate) Arc<Stream>);

#[pymethods]
impl PyStream {
    #[new]
    fn new(py: Python<'_>, device: &PyDevice, non_blocking: bool, priority: i32) -> PyResult<PyStream> {
        let blocking = if non_blocking { Blocking::Free } else { Blocking::WithNull };
        enter(py, || Stream::new(&device.0, blocking, priority)).map(PyStream)
    }

    /// A stream that somebody else made.
    #[staticmethod]
    fn external(device: &PyDevice, address: u64) -> PyStream {
        PyStream(Stream::external(&device.0, RawStream(address)))
    }

    /// Sends the thread's work on the stream's device to it; gives the one before.
    fn r#use(&self) -> PyStream {
        PyStream(use_stream(&self.0))
    }

    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        enter_waiting(py, || self.0.synchronize())
    }

    fn done(&self, py: Python<'_>) -> PyResult<bool> {
        enter_waiting(py, || self.0.done())
    }

    fn wait_event(&self, py: Python<'_>, event: &PyEvent) -> PyResult<()> {
        enter_waiting(py, || self.0.wait_event(&event.0))
    }

    /// Begins to record what the stream is asked for instead of doing it.
    fn begin_capture(&self, py: Python<'_>) -> PyResult<()> {
        enter_waiting(py, || self.0.begin_capture())
    }

    /// Ends the recording.
    fn end_capture(&self, py: Python<'_>) -> PyResult<PyGraph> {
        enter_waiting(py, || self.0.end_capture()).map(PyGraph)
    }

    fn is_capturing(&self) -> bool {
        self.0.is_capturing()
    }

    /// The driver's handle; from now on no work waits in this stream's queue.
    fn expose(&self, py: Python<'_>) -> PyResult<u64> {
        enter_waiting(py, || Ok(self.0.expose().0))
    }

    fn same(&self, other: &PyStream) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    #[getter]
    fn is_null(&self) -> bool {
        self.0.is_null()
    }

    #[getter]
    fn non_blocking(&self) -> bool {
        self.0.blocking() == Blocking::Free
    }

    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.0.device().clone())
    }
}

/// Recorded work.
#[pyclass(name = "Graph", module = "cupric._core", frozen)]
pub(crate) struct PyGraph(Graph);

#[pymethods]
impl PyGraph {
    fn launch(&self, py: Python<'_>, stream: &PyStream) -> PyResult<()> {
        enter_waiting(py, || self.0.launch(&stream.0))
    }

    fn upload(&self, py: Python<'_>, stream: &PyStream) -> PyResult<()> {
        enter_waiting(py, || self.0.upload(&stream.0))
    }

    #[getter]
    fn handle(&self) -> u64 {
        self.0.raw()
    }
}

/// While it lives, the thread's work goes to another stream.
pub(crate) struct On(Arc<Stream>);

impl Drop for On {
    fn drop(&mut self) {
        use_stream(&self.0);
    }
}

/// Goes to a stream that was given as `stream=`.
pub(crate) fn on(stream: Option<&Bound<'_, PyAny>>) -> PyResult<Option<On>> {
    let Some(stream) = stream.filter(|stream| !stream.is_none()) else { return Ok(None) };
    let handle = stream.getattr(intern!(stream.py(), "_handle"))?;
    Ok(Some(On(use_stream(&handle.cast::<PyStream>()?.get().0))))
}

/// An event.
#[pyclass(name = "Event", module = "cupric._core", frozen)]
pub(crate) struct PyEvent(pub(crate) Event);

#[pymethods]
impl PyEvent {
    #[new]
    fn new(py: Python<'_>, device: &PyDevice, timing: bool, block: bool) -> PyResult<PyEvent> {
        let timing = if timing { Timing::Kept } else { Timing::Off };
        let waiting = if block { Waiting::Block } else { Waiting::Spin };
        enter(py, || Event::new(&device.0, timing, waiting)).map(PyEvent)
    }

    fn record(&self, py: Python<'_>, stream: &PyStream) -> PyResult<()> {
        enter_waiting(py, || self.0.record(&stream.0))
    }

    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        enter_waiting(py, || self.0.synchronize())
    }

    fn done(&self, py: Python<'_>) -> PyResult<bool> {
        enter(py, || self.0.done())
    }

    fn elapsed_until(&self, py: Python<'_>, end: &PyEvent) -> PyResult<f32> {
        enter(py, || self.0.elapsed_until(&end.0))
    }

    #[getter]
    fn ptr(&self) -> u64 {
        self.0.raw().0
    }
}

/// A memory pool.
#[pyclass(name = "Pool", module = "cupric._core", frozen)]
pub(crate) struct PyPool {
    device: Arc<Device>,
    pool: Arc<Pool>,
}

impl PyPool {
    /// What a pool says once all queued work has been launched.
    fn look<T: Send>(&self, py: Python<'_>, call: impl FnOnce(&Arc<Pool>) -> T + Send) -> PyResult<T> {
        enter_waiting(py, || {
            self.device.flush();
            Ok(call(&self.pool))
        })
    }
}

#[pymethods]
impl PyPool {
    /// New memory, as an array of bytes.
    fn allocate<'py>(&self, py: Python<'py>, bytes: usize) -> PyResult<Bound<'py, PyArray>> {
        let array = enter(py, || {
            let made = self.device.storage_in(&self.pool, bytes)?;
            let layout = cupric::Layout::row_major(&[bytes], 1);
            Ok(Array::over(made, DType::UInt8, layout, cupric::Access::ReadWrite))
        })?;
        PyArray::object(py, array)
    }

    fn used_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, |pool| pool.used_bytes())
    }

    fn free_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, |pool| pool.free_bytes())
    }

    fn total_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, |pool| pool.total_bytes())
    }

    fn free_blocks(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, |pool| pool.free_blocks())
    }

    fn free_all(&self, py: Python<'_>) -> PyResult<()> {
        self.look(py, |pool| pool.free_all())
    }

    fn limit(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        self.look(py, |pool| pool.limit())
    }

    #[pyo3(signature = (limit))]
    fn set_limit(&self, py: Python<'_>, limit: Option<usize>) -> PyResult<()> {
        self.look(py, |pool| pool.set_limit(limit))
    }

    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.device.clone())
    }

    fn same(&self, other: &PyPool) -> bool {
        Arc::ptr_eq(&self.pool, &other.pool)
    }
}

/// Sets where all threads' new arrays take memory from: the device's pool (`None`), a pool, or a function.
#[pyfunction]
#[pyo3(signature = (allocator))]
fn set_allocator(allocator: Option<Bound<'_, PyAny>>) {
    runtime::set_allocator(allocator_of(allocator));
}

/// Sets where this thread's new arrays take memory from, whatever is set for all threads.
#[pyfunction]
#[pyo3(signature = (allocator))]
fn use_allocator(allocator: Option<Bound<'_, PyAny>>) {
    runtime::use_allocator(Some(allocator_of(allocator)));
}

/// From now on this thread's new arrays take their memory from where all threads' do.
#[pyfunction]
fn use_common_allocator() {
    runtime::use_allocator(None);
}

fn allocator_of(allocator: Option<Bound<'_, PyAny>>) -> Allocator {
    match allocator {
        None => Allocator::Device,
        Some(object) => match object.cast::<PyPool>() {
            Ok(pool) => Allocator::Pool(pool.get().pool.clone()),
            Err(_) => python_allocator(object.unbind()),
        },
    }
}

fn python_allocator(function: Py<PyAny>) -> Allocator {
    Allocator::Function(Arc::new(move |bytes| {
        Python::attach(|py| {
            let call = || {
                let pointer = function.bind(py).call1((bytes,))?;
                let address = allocated(&pointer, bytes)?;
                Ok::<_, PyErr>((address, Box::new(pointer.unbind()) as Box<_>))
            };
            call().map_err(errors::keep)
        })
    }))
}

/// The address that an allocator gave, once it is known that so many bytes are there.
fn allocated(pointer: &Bound<'_, PyAny>, bytes: usize) -> PyResult<u64> {
    let py = pointer.py();
    let (Ok(address), Ok(memory)) = (pointer.getattr(intern!(py, "ptr")), pointer.getattr(intern!(py, "mem"))) else {
        let given = pointer.get_type().repr()?;
        return Err(PyTypeError::new_err(format!("an allocator must give a cupric.cuda.MemoryPointer, not {given}")));
    };
    let address: u64 = address.extract()?;
    let (start, size): (u64, u64) =
        (memory.getattr(intern!(py, "ptr"))?.extract()?, memory.getattr(intern!(py, "size"))?.extract()?);
    let room = start.checked_add(size).filter(|_| address >= start).map_or(0, |end| end.saturating_sub(address));
    if room < bytes as u64 || (address == 0 && bytes > 0) {
        return Err(PyValueError::new_err(format!(
            "the allocator was asked for {bytes} bytes and gave {room} at address {address:#x}"
        )));
    }
    Ok(address)
}

/// The settings that the process began with.
#[pyfunction]
fn settings(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let (config, found) = (Config::get(), PyDict::new(py));
    let device = match config.device {
        DeviceChoice::Auto => None,
        DeviceChoice::Named(DeviceKind::Cuda, ordinal) => Some(format!("cuda:{ordinal}")),
        DeviceChoice::Named(kind, _) => Some(kind.to_string()),
    };
    found.set_item("device", device)?;
    found.set_item("eager", config.running == Running::Eager)?;
    found.set_item("debug", config.debug)?;
    found.set_item("num_threads", config.threads)?;
    found.set_item("log", config.log)?;
    #[cfg(feature = "gpu")]
    found.set_item("cache_dir", cupric_gpu::DiskCache::default_folder())?;
    Ok(found)
}

const RUNNINGS: [(&str, Running); 3] =
    [("deferred", Running::Deferred), ("eager", Running::Eager), ("queued", Running::Queued)];

/// Sets when the thread's operations run: "deferred", "eager" (each at its call) or "queued" (as deferred, and so is the
/// smallest); gives what was set before.
#[pyfunction]
fn set_running(running: &str) -> PyResult<&'static str> {
    let (_, running) = RUNNINGS
        .into_iter()
        .find(|(name, _)| *name == running)
        .ok_or_else(|| PyValueError::new_err("operations run 'deferred', 'eager' or 'queued'"))?;
    let before = runtime::set_running(running);
    Ok(RUNNINGS.into_iter().find(|(_, known)| *known == before).map_or("deferred", |(name, _)| name))
}

/// Stops background work and holds calls of other threads back, so that the process may fork.
#[pyfunction]
fn before_fork(py: Python<'_>) -> PyResult<()> {
    py.detach(gate::close);
    enter_waiting(py, || {
        runtime::open_devices().iter().for_each(|device| device.pause());
        Ok(())
    })?;
    // A call that keeps the interpreter's lock may have queued work meanwhile; now none can until the fork.
    enter(py, || {
        runtime::open_devices().iter().for_each(|device| device.pause());
        Ok(())
    })
}

/// Lets calls of other threads go on.
#[pyfunction]
fn after_fork() {
    gate::open();
}

// A child has none of the threads that compile, and must not wait for them at its end.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Lets calls go on in a child.
#[pyfunction]
fn after_fork_in_child() {
    FORKED.store(true, Ordering::Relaxed);
    gate::open_in_child();
}

/// Before the process ends: launches all queued work, so that arrays shared with others are up to date, and waits for what
/// works in the background, which must not run on while libraries are taken down.
#[pyfunction]
fn finish(py: Python<'_>) -> PyResult<()> {
    enter_waiting(py, || {
        for device in runtime::open_devices() {
            device.pause();
            #[cfg(feature = "gpu")]
            if !FORKED.load(Ordering::Relaxed)
                && let Some(gpu) = device.backend().as_any().downcast_ref::<cupric_gpu::GpuBackend>()
            {
                gpu.finish();
            }
        }
        Ok(())
    })
}

/// Folders in which libraries are looked for, and the one with the built-in GPU kernels.
#[pyfunction]
fn set_library_search(folders: Vec<PathBuf>, pack: PathBuf) {
    cupric::set_library_search(&folders);
    #[cfg(feature = "gpu")]
    cupric_gpu::set_pack_folder(pack);
    #[cfg(not(feature = "gpu"))]
    drop(pack);
}

/// CUDA's version as the driver tells it; 0 where there is none.
#[pyfunction]
fn driver_version(py: Python<'_>) -> i32 {
    #[cfg(feature = "gpu")]
    return py.detach(|| cupric_gpu::driver_version().unwrap_or(0));
    #[cfg(not(feature = "gpu"))]
    {
        let _ = py;
        0
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDevice>()?;
    module.add_class::<PyStream>()?;
    module.add_class::<PyEvent>()?;
    module.add_class::<PyGraph>()?;
    module.add_class::<PyPool>()?;
    module.add_function(wrap_pyfunction!(gpu_count, module)?)?;
    module.add_function(wrap_pyfunction!(device, module)?)?;
    module.add_function(wrap_pyfunction!(set_allocator, module)?)?;
    module.add_function(wrap_pyfunction!(use_allocator, module)?)?;
    module.add_function(wrap_pyfunction!(use_common_allocator, module)?)?;
    module.add_function(wrap_pyfunction!(set_running, module)?)?;
    module.add_function(wrap_pyfunction!(settings, module)?)?;
    module.add_function(wrap_pyfunction!(before_fork, module)?)?;
    module.add_function(wrap_pyfunction!(after_fork, module)?)?;
    module.add_function(wrap_pyfunction!(after_fork_in_child, module)?)?;
    module.add_function(wrap_pyfunction!(finish, module)?)?;
    module.add_function(wrap_pyfunction!(set_library_search, module)?)?;
    module.add_function(wrap_pyfunction!(driver_version, module)?)
}

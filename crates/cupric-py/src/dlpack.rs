//! DLPack: arrays handed to other libraries, and taken from them, without a copy.

use crate::{
    array::PyArray,
    errors::{enter, enter_waiting},
};
use cupric::{
    Access, Array, DType, Error, Kind, Layout, Strides, byte_count,
    runtime::{self, DeviceKind, RawStream, Storage, current_stream},
};
use pyo3::{
    exceptions::{PyBufferError, PyTypeError, PyValueError},
    ffi,
    prelude::*,
    types::{PyCapsule, PyDict},
};
use std::{
    ffi::{CStr, c_int, c_void},
    sync::{Mutex, PoisonError},
};

#[repr(C)]
#[derive(Clone, Copy)]
struct DlDevice {
    kind: i32,
    ordinal: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DlType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: DlDevice,
    ndim: i32,
    dtype: DlType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: DlTensor,
}

const READ_ONLY: u64 = 1;
const COPIED: u64 = 2;

const CPU: i32 = 1;
const CUDA: i32 = 2;
const CUDA_HOST: i32 = 3;
const CUDA_MANAGED: i32 = 13;

const PLAIN: &CStr = c"dltensor";
const USED_PLAIN: &CStr = c"used_dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";

/// What a tensor that we hand out keeps alive.
struct Lent {
    shape: Vec<i64>,
    strides: Vec<i64>,
    #[expect(dead_code, reason = "held only to be dropped")]
    array: Array,
}

fn type_of(dtype: DType) -> DlType {
    let code = match dtype.kind() {
        Kind::Signed => 0,
        Kind::Unsigned => 1,
        Kind::Float if dtype == DType::BFloat16 => 4,
        Kind::Float => 2,
        Kind::Complex => 5,
        Kind::Bool => 6,
    };
    DlType { code, bits: dtype.size() as u8 * 8, lanes: 1 }
}

fn dtype_of(given: DlType) -> cupric::Result<DType> {
    let found = DType::ALL.into_iter().find(|&dtype| {
        let own = type_of(dtype);
        (own.code, own.bits, 1) == (given.code, given.bits, given.lanes)
    });
    found.ok_or_else(|| {
        Error::Buffer(format!("no dtype for DLPack's code {}, {} bits, {} lanes", given.code, given.bits, given.lanes))
    })
}

fn device_of(array: &Array) -> DlDevice {
    let kind = if array.device().kind() == DeviceKind::Cuda { CUDA } else { CPU };
    DlDevice { kind, ordinal: array.device().backend().ordinal() as i32 }
}

/// The tensor of an array, and what keeps its memory and its numbers.
fn lend(array: Array) -> cupric::Result<(DlTensor, *mut c_void)> {
    let address = array.storage().share()? + array.layout().offset as u64;
    let item = array.item_size() as isize;
    if array.strides().iter().any(|stride| stride % item != 0) {
        return Err(Error::Buffer("DLPack only supports strides that are a multiple of the item size".into()));
    }
    let shape = array.shape().iter().map(|&size| size as i64).collect();
    let strides = array.strides().iter().map(|&stride| (stride / item) as i64).collect();
    let (device, dtype, ndim) = (device_of(&array), type_of(array.dtype()), array.ndim() as i32);
    let mut lent = Box::new(Lent { shape, strides, array });
    let (shape, strides) = (lent.shape.as_mut_ptr(), lent.strides.as_mut_ptr());
    let tensor = DlTensor { data: address as *mut c_void, device, ndim, dtype, shape, strides, byte_offset: 0 };
    Ok((tensor, Box::into_raw(lent).cast()))
}

/// # Safety
/// `managed` comes from [`plain_capsule`] and is given here once.
unsafe extern "C" fn delete_plain(managed: *mut Managed) {
    // SAFETY: both boxes were made by `plain_capsule`, and this is the one call that takes them back.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<Lent>()));
    }
}

/// # Safety
/// `managed` comes from [`versioned_capsule`] and is given here once.
unsafe extern "C" fn delete_versioned(managed: *mut Versioned) {
    // SAFETY: both boxes were made by `versioned_capsule`, and this is the one call that takes them back.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<Lent>()));
    }
}

/// Frees what a capsule holds that nobody has taken.
///
/// # Safety
/// Called by Python with a capsule of ours.
unsafe extern "C" fn destroy(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule that still has its first name still owns the tensor behind its pointer.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, PLAIN.as_ptr()) == 1 {
            delete_plain(ffi::PyCapsule_GetPointer(capsule, PLAIN.as_ptr()).cast());
        } else if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) == 1 {
            delete_versioned(ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr()).cast());
        }
    }
}

fn capsule<'py>(py: Python<'py>, pointer: *mut c_void, name: &'static CStr) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the name lives for ever, and `destroy` only touches what the name tells that it owns.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(pointer, name.as_ptr(), Some(destroy))) }
}

fn plain_capsule(py: Python<'_>, array: Array) -> PyResult<Bound<'_, PyAny>> {
    let managed = enter_waiting(py, || {
        let (tensor, context) = lend(array)?;
        Ok(Box::into_raw(Box::new(Managed { tensor, context, deleter: Some(delete_plain) })) as usize)
    })?;
    capsule(py, managed as *mut c_void, PLAIN)
}

fn versioned_capsule(py: Python<'_>, array: Array, copied: bool) -> PyResult<Bound<'_, PyAny>> {
    let read_only = if array.access() == Access::ReadOnly { READ_ONLY } else { 0 };
    let flags = read_only | if copied { COPIED } else { 0 };
    let managed = enter_waiting(py, || {
        let (tensor, context) = lend(array)?;
        let deleter = Some(delete_versioned as unsafe extern "C" fn(*mut Versioned));
        Ok(Box::into_raw(Box::new(Versioned { major: 1, minor: 0, context, deleter, flags, tensor })) as usize)
    })?;
    capsule(py, managed as *mut c_void, VERSIONED)
}

/// Makes a consumer's stream wait for the work on an array.
fn order_for_consumer(array: &Array, stream: Option<i64>) -> cupric::Result<()> {
    let device = array.device();
    match consumer_stream(device.kind(), stream)? {
        Some(raw) => device.order_outside(array.storage(), raw),
        None => Ok(()),
    }
}

fn consumer_stream(kind: DeviceKind, stream: Option<i64>) -> cupric::Result<Option<RawStream>> {
    match (kind, stream) {
        (DeviceKind::Cuda, None) => Ok(Some(RawStream(0))),
        (DeviceKind::Cuda, Some(-1)) | (_, None | Some(-1)) => Ok(None),
        (DeviceKind::Cuda, Some(stream)) => outside_stream(stream).map(Some),
        _ => Err(Error::Value("on the CPU, stream must be None".into())),
    }
}

/// The driver's handle for a stream as protocols number them.
fn outside_stream(stream: i64) -> cupric::Result<RawStream> {
    match stream {
        0 => Err(Error::Value("stream=0 is ambiguous: 1 is the legacy default stream, 2 the per-thread one".into())),
        1 => Ok(RawStream(0)),
        stream => Ok(RawStream(stream as u64)),
    }
}

/// Makes the current stream wait for all work on an array, so that a consumer may wait for that stream instead.
#[pyfunction]
fn order_on_current_stream(py: Python<'_>, array: &Bound<'_, PyArray>) -> PyResult<()> {
    let array = array.borrow().array.clone();
    enter_waiting(py, || {
        let device = array.device();
        device.order_outside(array.storage(), current_stream(device).raw())
    })
}

/// Makes the current stream wait for what somebody outside has given to a stream, numbered as protocols do.
#[pyfunction]
fn order_after_stream(py: Python<'_>, stream: i64) -> PyResult<()> {
    enter_waiting(py, || {
        let device = cupric::current_device()?;
        device.order_inside(&current_stream(&device), outside_stream(stream)?)
    })
}

#[pymethods]
impl PyArray {
    /// The kind and the number of the device, in DLPack's terms.
    fn __dlpack_device__(&self) -> (i32, i32) {
        let device = device_of(&self.array);
        (device.kind, device.ordinal)
    }

    /// A DLPack capsule that shares the memory.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let here = device_of(&self.array);
        if dl_device.is_some_and(|device| device != (here.kind, here.ordinal)) {
            return Err(PyBufferError::new_err(
                "the array lies on another device; copy it there first, with get() for the host",
            ));
        }
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        let source = &self.array;
        if !versioned && source.access() == Access::ReadOnly {
            return Err(PyBufferError::new_err(
                "Cannot export readonly array since signalling readonly is unsupported by DLPack (supported by newer DLPack version).",
            ));
        }
        let array = enter_waiting(py, || {
            let array = if copy == Some(true) { source.copy(cupric::Order::Keep)? } else { source.clone() };
            array.storage().share()?;
            order_for_consumer(&array, stream)?;
            Ok(array)
        })?;
        if versioned { versioned_capsule(py, array, copy == Some(true)) } else { plain_capsule(py, array) }
    }

    /// A DLPack capsule in its oldest form; use `from_dlpack` of the other library instead.
    #[pyo3(name = "toDlpack")]
    fn to_dlpack<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain_capsule(py, self.array.clone())
    }
}

/// A tensor that we were given; its deleter runs when the last array over it is gone.
struct Borrowed {
    pointer: usize,
    delete: fn(usize),
}

/// Deleters that wait to be called with the interpreter's lock: memory may be let go by a thread that must not wait for it.
static WAITING: Mutex<Vec<Deleter>> = Mutex::new(Vec::new());

/// A tensor's address, and what frees it.
type Deleter = (usize, fn(usize));

impl Drop for Borrowed {
    fn drop(&mut self) {
        WAITING.lock().unwrap_or_else(PoisonError::into_inner).push((self.pointer, self.delete));
        // SAFETY: may be called from any thread, with or without the lock. A full list is drained by an earlier entry.
        unsafe { ffi::Py_AddPendingCall(Some(drain), std::ptr::null_mut()) };
    }
}

extern "C" fn drain(_: *mut c_void) -> c_int {
    let waiting = std::mem::take(&mut *WAITING.lock().unwrap_or_else(PoisonError::into_inner));
    for (pointer, delete) in waiting {
        delete(pointer);
    }
    0
}

fn release_plain(pointer: usize) {
    let managed = pointer as *mut Managed;
    // SAFETY: the capsule gave us this tensor; it is ours until this one call of its deleter.
    unsafe {
        if let Some(deleter) = (*managed).deleter {
            deleter(managed);
        }
    }
}

fn release_versioned(pointer: usize) {
    let managed = pointer as *mut Versioned;
    // SAFETY: the capsule gave us this tensor; it is ours until this one call of its deleter.
    unsafe {
        if let Some(deleter) = (*managed).deleter {
            deleter(managed);
        }
    }
}

/// Takes the tensor out of a capsule.
fn taken(capsule: &Bound<'_, PyCapsule>) -> PyResult<Array> {
    let py = capsule.py();
    let object = capsule.as_ptr();
    // SAFETY: a capsule by one of these names holds such a tensor, which is ours once the capsule has its second name.
    let (tensor, owner, read_only) = unsafe {
        if ffi::PyCapsule_IsValid(object, VERSIONED.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(object, VERSIONED.as_ptr()).cast::<Versioned>();
            if (*managed).major != 1 {
                return Err(PyBufferError::new_err(format!("DLPack version {} is not supported", (*managed).major)));
            }
            ffi::PyCapsule_SetName(object, USED_VERSIONED.as_ptr());
            let owner = Borrowed { pointer: managed as usize, delete: release_versioned };
            (&(*managed).tensor, owner, (*managed).flags & READ_ONLY != 0)
        } else if ffi::PyCapsule_IsValid(object, PLAIN.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(object, PLAIN.as_ptr()).cast::<Managed>();
            ffi::PyCapsule_SetName(object, USED_PLAIN.as_ptr());
            let owner = Borrowed { pointer: managed as usize, delete: release_plain };
            (&(*managed).tensor, owner, false)
        } else {
            return Err(PyValueError::new_err("A DLPack tensor object cannot be consumed multiple times"));
        }
    };
    enter(py, || over(tensor, owner, if read_only { Access::ReadOnly } else { Access::ReadWrite }))
}

fn over(tensor: &DlTensor, owner: Borrowed, access: Access) -> cupric::Result<Array> {
    let dtype = dtype_of(tensor.dtype)?;
    let ndim = usize::try_from(tensor.ndim).map_err(|_| Error::Buffer("a DLPack tensor of negative ndim".into()))?;
    let numbers = |pointer: *mut i64| -> &[i64] {
        if pointer.is_null() || ndim == 0 {
            return &[];
        }
        // SAFETY: a tensor has `ndim` sizes, and as many strides unless they are left out.
        unsafe { std::slice::from_raw_parts(pointer, ndim) }
    };
    let unfit = || Error::Buffer("a DLPack tensor whose shape or strides do not fit in memory".into());
    let shape: Vec<usize> = numbers(tensor.shape)
        .iter()
        .map(|&size| usize::try_from(size).map_err(|_| unfit()))
        .collect::<cupric::Result<_>>()?;
    if shape.len() != ndim {
        return Err(Error::Buffer("a DLPack tensor without a shape".into()));
    }
    byte_count(&shape, dtype.size())?;
    let item = dtype.size() as isize;
    let strides: Strides = numbers(tensor.strides)
        .iter()
        .map(|&stride| (stride as isize).checked_mul(item).ok_or_else(unfit))
        .collect::<cupric::Result<_>>()?;
    let mut layout = Layout::row_major(&shape, dtype.size());
    if !strides.is_empty() {
        layout.strides = strides;
    }
    cupric::init();
    let device = match tensor.device.kind {
        CPU => runtime::device(DeviceKind::Cpu, 0)?,
        CUDA | CUDA_HOST | CUDA_MANAGED => runtime::device(DeviceKind::Cuda, tensor.device.ordinal as usize)?,
        other => return Err(Error::Buffer(format!("DLPack's device type {other} is not supported"))),
    };
    // The storage begins at the lowest byte that the tensor reaches.
    let before: usize = shape
        .iter()
        .zip(&layout.strides)
        .filter(|&(&size, &stride)| size > 1 && stride < 0)
        .map(|(&size, &stride)| (size - 1) * stride.unsigned_abs())
        .sum();
    layout.offset = before;
    let bytes = layout.byte_range(dtype.size()).end;
    let address = tensor.data as u64 + tensor.byte_offset - before as u64;
    let storage = Storage::foreign(device, address, bytes, Box::new(owner));
    Ok(Array::over(storage, dtype, layout, access))
}

/// An array that shares the memory of an object with `__dlpack__`.
///
/// Parameters
/// ----------
/// x : object
///     A tensor of PyTorch or JAX, an array of NumPy on the CPU device, or any other with `__dlpack__`.
/// device : ignored
/// copy : bool, optional
///     Whether to copy; by default never.
///
/// Examples
/// --------
/// >>> import numpy as np, cupric as cp
/// >>> host = np.arange(3.0)
/// >>> if not cp.cuda.is_available():
/// ...     shared = cp.from_dlpack(host)
#[pyfunction]
#[pyo3(signature = (x, /, *, device = None, copy = None))]
fn from_dlpack<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    device: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyArray>> {
    let _ = device;
    let (kind, ordinal): (i32, usize) = x.call_method0("__dlpack_device__")?.extract()?;
    let keywords = PyDict::new(py);
    if kind == CUDA {
        let stream = enter_waiting(py, || {
            cupric::init();
            let device = runtime::device(DeviceKind::Cuda, ordinal)?;
            Ok(match current_stream(&device).raw() {
                RawStream(0) => 1,
                RawStream(address) => address,
            })
        })?;
        keywords.set_item("stream", stream)?;
    }
    let plain = keywords.copy()?;
    keywords.set_item("max_version", (1, 0))?;
    let capsule = match x.call_method("__dlpack__", (), Some(&keywords)) {
        Ok(capsule) => capsule,
        // A library that does not know versions yet.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => x.call_method("__dlpack__", (), Some(&plain))?,
        Err(error) => return Err(error),
    };
    let array = taken(capsule.cast::<PyCapsule>()?)?;
    let array = if copy == Some(true) { enter(py, || array.copy(cupric::Order::Keep))? } else { array };
    PyArray::object(py, array)
}

/// An array that shares the memory of a DLPack capsule; use `from_dlpack` instead.
#[pyfunction]
#[pyo3(name = "fromDlpack")]
fn from_capsule<'py>(py: Python<'py>, dltensor: &Bound<'py, PyCapsule>) -> PyResult<Bound<'py, PyArray>> {
    PyArray::object(py, taken(dltensor)?)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(order_on_current_stream, module)?)?;
    module.add_function(wrap_pyfunction!(order_after_stream, module)?)?;
    module.add_function(wrap_pyfunction!(from_dlpack, module)?)?;
    module.add_function(wrap_pyfunction!(from_capsule, module)?)
}

//! Making arrays, and copying between host and device.

use crate::{
    array::PyArray,
    convert::{Given, dtype_of, given, optional_dtype, order_of, shape},
    errors::{enter, enter_sized, enter_waiting},
};
use cupric::{Access, Array, DType, Endpoint, Layout, Order, Scalar, Typed};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    ffi, intern,
    prelude::*,
};

/// A new array in row- or column-major order.
pub(crate) fn empty_ordered(shape: &[usize], dtype: DType, order: Order) -> cupric::Result<Array> {
    if order != Order::ColumnMajor {
        return Array::empty(shape, dtype);
    }
    let reversed: Vec<usize> = shape.iter().rev().copied().collect();
    Ok(Array::empty(&reversed, dtype)?.reversed_axes())
}

/// Checks what was given as `device=`, which must be where arrays are made anyway, and as `like=`, which says no more.
fn made_here(device: Option<&Bound<'_, PyAny>>, like: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    if let Some(like) = like.filter(|like| !like.is_none())
        && !like.hasattr(intern!(like.py(), "__array_function__"))?
    {
        return Err(PyTypeError::new_err(
            "The `like` argument must be an array-like that implements the `__array_function__` protocol.",
        ));
    }
    check_device(device)
}

/// Refuses a device that is not the current one.
#[pyfunction]
#[pyo3(signature = (device))]
pub(crate) fn check_device(device: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(device) = device.filter(|device| !device.is_none()) else { return Ok(()) };
    let current = enter(device.py(), cupric::current_device)?;
    let (kind, ordinal) = (current.kind().to_string(), current.backend().ordinal());
    let same = match device.extract::<&str>() {
        Ok(name) => name == format!("{kind}:{ordinal}") || name == kind && ordinal == 0,
        Err(_) => device.str()?.to_str()?.ends_with(&format!("Device {ordinal}>")),
    };
    if same {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "Device not understood. Only the current device, \"{kind}:{ordinal}\", is allowed here, but received: {device}"
    )))
}

fn made<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&str>,
    value: Option<Scalar>,
) -> PyResult<Bound<'py, PyArray>> {
    let shape = self::shape(shape)?;
    let dtype = optional_dtype(dtype)?.unwrap_or(DType::Float64);
    let order = order_of(order, Order::RowMajor)?;
    let array = enter(py, || {
        let array = empty_ordered(&shape, dtype, order)?;
        value.map_or(Ok(()), |value| array.fill(value))?;
        Ok(array)
    })?;
    PyArray::object(py, array)
}

/// A new array whose elements are whatever the memory holds.
///
/// Parameters
/// ----------
/// shape : int or tuple of ints
/// dtype : data type, default float64
/// order : {'C', 'F'}
///
/// Examples
/// --------
/// >>> import cupric as cp
/// >>> cp.empty((2, 3)).shape
/// (2, 3)
#[pyfunction]
#[pyo3(
    signature = (shape, dtype = None, order = Some("C"), *, device = None, like = None),
    text_signature = "(shape, dtype=None, order='C', *, device=None, like=None)"
)]
pub(crate) fn empty<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&str>,
    device: Option<&Bound<'py, PyAny>>,
    like: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray>> {
    made_here(device, like)?;
    made(py, shape, dtype, order, None)
}

/// A new array of zeros.
///
/// Parameters
/// ----------
/// shape : int or tuple of ints
/// dtype : data type, default float64
/// order : {'C', 'F'}
///
/// Examples
/// --------
/// >>> import cupric as cp
/// >>> cp.zeros(3)
/// array([0., 0., 0.])
#[pyfunction]
#[pyo3(
    signature = (shape, dtype = None, order = Some("C"), *, device = None, like = None),
    text_signature = "(shape, dtype=None, order='C', *, device=None, like=None)"
)]
pub(crate) fn zeros<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&str>,
    device: Option<&Bound<'py, PyAny>>,
    like: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray>> {
    made_here(device, like)?;
    made(py, shape, dtype, order, Some(Scalar::Int(0)))
}

/// A new array of ones.
///
/// Parameters
/// ----------
/// shape : int or tuple of ints
/// dtype : data type, default float64
/// order : {'C', 'F'}
///
/// Examples
/// --------
/// >>> import cupric as cp
/// >>> cp.ones((2, 2), dtype=cp.int32)
/// array([[1, 1],
///        [1, 1]], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (shape, dtype = None, order = Some("C"), *, device = None, like = None),
    text_signature = "(shape, dtype=None, order='C', *, device=None, like=None)"
)]
pub(crate) fn ones<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&str>,
    device: Option<&Bound<'py, PyAny>>,
    like: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray>> {
    made_here(device, like)?;
    made(py, shape, dtype, order, Some(Scalar::Int(1)))
}

/// A new array with the layout of another one, on its device.
#[pyfunction]
#[pyo3(signature = (prototype, dtype, order, shape))]
pub(crate) fn empty_like<'py>(
    py: Python<'py>,
    prototype: &PyArray,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&str>,
    shape: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray>> {
    let array = &prototype.array;
    let dtype = optional_dtype(dtype)?.unwrap_or(array.dtype());
    let order = order_of(order, Order::RowMajor)?;
    let shape = shape.filter(|shape| !shape.is_none()).map(self::shape).transpose()?;
    let made = enter(py, || match shape {
        Some(shape) if *shape != *array.shape() => {
            let column = order == Order::ColumnMajor
                || order != Order::RowMajor && !array.is_row_major() && array.is_column_major();
            empty_ordered(&shape, dtype, if column { Order::ColumnMajor } else { Order::RowMajor })
        }
        _ => array.empty_like(dtype, order),
    })?;
    PyArray::object(py, made)
}

/// Evenly spaced values within an interval: `arange([start,] stop[, step])`.
///
/// Parameters
/// ----------
/// start : number, default 0
/// stop : number
///     Not included.
/// step : number, default 1
/// dtype : data type, default that of the numbers
///
/// Examples
/// --------
/// >>> import cupric as cp
/// >>> cp.arange(0, 10, 3)
/// array([0, 3, 6, 9])
#[pyfunction]
#[pyo3(signature = (start = None, stop = None, step = None, dtype = None, *, device = None, like = None))]
pub(crate) fn arange<'py>(
    py: Python<'py>,
    start: Option<&Bound<'py, PyAny>>,
    stop: Option<&Bound<'py, PyAny>>,
    step: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    like: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray>> {
    made_here(device, like)?;
    let dtype = optional_dtype(dtype)?;
    let (start, stop) = match (start, stop) {
        (_, None) if start.is_none_or(|start| start.is_none()) => {
            return Err(PyTypeError::new_err("arange() requires stop to be specified."));
        }
        (only, None) => (None, only),
        both => both,
    };
    let mut types = Vec::new();
    let mut number = |object: Option<&Bound<'py, PyAny>>, otherwise: i128| match object {
        Some(object) => scalar(object, &mut types),
        None => Ok(Scalar::Int(otherwise)),
    };
    let (start, stop, step) = (number(start, 0)?, number(stop, 0)?, number(step, 1)?);
    // Numbers that were left out are Python's integers.
    types.push(Typed::Strong(DType::Int64));
    let dtype = dtype.unwrap_or_else(|| cupric::result_type(&types));
    PyArray::object(py, enter(py, || cupric::arange_between(start, stop, step, Some(dtype)))?)
}

/// A number given as any kind of scalar; notes its dtype, which for Python's numbers is int64, float64 or complex128.
fn scalar(object: &Bound<'_, PyAny>, types: &mut Vec<Typed>) -> PyResult<Scalar> {
    match given(object)? {
        Given::Number(number) => {
            let dtype = match number {
                Scalar::Int(value) => enter(object.py(), || cupric::integer_dtype(value))?,
                other => cupric::default_dtype(&[other]),
            };
            types.push(Typed::Strong(dtype));
            Ok(number)
        }
        Given::Typed(dtype, bits) => {
            types.push(Typed::Strong(dtype));
            Ok(Scalar::from_bits(dtype, bits))
        }
        Given::Array(array) if array.array.ndim() == 0 => {
            types.push(Typed::Strong(array.array.dtype()));
            let array = &array.array;
            enter_waiting(object.py(), || array.item())
        }
        Given::Array(_) => Err(PyValueError::new_err("a number is needed, not an array of more than one element")),
        _ => Err(PyTypeError::new_err(format!("a number is needed, not {}", object.get_type().repr()?))),
    }
}

/// Numbers from `start` to `stop`, for `linspace` of real numbers.
#[pyfunction]
pub(crate) fn linspace<'py>(
    py: Python<'py>,
    start: f64,
    stop: f64,
    count: usize,
    endpoint: bool,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray>> {
    let endpoint = if endpoint { Endpoint::Include } else { Endpoint::Exclude };
    let dtype = dtype_of(dtype)?;
    PyArray::object(py, enter(py, || cupric::linspace(start, stop, count, endpoint, dtype))?)
}

/// Ones on a diagonal, zeros elsewhere.
///
/// Parameters
/// ----------
/// N : int
///     Number of rows.
/// M : int, default N
///     Number of columns.
/// k : int, default 0
///     Which diagonal: positive ones lie above the main one.
/// dtype : data type, default float64
/// order : {'C', 'F'}
///
/// Examples
/// --------
/// >>> import cupric as cp
/// >>> cp.eye(2, 3, 1)
/// array([[0., 1., 0.],
///        [0., 0., 1.]])
#[pyfunction]
#[pyo3(
    signature = (N, M = None, k = 0, dtype = None, order = Some("C"), *, device = None, like = None),
    text_signature = "(N, M=None, k=0, dtype=None, order='C', *, device=None, like=None)"
)]
#[expect(non_snake_case, clippy::too_many_arguments, reason = "the names and arguments are NumPy's")]
pub(crate) fn eye<'py>(
    py: Python<'py>,
    N: isize,
    M: Option<isize>,
    k: i64,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&str>,
    device: Option<&Bound<'py, PyAny>>,
    like: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray>> {
    made_here(device, like)?;
    let dtype = optional_dtype(dtype)?.unwrap_or(DType::Float64);
    let order = order_of(order, Order::RowMajor)?;
    let size =
        |size: isize| usize::try_from(size).map_err(|_| PyValueError::new_err("negative dimensions are not allowed"));
    let (rows, columns) = (size(N)?, size(M.unwrap_or(N))?);
    let array = enter(py, || {
        if order == Order::ColumnMajor {
            return Ok(cupric::eye(columns, rows, -k, dtype)?.reversed_axes());
        }
        cupric::eye(rows, columns, k, dtype)
    })?;
    PyArray::object(py, array)
}

/// The bytes of a packed host array, held until this is dropped (with the interpreter's lock, as it was made).
struct Bytes {
    view: Box<ffi::Py_buffer>,
}

impl Bytes {
    fn of(array: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Bytes> {
        let py = array.py();
        // The buffer protocol has no name for bfloat16.
        let plain = match dtype {
            DType::BFloat16 => array.call_method1(intern!(py, "view"), ("uint16",))?,
            _ => array.clone(),
        };
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: the view is filled in by this call or the call fails; it is released when it is dropped.
        if unsafe { ffi::PyObject_GetBuffer(plain.as_ptr(), &raw mut *view, ffi::PyBUF_SIMPLE) } != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(Bytes { view })
    }

    fn address(&self) -> usize {
        self.view.buf as usize
    }

    const fn len(&self) -> usize {
        self.view.len.unsigned_abs()
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        // SAFETY: `of` has filled the view, and it is dropped once, in the call that made it.
        unsafe { ffi::PyBuffer_Release(&raw mut *self.view) };
    }
}

/// Copies a host array, packed in row-major order, to the device.
fn upload(host: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Array> {
    let py = host.py();
    let shape = self::shape(&host.getattr(intern!(py, "shape"))?)?;
    let bytes = Bytes::of(host, dtype)?;
    let (address, len) = (bytes.address(), bytes.len());
    enter_sized(py, len, || {
        let array = Array::empty(&shape, dtype)?;
        if len > 0 {
            // SAFETY: the buffer keeps `len` readable bytes at this address until it is released below.
            array.write_from(unsafe { std::slice::from_raw_parts(address as *const u8, len) })?;
        }
        Ok(array)
    })
}

/// What NumPy makes of an object, on the device.
pub(crate) fn from_python(object: &Bound<'_, PyAny>, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Array> {
    let py = object.py();
    let made = py.import(intern!(py, "cupric._creation"))?.getattr(intern!(py, "array"))?.call1((object, dtype))?;
    Ok(made.cast::<PyArray>()?.borrow().array.clone())
}

/// Copies a NumPy array of numbers to the device. Column-major arrays stay so.
#[pyfunction]
pub(crate) fn from_host<'py>(py: Python<'py>, host: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray>> {
    let dtype = dtype_of(&host.getattr(intern!(py, "dtype"))?)?;
    let flags = host.getattr(intern!(py, "flags"))?;
    let is = |name: &Bound<'py, pyo3::types::PyString>| flags.getattr(name)?.extract::<bool>();
    if is(intern!(py, "c_contiguous"))? {
        return PyArray::object(py, upload(host, dtype)?);
    }
    if is(intern!(py, "f_contiguous"))? {
        let array = upload(&host.getattr(intern!(py, "T"))?, dtype)?;
        return PyArray::object(py, array.reversed_axes());
    }
    let packed = host.call_method1(intern!(py, "copy"), ("C",))?;
    PyArray::object(py, upload(&packed, dtype)?)
}

#[pymethods]
impl PyArray {
    /// Copies the elements into a new NumPy array, or into `out`. Waits for them.
    ///
    /// Parameters
    /// ----------
    /// stream : cupric.cuda.Stream, optional
    ///     Where the copy is done; the current stream if it is not given.
    /// order : {'C', 'F', 'A'}
    /// out : numpy.ndarray, optional
    ///     Where to; same shape and dtype.
    /// blocking : bool
    ///     The call always waits.
    ///
    /// Examples
    /// --------
    /// >>> import cupric as cp
    /// >>> cp.arange(3).get()
    /// array([0, 1, 2])
    #[pyo3(signature = (stream = None, order = Some("C"), out = None, blocking = true), text_signature = "($self, stream=None, order='C', out=None, blocking=True)")]
    fn get<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        order: Option<&str>,
        out: Option<Bound<'py, PyAny>>,
        blocking: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        // A copy that nobody waits for would need page-locked memory; results are the same.
        let _ = blocking;
        let order = match order_of(order, Order::RowMajor)? {
            Order::Any | Order::Keep if self.array.is_column_major() && !self.array.is_row_major() => {
                Order::ColumnMajor
            }
            Order::Any | Order::Keep => Order::RowMajor,
            named => named,
        };
        let _on = crate::device::on(stream)?;
        if let Some(out) = out.filter(|out| !out.is_none()) {
            let helper = py.import("cupric._creation")?.getattr("copy_out")?;
            helper.call1((self.host(py, order)?, &out))?;
            return Ok(out);
        }
        self.host(py, order)
    }

    /// Copies a host array into this array.
    ///
    /// Parameters
    /// ----------
    /// arr : numpy.ndarray
    ///     Same shape and dtype.
    /// stream : cupric.cuda.Stream, optional
    #[pyo3(signature = (arr, stream = None))]
    fn set(&self, py: Python<'_>, arr: &Bound<'_, PyAny>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let checked = py.import("cupric._creation")?.getattr("checked_host")?;
        let shape = pyo3::types::PyTuple::new(py, self.array.shape())?;
        let host = checked.call1((arr, shape, crate::convert::to_numpy(py, self.array.dtype())?))?;
        let _on = crate::device::on(stream)?;
        let bytes = Bytes::of(&host, self.array.dtype())?;
        let (address, len) = (bytes.address(), bytes.len());
        let array = &self.array;
        enter_waiting(py, || {
            if len == 0 {
                return Ok(());
            }
            // SAFETY: the buffer keeps `len` readable bytes at this address until it is released below.
            array.write_from(unsafe { std::slice::from_raw_parts(address as *const u8, len) })
        })
    }
}

impl PyArray {
    /// A new NumPy array with the elements.
    fn host<'py>(&self, py: Python<'py>, order: Order) -> PyResult<Bound<'py, PyAny>> {
        let array = if order == Order::ColumnMajor { self.array.reversed_axes() } else { self.array.clone() };
        let numpy = py.import(intern!(py, "numpy"))?;
        let shape = pyo3::types::PyTuple::new(py, array.shape())?;
        let dtype = crate::convert::to_numpy(py, array.dtype())?;
        let made = numpy.getattr(intern!(py, "empty"))?.call1((shape, dtype))?;
        let bytes = Bytes::of(&made, array.dtype())?;
        let (address, len) = (bytes.address(), bytes.len());
        enter_waiting(py, || {
            if len == 0 {
                return array.read_into(&mut []);
            }
            // SAFETY: the new array's `len` bytes are known to nobody else yet, and are kept by the buffer.
            array.read_into(unsafe { std::slice::from_raw_parts_mut(address as *mut u8, len) })
        })?;
        if order == Order::ColumnMajor { made.getattr(intern!(py, "T")) } else { Ok(made) }
    }
}

/// Memory that somebody else owns, as bytes; `owner` is kept as long as an array shows it.
#[pyfunction]
pub(crate) fn foreign<'py>(
    py: Python<'py>,
    address: u64,
    bytes: usize,
    owner: Py<PyAny>,
) -> PyResult<Bound<'py, PyArray>> {
    let fits = isize::try_from(bytes).is_ok() && address.checked_add(bytes as u64).is_some();
    if bytes > 0 && (address == 0 || !fits) {
        return Err(PyValueError::new_err(format!("there cannot be {bytes} bytes at address {address:#x}")));
    }
    let array = enter(py, || {
        let device = cupric::current_device()?;
        let storage = cupric::runtime::Storage::foreign(device, address, bytes, Box::new(owner));
        Ok(Array::over(storage, DType::UInt8, Layout::row_major(&[bytes], 1), Access::ReadWrite))
    })?;
    PyArray::object(py, array)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(empty, module)?)?;
    module.add_function(wrap_pyfunction!(zeros, module)?)?;
    module.add_function(wrap_pyfunction!(ones, module)?)?;
    module.add_function(wrap_pyfunction!(empty_like, module)?)?;
    module.add_function(wrap_pyfunction!(check_device, module)?)?;
    module.add_function(wrap_pyfunction!(arange, module)?)?;
    module.add_function(wrap_pyfunction!(linspace, module)?)?;
    module.add_function(wrap_pyfunction!(eye, module)?)?;
    module.add_function(wrap_pyfunction!(from_host, module)?)?;
    module.add_function(wrap_pyfunction!(foreign, module)?)
}

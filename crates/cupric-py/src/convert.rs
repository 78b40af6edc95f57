//! Python objects as dtypes, numbers, operands, shapes and axes.

use crate::array::PyArray;
use cupric::{Bits, DType, Order, Scalar, ufunc::Operand};
use pyo3::{
    exceptions::{PyOverflowError, PyTypeError, PyValueError},
    intern,
    prelude::*,
    sync::PyOnceLock,
    types::{PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyTuple, PyType},
};
use smallvec::SmallVec;

/// NumPy's dtype objects, in the order of [`DType::ALL`]; that of bfloat16 is made when it is first asked for.
struct DTypes {
    known: Vec<(DType, Py<PyAny>)>,
    generic: Py<PyType>,
    ndarray: Py<PyType>,
    class: Py<PyType>,
    no_value: Py<PyAny>,
}

fn dtypes(py: Python<'_>) -> PyResult<&'static DTypes> {
    static DTYPES: PyOnceLock<DTypes> = PyOnceLock::new();
    DTYPES.get_or_try_init(py, || {
        let numpy = py.import("numpy")?;
        let class = numpy.getattr("dtype")?;
        let all = DType::ALL.into_iter().filter(|dtype| *dtype != DType::BFloat16);
        let known = all.map(|dtype| Ok((dtype, class.call1((dtype.name(),))?.unbind()))).collect::<PyResult<_>>()?;
        let named = |name: &str| -> PyResult<Py<PyType>> { Ok(numpy.getattr(name)?.cast_into::<PyType>()?.unbind()) };
        let (generic, ndarray, class) = (named("generic")?, named("ndarray")?, named("dtype")?);
        Ok(DTypes { known, generic, ndarray, class, no_value: numpy.getattr("_NoValue")?.unbind() })
    })
}

/// Whether this is what NumPy's functions pass for an argument that was left out.
pub(crate) fn is_no_value(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(dtypes(object.py())?.no_value.is(object))
}

/// The `numpy.dtype` of a dtype.
pub(crate) fn to_numpy<'py>(py: Python<'py>, dtype: DType) -> PyResult<Bound<'py, PyAny>> {
    if let Some((_, object)) = dtypes(py)?.known.iter().find(|(known, _)| *known == dtype) {
        return Ok(object.bind(py).clone());
    }
    static BFLOAT16: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = BFLOAT16.get_or_try_init(py, || {
        let scalar = py.import("ml_dtypes")?.getattr("bfloat16")?;
        Ok::<_, PyErr>(py.import("numpy")?.getattr("dtype")?.call1((scalar,))?.unbind())
    })?;
    Ok(made.bind(py).clone())
}

/// Anything that names a dtype.
pub(crate) fn dtype_of(object: &Bound<'_, PyAny>) -> PyResult<DType> {
    let py = object.py();
    let table = dtypes(py)?;
    if let Some((dtype, _)) = table.known.iter().find(|(_, known)| known.is(object)) {
        return Ok(*dtype);
    }
    if let Ok(name) = object.extract::<&str>()
        && let Some(dtype) = common_name(name)
    {
        return Ok(dtype);
    }
    let made = if object.is_instance(table.class.bind(py))? {
        object.clone()
    } else if object.is_instance_of::<PyArray>() || object.is_instance(table.ndarray.bind(py))? {
        return Err(PyTypeError::new_err("Cannot construct a dtype from an array"));
    } else {
        table.class.bind(py).call1((object,))?
    };
    if let Some((dtype, _)) = table.known.iter().find(|(_, known)| known.is(&made)) {
        return Ok(*dtype);
    }
    // Of another byte order, it stands for the machine's.
    let name: String = made.getattr(intern!(py, "name"))?.extract()?;
    DType::from_name(&name).ok_or_else(|| {
        // NumPy's names of text end with their number of bits.
        let text = matches!(made.getattr("kind").and_then(|kind| kind.extract::<char>()), Ok('U' | 'S' | 'V'));
        let name = if text { name.trim_end_matches(|letter: char| letter.is_ascii_digit()) } else { &name };
        PyTypeError::new_err(format!("Unsupported dtype {name}"))
    })
}

/// The names that are written most, and those that NumPy does not know.
fn common_name(name: &str) -> Option<DType> {
    Some(match name {
        "bfloat16" | "bf16" => DType::BFloat16,
        "f2" | "float16" => DType::Float16,
        "f4" | "f" | "float32" => DType::Float32,
        "f8" | "d" | "float64" => DType::Float64,
        "c8" | "F" | "complex64" => DType::Complex64,
        "c16" | "D" | "complex128" => DType::Complex128,
        "i1" | "int8" => DType::Int8,
        "i2" | "int16" => DType::Int16,
        "i4" | "int32" => DType::Int32,
        "i8" | "int64" => DType::Int64,
        "u1" | "uint8" => DType::UInt8,
        "u2" | "uint16" => DType::UInt16,
        "u4" | "uint32" => DType::UInt32,
        "u8" | "uint64" => DType::UInt64,
        "?" | "bool" => DType::Bool,
        _ => return None,
    })
}

/// Anything that names a dtype in the machine's byte order: one for bytes that are there already.
pub(crate) fn native_dtype_of(object: &Bound<'_, PyAny>) -> PyResult<DType> {
    let py = object.py();
    let dtype = dtype_of(object)?;
    let table = dtypes(py)?;
    if dtype != DType::BFloat16 && !table.known.iter().any(|(_, known)| known.is(object)) {
        let made = table.class.bind(py).call1((object,))?;
        if !made.getattr(intern!(py, "isnative"))?.extract::<bool>()? {
            return Err(PyTypeError::new_err(format!("Unsupported dtype {made}: of another byte order")));
        }
    }
    Ok(dtype)
}

/// A dtype, or none.
pub(crate) fn optional_dtype(object: Option<&Bound<'_, PyAny>>) -> PyResult<Option<DType>> {
    object.filter(|object| !object.is_none()).map(dtype_of).transpose()
}

/// A number of Python's own.
pub(crate) fn number(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    if let Ok(value) = object.cast_exact::<PyFloat>() {
        return Ok(Some(Scalar::Float(value.value())));
    }
    if let Ok(value) = object.cast_exact::<PyBool>() {
        return Ok(Some(Scalar::Bool(value.is_true())));
    }
    if let Ok(value) = object.cast_exact::<PyInt>() {
        return Ok(Some(match value.extract::<i128>() {
            Ok(value) => Scalar::Int(value),
            // Larger than any dtype of integers: a float, as beside an array of floats.
            Err(_) => Scalar::Float(value.extract()?),
        }));
    }
    if let Ok(value) = object.cast_exact::<PyComplex>() {
        return Ok(Some(Scalar::Complex(value.real(), value.imag())));
    }
    Ok(None)
}

/// An operand of a ufunc, taken from Python.
pub(crate) enum Given<'py> {
    Array(PyRef<'py, PyArray>),
    Number(Scalar),
    Typed(DType, Bits),
    /// Something else.
    Other,
}

impl Given<'_> {
    pub(crate) fn operand(&self) -> Option<Operand<'_>> {
        match self {
            Given::Array(array) => Some(Operand::Array(&array.array)),
            Given::Number(number) => Some(Operand::Number(*number)),
            Given::Typed(dtype, bits) => Some(Operand::Typed(*dtype, *bits)),
            Given::Other => None,
        }
    }
}

/// Reads an operand.
pub(crate) fn given<'py>(object: &Bound<'py, PyAny>) -> PyResult<Given<'py>> {
    if let Ok(array) = object.cast::<PyArray>() {
        return Ok(Given::Array(array.borrow()));
    }
    if let Some(number) = number(object)? {
        return Ok(Given::Number(number));
    }
    let py = object.py();
    let table = dtypes(py)?;
    let host = object.is_instance(table.ndarray.bind(py))?;
    if host && object.getattr(intern!(py, "ndim"))?.extract::<usize>()? > 0 {
        return Err(PyTypeError::new_err(format!(
            "Unsupported type {}: copy it to the device first, with asarray",
            object.get_type().repr()?
        )));
    }
    if host || object.is_instance(table.generic.bind(py))? {
        let dtype = dtype_of(&object.getattr(intern!(py, "dtype"))?)?;
        let bytes = object.call_method0(intern!(py, "tobytes"))?;
        return Ok(Given::Typed(dtype, Bits::from_bytes(dtype, bytes.cast::<PyBytes>()?.as_bytes())));
    }
    of_subclass(object)
}

/// Instances of subclasses of Python's numbers have a dtype of their own, as in NumPy.
fn of_subclass<'py>(object: &Bound<'py, PyAny>) -> PyResult<Given<'py>> {
    let typed = |dtype, number: Scalar| Ok(Given::Typed(dtype, number.to_bits(dtype)));
    if let Ok(value) = object.cast::<PyInt>() {
        let value = value.extract::<i128>()?;
        let dtype = if i64::try_from(value).is_ok() { DType::Int64 } else { DType::UInt64 };
        return match u64::try_from(value) {
            Err(_) if dtype == DType::UInt64 => {
                Err(PyOverflowError::new_err(format!("{value} fits neither int64 nor uint64")))
            }
            _ => typed(dtype, Scalar::Int(value)),
        };
    }
    if let Ok(value) = object.cast::<PyFloat>() {
        return typed(DType::Float64, Scalar::Float(value.value()));
    }
    if let Ok(value) = object.cast::<PyComplex>() {
        return typed(DType::Complex128, Scalar::Complex(value.real(), value.imag()));
    }
    Ok(Given::Other)
}

/// Reads an operand that must be one.
pub(crate) fn required<'py>(object: &Bound<'py, PyAny>) -> PyResult<Given<'py>> {
    match given(object)? {
        Given::Other => Err(PyTypeError::new_err(format!("Unsupported type {}", object.get_type().repr()?))),
        known => Ok(known),
    }
}

/// A shape: a number or a sequence of them.
pub(crate) fn shape(object: &Bound<'_, PyAny>) -> PyResult<SmallVec<[usize; 6]>> {
    signed_shape(object)?
        .into_iter()
        .map(|size| usize::try_from(size).map_err(|_| PyValueError::new_err("negative dimensions are not allowed")))
        .collect()
}

/// A shape whose sizes may be negative.
pub(crate) fn signed_shape(object: &Bound<'_, PyAny>) -> PyResult<SmallVec<[isize; 6]>> {
    if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        return tuple.iter().map(|size| self::size(&size)).collect();
    }
    if object.is_exact_instance_of::<PyInt>() {
        return Ok(SmallVec::from_slice(&[size(object)?]));
    }
    if object.is_none() {
        return Err(PyTypeError::new_err("Use () not None as shape arguments"));
    }
    if !is_truth(object)?
        && let Ok(size) = object.extract::<isize>()
    {
        return Ok(SmallVec::from_slice(&[size]));
    }
    let py = object.py();
    let sequence = object.hasattr(intern!(py, "__getitem__"))? && object.hasattr(intern!(py, "__len__"))?;
    if !sequence || object.is_instance_of::<PyDict>() || object.is_instance(dtypes(py)?.generic.bind(py))? {
        return Err(PyTypeError::new_err(format!(
            "expected a sequence of integers or a single integer, got '{}'",
            object.repr()?
        )));
    }
    object.try_iter()?.map(|size| self::size(&size?)).collect()
}

/// The length of an axis.
fn size(object: &Bound<'_, PyAny>) -> PyResult<isize> {
    if is_truth(object)? {
        return Err(PyTypeError::new_err("an integer is required"));
    }
    object.extract::<isize>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(object.py()) {
            return PyValueError::new_err("Maximum allowed dimension exceeded");
        }
        error
    })
}

/// Whether this is a truth value, which stands for no axis and no length.
fn is_truth(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if object.is_exact_instance_of::<PyInt>() {
        return Ok(false);
    }
    let py = object.py();
    Ok(object.is_instance_of::<PyBool>()
        || object.is_instance(dtypes(py)?.generic.bind(py))? && object.get_type().name()?.to_str()?.starts_with("bool"))
}

/// An integer, or what stands for one.
pub(crate) fn index(object: &Bound<'_, PyAny>) -> PyResult<isize> {
    object.extract::<isize>()
}

/// Axes: none, a number or a tuple.
pub(crate) fn axes(object: Option<&Bound<'_, PyAny>>) -> PyResult<Option<SmallVec<[isize; 6]>>> {
    let Some(object) = object.filter(|object| !object.is_none()) else { return Ok(None) };
    if let Ok(axes) = object.cast::<PyTuple>() {
        return Ok(Some(axes.iter().map(|axis| self::axis(&axis)).collect::<PyResult<_>>()?));
    }
    Ok(Some(SmallVec::from_slice(&[axis(object)?])))
}

fn axis(object: &Bound<'_, PyAny>) -> PyResult<isize> {
    if is_truth(object)? {
        return Err(PyTypeError::new_err("an integer is required for the axis"));
    }
    index(object)
}

/// One axis, or none.
pub(crate) fn axis_of(object: Option<&Bound<'_, PyAny>>) -> PyResult<Option<isize>> {
    object.filter(|object| !object.is_none()).map(axis).transpose()
}

/// The order of a copy: `C`, `F`, `A` or `K`; another one for None.
pub(crate) fn order_of(text: Option<&str>, otherwise: Order) -> PyResult<Order> {
    let Some(text) = text else { return Ok(otherwise) };
    Ok(match text {
        "C" | "c" => Order::RowMajor,
        "F" | "f" => Order::ColumnMajor,
        "A" | "a" => Order::Any,
        "K" | "k" => Order::Keep,
        _ => return Err(PyValueError::new_err(format!("order must be one of 'C', 'F', 'A', or 'K' (got '{text}')"))),
    })
}

/// A host number as a Python object.
pub(crate) fn to_python(py: Python<'_>, value: Scalar) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Scalar::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        Scalar::Int(value) => value.into_pyobject(py)?.into_any(),
        Scalar::Float(value) => PyFloat::new(py, value).into_any(),
        Scalar::Complex(re, im) => PyComplex::from_doubles(py, re, im).into_any(),
    })
}

/// What kind of host value an object is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostKind {
    /// A NumPy array.
    Array,
    /// A NumPy scalar.
    Scalar,
    /// Neither.
    Other,
}

/// Tells NumPy's objects from others.
pub(crate) fn host_kind(object: &Bound<'_, PyAny>) -> PyResult<HostKind> {
    let py = object.py();
    let table = dtypes(py)?;
    if object.is_instance(table.ndarray.bind(py))? {
        return Ok(HostKind::Array);
    }
    Ok(if object.is_instance(table.generic.bind(py))? { HostKind::Scalar } else { HostKind::Other })
}

//! Python objects as dtypes, numbers, operands, shapes and axes.

use crate::array::PyArray;
use cupric::{Bits, DType, Order, Scalar, ufunc::Operand};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    intern,
    prelude::*,
    sync::PyOnceLock,
    types::{PyBool, PyBytes, PyComplex, PyFloat, PyInt, PyList, PyTuple, PyType},
};
use smallvec::SmallVec;

/// NumPy's dtype objects, in the order of [`DType::ALL`]; that of bfloat16 is made when it is first asked for.
struct DTypes {
    known: Vec<(DType, Py<PyAny>)>,
    generic: Py<PyType>,
    ndarray: Py<PyType>,
    class: Py<PyType>,
}

fn dtypes(py: Python<'_>) -> PyResult<&'static DTypes> {
    static DTYPES: PyOnceLock<DTypes> = PyOnceLock::new();
    DTYPES.get_or_try_init(py, || {
        let numpy = py.import("numpy")?;
        let class = numpy.getattr("dtype")?;
        let all = DType::ALL.into_iter().filter(|dtype| *dtype != DType::BFloat16);
        let known = all.map(|dtype| Ok((dtype, class.call1((dtype.name(),))?.unbind()))).collect::<PyResult<_>>()?;
        let named = |name: &str| -> PyResult<Py<PyType>> { Ok(numpy.getattr(name)?.cast_into::<PyType>()?.unbind()) };
        Ok(DTypes { known, generic: named("generic")?, ndarray: named("ndarray")?, class: named("dtype")? })
    })
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
        && matches!(name, "bfloat16" | "bf16")
    {
        return Ok(DType::BFloat16);
    }
    let made = if object.is_instance(table.class.bind(py))? {
        object.clone()
    } else {
        table.class.bind(py).call1((object,))?
    };
    if let Some((dtype, _)) = table.known.iter().find(|(_, known)| known.is(&made)) {
        return Ok(*dtype);
    }
    let name: String = made.getattr(intern!(py, "name"))?.extract()?;
    let little: bool = made.getattr(intern!(py, "isnative"))?.extract()?;
    match DType::from_name(&name) {
        Some(dtype) if little => Ok(dtype),
        _ => Err(PyTypeError::new_err(format!("Unsupported dtype {name}"))),
    }
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
    if let Ok(value) = object.cast::<PyComplex>()
        && !object.is_instance(dtypes(object.py())?.generic.bind(object.py()))?
    {
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
    if let Ok(size) = object.extract::<isize>() {
        return Ok(SmallVec::from_slice(&[size]));
    }
    object.try_iter()?.map(|size| index(&size?)).collect()
}

/// An integer, or what stands for one.
pub(crate) fn index(object: &Bound<'_, PyAny>) -> PyResult<isize> {
    object.extract::<isize>()
}

/// Axes: none, a number or a tuple.
pub(crate) fn axes(object: Option<&Bound<'_, PyAny>>) -> PyResult<Option<SmallVec<[isize; 6]>>> {
    let Some(object) = object.filter(|object| !object.is_none()) else { return Ok(None) };
    if object.cast::<PyTuple>().is_ok() || object.cast::<PyList>().is_ok() {
        return Ok(Some(object.try_iter()?.map(|axis| index(&axis?)).collect::<PyResult<_>>()?));
    }
    Ok(Some(SmallVec::from_slice(&[index(object)?])))
}

/// The order of a copy: `C`, `F`, `A` or `K`.
pub(crate) fn order_of(text: &str) -> PyResult<Order> {
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

//! Functions of several arrays, with the arguments already sorted out by Python.

use crate::{
    array::PyArray,
    convert::{Given, axis_of, dtype_of, given, index, optional_dtype, required, to_numpy},
    errors::{enter, enter_sized, enter_waiting},
};
use cupric::{Array, Casting, DType, NanEqual, Order, Scalar, Sorted, Typed, Weak};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyTuple, PyType},
};

/// Joins arrays along an axis that they have, or along a new one.
#[pyfunction]
#[pyo3(signature = (arrays, axis, dtype, new_axis))]
pub(crate) fn join<'py>(
    py: Python<'py>,
    arrays: Vec<Bound<'py, PyArray>>,
    axis: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    new_axis: bool,
) -> PyResult<Bound<'py, PyArray>> {
    let axis = match axis {
        None if new_axis => {
            return Err(PyTypeError::new_err("'NoneType' object cannot be interpreted as an integer"));
        }
        Some(axis) if new_axis => Some(index(axis)?),
        other => axis_of(other)?,
    };
    let dtype = optional_dtype(dtype)?;
    let arrays: Vec<Array> = arrays.iter().map(|array| array.borrow().array.clone()).collect();
    let joined = enter(py, || {
        if new_axis {
            cupric::stack(&arrays, axis.unwrap_or(0), dtype)
        } else {
            cupric::concatenate(&arrays, axis, dtype)
        }
    })?;
    PyArray::object(py, joined)
}

/// Sorted elements as a new array.
#[pyfunction]
pub(crate) fn sorted<'py>(py: Python<'py>, a: &PyArray, axis: Option<isize>) -> PyResult<Bound<'py, PyArray>> {
    let array = &a.array;
    let made = enter_sized(py, array.size() * array.item_size(), || cupric::sort(array, axis, Sorted::Values))?;
    PyArray::object(py, made)
}

/// A matrix product.
#[pyfunction]
pub(crate) fn matmul<'py>(py: Python<'py>, a: &PyArray, b: &PyArray) -> PyResult<Bound<'py, PyArray>> {
    PyArray::object(py, crate::operators::product(py, &a.array, &b.array)?)
}

/// How many elements are not zero, waiting for them.
#[pyfunction]
pub(crate) fn count_true(py: Python<'_>, a: &PyArray) -> PyResult<usize> {
    let array = &a.array;
    enter_waiting(py, || {
        let mask = array.astype(DType::Bool, Order::Keep)?;
        cupric::count_true(&mask)
    })
}

/// Sets the elements of an array where a mask is true.
#[pyfunction]
#[pyo3(signature = (target, value, mask))]
pub(crate) fn put_where(
    py: Python<'_>,
    target: &PyArray,
    value: &Bound<'_, PyAny>,
    mask: Option<&PyArray>,
) -> PyResult<()> {
    let given = required(value)?;
    let Some(operand) = given.operand() else { return Err(PyTypeError::new_err("unsupported value")) };
    enter(py, || target.array.assign_operand(operand, mask.map(|mask| &mask.array)))
}

/// Where two operands are close.
#[pyfunction]
pub(crate) fn isclose<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    rtol: f64,
    atol: f64,
    equal_nan: bool,
) -> PyResult<Bound<'py, PyArray>> {
    let nan = if equal_nan { NanEqual::Yes } else { NanEqual::No };
    let (a, b) = (required(a)?, required(b)?);
    let (Some(a), Some(b)) = (a.operand(), b.operand()) else {
        return Err(PyTypeError::new_err("unsupported operand"));
    };
    PyArray::object(py, enter(py, || cupric::isclose(a, b, rtol, atol, nan))?)
}

/// The `numpy.dtype` that an object names, in the machine's byte order.
#[pyfunction]
pub(crate) fn dtype<'py>(py: Python<'py>, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    to_numpy(py, dtype_of(object)?)
}

/// Whether a casting rule lets one dtype become another.
#[pyfunction]
pub(crate) fn can_cast<'py>(
    py: Python<'py>,
    from: &Bound<'py, PyAny>,
    to: &Bound<'py, PyAny>,
    casting: &str,
) -> PyResult<bool> {
    let (from, to) = (dtype_of(from)?, dtype_of(to)?);
    enter(py, || Ok(cupric::can_cast(from, to, Casting::from_name(casting)?)))
}

/// The dtype that `numpy.result_type` gives, of dtypes and of Python numbers.
#[pyfunction]
#[pyo3(signature = (*args))]
pub(crate) fn result_type<'py>(py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let (mut typed, mut alone) = (Vec::with_capacity(args.len()), None);
    for arg in args.iter() {
        typed.push(match given(&arg) {
            Ok(Given::Array(array)) => Typed::Strong(array.array.dtype()),
            Ok(Given::Number(number)) => {
                alone = if let Scalar::Int(value) = number { Some(value) } else { None };
                number.typed()
            }
            Ok(Given::Typed(dtype, _)) => Typed::Strong(dtype),
            _ if arg.hasattr("dtype")? && !arg.is_instance_of::<PyType>() => {
                Typed::Strong(dtype_of(&arg.getattr("dtype")?)?)
            }
            _ => Typed::Strong(dtype_of(&arg)?),
        });
    }
    if typed.is_empty() {
        return Err(PyValueError::new_err("at least one array or dtype is required"));
    }
    if let ([Typed::Weak(Weak::Int)], Some(number)) = (&*typed, alone) {
        return to_numpy(py, enter(py, || cupric::integer_dtype(number))?);
    }
    to_numpy(py, cupric::result_type(&typed))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(join, module)?)?;
    module.add_function(wrap_pyfunction!(sorted, module)?)?;
    module.add_function(wrap_pyfunction!(matmul, module)?)?;
    module.add_function(wrap_pyfunction!(count_true, module)?)?;
    module.add_function(wrap_pyfunction!(put_where, module)?)?;
    module.add_function(wrap_pyfunction!(isclose, module)?)?;
    module.add_function(wrap_pyfunction!(dtype, module)?)?;
    module.add_function(wrap_pyfunction!(crate::methods::check_sort_kind, module)?)?;
    module.add_function(wrap_pyfunction!(can_cast, module)?)?;
    module.add_function(wrap_pyfunction!(result_type, module)?)
}

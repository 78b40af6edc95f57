//! `a[key]` and `a[key] = value`.

use crate::{
    array::PyArray,
    convert::{Given, HostKind, given, host_kind, to_numpy},
    creation::from_python,
    errors::{enter, enter_sized, enter_waiting},
};
use cupric::{Array, DType, Item, Order, Scalar, ufunc::Operand};
use pyo3::{
    exceptions::{PyIndexError, PyOverflowError, PyTypeError, PyValueError},
    intern,
    prelude::*,
    types::{PyBool, PyEllipsis, PyInt, PyList, PyRange, PySlice, PyTuple},
};
use smallvec::SmallVec;
use std::sync::Arc;

type Items = SmallVec<[Item; 4]>;

const VALID: &str = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are \
                     valid indices";

const NO_INDICES: &str = "arrays used as indices must be of integer (or boolean) type";

fn items(key: &Bound<'_, PyAny>) -> PyResult<Items> {
    match key.cast::<PyTuple>() {
        Ok(parts) => parts.iter().map(|part| item(&part)).collect(),
        Err(_) => Ok(std::iter::once(item(key)?).collect()),
    }
}

fn item(key: &Bound<'_, PyAny>) -> PyResult<Item> {
    let py = key.py();
    if key.is_exact_instance_of::<PyInt>() {
        return position(key).map(Item::Int);
    }
    if let Ok(slice) = key.cast::<PySlice>() {
        let (start, stop, step) = (intern!(py, "start"), intern!(py, "stop"), intern!(py, "step"));
        return Ok(Item::Slice { start: bound(slice, start)?, stop: bound(slice, stop)?, step: bound(slice, step)? });
    }
    if key.is_none() {
        return Ok(Item::NewAxis);
    }
    if key.is_instance_of::<PyEllipsis>() {
        return Ok(Item::Ellipsis);
    }
    if let Ok(array) = key.cast::<PyArray>() {
        return chosen(py, array.borrow().array.clone());
    }
    if let Ok(value) = key.cast::<PyBool>() {
        let value = Scalar::Bool(value.is_true());
        return enter(py, || cupric::full(&[], value, DType::Bool)).map(Item::Array);
    }
    other(key)
}

/// An index array. A mask of no elements chooses none, whatever the axis's length.
fn chosen(py: Python<'_>, array: Array) -> PyResult<Item> {
    if array.dtype() == DType::Bool && array.shape() == [0] {
        return enter(py, || array.astype(DType::Int64, Order::Keep)).map(Item::Array);
    }
    Ok(Item::Array(array))
}

/// Lists, host arrays and NumPy's scalars.
fn other(key: &Bound<'_, PyAny>) -> PyResult<Item> {
    let py = key.py();
    if key.is_instance_of::<PyList>() || key.is_instance_of::<PyTuple>() || key.is_instance_of::<PyRange>() {
        let made = from_python(key, None).map_err(|error| refused(py, error, VALID))?;
        // Nothing, in whatever depth, has no dtype.
        if made.size() == 0 && made.dtype() == DType::Float64 {
            return enter(py, || made.astype(DType::Int64, Order::Keep)).map(Item::Array);
        }
        return Ok(Item::Array(made));
    }
    match host_kind(key)? {
        HostKind::Array | HostKind::Scalar if !is_whole(key)? => {
            chosen(py, from_python(key, None).map_err(|error| refused(py, error, NO_INDICES))?)
        }
        HostKind::Other if !key.hasattr(intern!(py, "__index__"))? => Err(PyIndexError::new_err(VALID)),
        _ => position(key).map(Item::Int),
    }
}

/// A dtype that does not exist here makes no index.
fn refused(py: Python<'_>, error: PyErr, sentence: &'static str) -> PyErr {
    if error.is_instance_of::<PyTypeError>(py) { PyIndexError::new_err(sentence) } else { error }
}

/// Whether a host value is one integer.
fn is_whole(key: &Bound<'_, PyAny>) -> PyResult<bool> {
    let zero = key.getattr(intern!(key.py(), "ndim"))?.extract::<usize>()? == 0;
    let dtype = crate::convert::dtype_of(&key.getattr(intern!(key.py(), "dtype"))?);
    Ok(zero && dtype.map_err(|error| refused(key.py(), error, VALID))?.is_integer())
}

fn position(key: &Bound<'_, PyAny>) -> PyResult<isize> {
    key.extract::<isize>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(key.py()) && key.extract::<u64>().is_err() {
            PyIndexError::new_err("cannot fit 'int' into an index-sized integer")
        } else {
            error
        }
    })
}

/// A bound of a slice; one beyond all addresses is moved to the last.
fn bound(slice: &Bound<'_, PySlice>, name: &Bound<'_, pyo3::types::PyString>) -> PyResult<Option<isize>> {
    let value = slice.getattr(name)?;
    if value.is_none() {
        return Ok(None);
    }
    match value.extract::<isize>() {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyOverflowError>(slice.py()) => {
            Ok(Some(if value.lt(0)? { isize::MIN + 1 } else { isize::MAX }))
        }
        Err(_) => Err(PyTypeError::new_err("slice indices must be integers or None or have an __index__ method")),
    }
}

fn is_basic(items: &[Item]) -> bool {
    !items.iter().any(|item| matches!(item, Item::Array(_)))
}

/// Calls with the operand that a value to be assigned stands for.
fn with_value<T>(dtype: DType, value: &Bound<'_, PyAny>, call: impl FnOnce(Operand<'_>) -> PyResult<T>) -> PyResult<T> {
    match given(value)? {
        Given::Array(array) => call(Operand::Array(&array.array)),
        Given::Number(number) => {
            let bits = enter(value.py(), || number.to_bits_checked(dtype))?;
            call(Operand::Typed(dtype, bits))
        }
        Given::Typed(from, bits) => call(Operand::Typed(from, bits)),
        Given::Other => call(Operand::Array(&converted(value, dtype)?)),
    }
}

/// A list, or another value that is no array yet, as elements of a dtype.
fn converted(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Array> {
    from_python(value, Some(to_numpy(value.py(), dtype)?.as_any()))
}

const SEQUENCE: &str = "setting an array element with a sequence.";

/// The list that is assigned, which may not be deeper than what it is assigned to.
fn listed(target: &Array, items: &[Item], value: &Bound<'_, PyAny>) -> PyResult<Array> {
    let made = converted(value, target.dtype())?;
    if is_element(target, items) && made.ndim() > 0 {
        return Err(no_element(target.dtype()));
    }
    let deep = is_basic(items) && made.ndim() > enter(value.py(), || target.get(items))?.ndim();
    if deep { Err(PyValueError::new_err(SEQUENCE)) } else { Ok(made) }
}

/// Whether the index names one element.
fn is_element(target: &Array, items: &[Item]) -> bool {
    let one = |item: &Item| match item {
        Item::Int(_) => true,
        Item::Array(array) => array.ndim() == 0 && array.dtype().is_integer(),
        _ => false,
    };
    items.len() == target.ndim() && items.iter().all(one)
}

/// That a list is no element of a dtype, as Python's conversion to a number says it.
fn no_element(dtype: DType) -> PyErr {
    if dtype.is_integer() {
        return PyTypeError::new_err(
            "int() argument must be a string, a bytes-like object or a real number, not a sequence",
        );
    }
    if dtype.is_complex() {
        return PyTypeError::new_err("must be real number, not a sequence");
    }
    PyValueError::new_err(SEQUENCE)
}

/// Sets all elements to one value.
pub(crate) fn fill(py: Python<'_>, target: &Array, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match given(value)? {
        Given::Array(array) if array.array.ndim() > 0 => return Err(PyValueError::new_err(SEQUENCE)),
        Given::Other if converted(value, target.dtype())?.ndim() > 0 => return Err(no_element(target.dtype())),
        _ => {}
    }
    assign(py, target, value)
}

/// Copies a value into all elements.
pub(crate) fn assign(py: Python<'_>, target: &Array, value: &Bound<'_, PyAny>) -> PyResult<()> {
    with_value(target.dtype(), value, |operand| enter(py, || target.assign_operand(operand, None)))
}

fn set(py: Python<'_>, target: &Array, items: &[Item], operand: Operand<'_>) -> PyResult<()> {
    if let Operand::Array(value) = operand
        && Arc::ptr_eq(value.storage(), target.storage())
        && is_basic(items)
    {
        let view = enter(py, || target.get(items))?;
        // `a[key] += value` ends with storing the view where it is already.
        if view.layout() == value.layout() && view.dtype() == value.dtype() {
            return Ok(());
        }
    }
    if is_basic(items) {
        return enter(py, || target.set(items, operand));
    }
    enter_waiting(py, || target.set(items, operand))
}

/// Copies a value to where an index says.
fn store(py: Python<'_>, array: &Array, items: &[Item], value: &Bound<'_, PyAny>) -> PyResult<()> {
    match given(value)? {
        Given::Array(value) if value.array.ndim() > 0 && is_element(array, items) => {
            Err(if array.dtype().is_complex() {
                PyTypeError::new_err("only 0-dimensional arrays can be converted to Python scalars")
            } else {
                PyValueError::new_err(SEQUENCE)
            })
        }
        Given::Array(value) => set(py, array, items, Operand::Array(&value.array)),
        Given::Other => set(py, array, items, Operand::Array(&listed(array, items, value)?)),
        _ => with_value(array.dtype(), value, |operand| set(py, array, items, operand)),
    }
}

#[pymethods]
impl PyArray {
    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray>> {
        let items = items(key)?;
        if is_basic(&items) {
            return crate::array::viewing(slf, |array| array.get(&items));
        }
        let array = slf.borrow().array.clone();
        let waits = items.iter().any(|item| matches!(item, Item::Array(array) if array.dtype() == DType::Bool));
        let picked = if waits {
            enter_waiting(slf.py(), || array.get(&items))?
        } else {
            enter_sized(slf.py(), array.size() * array.item_size(), || array.get(&items))?
        };
        PyArray::object(slf.py(), picked)
    }

    fn __setitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let items = items(key)?;
        let array = slf.borrow().array.clone();
        store(slf.py(), &array, &items, value).map_err(|error| {
            // That there is no such place says more than that the value does not fit.
            let place = if is_basic(&items) { enter(slf.py(), || array.get(&items)).err() } else { None };
            place.unwrap_or(error)
        })
    }

    fn __delitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = key;
        Err(pyo3::exceptions::PyValueError::new_err("cannot delete array elements"))
    }
}

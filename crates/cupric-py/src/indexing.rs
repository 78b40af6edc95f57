//! `a[key]` and `a[key] = value`.

use crate::{
    array::PyArray,
    convert::{Given, HostKind, given, host_kind},
    creation::from_python,
    errors::{enter, enter_sized, enter_waiting},
};
use cupric::{Array, DType, Item, Scalar, ufunc::Operand};
use pyo3::{
    exceptions::{PyIndexError, PyOverflowError, PyTypeError},
    intern,
    prelude::*,
    types::{PyBool, PyEllipsis, PyInt, PyList, PySlice, PyTuple},
};
use smallvec::SmallVec;
use std::sync::Arc;

type Items = SmallVec<[Item; 4]>;

const VALID: &str = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are \
                     valid indices";

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
        return Ok(Item::Array(array.borrow().array.clone()));
    }
    if let Ok(value) = key.cast::<PyBool>() {
        let value = Scalar::Bool(value.is_true());
        return enter(py, || cupric::full(&[], value, DType::Bool)).map(Item::Array);
    }
    other(key)
}

/// Lists, host arrays and NumPy's scalars.
fn other(key: &Bound<'_, PyAny>) -> PyResult<Item> {
    let py = key.py();
    if let Ok(list) = key.cast::<PyList>() {
        if list.is_empty() {
            return enter(py, || cupric::zeros(&[0], DType::Int64)).map(Item::Array);
        }
        return from_python(key, None).map(Item::Array);
    }
    match host_kind(key)? {
        HostKind::Array | HostKind::Scalar if !is_whole(key)? => from_python(key, None).map(Item::Array),
        HostKind::Other if !key.hasattr(intern!(py, "__index__"))? => Err(PyIndexError::new_err(VALID)),
        _ => position(key).map(Item::Int),
    }
}

/// Whether a host value is one integer.
fn is_whole(key: &Bound<'_, PyAny>) -> PyResult<bool> {
    let zero = key.getattr(intern!(key.py(), "ndim"))?.extract::<usize>()? == 0;
    let dtype = crate::convert::dtype_of(&key.getattr(intern!(key.py(), "dtype"))?)?;
    Ok(zero && dtype.is_integer())
}

fn position(key: &Bound<'_, PyAny>) -> PyResult<isize> {
    key.extract::<isize>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(key.py()) {
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
        Given::Other => call(Operand::Array(&from_python(value, None)?)),
    }
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
        with_value(array.dtype(), value, |operand| set(slf.py(), &array, &items, operand))
    }

    fn __delitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = key;
        Err(pyo3::exceptions::PyValueError::new_err("cannot delete array elements"))
    }
}

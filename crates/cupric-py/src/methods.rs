//! The array's methods.

use crate::{
    array::{PyArray, viewing},
    convert::{axes, axis_of, dtype_of, native_dtype_of, order_of, signed_shape},
    creation::from_python,
    errors::{enter, enter_sized, enter_waiting},
    reductions::Maybe,
};
use cupric::{
    Array, Bounds, Casting, DType, Error, Order, Sorted,
    ufunc::{Options, call, row},
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyString, PyTuple, PyType},
};
use smallvec::SmallVec;

/// An argument that may be left out.
pub(crate) type Object<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// An output as its object and its array.
pub(crate) fn output<'py>(out: Object<'_, 'py>) -> PyResult<Option<(Bound<'py, PyArray>, Array)>> {
    let Some(out) = out.filter(|out| !out.is_none()) else { return Ok(None) };
    let object =
        out.clone().cast_into::<PyArray>().map_err(|_| PyTypeError::new_err("return arrays must be of ArrayType"))?;
    let array = object.borrow().array.clone();
    Ok(Some((object, array)))
}

#[pymethods]
impl PyArray {
    /// The elements in another shape: a view where the strides allow it, else a copy; see `cupric.reshape`.
    #[pyo3(signature = (*shape, order = Some("C"), copy = None), text_signature = "($self, *shape, order='C', copy=None)")]
    fn reshape<'py>(
        slf: &Bound<'py, Self>,
        shape: &Bound<'py, PyTuple>,
        order: Option<&str>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyArray>> {
        let shape = signed_shape(&spread_arguments(shape)?)?;
        let order = order_of(order, Order::RowMajor)?;
        if order == Order::Keep {
            return Err(PyValueError::new_err("order 'K' is not permitted for reshaping"));
        }
        viewing(slf, |array| {
            let column =
                order == Order::ColumnMajor || order == Order::Any && array.is_column_major() && !array.is_row_major();
            let made = if column { array.reshape_column_major(&shape)? } else { array.reshape(&shape)? };
            let shared = std::sync::Arc::ptr_eq(made.storage(), array.storage());
            match copy {
                Some(true) if shared => made.copy(if column { Order::ColumnMajor } else { Order::RowMajor }),
                Some(false) if !shared => Err(Error::Value("Unable to avoid creating a copy while reshaping.".into())),
                _ => Ok(made),
            }
        })
    }

    /// The elements in one axis: a view where the strides allow it, else a copy; see `cupric.ravel`.
    #[pyo3(signature = (order = Some("C")), text_signature = "($self, order='C')")]
    fn ravel<'py>(slf: &Bound<'py, Self>, order: Option<&str>) -> PyResult<Bound<'py, PyArray>> {
        let order = order_of(order, Order::RowMajor)?;
        viewing(slf, |array| cupric::ravel(array, order))
    }

    /// A copy of the elements in one axis.
    #[pyo3(signature = (order = Some("C")), text_signature = "($self, order='C')")]
    fn flatten<'py>(slf: &Bound<'py, Self>, order: Option<&str>) -> PyResult<Bound<'py, PyArray>> {
        let order = order_of(order, Order::RowMajor)?;
        viewing(slf, |array| {
            let flat = cupric::ravel(array, order)?;
            if std::sync::Arc::ptr_eq(flat.storage(), array.storage()) { flat.copy(Order::RowMajor) } else { Ok(flat) }
        })
    }

    /// The view with the axes in another order; see `cupric.transpose`.
    #[pyo3(signature = (*axes))]
    fn transpose<'py>(slf: &Bound<'py, Self>, axes: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyArray>> {
        let reversed = axes.is_empty();
        let axes = spread_arguments(axes)?;
        if axes.is_none() || reversed {
            return viewing(slf, |array| Ok(array.reversed_axes()));
        }
        let axes = signed_shape(&axes)?;
        viewing(slf, |array| array.transpose(&axes))
    }

    /// The view with two axes exchanged; see `cupric.swapaxes`.
    #[pyo3(signature = (axis1, axis2, /))]
    fn swapaxes<'py>(slf: &Bound<'py, Self>, axis1: isize, axis2: isize) -> PyResult<Bound<'py, PyArray>> {
        viewing(slf, |array| {
            let ndim = array.ndim();
            let place = |axis: isize, argument| {
                let shifted = if axis < 0 { axis + ndim as isize } else { axis };
                let found = usize::try_from(shifted).ok().filter(|&axis| axis < ndim);
                found.ok_or(Error::AxisOutOfBounds { axis, ndim, argument: Some(argument) })
            };
            let (first, second) = (place(axis1, "axis1")?, place(axis2, "axis2")?);
            let mut axes: SmallVec<[isize; 6]> = (0..ndim as isize).collect();
            axes.swap(first, second);
            array.transpose(&axes)
        })
    }

    /// The view without axes of length 1; see `cupric.squeeze`.
    #[pyo3(signature = (axis = None))]
    fn squeeze<'py>(slf: &Bound<'py, Self>, axis: Object<'_, 'py>) -> PyResult<Bound<'py, PyArray>> {
        let axes = axes(axis)?;
        viewing(slf, |array| array.squeeze(axes.as_deref()))
    }

    /// A read-only view of a diagonal; see `cupric.diagonal`.
    #[pyo3(signature = (offset = 0, axis1 = 0, axis2 = 1))]
    fn diagonal<'py>(
        slf: &Bound<'py, Self>,
        offset: isize,
        axis1: isize,
        axis2: isize,
    ) -> PyResult<Bound<'py, PyArray>> {
        viewing(slf, |array| array.diagonal(offset, axis1, axis2))
    }

    /// A read-only view repeated to a larger shape.
    fn _broadcast_to<'py>(slf: &Bound<'py, Self>, shape: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray>> {
        let shape = crate::convert::shape(shape)?;
        viewing(slf, |array| array.broadcast_to(&shape))
    }

    /// The same bytes as elements of another dtype.
    #[pyo3(signature = (dtype = None, r#type = None))]
    fn view<'py>(
        slf: &Bound<'py, Self>,
        dtype: Object<'_, 'py>,
        r#type: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        let ours = PyType::new::<PyArray>(slf.py());
        let is_class = |object: Object<'_, 'py>| object.is_some_and(|object| object.is(&ours));
        if let Some(other) = r#type
            && !other.is_none()
            && !is_class(r#type)
        {
            return Err(PyTypeError::new_err(format!("no view as {} is possible", other.repr()?)));
        }
        match dtype.filter(|dtype| !dtype.is_none()) {
            Some(dtype) if !is_class(Some(dtype)) => {
                let dtype = native_dtype_of(dtype)?;
                viewing(slf, |array| array.view(dtype))
            }
            _ => viewing(slf, |array| Ok(array.clone())),
        }
    }

    /// A copy.
    #[pyo3(signature = (order = Some("C")), text_signature = "($self, order='C')")]
    fn copy<'py>(slf: &Bound<'py, Self>, order: Option<&str>) -> PyResult<Bound<'py, PyArray>> {
        let order = order_of(order, Order::RowMajor)?;
        PyArray::object(slf.py(), enter(slf.py(), || slf.borrow().array.copy(order))?)
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray>> {
        PyArray::copy(slf, Some("K"))
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray>> {
        let _ = memo;
        PyArray::copy(slf, Some("K"))
    }

    /// The elements converted to a dtype.
    ///
    /// Parameters
    /// ----------
    /// dtype : data type
    /// order : {'K', 'C', 'F', 'A'}
    /// casting : {'unsafe', 'same_kind', 'safe', 'equiv', 'no'}
    /// subok : ignored
    /// copy : bool
    ///     If False, the array itself comes back where dtype and order are those asked for.
    ///
    /// Examples
    /// --------
    /// >>> import cupric as cp
    /// >>> cp.array([1.7, -1.7]).astype(int)
    /// array([ 1, -1])
    #[pyo3(signature = (dtype, order = Some("K"), casting = "unsafe", subok = true, copy = true), text_signature = "($self, dtype, order='K', casting='unsafe', subok=True, copy=True)")]
    fn astype<'py>(
        slf: &Bound<'py, Self>,
        dtype: &Bound<'py, PyAny>,
        order: Option<&str>,
        casting: &str,
        subok: bool,
        copy: bool,
    ) -> PyResult<Bound<'py, PyArray>> {
        let _ = subok;
        let (dtype, order) = (dtype_of(dtype)?, order_of(order, Order::Keep)?);
        let array = slf.borrow().array.clone();
        let laid = match order {
            Order::RowMajor => array.is_row_major(),
            Order::ColumnMajor => array.is_column_major(),
            Order::Any => array.is_row_major() || array.is_column_major(),
            Order::Keep => true,
        };
        if !copy && laid && array.dtype() == dtype {
            return Ok(slf.clone());
        }
        let made = enter(slf.py(), || {
            let casting = Casting::from_name(casting)?;
            if !cupric::can_cast(array.dtype(), dtype, casting) {
                return Err(Error::CannotCast { from: array.dtype(), to: dtype, casting, ufunc: None });
            }
            array.astype(dtype, order)
        })?;
        PyArray::object(slf.py(), made)
    }

    /// Sets all elements to one value.
    #[pyo3(signature = (value, /))]
    fn fill(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        crate::indexing::fill(py, &self.array, value)
    }

    /// For each axis the positions of the elements that are not zero. Waits for their number.
    fn nonzero<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let array = &self.array;
        let positions = enter_waiting(py, || array.nonzero())?;
        let objects = positions.into_iter().map(|axis| PyArray::object(py, axis)).collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, objects)
    }

    /// The elements at positions along an axis; see `cupric.take`.
    #[pyo3(signature = (indices, axis = None, out = None, mode = Some("raise")), text_signature = "($self, indices, axis=None, out=None, mode='raise')")]
    fn take<'py>(
        slf: &Bound<'py, Self>,
        indices: &Bound<'py, PyAny>,
        axis: Object<'_, 'py>,
        out: Object<'_, 'py>,
        mode: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray>> {
        let axis = axis_of(axis)?;
        let bounds = match mode.unwrap_or("raise") {
            "raise" => Bounds::Raise,
            "wrap" => Bounds::Wrap,
            "clip" => Bounds::Clip,
            mode => {
                return Err(PyValueError::new_err(format!(
                    "clipmode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')"
                )));
            }
        };
        let py = slf.py();
        let indices = match indices.cast::<PyArray>() {
            Ok(array) if array.borrow().array.dtype() == DType::Bool => {
                enter(py, || array.borrow().array.astype(DType::Int64, Order::Keep))?
            }
            Ok(array) => array.borrow().array.clone(),
            // What is no array yet becomes positions whatever it holds.
            Err(_) => from_python(indices, Some(crate::convert::to_numpy(py, DType::Int64)?.as_any()))?,
        };
        let out = output(out)?;
        let array = slf.borrow().array.clone();
        if let Some((_, target)) = &out
            && !cupric::can_cast(target.dtype(), array.dtype(), Casting::Safe)
        {
            let (from, to) = (target.dtype(), array.dtype());
            return enter(py, || Err(Error::CannotCast { from, to, casting: Casting::Safe, ufunc: None }));
        }
        let taken = enter_sized(py, indices.size() * array.item_size(), || array.take(&indices, axis, bounds))?;
        let Some((object, target)) = out else { return PyArray::object(py, taken) };
        if target.shape() != taken.shape() {
            return Err(PyValueError::new_err("output array does not match result of ndarray.take"));
        }
        enter(py, || target.assign(&taken))?;
        Ok(object)
    }

    /// Sorts the elements in place along an axis, NaN last; see `cupric.sort`.
    #[pyo3(signature = (axis = -1, kind = None, order = None, *, stable = None))]
    fn sort(
        slf: &Bound<'_, Self>,
        axis: isize,
        kind: Object<'_, '_>,
        order: Object<'_, '_>,
        stable: Object<'_, '_>,
    ) -> PyResult<()> {
        check_sort_kind(kind, stable)?;
        no_fields(order)?;
        let array = slf.borrow().array.clone();
        enter_sized(slf.py(), array.size() * array.item_size(), || {
            array.assign(&cupric::sort(&array, Some(axis), Sorted::Values)?)
        })
    }

    /// The positions that would sort the array along an axis; see `cupric.argsort`.
    #[pyo3(signature = (axis = Maybe(None), kind = None, order = None, *, stable = None), text_signature = "($self, axis=-1, kind=None, order=None, *, stable=None)")]
    fn argsort<'py>(
        slf: &Bound<'py, Self>,
        axis: Maybe<'py>,
        kind: Object<'_, 'py>,
        order: Object<'_, 'py>,
        stable: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        let axis = axis.0.as_ref().map_or(Ok(Some(-1)), |axis| axis_of(Some(axis)))?;
        check_sort_kind(kind, stable)?;
        no_fields(order)?;
        let array = slf.borrow().array.clone();
        let positions =
            enter_sized(slf.py(), array.size() * array.item_size(), || cupric::sort(&array, axis, Sorted::Positions))?;
        PyArray::object(slf.py(), positions)
    }

    /// Product with another array; see `cupric.dot`.
    #[pyo3(signature = (b, out = None))]
    fn dot<'py>(slf: &Bound<'py, Self>, b: &Bound<'py, PyAny>, out: Object<'_, 'py>) -> PyResult<Bound<'py, PyArray>> {
        let py = slf.py();
        let out = output(out)?;
        let array = slf.borrow().array.clone();
        let result = match crate::convert::required(b)? {
            crate::convert::Given::Array(other) => {
                let other = &other.array;
                enter_sized(py, (array.size() + other.size()) * 8, || cupric::dot(&array, other))?
            }
            other => {
                let Some(operand) = other.operand() else { return Err(PyTypeError::new_err("unsupported operand")) };
                enter(py, || call(row("multiply"), &[(&array).into(), operand], Options::default()))?.remove(0)
            }
        };
        if let Some((_, target)) = &out
            && !(target.dtype() == result.dtype() && target.shape() == result.shape() && target.is_row_major())
        {
            return Err(PyValueError::new_err(
                "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)",
            ));
        }
        finish(py, result, out)
    }

    /// Complex conjugates.
    fn conj<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray>> {
        if !slf.borrow().array.dtype().is_complex() {
            return Ok(slf.clone());
        }
        let mut results =
            enter(slf.py(), || call(row("conjugate"), &[(&slf.borrow().array).into()], Options::default()))?;
        PyArray::object(slf.py(), results.remove(0))
    }

    /// Complex conjugates.
    fn conjugate<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray>> {
        PyArray::conj(slf)
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        printed(slf, "array_repr")
    }

    fn __str__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        printed(slf, "array_str")
    }

    fn __format__<'py>(slf: &Bound<'py, Self>, spec: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        slf.call_method0("get")?.call_method1("__format__", (spec,))
    }

    fn __contains__(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        slf.eq_elements(value)?.call_method0("any")?.is_truthy()
    }

    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        match slf.borrow().array.shape().first() {
            Some(&len) => Ok(Rows { array: slf.clone().unbind(), next: 0, len }),
            None => Err(PyTypeError::new_err("iteration over a 0-d array")),
        }
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __array__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, pyo3::types::PyDict>>) -> PyResult<()> {
        let _ = (args, kwargs);
        Err(PyTypeError::new_err(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly.",
        ))
    }
}

/// `==`, as an array.
trait Elements<'py> {
    fn eq_elements(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>;
}

impl<'py> Elements<'py> for Bound<'py, PyArray> {
    fn eq_elements(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.rich_compare(value, pyo3::basic::CompareOp::Eq)
    }
}

/// Goes over the first axis.
#[pyclass(module = "cupric")]
pub(crate) struct Rows {
    array: Py<PyArray>,
    next: usize,
    len: usize,
}

#[pymethods]
impl Rows {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray>>> {
        if self.next >= self.len {
            return Ok(None);
        }
        let index = self.next as isize;
        self.next += 1;
        viewing(self.array.bind(py), |array| array.get(&[cupric::Item::Int(index)])).map(Some)
    }
}

fn printed<'py>(slf: &Bound<'py, PyArray>, with: &str) -> PyResult<Bound<'py, PyAny>> {
    slf.py().import("cupric._printing")?.getattr(with)?.call1((slf,))
}

/// Checks which way of sorting was asked for: all are the same stable one.
#[pyfunction]
#[pyo3(signature = (kind, stable))]
pub(crate) fn check_sort_kind(kind: Object<'_, '_>, stable: Object<'_, '_>) -> PyResult<()> {
    let Some(kind) = kind.filter(|kind| !kind.is_none()) else { return Ok(()) };
    if stable.is_some_and(|stable| !stable.is_none()) {
        return Err(PyValueError::new_err(
            "`kind` and keyword parameters can't be provided at the same time. Use only one of them.",
        ));
    }
    let Ok(name) = kind.cast::<PyString>() else {
        return Err(PyTypeError::new_err(format!("sort kind must be str, not {}", kind.get_type().name()?)));
    };
    match name.to_str()?.chars().next().map(|letter| letter.to_ascii_lowercase()) {
        Some('q' | 'h' | 'm' | 's') => Ok(()),
        _ => {
            Err(PyValueError::new_err(format!("sort kind must be one of 'quick', 'heap', or 'stable' (got '{name}')")))
        }
    }
}

fn no_fields(order: Object<'_, '_>) -> PyResult<()> {
    match order.filter(|order| !order.is_none()) {
        Some(_) => Err(PyValueError::new_err("Cannot specify order when the array has no fields.")),
        None => Ok(()),
    }
}

/// A result, copied into the output if there is one.
fn finish<'py>(
    py: Python<'py>,
    result: Array,
    out: Option<(Bound<'py, PyArray>, Array)>,
) -> PyResult<Bound<'py, PyArray>> {
    let Some((object, target)) = out else { return PyArray::object(py, result) };
    if target.shape() != result.shape() {
        return Err(PyValueError::new_err("output array does not match result of operation"));
    }
    enter(py, || {
        if !cupric::can_cast(result.dtype(), target.dtype(), Casting::SameKind) {
            let (from, to) = (result.dtype(), target.dtype());
            return Err(Error::CannotCast { from, to, casting: Casting::SameKind, ufunc: None });
        }
        target.assign(&result)
    })?;
    Ok(object)
}

/// The one tuple that was given, or the tuple of all arguments.
fn spread_arguments<'py>(arguments: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    if arguments.len() == 1 { arguments.get_item(0) } else { Ok(arguments.clone().into_any()) }
}

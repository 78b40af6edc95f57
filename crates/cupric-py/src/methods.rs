//! The array's methods.

use crate::{
    array::{PyArray, viewing},
    convert::{axes, dtype_of, optional_dtype, order_of, signed_shape},
    creation::from_python,
    errors::{enter, enter_sized, enter_waiting},
    ufunc::mask,
};
use cupric::{
    Array, Bounds, Casting, Error, KeepAxes, Order, Reduction, Scalar, Sorted, Spread,
    ufunc::{Options, call, row},
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyString, PyTuple, PyType},
};
use smallvec::SmallVec;

type Object<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// What the reductions take.
struct Asked<'a, 'py> {
    axis: Object<'a, 'py>,
    dtype: Object<'a, 'py>,
    out: Object<'a, 'py>,
    keepdims: Object<'a, 'py>,
    initial: Object<'a, 'py>,
    r#where: Object<'a, 'py>,
}

fn truth(object: Object<'_, '_>) -> PyResult<bool> {
    match object {
        // NumPy's functions pass a mark of "no value".
        Some(object) if !is_no_value(object)? => object.is_truthy(),
        _ => Ok(false),
    }
}

fn is_no_value(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.get_type().name()? == "_NoValueType")
}

fn number(object: Object<'_, '_>) -> PyResult<Option<Scalar>> {
    let Some(object) = object.filter(|object| !object.is_none()) else { return Ok(None) };
    if is_no_value(object)? {
        return Ok(None);
    }
    match crate::convert::given(object)? {
        crate::convert::Given::Number(number) => Ok(Some(number)),
        crate::convert::Given::Typed(dtype, bits) => Ok(Some(Scalar::from_bits(dtype, bits))),
        crate::convert::Given::Array(array) if array.array.ndim() == 0 => {
            let array = &array.array;
            enter_waiting(object.py(), || array.item()).map(Some)
        }
        _ => Err(PyTypeError::new_err(format!("a number is needed, not {}", object.get_type().repr()?))),
    }
}

/// An output as its object and its array.
fn output<'py>(out: Object<'_, 'py>) -> PyResult<Option<(Bound<'py, PyArray>, Array)>> {
    let Some(out) = out.filter(|out| !out.is_none()) else { return Ok(None) };
    let out = match out.cast::<PyTuple>() {
        Ok(one) if one.len() == 1 => one.get_item(0)?,
        _ => out.clone(),
    };
    let object = out.cast_into::<PyArray>().map_err(|_| PyTypeError::new_err("return arrays must be of ArrayType"))?;
    let array = object.borrow().array.clone();
    Ok(Some((object, array)))
}

/// The caller's own output object, or a new one.
fn answer<'py>(
    py: Python<'py>,
    result: Array,
    out: Option<(Bound<'py, PyArray>, Array)>,
) -> PyResult<Bound<'py, PyArray>> {
    match out {
        Some((object, _)) => Ok(object),
        None => PyArray::object(py, result),
    }
}

fn reduced<'py>(
    slf: &Bound<'py, PyArray>,
    asked: Asked<'_, 'py>,
    fold: impl FnOnce(&Array, Reduction<'_>) -> cupric::Result<Array>,
) -> PyResult<Bound<'py, PyArray>> {
    let py = slf.py();
    let axes = axes(asked.axis)?;
    let dtype = optional_dtype(asked.dtype)?;
    let out = output(asked.out)?;
    let keep = if truth(asked.keepdims)? { KeepAxes::Yes } else { KeepAxes::No };
    let initial = number(asked.initial)?;
    let mask = match asked.r#where {
        Some(object) if is_no_value(object)? => None,
        other => mask(other)?,
    };
    let given = Reduction {
        axes: axes.as_deref(),
        dtype,
        out: out.as_ref().map(|(_, out)| out),
        keep,
        initial,
        mask: mask.as_ref(),
    };
    let result = enter(py, || fold(&slf.borrow().array, given))?;
    answer(py, result, out)
}

fn folded<'py>(slf: &Bound<'py, PyArray>, name: &str, asked: Asked<'_, 'py>) -> PyResult<Bound<'py, PyArray>> {
    reduced(slf, asked, |array, given| cupric::reduce(name, array, given))
}

#[pymethods]
impl PyArray {
    /// Sum along axes; see `cupric.sum`.
    #[pyo3(signature = (axis = None, dtype = None, out = None, keepdims = None, initial = None, r#where = None))]
    fn sum<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Object<'_, 'py>,
        initial: Object<'_, 'py>,
        r#where: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        folded(slf, "sum", Asked { axis, dtype, out, keepdims, initial, r#where })
    }

    /// Product along axes; see `cupric.prod`.
    #[pyo3(signature = (axis = None, dtype = None, out = None, keepdims = None, initial = None, r#where = None))]
    fn prod<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Object<'_, 'py>,
        initial: Object<'_, 'py>,
        r#where: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        folded(slf, "prod", Asked { axis, dtype, out, keepdims, initial, r#where })
    }

    /// Largest elements along axes; see `cupric.max`.
    #[pyo3(signature = (axis = None, out = None, keepdims = None, initial = None, r#where = None))]
    fn max<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Object<'_, 'py>,
        initial: Object<'_, 'py>,
        r#where: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        folded(slf, "max", Asked { axis, dtype: None, out, keepdims, initial, r#where })
    }

    /// Smallest elements along axes; see `cupric.min`.
    #[pyo3(signature = (axis = None, out = None, keepdims = None, initial = None, r#where = None))]
    fn min<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Object<'_, 'py>,
        initial: Object<'_, 'py>,
        r#where: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        folded(slf, "min", Asked { axis, dtype: None, out, keepdims, initial, r#where })
    }

    /// Whether all elements along axes are true; see `cupric.all`.
    #[pyo3(signature = (axis = None, out = None, keepdims = None, r#where = None))]
    fn all<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Object<'_, 'py>,
        r#where: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        folded(slf, "all", Asked { axis, dtype: None, out, keepdims, initial: None, r#where })
    }

    /// Whether any element along axes is true; see `cupric.any`.
    #[pyo3(signature = (axis = None, out = None, keepdims = None, r#where = None))]
    fn any<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Object<'_, 'py>,
        r#where: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        folded(slf, "any", Asked { axis, dtype: None, out, keepdims, initial: None, r#where })
    }

    /// Positions of the largest elements along an axis; see `cupric.argmax`.
    #[pyo3(signature = (axis = None, out = None, *, keepdims = None))]
    fn argmax<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        folded(slf, "argmax", Asked { axis, dtype: None, out, keepdims, initial: None, r#where: None })
    }

    /// Positions of the smallest elements along an axis; see `cupric.argmin`.
    #[pyo3(signature = (axis = None, out = None, *, keepdims = None))]
    fn argmin<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        folded(slf, "argmin", Asked { axis, dtype: None, out, keepdims, initial: None, r#where: None })
    }

    /// Arithmetic mean along axes; see `cupric.mean`.
    #[pyo3(signature = (axis = None, dtype = None, out = None, keepdims = None, *, r#where = None))]
    fn mean<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Object<'_, 'py>,
        r#where: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        reduced(slf, Asked { axis, dtype, out, keepdims, initial: None, r#where }, cupric::mean)
    }

    /// Variance along axes; see `cupric.var`.
    #[pyo3(signature = (axis = None, dtype = None, out = None, ddof = None, keepdims = None, *, r#where = None))]
    fn var<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
        ddof: Option<f64>,
        keepdims: Object<'_, 'py>,
        r#where: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        reduced(slf, Asked { axis, dtype, out, keepdims, initial: None, r#where }, |array, given| {
            cupric::spread(array, given, ddof.unwrap_or(0.0), Spread::Variance)
        })
    }

    /// Standard deviation along axes; see `cupric.std`.
    #[pyo3(signature = (axis = None, dtype = None, out = None, ddof = None, keepdims = None, *, r#where = None))]
    fn std<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
        ddof: Option<f64>,
        keepdims: Object<'_, 'py>,
        r#where: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        reduced(slf, Asked { axis, dtype, out, keepdims, initial: None, r#where }, |array, given| {
            cupric::spread(array, given, ddof.unwrap_or(0.0), Spread::Deviation)
        })
    }

    /// Running sums; see `cupric.cumsum`.
    #[pyo3(signature = (axis = None, dtype = None, out = None))]
    fn cumsum<'py>(
        slf: &Bound<'py, Self>,
        axis: Option<isize>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        scanned(slf, "sum", axis, dtype, out)
    }

    /// Running products; see `cupric.cumprod`.
    #[pyo3(signature = (axis = None, dtype = None, out = None))]
    fn cumprod<'py>(
        slf: &Bound<'py, Self>,
        axis: Option<isize>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        scanned(slf, "prod", axis, dtype, out)
    }

    /// The elements in another shape: a view where the strides allow it, else a copy; see `cupric.reshape`.
    #[pyo3(signature = (*shape, order = "C", copy = None))]
    fn reshape<'py>(
        slf: &Bound<'py, Self>,
        shape: &Bound<'py, PyTuple>,
        order: &str,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyArray>> {
        let shape = signed_shape(&spread_arguments(shape)?)?;
        let order = order_of(order)?;
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
    #[pyo3(signature = (order = "C"))]
    fn ravel<'py>(slf: &Bound<'py, Self>, order: &str) -> PyResult<Bound<'py, PyArray>> {
        let order = order_of(order)?;
        viewing(slf, |array| raveled(array, order))
    }

    /// A copy of the elements in one axis.
    #[pyo3(signature = (order = "C"))]
    fn flatten<'py>(slf: &Bound<'py, Self>, order: &str) -> PyResult<Bound<'py, PyArray>> {
        let order = order_of(order)?;
        viewing(slf, |array| {
            let flat = raveled(array, order)?;
            if std::sync::Arc::ptr_eq(flat.storage(), array.storage()) { flat.copy(Order::RowMajor) } else { Ok(flat) }
        })
    }

    /// The view with the axes in another order; see `cupric.transpose`.
    #[pyo3(signature = (*axes))]
    fn transpose<'py>(slf: &Bound<'py, Self>, axes: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyArray>> {
        let axes = spread_arguments(axes)?;
        if axes.is_none() || axes.cast::<PyTuple>().is_ok_and(|axes| axes.is_empty() && slf.borrow().array.ndim() > 0) {
            return viewing(slf, |array| Ok(array.reversed_axes()));
        }
        let axes = signed_shape(&axes)?;
        viewing(slf, |array| array.transpose(&axes))
    }

    /// The view with two axes exchanged; see `cupric.swapaxes`.
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
                let dtype = dtype_of(dtype)?;
                viewing(slf, |array| array.view(dtype))
            }
            _ => viewing(slf, |array| Ok(array.clone())),
        }
    }

    /// A copy.
    #[pyo3(signature = (order = "C"))]
    fn copy<'py>(slf: &Bound<'py, Self>, order: &str) -> PyResult<Bound<'py, PyArray>> {
        let order = order_of(order)?;
        PyArray::object(slf.py(), enter(slf.py(), || slf.borrow().array.copy(order))?)
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray>> {
        PyArray::copy(slf, "K")
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray>> {
        let _ = memo;
        PyArray::copy(slf, "K")
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
    #[pyo3(signature = (dtype, order = "K", casting = "unsafe", subok = true, copy = true))]
    fn astype<'py>(
        slf: &Bound<'py, Self>,
        dtype: &Bound<'py, PyAny>,
        order: &str,
        casting: &str,
        subok: bool,
        copy: bool,
    ) -> PyResult<Bound<'py, PyArray>> {
        let _ = subok;
        let (dtype, order) = (dtype_of(dtype)?, order_of(order)?);
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
    fn fill(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        crate::indexing::assign(py, &self.array, value)
    }

    /// For each axis the positions of the elements that are not zero. Waits for their number.
    fn nonzero<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let array = &self.array;
        let positions = enter_waiting(py, || array.nonzero())?;
        let objects = positions.into_iter().map(|axis| PyArray::object(py, axis)).collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, objects)
    }

    /// The elements at positions along an axis; see `cupric.take`.
    #[pyo3(signature = (indices, axis = None, out = None, mode = "raise"))]
    fn take<'py>(
        slf: &Bound<'py, Self>,
        indices: &Bound<'py, PyAny>,
        axis: Option<isize>,
        out: Object<'_, 'py>,
        mode: &str,
    ) -> PyResult<Bound<'py, PyArray>> {
        let bounds = match mode {
            "raise" => Bounds::Raise,
            "wrap" => Bounds::Wrap,
            "clip" => Bounds::Clip,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "clipmode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')"
                )));
            }
        };
        let py = slf.py();
        let indices = match indices.cast::<PyArray>() {
            Ok(array) => array.borrow().array.clone(),
            Err(_) => from_python(indices, None)?,
        };
        let out = output(out)?;
        let array = slf.borrow().array.clone();
        let taken = enter_sized(py, indices.size() * array.item_size(), || array.take(&indices, axis, bounds))?;
        finish(py, taken, out)
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
        let _ = (kind, stable);
        no_fields(order)?;
        let array = slf.borrow().array.clone();
        enter_sized(slf.py(), array.size() * array.item_size(), || {
            array.assign(&cupric::sort(&array, Some(axis), Sorted::Values)?)
        })
    }

    /// The positions that would sort the array along an axis; see `cupric.argsort`.
    #[pyo3(signature = (axis = Some(-1), kind = None, order = None, *, stable = None))]
    fn argsort<'py>(
        slf: &Bound<'py, Self>,
        axis: Option<isize>,
        kind: Object<'_, 'py>,
        order: Object<'_, 'py>,
        stable: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        let _ = (kind, stable);
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
    let host = slf.call_method0("get")?;
    slf.py().import("numpy")?.getattr(with)?.call1((host,))
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

fn scanned<'py>(
    slf: &Bound<'py, PyArray>,
    name: &str,
    axis: Option<isize>,
    dtype: Object<'_, 'py>,
    out: Object<'_, 'py>,
) -> PyResult<Bound<'py, PyArray>> {
    let py = slf.py();
    let dtype = optional_dtype(dtype)?;
    let out = output(out)?;
    let array = slf.borrow().array.clone();
    let target = out.as_ref().map(|(_, out)| out);
    let result = enter_sized(py, array.size() * array.item_size(), || cupric::scan(name, &array, axis, dtype, target))?;
    answer(py, result, out)
}

fn raveled(array: &Array, order: Order) -> cupric::Result<Array> {
    let column = array.is_column_major() && !array.is_row_major();
    match order {
        Order::ColumnMajor => array.reversed_axes().reshape(&[-1]),
        Order::Any if column => array.reversed_axes().reshape(&[-1]),
        Order::Keep if !array.is_row_major() => {
            let mut axes: SmallVec<[isize; 6]> = (0..array.ndim() as isize).collect();
            axes.sort_by_key(|&axis| std::cmp::Reverse(array.strides()[axis as usize].unsigned_abs()));
            array.transpose(&axes)?.reshape(&[-1])
        }
        _ => array.reshape(&[-1]),
    }
}

/// The one tuple that was given, or the tuple of all arguments.
fn spread_arguments<'py>(arguments: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    if arguments.len() == 1 { arguments.get_item(0) } else { Ok(arguments.clone().into_any()) }
}

//! The array's methods.

use crate::{
    array::{PyArray, viewing},
    convert::{Given, axes, axis_of, dtype_of, given, index, is_no_value, optional_dtype, order_of, signed_shape},
    creation::from_python,
    errors::{enter, enter_sized, enter_waiting},
    ufunc::mask,
};
use cupric::{
    Array, Bits, Bounds, Casting, DType, Error, Initial, KeepAxes, Order, Reduction, Scalar, Sorted, Spread,
    ufunc::{Operand, Options, call, row},
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyList, PyString, PyTuple, PyType},
};
use smallvec::SmallVec;

type Object<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// What the reductions take.
struct Asked<'a, 'py> {
    axis: Object<'a, 'py>,
    dtype: Object<'a, 'py>,
    out: Object<'a, 'py>,
    keepdims: Maybe<'py>,
    initial: Maybe<'py>,
    r#where: Maybe<'py>,
}

/// An argument whose absence means something else than None.
pub(crate) struct Maybe<'py>(pub(crate) Option<Bound<'py, PyAny>>);

impl<'py> FromPyObject<'_, 'py> for Maybe<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Maybe((!is_no_value(&object)?).then(|| object.to_owned())))
    }
}

/// Whether reduced axes stay, as an integer says it.
fn kept(keepdims: &Maybe<'_>) -> PyResult<KeepAxes> {
    let keep = match &keepdims.0 {
        Some(object) => match object.cast::<PyBool>() {
            Ok(value) => value.is_true(),
            Err(_) => index(object)? != 0,
        },
        None => false,
    };
    Ok(if keep { KeepAxes::Yes } else { KeepAxes::No })
}

/// A number to start a reduction from.
enum Start {
    Identity,
    First,
    Number(Scalar),
    Typed(DType, Bits),
}

impl Start {
    fn of(initial: &Maybe<'_>) -> PyResult<Start> {
        let Some(object) = &initial.0 else { return Ok(Start::Identity) };
        if object.is_none() {
            return Ok(Start::First);
        }
        match given(object)? {
            Given::Number(number) => Ok(Start::Number(number)),
            Given::Typed(dtype, bits) => Ok(Start::Typed(dtype, bits)),
            Given::Array(array) if array.array.ndim() == 0 => {
                let array = &array.array;
                let value = enter_waiting(object.py(), || array.item())?;
                Ok(Start::Typed(array.dtype(), value.to_bits(array.dtype())))
            }
            Given::Other if object.cast::<PyList>().is_err() && object.cast::<PyTuple>().is_err() => {
                Err(PyTypeError::new_err(format!("initial must be a number, not {}", object.get_type().repr()?)))
            }
            _ => Err(PyValueError::new_err("setting an array element with a sequence: initial must be a number")),
        }
    }

    const fn initial(&self) -> Initial<'static> {
        match self {
            Start::Identity => Initial::Identity,
            Start::First => Initial::First,
            Start::Number(number) => Initial::Value(Operand::Number(*number)),
            Start::Typed(dtype, bits) => Initial::Value(Operand::Typed(*dtype, *bits)),
        }
    }
}

/// An output as its object and its array.
fn output<'py>(out: Object<'_, 'py>) -> PyResult<Option<(Bound<'py, PyArray>, Array)>> {
    let Some(out) = out.filter(|out| !out.is_none()) else { return Ok(None) };
    let object =
        out.clone().cast_into::<PyArray>().map_err(|_| PyTypeError::new_err("return arrays must be of ArrayType"))?;
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
    if let (Some(first), 0) = (axes.as_deref().and_then(|axes| axes.first()), slf.borrow().array.ndim())
        && asked.axis.is_some_and(|axis| axis.cast::<PyTuple>().is_ok())
    {
        let (axis, ndim, argument) = (*first, 0, None);
        return enter(py, || Err(Error::AxisOutOfBounds { axis, ndim, argument }));
    }
    let dtype = optional_dtype(asked.dtype)?;
    let out = output(asked.out)?;
    let keep = kept(&asked.keepdims)?;
    let start = Start::of(&asked.initial)?;
    let mask = asked.r#where.0.as_ref().map(mask).transpose()?.flatten();
    let given = Reduction {
        axes: axes.as_deref(),
        dtype,
        out: out.as_ref().map(|(_, out)| out),
        keep,
        initial: start.initial(),
        mask: mask.as_ref(),
    };
    let result = enter(py, || fold(&slf.borrow().array, given))?;
    answer(py, result, out)
}

fn folded<'py>(slf: &Bound<'py, PyArray>, name: &str, asked: Asked<'_, 'py>) -> PyResult<Bound<'py, PyArray>> {
    reduced(slf, asked, |array, given| cupric::reduce(name, array, given))
}

/// The place of an extreme, along one axis or among all elements.
fn position<'py>(
    slf: &Bound<'py, PyArray>,
    name: &str,
    axis: Object<'_, 'py>,
    out: Object<'_, 'py>,
    keepdims: Maybe<'py>,
) -> PyResult<Bound<'py, PyArray>> {
    axis_of(axis)?;
    let keepdims = match keepdims.0 {
        Some(object) => Maybe(Some(PyBool::new(slf.py(), object.is_truthy()?).to_owned().into_any())),
        None => keepdims,
    };
    folded(slf, name, Asked { axis, dtype: None, out, keepdims, initial: Maybe(None), r#where: Maybe(None) })
}

#[pymethods]
impl PyArray {
    /// Sum along axes; see `cupric.sum`.
    #[pyo3(signature = (axis = None, dtype = None, out = None, keepdims = Maybe(None), initial = Maybe(None), r#where = Maybe(None)))]
    fn sum<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Maybe<'py>,
        initial: Maybe<'py>,
        r#where: Maybe<'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        folded(slf, "sum", Asked { axis, dtype, out, keepdims, initial, r#where })
    }

    /// Product along axes; see `cupric.prod`.
    #[pyo3(signature = (axis = None, dtype = None, out = None, keepdims = Maybe(None), initial = Maybe(None), r#where = Maybe(None)))]
    fn prod<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Maybe<'py>,
        initial: Maybe<'py>,
        r#where: Maybe<'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        folded(slf, "prod", Asked { axis, dtype, out, keepdims, initial, r#where })
    }

    /// Largest elements along axes; see `cupric.max`.
    #[pyo3(signature = (axis = None, out = None, keepdims = Maybe(None), initial = Maybe(None), r#where = Maybe(None)))]
    fn max<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Maybe<'py>,
        initial: Maybe<'py>,
        r#where: Maybe<'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        folded(slf, "max", Asked { axis, dtype: None, out, keepdims, initial, r#where })
    }

    /// Smallest elements along axes; see `cupric.min`.
    #[pyo3(signature = (axis = None, out = None, keepdims = Maybe(None), initial = Maybe(None), r#where = Maybe(None)))]
    fn min<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Maybe<'py>,
        initial: Maybe<'py>,
        r#where: Maybe<'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        folded(slf, "min", Asked { axis, dtype: None, out, keepdims, initial, r#where })
    }

    /// Whether all elements along axes are true; see `cupric.all`.
    #[pyo3(signature = (axis = None, out = None, keepdims = Maybe(None), r#where = Maybe(None)))]
    fn all<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Maybe<'py>,
        r#where: Maybe<'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        folded(slf, "all", Asked { axis, dtype: None, out, keepdims, initial: Maybe(None), r#where })
    }

    /// Whether any element along axes is true; see `cupric.any`.
    #[pyo3(signature = (axis = None, out = None, keepdims = Maybe(None), r#where = Maybe(None)))]
    fn any<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Maybe<'py>,
        r#where: Maybe<'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        folded(slf, "any", Asked { axis, dtype: None, out, keepdims, initial: Maybe(None), r#where })
    }

    /// Positions of the largest elements along an axis; see `cupric.argmax`.
    #[pyo3(signature = (axis = None, out = None, *, keepdims = Maybe(None)))]
    fn argmax<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Maybe<'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        position(slf, "argmax", axis, out, keepdims)
    }

    /// Positions of the smallest elements along an axis; see `cupric.argmin`.
    #[pyo3(signature = (axis = None, out = None, *, keepdims = Maybe(None)))]
    fn argmin<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Maybe<'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        position(slf, "argmin", axis, out, keepdims)
    }

    /// Arithmetic mean along axes; see `cupric.mean`.
    #[pyo3(signature = (axis = None, dtype = None, out = None, keepdims = Maybe(None), *, r#where = Maybe(None)))]
    fn mean<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Maybe<'py>,
        r#where: Maybe<'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        reduced(slf, Asked { axis, dtype, out, keepdims, initial: Maybe(None), r#where }, cupric::mean)
    }

    /// Variance along axes; see `cupric.var`.
    #[pyo3(signature = (axis = None, dtype = None, out = None, ddof = None, keepdims = Maybe(None), *, r#where = Maybe(None)))]
    fn var<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
        ddof: Option<f64>,
        keepdims: Maybe<'py>,
        r#where: Maybe<'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        reduced(slf, Asked { axis, dtype, out, keepdims, initial: Maybe(None), r#where }, |array, given| {
            cupric::spread(array, given, ddof.unwrap_or(0.0), Spread::Variance)
        })
    }

    /// Standard deviation along axes; see `cupric.std`.
    #[pyo3(signature = (axis = None, dtype = None, out = None, ddof = None, keepdims = Maybe(None), *, r#where = Maybe(None)))]
    fn std<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
        ddof: Option<f64>,
        keepdims: Maybe<'py>,
        r#where: Maybe<'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        reduced(slf, Asked { axis, dtype, out, keepdims, initial: Maybe(None), r#where }, |array, given| {
            cupric::spread(array, given, ddof.unwrap_or(0.0), Spread::Deviation)
        })
    }

    /// Running sums; see `cupric.cumsum`.
    #[pyo3(signature = (axis = None, dtype = None, out = None))]
    fn cumsum<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        scanned(slf, "sum", axis_of(axis)?, dtype, out)
    }

    /// Running products; see `cupric.cumprod`.
    #[pyo3(signature = (axis = None, dtype = None, out = None))]
    fn cumprod<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        scanned(slf, "prod", axis_of(axis)?, dtype, out)
    }

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
        check_sort_kind(kind, stable)?;
        no_fields(order)?;
        let array = slf.borrow().array.clone();
        enter_sized(slf.py(), array.size() * array.item_size(), || {
            array.assign(&cupric::sort(&array, Some(axis), Sorted::Values)?)
        })
    }

    /// The positions that would sort the array along an axis; see `cupric.argsort`.
    #[pyo3(signature = (axis = Some(-1), kind = None, order = None, *, stable = None), text_signature = "($self, axis=-1, kind=None, order=None, *, stable=None)")]
    fn argsort<'py>(
        slf: &Bound<'py, Self>,
        axis: Option<isize>,
        kind: Object<'_, 'py>,
        order: Object<'_, 'py>,
        stable: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
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
    let host = slf.call_method0("get")?;
    slf.py().import("numpy")?.getattr(with)?.call1((host,))
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

/// The one tuple that was given, or the tuple of all arguments.
fn spread_arguments<'py>(arguments: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    if arguments.len() == 1 { arguments.get_item(0) } else { Ok(arguments.clone().into_any()) }
}

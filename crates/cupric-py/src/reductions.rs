//! The array's reductions and scans.

use crate::{
    array::PyArray,
    convert::{Given, axes, axis_of, given, index, is_no_value, optional_dtype},
    errors::{enter, enter_sized, enter_waiting},
    methods::{Object, output},
    ufunc::mask,
};
use cupric::{Array, Bits, DType, Error, Initial, KeepAxes, Reduction, Scalar, Spread, ufunc::Operand};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyList, PyTuple},
};

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

/// A deviation from a known mean.
fn about<'py>(
    slf: &Bound<'py, PyArray>,
    name: &str,
    mean: &Bound<'py, PyAny>,
    asked: Asked<'_, 'py>,
    ddof: f64,
) -> PyResult<Bound<'py, PyArray>> {
    let function = slf.py().import("cupric._statistics")?.getattr("about")?;
    let keepdims = kept(&asked.keepdims)? == KeepAxes::Yes;
    let r#where = asked.r#where.0;
    let made = function.call1((name, slf, mean, asked.axis, asked.dtype, asked.out, ddof, keepdims, r#where))?;
    Ok(made.cast_into::<PyArray>()?)
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
    #[pyo3(
        signature = (axis = None, dtype = None, out = None, keepdims = Maybe(None), initial = Maybe(None), r#where = Maybe(None)),
        text_signature = "($self, axis=None, dtype=None, out=None, keepdims=False, initial=..., where=...)"
    )]
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
    #[pyo3(
        signature = (axis = None, dtype = None, out = None, keepdims = Maybe(None), initial = Maybe(None), r#where = Maybe(None)),
        text_signature = "($self, axis=None, dtype=None, out=None, keepdims=False, initial=..., where=...)"
    )]
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
    #[pyo3(
        signature = (axis = None, out = None, keepdims = Maybe(None), initial = Maybe(None), r#where = Maybe(None)),
        text_signature = "($self, axis=None, out=None, keepdims=False, initial=..., where=...)"
    )]
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
    #[pyo3(
        signature = (axis = None, out = None, keepdims = Maybe(None), initial = Maybe(None), r#where = Maybe(None)),
        text_signature = "($self, axis=None, out=None, keepdims=False, initial=..., where=...)"
    )]
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
    #[pyo3(
        signature = (axis = None, out = None, keepdims = Maybe(None), r#where = Maybe(None)),
        text_signature = "($self, axis=None, out=None, keepdims=False, where=...)"
    )]
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
    #[pyo3(
        signature = (axis = None, out = None, keepdims = Maybe(None), r#where = Maybe(None)),
        text_signature = "($self, axis=None, out=None, keepdims=False, where=...)"
    )]
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
    #[pyo3(
        signature = (axis = None, out = None, *, keepdims = Maybe(None)),
        text_signature = "($self, axis=None, out=None, *, keepdims=False)"
    )]
    fn argmax<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Maybe<'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        position(slf, "argmax", axis, out, keepdims)
    }

    /// Positions of the smallest elements along an axis; see `cupric.argmin`.
    #[pyo3(
        signature = (axis = None, out = None, *, keepdims = Maybe(None)),
        text_signature = "($self, axis=None, out=None, *, keepdims=False)"
    )]
    fn argmin<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        out: Object<'_, 'py>,
        keepdims: Maybe<'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        position(slf, "argmin", axis, out, keepdims)
    }

    /// Arithmetic mean along axes; see `cupric.mean`.
    #[pyo3(
        signature = (axis = None, dtype = None, out = None, keepdims = Maybe(None), *, r#where = Maybe(None)),
        text_signature = "($self, axis=None, dtype=None, out=None, keepdims=False, *, where=...)"
    )]
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
    #[pyo3(
        signature = (axis = None, dtype = None, out = None, ddof = None, keepdims = Maybe(None), *, r#where = Maybe(None), mean = Maybe(None)),
        text_signature = "($self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=..., mean=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "mirrors NumPy's signature")]
    fn var<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
        ddof: Option<f64>,
        keepdims: Maybe<'py>,
        r#where: Maybe<'py>,
        mean: Maybe<'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        let ddof = ddof.unwrap_or(0.0);
        let asked = Asked { axis, dtype, out, keepdims, initial: Maybe(None), r#where };
        if let Some(mean) = mean.0.filter(|mean| !mean.is_none()) {
            return about(slf, "var", &mean, asked, ddof);
        }
        reduced(slf, asked, |array, given| cupric::spread(array, given, ddof, Spread::Variance))
    }

    /// Standard deviation along axes; see `cupric.std`.
    #[pyo3(
        signature = (axis = None, dtype = None, out = None, ddof = None, keepdims = Maybe(None), *, r#where = Maybe(None), mean = Maybe(None)),
        text_signature = "($self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=..., mean=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "mirrors NumPy's signature")]
    fn std<'py>(
        slf: &Bound<'py, Self>,
        axis: Object<'_, 'py>,
        dtype: Object<'_, 'py>,
        out: Object<'_, 'py>,
        ddof: Option<f64>,
        keepdims: Maybe<'py>,
        r#where: Maybe<'py>,
        mean: Maybe<'py>,
    ) -> PyResult<Bound<'py, PyArray>> {
        let ddof = ddof.unwrap_or(0.0);
        let asked = Asked { axis, dtype, out, keepdims, initial: Maybe(None), r#where };
        if let Some(mean) = mean.0.filter(|mean| !mean.is_none()) {
            return about(slf, "std", &mean, asked, ddof);
        }
        reduced(slf, asked, |array, given| cupric::spread(array, given, ddof, Spread::Deviation))
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

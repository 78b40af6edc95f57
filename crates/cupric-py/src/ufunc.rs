//! Ufunc objects.

use crate::{
    array::PyArray,
    convert::{Given, given, optional_dtype, order_of, required, to_numpy},
    creation::from_python,
    errors::enter,
    reductions::Maybe,
};
use cupric::{
    Array, Casting, DType, Error, Order, Scalar, Ufunc,
    ufunc::{Operand, Options, Results, call},
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyTuple,
};
use smallvec::SmallVec;

// A doc comment here would stand in the way of each row's own.
#[pyclass(name = "ufunc", module = "cupric", frozen)]
pub(crate) struct PyUfunc(pub(crate) &'static Ufunc);

#[pymethods]
impl PyUfunc {
    #[getter]
    fn __name__(&self) -> &'static str {
        self.0.name
    }

    #[getter]
    fn __doc__(&self) -> &'static str {
        self.0.doc
    }

    #[getter]
    const fn nin(&self) -> usize {
        self.0.inputs
    }

    #[getter]
    const fn nout(&self) -> usize {
        self.0.outputs
    }

    #[getter]
    const fn nargs(&self) -> usize {
        self.0.inputs + self.0.outputs
    }

    fn __repr__(&self) -> String {
        format!("<ufunc '{}'>", self.0.name)
    }

    fn __reduce__(&self) -> &'static str {
        self.0.name
    }

    #[pyo3(signature = (*args, out = None, r#where = Maybe(None), casting = "same_kind", order = Some("K"), dtype = None, subok = true))]
    #[expect(clippy::too_many_arguments, reason = "mirrors NumPy's signature")]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        out: Option<&Bound<'py, PyAny>>,
        r#where: Maybe<'py>,
        casting: &str,
        order: Option<&str>,
        dtype: Option<&Bound<'py, PyAny>>,
        subok: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = subok;
        let order = order_of(order, Order::Keep)?;
        let row = self.0;
        if args.len() < row.inputs || args.len() > row.inputs + row.outputs {
            return Err(PyTypeError::new_err(format!(
                "{}() takes from {} to {} positional arguments but {} {} given",
                row.name,
                row.inputs,
                row.inputs + row.outputs,
                args.len(),
                if args.len() == 1 { "was" } else { "were" }
            )));
        }
        let inputs: SmallVec<[Given<'py>; 3]> =
            args.iter().take(row.inputs).map(|arg| required(&arg)).collect::<PyResult<_>>()?;
        let outs = outputs(row, args, out)?;
        let mask = r#where.0.as_ref().map(mask).transpose()?.flatten();
        let dtype = optional_dtype(dtype)?;
        let mut operands: SmallVec<[Operand<'_>; 3]> = inputs.iter().filter_map(Given::operand).collect();
        if let [Operand::Number(Scalar::Int(value))] = &operands[..] {
            let (value, dtype) = (*value, enter(py, || cupric::integer_dtype(*value))?);
            operands[0] = Operand::Typed(dtype, Scalar::Int(value).to_bits(dtype));
        }
        widen(row, &mut operands);
        let targets: SmallVec<[Option<&Array>; 2]> = outs.iter().map(|out| out.as_ref().map(|(_, out)| out)).collect();
        let results = enter(py, || {
            let casting = Casting::from_name(casting)?;
            let options = Options { out: &targets, mask: mask.as_ref(), dtype, casting };
            laid_out(call(row, &operands, options)?, &operands, &targets, order)
        })?;
        wrap(py, results, &outs)
    }
}

type Outs<'py> = SmallVec<[Option<(Bound<'py, PyArray>, Array)>; 2]>;

/// The outputs, given by position or as `out=`.
fn outputs<'py>(row: &Ufunc, args: &Bound<'py, PyTuple>, out: Option<&Bound<'py, PyAny>>) -> PyResult<Outs<'py>> {
    let one = |object: &Bound<'py, PyAny>| -> PyResult<Option<(Bound<'py, PyArray>, Array)>> {
        if object.is_none() {
            return Ok(None);
        }
        let object =
            object.cast::<PyArray>().map_err(|_| PyTypeError::new_err("return arrays must be of ArrayType"))?;
        Ok(Some((object.clone(), object.borrow().array.clone())))
    };
    let positional = args.iter().skip(row.inputs);
    let mut outs: Outs<'py> = positional.map(|arg| one(&arg)).collect::<PyResult<_>>()?;
    let Some(out) = out.filter(|out| !out.is_none()) else { return Ok(outs) };
    if !outs.is_empty() {
        return Err(PyTypeError::new_err("cannot specify 'out' as both a positional and keyword argument"));
    }
    if let Ok(several) = out.cast::<PyTuple>() {
        if several.len() != row.outputs {
            return Err(PyValueError::new_err("The 'out' tuple must have exactly one entry per ufunc output"));
        }
        outs = several.iter().map(|out| one(&out)).collect::<PyResult<_>>()?;
    } else if row.outputs == 1 {
        outs.push(one(out)?);
    } else {
        return Err(PyTypeError::new_err("'out' must be a tuple of arrays"));
    }
    Ok(outs)
}

/// The mask of `where=`, unless it is plain `True`. Arrays must hold truth values; all else is converted.
pub(crate) fn mask(object: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let py = object.py();
    match given(object)? {
        Given::Array(array) if array.array.dtype() == DType::Bool => Ok(Some(array.array.clone())),
        Given::Array(array) => {
            let (from, to) = (array.array.dtype(), DType::Bool);
            enter(py, || Err(Error::CannotCast { from, to, casting: Casting::Safe, ufunc: None }))
        }
        Given::Number(Scalar::Bool(true)) => Ok(None),
        _ => from_python(object, Some(to_numpy(py, DType::Bool)?.as_any())).map(Some),
    }
}

fn wrap<'py>(py: Python<'py>, results: Results, outs: &Outs<'py>) -> PyResult<Bound<'py, PyAny>> {
    let mut objects = results.into_iter().enumerate().map(|(index, result)| match outs.get(index) {
        // The caller's own object comes back.
        Some(Some((out, _))) => Ok(out.clone().into_any()),
        _ => Ok::<_, PyErr>(PyArray::object(py, result)?.into_any()),
    });
    let first = objects.next().ok_or_else(|| PyValueError::new_err("a ufunc gives at least one result"))??;
    match objects.next() {
        None => Ok(first),
        Some(second) => Ok(PyTuple::new(py, [first, second?])?.into_any()),
    }
}

/// A comparison with a Python integer that the other side's dtype cannot hold has one answer for all elements, which is that
/// of a comparison with infinity.
pub(crate) fn widen(row: &Ufunc, operands: &mut [Operand<'_>]) {
    let compares = matches!(row.name, "equal" | "not_equal" | "less" | "less_equal" | "greater" | "greater_equal");
    let [left, right] = operands else { return };
    if !compares {
        return;
    }
    let (first, second) = (*left, *right);
    for (number, other) in [(left, second), (right, first)] {
        let dtype = match other {
            Operand::Array(array) => array.dtype(),
            Operand::Typed(dtype, _) => dtype,
            Operand::Number(_) => continue,
        };
        if let Operand::Number(value @ Scalar::Int(whole)) = *number
            && dtype.is_integer()
            && value.to_bits_checked(dtype).is_err()
        {
            *number = if whole < 0 { f64::NEG_INFINITY.into() } else { f64::INFINITY.into() };
        }
    }
}

/// New results in the order that was asked for; they come in that of the inputs.
fn laid_out(
    results: Results,
    operands: &[Operand<'_>],
    targets: &[Option<&Array>],
    order: Order,
) -> cupric::Result<Results> {
    let column = operands.iter().all(|operand| match operand {
        Operand::Array(array) => array.is_column_major(),
        _ => true,
    });
    let order = match order {
        Order::Keep => return Ok(results),
        Order::Any if column => Order::ColumnMajor,
        Order::Any => Order::RowMajor,
        named => named,
    };
    let place = |(index, result): (usize, Array)| {
        let given = targets.get(index).is_some_and(Option::is_some);
        let right = if order == Order::RowMajor { result.is_row_major() } else { result.is_column_major() };
        if given || right { Ok(result) } else { result.copy(order) }
    };
    results.into_iter().enumerate().map(place).collect()
}

//! Python's operators.

use crate::{
    array::PyArray,
    convert::{Given, HostKind, given, host_kind, number},
    errors::{enter, enter_sized},
    ufunc::widen,
};
use cupric::{
    Array, Casting, DType, Error, Scalar, Ufunc,
    ufunc::{Operand, Options, Results, call, row},
};
use pyo3::{
    IntoPyObjectExt,
    basic::CompareOp,
    exceptions::{PyTypeError, PyValueError},
    intern,
    prelude::*,
    types::{PyBytes, PyList, PyNotImplemented, PyRange, PyString, PyTuple},
};
use std::sync::OnceLock;

/// A row of the table of ufuncs, looked up once.
pub(crate) struct Row(&'static str, OnceLock<&'static Ufunc>);

impl Row {
    pub(crate) const fn new(name: &'static str) -> Row {
        Row(name, OnceLock::new())
    }

    pub(crate) fn get(&self) -> &'static Ufunc {
        self.1.get_or_init(|| row(self.0))
    }
}

static ADD: Row = Row::new("add");
static SUBTRACT: Row = Row::new("subtract");
static MULTIPLY: Row = Row::new("multiply");
static DIVIDE: Row = Row::new("divide");
static FLOOR_DIVIDE: Row = Row::new("floor_divide");
static REMAINDER: Row = Row::new("remainder");
static DIVMOD: Row = Row::new("divmod");
static POWER: Row = Row::new("power");
static LEFT_SHIFT: Row = Row::new("left_shift");
static RIGHT_SHIFT: Row = Row::new("right_shift");
static AND: Row = Row::new("bitwise_and");
static OR: Row = Row::new("bitwise_or");
static XOR: Row = Row::new("bitwise_xor");
static EQUAL: Row = Row::new("equal");
static NOT_EQUAL: Row = Row::new("not_equal");
static LESS: Row = Row::new("less");
static LESS_EQUAL: Row = Row::new("less_equal");
static GREATER: Row = Row::new("greater");
static GREATER_EQUAL: Row = Row::new("greater_equal");
static NEGATIVE: Row = Row::new("negative");
static POSITIVE: Row = Row::new("positive");
static ABSOLUTE: Row = Row::new("absolute");
static INVERT: Row = Row::new("invert");
static SQUARE: Row = Row::new("square");
static SQRT: Row = Row::new("sqrt");
static RECIPROCAL: Row = Row::new("reciprocal");

type Answer<'py> = PyResult<Bound<'py, PyAny>>;
type This<'py> = Bound<'py, PyArray>;

fn not_implemented(py: Python<'_>) -> Bound<'_, PyAny> {
    PyNotImplemented::get(py).to_owned().into_any()
}

fn two(
    py: Python<'_>,
    row: &'static Ufunc,
    left: Operand<'_>,
    right: Operand<'_>,
    out: &[Option<&Array>],
) -> PyResult<Results> {
    let mut operands = [left, right];
    widen(row, &mut operands);
    enter(py, || call(row, &operands, Options { out, ..Options::default() }))
}

fn forward<'py>(row: &'static Row, left: &This<'py>, right: &Bound<'py, PyAny>) -> Answer<'py> {
    let py = left.py();
    let given = given(right)?;
    let Some(operand) = given.operand() else { return Ok(not_implemented(py)) };
    let mut results = two(py, row.get(), (&left.borrow().array).into(), operand, &[])?;
    Ok(PyArray::object(py, results.remove(0))?.into_any())
}

fn reflected<'py>(row: &'static Row, right: &This<'py>, left: &Bound<'py, PyAny>) -> Answer<'py> {
    let py = right.py();
    let given = given(left)?;
    let Some(operand) = given.operand() else { return Ok(not_implemented(py)) };
    let mut results = two(py, row.get(), operand, (&right.borrow().array).into(), &[])?;
    Ok(PyArray::object(py, results.remove(0))?.into_any())
}

fn in_place(row: &'static Row, this: &This<'_>, right: &Bound<'_, PyAny>) -> PyResult<()> {
    let given = given(right)?;
    let Some(operand) = given.operand() else {
        return Err(PyTypeError::new_err(format!(
            "unsupported operand type(s) for an in-place operation: 'ndarray' and {}",
            right.get_type().repr()?
        )));
    };
    let array = this.borrow().array.clone();
    two(this.py(), row.get(), (&array).into(), operand, &[Some(&array)]).map(drop)
}

fn single<'py>(row: &'static Row, this: &This<'py>) -> Answer<'py> {
    let py = this.py();
    let mut results = enter(py, || call(row.get(), &[(&this.borrow().array).into()], Options::default()))?;
    Ok(PyArray::object(py, results.remove(0))?.into_any())
}

fn pair<'py>(py: Python<'py>, left: Operand<'_>, right: Operand<'_>) -> Answer<'py> {
    let results = two(py, DIVMOD.get(), left, right, &[])?;
    let objects = results.into_iter().map(|result| PyArray::object(py, result)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyTuple::new(py, objects)?.into_any())
}

/// The cheaper row that gives the same as a power with this exponent.
fn shortcut(base: &Array, exponent: Operand<'_>) -> Option<&'static Row> {
    let Operand::Number(number) = exponent else { return None };
    let value = match number {
        Scalar::Int(value) => value as f64,
        Scalar::Float(value) => value,
        Scalar::Bool(_) | Scalar::Complex(..) => return None,
    };
    let whole = matches!(number, Scalar::Int(_));
    let dtype = base.dtype();
    match value {
        2.0 if dtype.is_inexact() || whole => Some(&SQUARE),
        1.0 if dtype.is_inexact() => Some(&POSITIVE),
        0.5 if dtype.is_inexact() => Some(&SQRT),
        -1.0 if dtype.is_inexact() => Some(&RECIPROCAL),
        _ => None,
    }
}

fn raise_to<'py>(
    py: Python<'py>,
    base: &Array,
    exponent: &Bound<'py, PyAny>,
    out: &[Option<&Array>],
) -> PyResult<Option<Array>> {
    let given = given(exponent)?;
    let Some(operand) = given.operand() else { return Ok(None) };
    let options = Options { out, ..Options::default() };
    let mut results = match shortcut(base, operand) {
        Some(row) => enter(py, || call(row.get(), &[base.into()], options))?,
        None => enter(py, || call(POWER.get(), &[base.into(), operand], options))?,
    };
    Ok(Some(results.remove(0)))
}

fn has_modulus(modulus: Option<&Bound<'_, PyAny>>) -> bool {
    modulus.is_some_and(|modulus| !modulus.is_none())
}

/// A matrix product with another array.
pub(crate) fn product(py: Python<'_>, left: &Array, right: &Array) -> PyResult<Array> {
    let work = (left.size() + right.size()) * left.item_size();
    enter_sized(py, work, || cupric::matmul(left, right))
}

fn matrix<'py>(left: &This<'py>, right: &Bound<'py, PyAny>) -> PyResult<Option<Array>> {
    match given(right)? {
        Given::Array(right) => product(left.py(), &left.borrow().array, &right.array).map(Some),
        Given::Other => Ok(None),
        _ => Err(PyValueError::new_err(
            "matmul: Input operand 1 does not have enough dimensions (has 0, gufunc core with signature \
             (n?,k),(k,m?)->(n?,m?) requires 1)",
        )),
    }
}

/// Whether an object is no number and no array: no element equals it.
fn is_foreign(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if object.is_instance_of::<PyArray>() || number(object)?.is_some() {
        return Ok(false);
    }
    if object.is_none() || object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
        return Ok(true);
    }
    match given(object) {
        Ok(given) => Ok(matches!(given, Given::Other)),
        // Scalars of NumPy's that are no numbers.
        Err(_) => Ok(host_kind(object)? == HostKind::Scalar),
    }
}

/// `==` or `!=` with what is no number and no array.
fn with_foreign<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>, answer: Scalar) -> Answer<'py> {
    let py = slf.py();
    if other.hasattr(intern!(py, "__array_ufunc__"))? && host_kind(other)? == HostKind::Other {
        return Ok(not_implemented(py));
    }
    if other.is_instance_of::<PyList>() || other.is_instance_of::<PyTuple>() || other.is_instance_of::<PyRange>() {
        return Err(PyTypeError::new_err(format!(
            "Unsupported type {}: make an array of it first, with array",
            other.get_type().repr()?
        )));
    }
    let made = enter(py, || cupric::full(slf.borrow().array.shape(), answer, DType::Bool))?;
    array_object(py, made)
}

#[pymethods]
impl PyArray {
    fn __add__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        forward(&ADD, slf, other)
    }

    fn __radd__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        reflected(&ADD, slf, other)
    }

    fn __iadd__(slf: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(&ADD, slf, other)
    }

    fn __sub__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        forward(&SUBTRACT, slf, other)
    }

    fn __rsub__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        reflected(&SUBTRACT, slf, other)
    }

    fn __isub__(slf: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(&SUBTRACT, slf, other)
    }

    fn __mul__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        forward(&MULTIPLY, slf, other)
    }

    fn __rmul__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        reflected(&MULTIPLY, slf, other)
    }

    fn __imul__(slf: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(&MULTIPLY, slf, other)
    }

    fn __truediv__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        forward(&DIVIDE, slf, other)
    }

    fn __rtruediv__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        reflected(&DIVIDE, slf, other)
    }

    fn __itruediv__(slf: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(&DIVIDE, slf, other)
    }

    fn __floordiv__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        forward(&FLOOR_DIVIDE, slf, other)
    }

    fn __rfloordiv__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        reflected(&FLOOR_DIVIDE, slf, other)
    }

    fn __ifloordiv__(slf: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(&FLOOR_DIVIDE, slf, other)
    }

    fn __mod__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        forward(&REMAINDER, slf, other)
    }

    fn __rmod__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        reflected(&REMAINDER, slf, other)
    }

    fn __imod__(slf: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(&REMAINDER, slf, other)
    }

    fn __divmod__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        let given = given(other)?;
        let Some(operand) = given.operand() else { return Ok(not_implemented(slf.py())) };
        pair(slf.py(), (&slf.borrow().array).into(), operand)
    }

    fn __rdivmod__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        let given = given(other)?;
        let Some(operand) = given.operand() else { return Ok(not_implemented(slf.py())) };
        pair(slf.py(), operand, (&slf.borrow().array).into())
    }

    fn __pow__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>, modulus: Option<&Bound<'py, PyAny>>) -> Answer<'py> {
        if has_modulus(modulus) {
            return Ok(not_implemented(slf.py()));
        }
        match raise_to(slf.py(), &slf.borrow().array, other, &[])? {
            Some(array) => array_object(slf.py(), array),
            None => Ok(not_implemented(slf.py())),
        }
    }

    fn __rpow__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>, modulus: Option<&Bound<'py, PyAny>>) -> Answer<'py> {
        if has_modulus(modulus) {
            return Ok(not_implemented(slf.py()));
        }
        reflected(&POWER, slf, other)
    }

    fn __ipow__(slf: &This<'_>, other: &Bound<'_, PyAny>, modulus: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        if has_modulus(modulus) {
            return Err(PyTypeError::new_err("pow() with a modulus is not supported for arrays"));
        }
        let array = slf.borrow().array.clone();
        match raise_to(slf.py(), &array, other, &[Some(&array)])? {
            Some(_) => Ok(()),
            None => Err(PyTypeError::new_err("unsupported operand type(s) for **=")),
        }
    }

    fn __lshift__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        forward(&LEFT_SHIFT, slf, other)
    }

    fn __rlshift__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        reflected(&LEFT_SHIFT, slf, other)
    }

    fn __ilshift__(slf: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(&LEFT_SHIFT, slf, other)
    }

    fn __rshift__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        forward(&RIGHT_SHIFT, slf, other)
    }

    fn __rrshift__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        reflected(&RIGHT_SHIFT, slf, other)
    }

    fn __irshift__(slf: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(&RIGHT_SHIFT, slf, other)
    }

    fn __and__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        forward(&AND, slf, other)
    }

    fn __rand__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        reflected(&AND, slf, other)
    }

    fn __iand__(slf: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(&AND, slf, other)
    }

    fn __or__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        forward(&OR, slf, other)
    }

    fn __ror__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        reflected(&OR, slf, other)
    }

    fn __ior__(slf: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(&OR, slf, other)
    }

    fn __xor__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        forward(&XOR, slf, other)
    }

    fn __rxor__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        reflected(&XOR, slf, other)
    }

    fn __ixor__(slf: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(&XOR, slf, other)
    }

    fn __matmul__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        match matrix(slf, other)? {
            Some(array) => array_object(slf.py(), array),
            None => Ok(not_implemented(slf.py())),
        }
    }

    fn __rmatmul__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>) -> Answer<'py> {
        match given(other)? {
            Given::Array(left) => array_object(slf.py(), product(slf.py(), &left.array, &slf.borrow().array)?),
            Given::Other => Ok(not_implemented(slf.py())),
            _ => Err(PyValueError::new_err(
                "matmul: Input operand 0 does not have enough dimensions (has 0, gufunc core with signature \
                 (n?,k),(k,m?)->(n?,m?) requires 1)",
            )),
        }
    }

    fn __imatmul__(slf: &This<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(array) = matrix(slf, other)? else {
            return Err(PyTypeError::new_err("unsupported operand type(s) for @="));
        };
        let this = slf.borrow().array.clone();
        if array.shape() != this.shape() {
            return Err(PyValueError::new_err("inplace matrix multiplication needs a result of the same shape"));
        }
        enter(slf.py(), || {
            let (from, to, casting) = (array.dtype(), this.dtype(), Casting::SameKind);
            if !cupric::can_cast(from, to, casting) {
                return Err(Error::CannotCast { from, to, casting, ufunc: Some("matmul".into()) });
            }
            this.assign(&array)
        })
    }

    fn __neg__<'py>(slf: &This<'py>) -> Answer<'py> {
        single(&NEGATIVE, slf)
    }

    fn __pos__<'py>(slf: &This<'py>) -> Answer<'py> {
        single(&POSITIVE, slf)
    }

    fn __abs__<'py>(slf: &This<'py>) -> Answer<'py> {
        single(&ABSOLUTE, slf)
    }

    fn __invert__<'py>(slf: &This<'py>) -> Answer<'py> {
        single(&INVERT, slf)
    }

    fn __richcmp__<'py>(slf: &This<'py>, other: &Bound<'py, PyAny>, op: CompareOp) -> Answer<'py> {
        let row = match op {
            CompareOp::Lt => &LESS,
            CompareOp::Le => &LESS_EQUAL,
            CompareOp::Eq => &EQUAL,
            CompareOp::Ne => &NOT_EQUAL,
            CompareOp::Gt => &GREATER,
            CompareOp::Ge => &GREATER_EQUAL,
        };
        let unlike = match op {
            CompareOp::Eq => Some(Scalar::Bool(false)),
            CompareOp::Ne => Some(Scalar::Bool(true)),
            _ => None,
        };
        if let Some(answer) = unlike
            && is_foreign(other)?
        {
            return with_foreign(slf, other, answer);
        }
        forward(row, slf, other)
    }
}

fn array_object(py: Python<'_>, array: Array) -> Answer<'_> {
    PyArray::of(array).into_bound_py_any(py)
}

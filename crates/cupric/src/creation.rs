//! Making arrays from shapes, ranges and numbers.

use crate::{array::Array, ufunc::generate};
use cupric_core::{Bits, DType, Error, Result, Scalar, Typed, Weak, result_type};
use cupric_ir::{Body, Ex, Register, Ty, trace};
use smallvec::SmallVec;
use std::sync::{Arc, LazyLock};

/// An array of zeros.
///
/// # Errors
/// When there is not enough memory.
pub fn zeros(shape: &[usize], dtype: DType) -> Result<Array> {
    full(shape, Scalar::Int(0), dtype)
}

/// An array of ones.
///
/// # Errors
/// When there is not enough memory.
pub fn ones(shape: &[usize], dtype: DType) -> Result<Array> {
    full(shape, Scalar::Int(1), dtype)
}

/// An array of one value.
///
/// # Errors
/// When there is not enough memory.
pub fn full(shape: &[usize], value: Scalar, dtype: DType) -> Result<Array> {
    let array = Array::empty(shape, dtype)?;
    array.fill(value)?;
    Ok(array)
}

/// 0, 1, .. in a dtype.
///
/// # Errors
/// When there is not enough memory.
pub fn arange(len: usize, dtype: DType) -> Result<Array> {
    progression(Scalar::Int(0), Scalar::Int(1), len, dtype)
}

/// NumPy's `arange`: how many elements there are, and the dtype where none is named.
///
/// # Errors
/// When the step is zero or the length is not a number.
pub fn arange_between(start: Scalar, stop: Scalar, step: Scalar, dtype: Option<DType>) -> Result<Array> {
    let dtype = dtype.unwrap_or_else(|| default_dtype(&[start, stop, step]));
    if let (Scalar::Complex(..), _, _) | (_, Scalar::Complex(..), _) | (_, _, Scalar::Complex(..)) = (start, stop, step)
    {
        return Err(Error::Type("arange of complex numbers is not supported".into()));
    }
    let len = match (start, stop, step) {
        (_, _, Scalar::Int(0)) => return Err(Error::ZeroDivision("division by zero".into())),
        (Scalar::Int(start), Scalar::Int(stop), Scalar::Int(step)) => {
            let steps = (stop - start).div_euclid(step) + i128::from((stop - start).rem_euclid(step) != 0 && step > 0);
            let steps = if step > 0 { steps } else { -((stop - start).div_euclid(-step)) };
            usize::try_from(steps.max(0)).map_err(|_| Error::Value("Maximum allowed size exceeded".into()))?
        }
        _ => float_len(real(start), real(stop), real(step))?,
    };
    if dtype == DType::Bool && len > 2 {
        return Err(Error::Type(
            "arange() is only supported for booleans when the result has at most length 2.".into(),
        ));
    }
    check_ends(start, step, len, dtype)?;
    progression(start, step, len, dtype)
}

/// The first two elements, from which the others follow, must fit an integer dtype.
fn check_ends(start: Scalar, step: Scalar, len: usize, dtype: DType) -> Result<()> {
    if !dtype.is_integer() {
        return Ok(());
    }
    let second = match (start, step) {
        (Scalar::Int(start), Scalar::Int(step)) => Scalar::Int(start.saturating_add(step)),
        _ => Scalar::Float(real(start) + real(step)),
    };
    for value in [start, second].into_iter().take(len) {
        value.to_bits_checked(dtype)?;
    }
    Ok(())
}

fn float_len(start: f64, stop: f64, step: f64) -> Result<usize> {
    let steps = (stop - start) / step;
    if steps.is_nan() {
        return Err(if step == 0.0 {
            Error::ZeroDivision("float division by zero".into())
        } else {
            Error::Value("arange: cannot compute length".into())
        });
    }
    if step == 0.0 {
        return Err(Error::ZeroDivision("float division by zero".into()));
    }
    let len = steps.ceil().max(0.0);
    if len > (1u64 << 62) as f64 {
        return Err(Error::Value("Maximum allowed size exceeded".into()));
    }
    Ok(len as usize)
}

fn real(value: Scalar) -> f64 {
    match value {
        Scalar::Bool(value) => f64::from(u8::from(value)),
        Scalar::Int(value) => value as f64,
        Scalar::Float(value) | Scalar::Complex(value, _) => value,
    }
}

/// The dtype of Python numbers: int64, float64 or complex128.
#[must_use]
pub fn default_dtype(values: &[Scalar]) -> DType {
    let typed: SmallVec<[Typed; 4]> = values
        .iter()
        .map(|value| match value.typed() {
            Typed::Weak(Weak::Int) => Typed::Strong(DType::Int64),
            Typed::Weak(Weak::Float) => Typed::Strong(DType::Float64),
            Typed::Weak(Weak::Complex) => Typed::Strong(DType::Complex128),
            strong => strong,
        })
        .collect();
    result_type(&typed)
}

/// The dtype of an integer that stands alone: int64, or uint64 where only that holds it.
///
/// # Errors
/// When neither does.
pub fn integer_dtype(value: i128) -> Result<DType> {
    if i64::try_from(value).is_ok() {
        return Ok(DType::Int64);
    }
    u64::try_from(value).map(|_| DType::UInt64).map_err(|_| {
        Error::Type(format!("Unsupported dtype object: the integer {value} fits neither int64 nor uint64"))
    })
}

/// `start + i * step`, as NumPy fills a range: the step is what lies between the first two elements.
fn progression(start: Scalar, step: Scalar, len: usize, dtype: DType) -> Result<Array> {
    let array = Array::empty(&[len], dtype)?;
    let second = match (start, step) {
        (Scalar::Int(start), Scalar::Int(step)) => Scalar::Int(start.wrapping_add(step)),
        _ => Scalar::Float(real(start) + real(step)),
    };
    let wide = dtype.component();
    let (first, second) = (start.to_bits(wide), second.to_bits(wide));
    generate(progression_body(wide), &[(wide, first), (wide, second)], &array)?;
    Ok(array)
}

fn progression_body(dtype: DType) -> &'static Arc<Body> {
    static BODIES: LazyLock<Vec<Arc<Body>>> = LazyLock::new(|| {
        DType::ALL
            .iter()
            .map(|&dtype| {
                let ty = Ty::of(dtype.component());
                body(&[dtype, dtype], dtype, || {
                    let (first, second) = (input(0, ty), input(1, ty));
                    if ty == Ty::Bool {
                        return Ex::position().equal(Ex::number(Ty::I64, 0.0)).select(first, second);
                    }
                    (first + Ex::position().cast(ty) * (second - first)).round_to(dtype)
                })
            })
            .collect()
    });
    &BODIES[dtype as usize]
}

fn input(index: usize, ty: Ty) -> Ex {
    Ex::load(index, cupric_ir::Component::Real, ty)
}

fn body(takes: &[DType], gives: DType, formula: impl FnOnce() -> Ex) -> Arc<Body> {
    let (graph, results) = trace(|| vec![formula()]);
    let results = results.into_iter().map(|real| Register { real, imaginary: None }).collect();
    Arc::new(Body { graph, results, takes: SmallVec::from_slice(takes), gives: SmallVec::from_slice(&[gives]) })
}

/// `count` numbers from `start` to `stop`, which is the last of them or, if `endpoint` is `Exclude`, comes after them.
///
/// # Errors
/// When there is not enough memory.
pub fn linspace(start: f64, stop: f64, count: usize, endpoint: Endpoint, dtype: DType) -> Result<Array> {
    static BODY: LazyLock<Arc<Body>> = LazyLock::new(|| {
        let double = DType::Float64;
        body(&[double, double, double, DType::Int64], double, || {
            let (start, step, stop, last) =
                (input(0, Ty::F64), input(1, Ty::F64), input(2, Ty::F64), input(3, Ty::I64));
            let inner = Ex::position().cast(Ty::F64) * step + start;
            Ex::position().equal(last).select(stop, inner)
        })
    });
    let gaps = match endpoint {
        Endpoint::Include => count.saturating_sub(1),
        Endpoint::Exclude => count,
    };
    let step = if gaps > 0 { (stop - start) / gaps as f64 } else { f64::NAN };
    // Without a gap there is one element, the start.
    let step = if gaps > 0 { step } else { 0.0 };
    let last = if endpoint == Endpoint::Include && count > 1 { count as i64 - 1 } else { -1 };
    let double = |value: f64| (DType::Float64, Bits([value.to_bits(), 0]));
    let array = Array::empty(&[count], dtype)?;
    let whole = dtype.is_integer();
    let exact = if whole { Array::empty(&[count], DType::Float64)? } else { array.clone() };
    generate(&BODY, &[double(start), double(step), double(stop), (DType::Int64, Bits([last as u64, 0]))], &exact)?;
    if whole {
        let floor = crate::ufunc::call(crate::ufunc::row("floor"), &[(&exact).into()], Default::default())?;
        array.assign(&floor[0])?;
    }
    Ok(array)
}

/// Whether the last number of a range is its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Endpoint {
    /// It is.
    Include,
    /// It comes after the last one.
    Exclude,
}

/// Ones on a diagonal of zeros.
///
/// # Errors
/// When there is not enough memory.
pub fn eye(rows: usize, columns: usize, diagonal: i64, dtype: DType) -> Result<Array> {
    static BODY: LazyLock<Arc<Body>> = LazyLock::new(|| {
        let whole = DType::Int64;
        body(&[whole, whole], DType::Bool, || {
            let (columns, diagonal) = (input(0, Ty::I64), input(1, Ty::I64));
            let (row, column) = (Ex::position().floor_div(columns), Ex::position().floor_mod(columns));
            column.equal(row + diagonal)
        })
    });
    let array = Array::empty(&[rows, columns], dtype)?;
    let whole = |value: i64| (DType::Int64, Bits([value as u64, 0]));
    generate(&BODY, &[whole(columns as i64), whole(diagonal)], &array)?;
    Ok(array)
}

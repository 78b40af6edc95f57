//! Comparing whole arrays.

use crate::{
    array::Array,
    reduction::{Reduction, reduce},
    ufunc::{Operand, Options, call, row},
};
use cupric_core::{DType, Result, Scalar};

/// Whether NaN equals NaN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NanEqual {
    /// It does not.
    No,
    /// It does.
    Yes,
}

/// Where `|a - b| <= atol + rtol * |b|`; infinities are close to themselves alone.
///
/// # Errors
/// When the shapes do not fit.
pub fn isclose(a: Operand<'_>, b: Operand<'_>, rtol: f64, atol: f64, nan: NanEqual) -> Result<Array> {
    let one = |name: &str, inputs: &[Operand<'_>]| Ok(call(row(name), inputs, Options::default())?.remove(0));
    let difference = one("absolute", &[(&inexact("subtract", a, b)?).into()])?;
    let size = one("absolute", &[b])?;
    let scaled = one("multiply", &[(&size).into(), rtol.into()])?;
    let bound = one("add", &[(&scaled).into(), atol.into()])?;
    let near = one("less_equal", &[(&difference).into(), (&bound).into()])?;
    let finite = one("isfinite", &[b])?;
    let near = one("bitwise_and", &[(&near).into(), (&finite).into()])?;
    let same = one("equal", &[a, b])?;
    let close = one("bitwise_or", &[(&near).into(), (&same).into()])?;
    if nan == NanEqual::No {
        return Ok(close);
    }
    let both = one("bitwise_and", &[(&one("isnan", &[a])?).into(), (&one("isnan", &[b])?).into()])?;
    one("bitwise_or", &[(&close).into(), (&both).into()])
}

/// The difference, not in integers, which would wrap.
fn inexact(name: &str, a: Operand<'_>, b: Operand<'_>) -> Result<Array> {
    let whole = |operand: Operand<'_>| match operand {
        Operand::Array(array) => array.dtype().is_integer() || array.dtype() == DType::Bool,
        Operand::Number(number) => matches!(number, Scalar::Int(_) | Scalar::Bool(_)),
        Operand::Typed(dtype, _) => dtype.is_integer() || dtype == DType::Bool,
    };
    let dtype = (whole(a) && whole(b)).then_some(DType::Float64);
    Ok(call(row(name), &[a, b], Options { dtype, ..Options::default() })?.remove(0))
}

/// Whether all elements are close, as a 0-d array.
///
/// # Errors
/// When the shapes do not fit.
pub fn allclose(a: Operand<'_>, b: Operand<'_>, rtol: f64, atol: f64, nan: NanEqual) -> Result<Array> {
    reduce("all", &isclose(a, b, rtol, atol, nan)?, Reduction::default())
}

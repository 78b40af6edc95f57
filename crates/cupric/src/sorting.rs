//! Sorting.

use crate::array::Array;
use cupric_core::{DType, Result, normalize_axis};
use cupric_ir::{Op, Sort, Sorted, Step};

/// Sorts along an axis; of all elements in row-major order if `axis` is `None`. Stable, NaN last.
///
/// # Errors
/// When the axis does not exist.
///
/// ```
/// # fn main() -> cupric::Result<()> {
/// use cupric::{Sorted, arange, sort};
/// let a = arange(4, cupric::DType::Int64)?;
/// assert_eq!(sort(&a, Some(-1), Sorted::Values)?.shape(), [4]);
/// # Ok(())
/// # }
/// ```
pub fn sort(a: &Array, axis: Option<isize>, answer: Sorted) -> Result<Array> {
    let flat;
    let (a, axis) = match axis {
        Some(axis) if a.ndim() > 0 => (a, normalize_axis(axis, a.ndim())?),
        Some(axis) => {
            // A number has no order, but one position.
            normalize_axis(axis, usize::from(answer == Sorted::Positions))?;
            flat = a.reshape(&[-1])?;
            (&flat, 0)
        }
        None => {
            flat = a.reshape(&[-1])?;
            (&flat, 0)
        }
    };
    let dtype = if answer == Sorted::Values { a.dtype() } else { DType::Int64 };
    let output = a.empty_beside(a.shape(), dtype)?;
    if output.layout().is_empty() {
        return Ok(output);
    }
    let (input, result) = (a.with_axis_last(axis), output.with_axis_last(axis));
    let shape = result.layout().shape.clone();
    let op = Op::Sort(Sort { shape, input: input.operand(), output: result.operand(), answer });
    result.enqueue(Step::Single(Box::new(op)), &[input.storage()], &[result.storage()])?;
    Ok(output)
}

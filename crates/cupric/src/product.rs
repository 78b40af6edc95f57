//! Matrix products.

use crate::array::Array;
use cupric_core::{Dims, Error, Result, Scalar, broadcast_shapes, promote};
use cupric_ir::{MatMul, Op, Operand, Step};

/// `a @ b`: matrices in the last two axes, the others broadcast; a vector is a row on the left, a column on the right.
///
/// # Errors
/// When an operand has no axes or the inner lengths differ.
///
/// ```
/// # fn main() -> cupric::Result<()> {
/// let a = cupric::ones(&[2, 3], cupric::DType::Float64)?;
/// assert_eq!(cupric::matmul(&a, &a.reversed_axes())?.shape(), [2, 2]);
/// # Ok(())
/// # }
/// ```
pub fn matmul(a: &Array, b: &Array) -> Result<Array> {
    for (index, operand) in [a, b].into_iter().enumerate() {
        if operand.ndim() == 0 {
            return Err(Error::Value(format!(
                "matmul: Input operand {index} does not have enough dimensions (has 0, gufunc core with signature \
                 (n?,k),(k,m?)->(n?,m?) requires 1)"
            )));
        }
    }
    let left = if a.ndim() == 1 { a.with_layout(a.layout().expand_dims(&[0])) } else { a.clone() };
    let right = if b.ndim() == 1 { b.with_layout(b.layout().expand_dims(&[1])) } else { b.clone() };
    let (inner, other) = (left.shape()[left.ndim() - 1], right.shape()[right.ndim() - 2]);
    if inner != other {
        return Err(Error::MatmulMismatch { left: inner, right: other });
    }
    let product = product(&left, &right)?;
    let mut shape: Dims = product.shape().into();
    if b.ndim() == 1 {
        shape.pop();
    }
    if a.ndim() == 1 {
        shape.remove(shape.len() - usize::from(b.ndim() != 1) - 1);
    }
    product.reshaped(&shape)
}

fn product(left: &Array, right: &Array) -> Result<Array> {
    let dtype = promote(left.dtype(), right.dtype());
    let (rows, inner) = (left.shape()[left.ndim() - 2], left.shape()[left.ndim() - 1]);
    let columns = right.shape()[right.ndim() - 1];
    let batch = broadcast_shapes(&[&left.shape()[..left.ndim() - 2], &right.shape()[..right.ndim() - 2]])?;
    let over = |a: usize, b: usize| -> Dims { batch.iter().copied().chain([a, b]).collect() };
    let output = left.empty_beside(&over(rows, columns), dtype)?;
    if output.size() == 0 {
        return Ok(output);
    }
    if inner == 0 {
        output.fill(Scalar::Int(0))?;
        return Ok(output);
    }
    let (left, right) = (left.to_dtype(dtype)?, right.to_dtype(dtype)?);
    let operand = |array: &Array, a, b| -> Result<Operand> { array.operand_over(&over(a, b)) };
    let op = Op::MatMul(MatMul {
        rows,
        columns,
        inner,
        left: operand(&left, rows, inner)?,
        right: operand(&right, inner, columns)?,
        output: output.operand(),
        batch,
    });
    output.enqueue(Step::Single(Box::new(op)), &[left.storage(), right.storage()], &[output.storage()])?;
    Ok(output)
}

/// NumPy's `dot`: the sum over the last axis of `a` and the second to last of `b`; the plain product with a 0-d array.
///
/// # Errors
/// When the lengths of the two axes differ.
pub fn dot(a: &Array, b: &Array) -> Result<Array> {
    use crate::ufunc::{Options, call, row};
    if a.ndim() == 0 || b.ndim() == 0 {
        return Ok(call(row("multiply"), &[a.into(), b.into()], Options::default())?.remove(0));
    }
    let axis_right = b.ndim().saturating_sub(2);
    let (inner, other) = (a.shape()[a.ndim() - 1], b.shape()[axis_right]);
    if inner != other {
        let (left, right, axis_left) = (a.shape().to_vec(), b.shape().to_vec(), a.ndim() - 1);
        return Err(Error::NotAligned { left, right, axis_left, axis_right });
    }
    if a.ndim() <= 2 && b.ndim() <= 2 {
        return matmul(a, b);
    }
    let outer_left: Dims = a.shape()[..a.ndim() - 1].into();
    let right = b.with_axis_last(axis_right);
    let outer_right: Dims = right.shape()[..right.ndim() - 1].into();
    let count = |shape: &[usize]| shape.iter().product::<usize>();
    let flat_left = a.reshaped(&[count(&outer_left), inner])?;
    let flat_right = right.reshaped(&[count(&outer_right), inner])?.reversed_axes();
    let shape: Dims = outer_left.iter().chain(&outer_right).copied().collect();
    matmul(&flat_left, &flat_right)?.reshaped(&shape)
}

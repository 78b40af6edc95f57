//! Simplifying the axes that several operands are walked along.

use smallvec::SmallVec;

use crate::shape::{Dims, Strides};

/// Drops unit axes and merges neighbours that every operand walks as one progression; the order of elements stays.
/// An empty shape in becomes one axis of size 0.
pub fn coalesce(shape: &[usize], operands: &[&[isize]]) -> (Dims, SmallVec<[Strides; 4]>) {
    let mut dims = Dims::new();
    let mut strides: SmallVec<[Strides; 4]> = operands.iter().map(|_| Strides::new()).collect();
    if shape.contains(&0) {
        strides.iter_mut().for_each(|strides| strides.push(0));
        dims.push(0);
        return (dims, strides);
    }
    for (axis, &size) in shape.iter().enumerate().filter(|&(_, &size)| size != 1) {
        let inner = operands.iter().map(|operand| operand[axis]);
        let joins = |(outer, inner): (&Strides, isize)| outer.last() == Some(&inner.wrapping_mul(size as isize));
        let merges = !dims.is_empty() && strides.iter().zip(inner.clone()).all(joins);
        match dims.last_mut().filter(|_| merges) {
            Some(last) => *last *= size,
            None => dims.push(size),
        }
        for (strides, stride) in strides.iter_mut().zip(inner) {
            if merges {
                strides.pop();
            }
            strides.push(stride);
        }
    }
    (dims, strides)
}

/// The permutation that puts the largest strides first, those of the first operand before the others'.
/// Equal axes keep their order.
pub fn sort_axes(shape: &[usize], operands: &[&[isize]]) -> Dims {
    let mut axes: Dims = (0..shape.len()).collect();
    let key = |axis: usize| operands.iter().map(move |operand| operand[axis].unsigned_abs());
    axes.sort_by(|&a, &b| key(b).cmp(key(a)));
    axes
}

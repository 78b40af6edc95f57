//! Reshaping without a copy.

use smallvec::SmallVec;

use crate::layout::Layout;
use crate::shape::Strides;

impl Layout {
    /// The same elements, in row-major order, with another shape of as many elements; `None` when that needs a copy.
    pub fn reshape(&self, shape: &[usize], item: usize) -> Option<Self> {
        if self.shape[..] == *shape {
            return Some(self.clone());
        }
        if self.is_row_major(item) {
            return Some(Self { offset: self.offset, ..Self::row_major(shape, item) });
        }
        let strides = reshaped_strides(self, shape)?;
        Some(Self { shape: shape.into(), strides, offset: self.offset })
    }
}

/// Walks both shapes in runs of axes with equal products; each run of old axes has to be one progression.
fn reshaped_strides(layout: &Layout, shape: &[usize]) -> Option<Strides> {
    let old: SmallVec<[(usize, isize); 6]> =
        layout.shape.iter().copied().zip(layout.strides.iter().copied()).filter(|&(size, _)| size != 1).collect();
    let mut strides = Strides::from_elem(0, shape.len());
    let (mut first_old, mut first_new) = (0, 0);
    while first_old < old.len() {
        let (end_old, end_new) = run(&old, shape, first_old, first_new)?;
        let axes = &old[first_old..end_old];
        if axes.windows(2).any(|pair| pair[0].1 != pair[1].1.wrapping_mul(pair[1].0 as isize)) {
            return None;
        }
        fill(&mut strides[first_new..end_new], &shape[first_new..end_new], axes.last()?.1);
        (first_old, first_new) = (end_old, end_new);
    }
    // Unit axes behind the last run go on with its stride.
    let last = old.last()?.1;
    strides[first_new..].fill(last);
    Some(strides)
}

/// Ends of the shortest runs from the two positions on that hold equally many elements.
fn run(old: &[(usize, isize)], new: &[usize], first_old: usize, first_new: usize) -> Option<(usize, usize)> {
    let (mut end_old, mut end_new) = (first_old + 1, first_new + 1);
    let (mut product_old, mut product_new) = (old.get(first_old)?.0, *new.get(first_new)?);
    while product_old != product_new {
        if product_new < product_old {
            product_new *= new.get(end_new)?;
            end_new += 1;
        } else {
            product_old *= old.get(end_old)?.0;
            end_old += 1;
        }
    }
    Some((end_old, end_new))
}

fn fill(strides: &mut [isize], shape: &[usize], innermost: isize) {
    let mut stride = innermost;
    for (target, &size) in strides.iter_mut().zip(shape).rev() {
        *target = stride;
        stride = stride.wrapping_mul(size as isize);
    }
}

//! Many short rows sorted side by side, one in each lane of a vector, by Batcher's merge exchange: the same comparisons whatever
//! the elements are.

use crate::{
    key::{Form, Key},
    level::{Kernel, best},
    radix::by_form,
};
use std::marker::PhantomData;

/// Longer rows are sorted faster one by one.
pub(crate) const LONGEST: usize = 4096;

/// Bytes in a row of lanes: one vector.
pub(crate) const WIDTH: usize = 64;

/// Sorts lanes; arguments are the lanes, element by element.
struct Network<K, const LANES: usize>(PhantomData<K>);

impl<K: Key, const LANES: usize> Kernel for Network<K, LANES> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, _: *const u8, _: *const u8, _: *const u8, n: usize) {
        // SAFETY: the caller has `n` rows of lanes.
        let rows = unsafe { std::slice::from_raw_parts_mut(out.cast::<[K; LANES]>(), n) };
        // Blocks of each size, those that belong together one after the other, so that they are still in the first cache.
        let mut done = 0;
        while done < n {
            done += 2;
            // All sizes whose blocks end here, or at the end of the rows.
            let mut size = 2;
            while done.is_multiple_of(size) || done >= n {
                let low = (done - 1) / size * size;
                merge(&mut rows[low..], size);
                if low == 0 {
                    break;
                }
                size *= 2;
            }
        }
    }
}

/// Merges the two sorted halves of a block that would have `size` rows; those past the end are the greatest.
#[inline(always)]
fn merge<K: Key, const LANES: usize>(block: &mut [[K; LANES]], size: usize) {
    let len = block.len().min(size);
    let half = size / 2;
    if half >= len {
        return;
    }
    exchange(block, 0, half, half.min(len - half));
    let mut distance = half / 2;
    while distance > 0 {
        let mut at = distance;
        while at + distance < len {
            if at + 2 * distance <= size - distance {
                exchange(block, at, distance, distance.min(len - at - distance));
            }
            at += 2 * distance;
        }
        distance /= 2;
    }
}

/// Puts `count` rows from `at` on in order with those `distance` further.
#[inline(always)]
fn exchange<K: Key, const LANES: usize>(rows: &mut [[K; LANES]], at: usize, distance: usize, count: usize) {
    let (left, right) = rows[at..].split_at_mut(distance);
    let (left, right) = (&mut left[..count], &mut right[..count]);
    if LANES < 16 {
        // Of so few lanes alone the compiler makes no vectors.
        for (left, right) in left.as_flattened_mut().iter_mut().zip(right.as_flattened_mut()) {
            (*left, *right) = left.ordered(*right);
        }
        return;
    }
    for (left, right) in left.iter_mut().zip(right) {
        let (low, high) = (*left, *right);
        for lane in 0..LANES {
            (left[lane], right[lane]) = low[lane].ordered(high[lane]);
        }
    }
}

/// Sorts `n` rows of `WIDTH / size_of::<K>()` lanes, each lane by itself.
///
/// # Safety
/// There are as many elements.
pub(crate) unsafe fn sort<K: Key>(lanes: *mut K, n: usize) {
    let lanes = lanes.cast();
    let run = match size_of::<K>() {
        1 => best::<Network<K, 64>>(),
        2 => best::<Network<K, 32>>(),
        4 => best::<Network<K, 16>>(),
        _ => best::<Network<K, 8>>(),
    };
    // SAFETY: the caller's promise.
    unsafe { run(lanes, lanes, lanes, lanes, n) }
}

/// Keys of elements, in place; says whether keys forget something of them.
pub(crate) fn to_keys<K: Key>(elements: &mut [K], form: Form) -> bool {
    let (mut forgotten, n) = (0_u8, elements.len());
    let elements = elements.as_mut_ptr().cast();
    let form = std::ptr::from_ref(&form).cast();
    // SAFETY: the slice has `n` elements.
    unsafe { best::<ToKeys<K>>()(elements, form, form, (&raw mut forgotten).cast_const(), n) };
    forgotten != 0
}

/// Elements of keys, in place.
pub(crate) fn from_keys<K: Key>(keys: &mut [K], form: Form) {
    let (n, keys) = (keys.len(), keys.as_mut_ptr().cast());
    let form = std::ptr::from_ref(&form).cast();
    // SAFETY: the slice has `n` elements.
    unsafe { best::<FromKeys<K>>()(keys, form, form, form, n) };
}

struct ToKeys<K>(PhantomData<K>);

impl<K: Key> Kernel for ToKeys<K> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, form: *const u8, _: *const u8, forgotten: *const u8, n: usize) {
        // SAFETY: the caller gives elements, a form, and room for an answer.
        let (elements, form, answer) = unsafe {
            (std::slice::from_raw_parts_mut(out.cast::<K>(), n), *form.cast::<Form>(), &mut *forgotten.cast_mut())
        };
        let any = by_form!(form, form => elements.iter_mut().fold(false, |any, element| {
            let bits = *element;
            *element = bits.key(form);
            any | (form.is_float() & (bits.is_negative_zero() | (*element == K::LAST)))
        }));
        *answer = u8::from(any);
    }
}

struct FromKeys<K>(PhantomData<K>);

impl<K: Key> Kernel for FromKeys<K> {
    #[inline(always)]
    unsafe fn run(out: *mut u8, form: *const u8, _: *const u8, _: *const u8, n: usize) {
        // SAFETY: the caller gives keys and a form.
        let (keys, form) = unsafe { (std::slice::from_raw_parts_mut(out.cast::<K>(), n), *form.cast::<Form>()) };
        by_form!(form, form => keys.iter_mut().for_each(|key| *key = key.bits(form)));
    }
}

#[cfg(test)]
mod tests {
    use super::sort;

    #[test]
    fn every_length_is_sorted_in_every_lane() {
        for n in (0..70).chain([100, 127, 128, 129, 1000, 1025]) {
            let mut lanes: Vec<u32> = (0..16 * n as u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> (i % 31)).collect();
            let mut expected: Vec<Vec<u32>> =
                (0..16).map(|lane| lanes.iter().skip(lane).step_by(16).copied().collect()).collect();
            expected.iter_mut().for_each(|lane| lane.sort_unstable());
            // SAFETY: there are `n` rows of 16 lanes.
            unsafe { sort(lanes.as_mut_ptr(), n) };
            for (lane, expected) in expected.iter().enumerate() {
                let found: Vec<u32> = lanes.iter().skip(lane).step_by(16).copied().collect();
                assert_eq!(found, *expected, "{n} elements");
            }
        }
    }
}

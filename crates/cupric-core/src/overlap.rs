//! Whether elements share bytes.
//!
//! Two elements meet when a linear equation in their indices has a solution within bounds. The search is exact for
//! layouts that arise in practice; past a fixed amount of work the answer is "yes", which costs a copy, never a wrong
//! result.

use smallvec::SmallVec;

use crate::layout::Layout;

/// Steps of the search before it gives up.
const WORK: usize = 20_000;

/// `factor * x` with `0 <= x <= bound`.
#[derive(Clone, Copy, Debug)]
struct Term {
    factor: u128,
    bound: u128,
}

type Terms = SmallVec<[Term; 12]>;

impl Layout {
    /// Whether two different indices may reach the same byte.
    pub fn self_overlaps(&self, item: usize) -> bool {
        let axes = self.axes();
        if self.is_empty() || axes.is_empty() {
            return false;
        }
        if axes.iter().any(|axis| axis.factor < item as u128) {
            return true;
        }
        let nested = axes
            .iter()
            .try_fold(item as u128, |span, axis| (axis.factor >= span).then(|| span + axis.factor * axis.bound));
        nested.is_none() && (0..axes.len()).any(|first| differs_first_at(&axes, first, item))
    }

    /// Whether an element of this array may share a byte with one of `other`, both in one storage.
    pub fn overlaps(&self, item: usize, other: &Self, other_item: usize) -> bool {
        let (mine, theirs) = (self.byte_range(item), other.byte_range(other_item));
        if mine.is_empty() || theirs.is_empty() || mine.end <= theirs.start || theirs.end <= mine.start {
            return false;
        }
        let mut terms: Terms = self.axes().into_iter().chain(other.axes()).collect();
        terms.push(Term { factor: 1, bound: (item + other_item - 2) as u128 });
        // Lowest byte of mine + my steps + byte = highest element of theirs - their steps + byte.
        let target = theirs.end as u128 - 1 - mine.start as u128;
        may_reach(terms, target)
    }

    /// The axes that move, shortest stride first.
    fn axes(&self) -> Terms {
        let moving = self.shape.iter().zip(&self.strides).filter(|&(&size, _)| size > 1);
        let mut axes: Terms = moving
            .map(|(&size, &stride)| Term { factor: stride.unsigned_abs() as u128, bound: size as u128 - 1 })
            .collect();
        axes.sort_by_key(|axis| axis.factor);
        axes
    }
}

/// Whether two indices that agree before axis `first`, differ in it, and elsewhere are as they like, may meet.
fn differs_first_at(axes: &[Term], first: usize, item: usize) -> bool {
    let spread = item as u128 - 1;
    let Term { factor, bound } = axes[first];
    // The difference along `first` is 1 + x; one along a later axis, between -bound and bound, is x - bound.
    let mut terms = Terms::from_slice(&[Term { factor, bound: bound - 1 }, Term { factor: 1, bound: 2 * spread }]);
    let mut target = spread;
    for axis in &axes[first + 1..] {
        terms.push(Term { factor: axis.factor, bound: 2 * axis.bound });
        target += axis.factor * axis.bound;
    }
    target.checked_sub(factor).is_some_and(|target| may_reach(terms, target))
}

/// Whether the terms may sum to `target`; exact unless the search grows too long.
fn may_reach(mut terms: Terms, target: u128) -> bool {
    terms.retain(|term| term.factor != 0 && term.bound != 0);
    terms.sort_by_key(|term| std::cmp::Reverse(term.factor));
    terms.dedup_by(|next, kept| {
        let same = next.factor == kept.factor;
        kept.bound += if same { next.bound } else { 0 };
        same
    });
    let search = Search::new(&terms);
    let mut work = WORK;
    search.reaches(0, target, &mut work)
}

/// The terms from each position on, summed up.
struct Search<'a> {
    terms: &'a [Term],
    rests: SmallVec<[Rest; 12]>,
}

#[derive(Clone, Copy)]
struct Rest {
    /// The largest sum.
    largest: u128,
    /// What divides every sum.
    divisor: u128,
    /// Whether every multiple of the divisor up to the largest is a sum.
    dense: bool,
}

impl<'a> Search<'a> {
    fn new(terms: &'a [Term]) -> Self {
        let mut rest = Rest { largest: 0, divisor: 0, dense: true };
        let mut rests: SmallVec<[Rest; 12]> = SmallVec::from_elem(rest, terms.len() + 1);
        for (position, term) in terms.iter().enumerate().rev() {
            let divisor = greatest_common_divisor(term.factor, rest.divisor);
            let dense =
                rest.dense && (rest.divisor == 0 || divisor == rest.divisor && term.factor <= rest.largest + divisor);
            rest = Rest { largest: rest.largest + term.factor * term.bound, divisor, dense };
            rests[position] = rest;
        }
        Self { terms, rests }
    }

    fn reaches(&self, position: usize, target: u128, work: &mut usize) -> bool {
        let rest = self.rests[position];
        if target == 0 {
            return true;
        }
        if target > rest.largest || !target.is_multiple_of(rest.divisor) {
            return false;
        }
        if rest.dense {
            return true;
        }
        let term = self.terms[position];
        let most = (target / term.factor).min(term.bound);
        let least = target.saturating_sub(self.rests[position + 1].largest).div_ceil(term.factor);
        for count in (least..=most).rev() {
            if *work == 0 {
                return true;
            }
            *work -= 1;
            if self.reaches(position + 1, target - count * term.factor, work) {
                return true;
            }
        }
        false
    }
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

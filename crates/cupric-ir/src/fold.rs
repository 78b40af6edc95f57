//! A reduction is a row: what an element contributes, how two partial results combine, what there is without elements.

use crate::{
    expression::{Cx, Ex, trace},
    graph::{Graph, Id},
    row::{BOOL, COMPLEX, Class, PLAIN, REAL, SIGNED, UNSIGNED},
    ty::Ty,
};
use cupric_core::{DType, Error, Result};
use smallvec::SmallVec;

/// How many partial results are kept side by side within a chunk.
///
/// Element `k` of a chunk goes to lane `k % LANES`; a lane takes its elements in order. Then lanes combine by halves: for
/// `h = 64, 32, .. 1`, lane `i < h` takes lane `i + h` where that one has an element.
pub const LANES: usize = 128;

/// How many elements make a chunk. The results of the chunks are reduced in the same way, until one is left.
pub const CHUNK: usize = 1024;

/// How a fold works on one class of dtypes.
#[derive(Clone, Copy)]
pub enum Merge {
    /// A real value.
    Real {
        /// Combines two partial results, the earlier one first.
        combine: fn(Ex, Ex) -> Ex,
        /// What no elements give.
        identity: Option<f64>,
    },
    /// A complex value.
    Complex {
        /// Combines two partial results, the earlier one first.
        combine: fn(Cx, Cx) -> Cx,
        /// What no elements give.
        identity: Option<f64>,
    },
    /// The position of the element that no other beats.
    Position {
        /// Whether the first beats the second.
        beats: fn(Ex, Ex) -> Ex,
    },
    /// The same over complex values.
    ComplexPosition {
        /// Whether the first beats the second.
        beats: fn(Cx, Cx) -> Ex,
    },
}

/// The dtype in which a fold accumulates, from that of its elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accumulate {
    /// The element's own.
    Same,
    /// Integers grow to 64 bits.
    Wide,
    /// Truth values.
    Truth,
}

/// A reduction.
pub struct Fold {
    /// NumPy's name.
    pub name: &'static str,
    /// The name in the message about an empty reduction.
    pub ufunc: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// The dtype it accumulates in.
    pub accumulate: Accumulate,
    /// Per class of dtypes, how.
    pub loops: &'static [(Class, Merge)],
}

/// Every reduction.
pub static FOLDS: &[Fold] = &[
    Fold {
        name: "sum",
        ufunc: "add",
        doc: "Sum of the elements.",
        accumulate: Accumulate::Wide,
        loops: &[
            (BOOL, Merge::Real { combine: |a, b| a | b, identity: Some(0.0) }),
            (REAL, Merge::Real { combine: |a, b| a + b, identity: Some(0.0) }),
            (COMPLEX, Merge::Complex { combine: |a, b| Cx { re: a.re + b.re, im: a.im + b.im }, identity: Some(0.0) }),
        ],
    },
    Fold {
        name: "prod",
        ufunc: "multiply",
        doc: "Product of the elements.",
        accumulate: Accumulate::Wide,
        loops: &[
            (BOOL, Merge::Real { combine: |a, b| a & b, identity: Some(1.0) }),
            (REAL, Merge::Real { combine: |a, b| a * b, identity: Some(1.0) }),
            (COMPLEX, Merge::Complex { combine: Cx::product, identity: Some(1.0) }),
        ],
    },
    Fold {
        name: "max",
        ufunc: "maximum",
        doc: "The largest element; NaN if there is one.",
        accumulate: Accumulate::Same,
        loops: &[
            (PLAIN, Merge::Real { combine: maximum, identity: None }),
            (COMPLEX, Merge::Complex { combine: |a, b| first_or(a, b, b.less_equal(a)), identity: None }),
        ],
    },
    Fold {
        name: "min",
        ufunc: "minimum",
        doc: "The smallest element; NaN if there is one.",
        accumulate: Accumulate::Same,
        loops: &[
            (PLAIN, Merge::Real { combine: minimum, identity: None }),
            (COMPLEX, Merge::Complex { combine: |a, b| first_or(a, b, a.less_equal(b)), identity: None }),
        ],
    },
    Fold {
        name: "any",
        ufunc: "logical_or",
        doc: "Whether any element is nonzero.",
        accumulate: Accumulate::Truth,
        loops: &[(BOOL, Merge::Real { combine: |a, b| a | b, identity: Some(0.0) })],
    },
    Fold {
        name: "all",
        ufunc: "logical_and",
        doc: "Whether all elements are nonzero.",
        accumulate: Accumulate::Truth,
        loops: &[(BOOL, Merge::Real { combine: |a, b| a & b, identity: Some(1.0) })],
    },
    Fold {
        name: "argmax",
        ufunc: "argmax",
        doc: "The position of the largest element; of the first NaN if there is one.",
        accumulate: Accumulate::Same,
        loops: &[
            (PLAIN, Merge::Position { beats: |a, b| b.less(a) | (a.is_nan() & !b.is_nan()) }),
            (COMPLEX, Merge::ComplexPosition { beats: |a, b| b.less(a) | (a.is_nan() & !b.is_nan()) }),
        ],
    },
    Fold {
        name: "argmin",
        ufunc: "argmin",
        doc: "The position of the smallest element; of the first NaN if there is one.",
        accumulate: Accumulate::Same,
        loops: &[
            (PLAIN, Merge::Position { beats: |a, b| a.less(b) | (a.is_nan() & !b.is_nan()) }),
            (COMPLEX, Merge::ComplexPosition { beats: |a, b| a.less(b) | (a.is_nan() & !b.is_nan()) }),
        ],
    },
];

/// The reduction of this name.
#[must_use]
pub fn fold(name: &str) -> Option<&'static Fold> {
    FOLDS.iter().find(|fold| fold.name == name)
}

fn maximum(a: Ex, b: Ex) -> Ex {
    if a.ty() == Ty::Bool { a | b } else { a.maximum(b) }
}

fn minimum(a: Ex, b: Ex) -> Ex {
    if a.ty() == Ty::Bool { a & b } else { a.minimum(b) }
}

fn first_or(a: Cx, b: Cx, first: Ex) -> Cx {
    Cx::choose(a.is_nan() | (!b.is_nan() & first), a, b)
}

impl Fold {
    /// The dtype in which elements of `dtype` are accumulated when the caller names none.
    #[must_use]
    pub fn accumulator(&self, dtype: DType) -> DType {
        match self.accumulate {
            Accumulate::Same => dtype,
            Accumulate::Truth => DType::Bool,
            Accumulate::Wide if dtype == DType::Bool || SIGNED.has(dtype) => DType::Int64,
            Accumulate::Wide if UNSIGNED.has(dtype) => DType::UInt64,
            Accumulate::Wide => dtype,
        }
    }

    /// Whether the result is the position of an element.
    #[must_use]
    pub const fn is_position(&self) -> bool {
        matches!(self.loops[0].1, Merge::Position { .. })
    }

    /// Compiles the fold for an accumulator.
    ///
    /// # Errors
    /// When the fold has no loop for it.
    pub fn compile(&'static self, accumulator: DType) -> Result<CompiledFold> {
        let Some(&(_, merge)) = self.loops.iter().find(|(class, _)| class.has(accumulator)) else {
            return Err(Error::NoLoop { ufunc: self.ufunc.into(), types: vec![accumulator] });
        };
        Ok(CompiledFold::new(self, accumulator, merge))
    }
}

/// A fold for one accumulator dtype.
#[derive(Clone)]
pub struct CompiledFold {
    /// The row.
    pub fold: &'static Fold,
    /// The dtype it accumulates in.
    pub accumulator: DType,
    /// The registers of a partial result.
    pub state: SmallVec<[Ty; 3]>,
    /// Combines two partial results: arguments are the earlier one's registers, then the later one's.
    pub combine: Graph,
    /// Where the combined registers are in `combine`.
    pub combined: SmallVec<[Id; 3]>,
    /// The registers of the result of no elements.
    pub identity: Option<SmallVec<[u64; 3]>>,
    /// The dtype of the result.
    pub gives: DType,
}

impl CompiledFold {
    fn new(fold: &'static Fold, accumulator: DType, merge: Merge) -> CompiledFold {
        let ty = Ty::of(accumulator);
        let (state, identity): (&[Ty], _) = match merge {
            Merge::Real { identity, .. } => (&[ty], identity.map(|value| SmallVec::from_slice(&[bits(ty, value)]))),
            Merge::Complex { identity, .. } => {
                (&[ty, ty], identity.map(|value| SmallVec::from_slice(&[bits(ty, value), bits(ty, 0.0)])))
            }
            Merge::Position { .. } => (&[ty, Ty::I64], None),
            Merge::ComplexPosition { .. } => (&[ty, ty, Ty::I64], None),
        };
        let count = state.len();
        let (combine, combined) = trace(|| {
            let side = |first: usize| -> SmallVec<[Ex; 3]> {
                state.iter().enumerate().map(|(index, &ty)| Ex::argument(first + index, ty)).collect()
            };
            merge.combine(&side(0), &side(count)).to_vec()
        });
        let gives = if fold.is_position() { DType::Int64 } else { accumulator };
        let (state, combined) = (SmallVec::from_slice(state), SmallVec::from_vec(combined));
        CompiledFold { fold, accumulator, state, combine, combined, identity, gives }
    }
}

fn bits(ty: Ty, value: f64) -> u64 {
    match ty {
        Ty::F64 => value.to_bits(),
        Ty::F32 => u64::from((value as f32).to_bits()),
        _ => value as u64,
    }
}

impl Merge {
    fn combine(self, left: &[Ex], right: &[Ex]) -> SmallVec<[Ex; 3]> {
        match self {
            Merge::Real { combine, .. } => SmallVec::from_slice(&[combine(left[0], right[0])]),
            Merge::Complex { combine, .. } => {
                let both = combine(Cx { re: left[0], im: left[1] }, Cx { re: right[0], im: right[1] });
                SmallVec::from_slice(&[both.re, both.im])
            }
            Merge::Position { beats } => pick(beats(right[0], left[0]), beats(left[0], right[0]), left, right),
            Merge::ComplexPosition { beats } => {
                let complex = |side: &[Ex]| Cx { re: side[0], im: side[1] };
                let (l, r) = (complex(left), complex(right));
                pick(beats(r, l), beats(l, r), left, right)
            }
        }
    }
}

/// The side that beats the other; where neither does, the one that stands first.
fn pick(right_beats: Ex, left_beats: Ex, left: &[Ex], right: &[Ex]) -> SmallVec<[Ex; 3]> {
    let last = left.len() - 1;
    let take_right = right_beats | (!left_beats & right[last].less(left[last]));
    left.iter().zip(right).map(|(&l, &r)| take_right.select(r, l)).collect()
}

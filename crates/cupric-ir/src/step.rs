//! What a caller queues: single operations, before they are fused.

use crate::{
    fold::CompiledFold,
    op::{Finish, Op, Operand},
    row::Body,
};
use cupric_core::{Bits, DType, Dims};
use smallvec::SmallVec;
use std::sync::Arc;

/// What a map step takes.
#[derive(Clone, Debug)]
pub enum Input {
    /// Elements of an array, broadcast to the step's shape.
    Array(Operand),
    /// One value for all elements.
    Scalar {
        /// Its dtype.
        dtype: DType,
        /// Its bits.
        bits: Bits,
    },
}

/// One ufunc call, or anything else that is a program for each element.
#[derive(Clone, Debug)]
pub struct MapStep {
    /// The iteration shape.
    pub shape: Dims,
    /// The program.
    pub body: Arc<Body>,
    /// One for each input of the program.
    pub inputs: SmallVec<[Input; 3]>,
    /// One for each result of the program; converted to the operand's dtype as it is stored.
    pub outputs: SmallVec<[Operand; 1]>,
    /// Truth values over the shape; elements where it is false keep their bytes.
    pub mask: Option<Operand>,
}

/// One reduction.
#[derive(Clone)]
pub struct ReduceStep {
    /// What is reduced, over its own shape; converted to the fold's accumulator.
    pub input: Operand,
    /// The axes that are reduced, ascending.
    pub axes: SmallVec<[usize; 6]>,
    /// How elements combine.
    pub fold: Arc<CompiledFold>,
    /// What becomes of the combined registers.
    pub finish: Finish,
    /// Where the results go, over the axes that stay.
    pub output: Operand,
}

/// One queued operation.
#[derive(Clone)]
pub enum Step {
    /// A program for each element.
    Map(MapStep),
    /// A reduction.
    Reduce(ReduceStep),
    /// Anything that is never fused.
    Single(Box<Op>),
}

impl Step {
    /// The shape over which it is computed; none for what is never fused.
    #[must_use]
    pub fn shape(&self) -> Option<&[usize]> {
        match self {
            Step::Map(map) => Some(&map.shape),
            Step::Reduce(reduce) => Some(&reduce.input.layout.shape),
            Step::Single(_) => None,
        }
    }

    /// The bytes of its largest operand, which tell how much work it is.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Step::Map(map) => map.shape.iter().product::<usize>() * map.outputs[0].dtype.size(),
            Step::Reduce(reduce) => reduce.input.layout.len() * reduce.input.dtype.size(),
            Step::Single(op) => op.writes().iter().map(|operand| operand.layout.len() * operand.dtype.size()).sum(),
        }
    }

    /// The bytes that go from and to memory if it runs by itself.
    #[must_use]
    pub fn traffic(&self) -> usize {
        let all = |operands: &mut dyn Iterator<Item = &Operand>| -> usize {
            operands.map(|operand| operand.layout.len() * operand.dtype.size()).sum()
        };
        match self {
            Step::Map(map) => {
                let sizes = map.outputs.iter().chain(arrays(map)).map(|operand| operand.dtype.size());
                map.shape.iter().product::<usize>() * sizes.sum::<usize>()
            }
            Step::Reduce(reduce) => all(&mut std::iter::once(&reduce.input)),
            Step::Single(op) => all(&mut op.reads().into_iter().chain(op.writes())),
        }
    }

    /// What it reads.
    #[must_use]
    pub fn reads(&self) -> SmallVec<[&Operand; 8]> {
        match self {
            Step::Map(map) => arrays(map).collect(),
            Step::Reduce(reduce) => SmallVec::from_slice(&[&reduce.input]),
            Step::Single(op) => op.reads(),
        }
    }

    /// What it writes.
    #[must_use]
    pub fn writes(&self) -> SmallVec<[&Operand; 4]> {
        match self {
            Step::Map(map) => map.outputs.iter().collect(),
            Step::Reduce(reduce) => SmallVec::from_slice(&[&reduce.output]),
            Step::Single(op) => op.writes(),
        }
    }
}

/// The arrays that a map reads.
fn arrays(map: &MapStep) -> impl Iterator<Item = &Operand> {
    let inputs = map.inputs.iter().filter_map(|input| match input {
        Input::Array(operand) => Some(operand),
        Input::Scalar { .. } => None,
    });
    inputs.chain(&map.mask)
}

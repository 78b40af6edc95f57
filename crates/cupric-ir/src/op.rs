//! The vocabulary: everything that a backend can be asked to do, as data.

use crate::{
    fold::CompiledFold,
    graph::{Graph, Id},
    row::Register,
    ty::Ty,
};
use cupric_core::{DType, Dims, Layout};
use smallvec::SmallVec;
use std::sync::Arc;

/// Names a storage: a piece of memory with an owner.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StorageId(pub u64);

/// Elements in a storage, laid out over the iteration shape of the operation that uses them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Operand {
    /// Where the elements lie.
    pub storage: StorageId,
    /// What they are.
    pub dtype: DType,
    /// How they are laid out. Shared: operands are copied on every call, and most results are laid out as an input is.
    pub layout: Arc<Layout>,
}

/// A scalar given at the launch: the bits of a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Parameter {
    /// The register's type.
    pub ty: Ty,
    /// Its bits.
    pub bits: u64,
}

/// Where a result of a program goes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Store {
    /// The elements that are written.
    pub operand: Operand,
    /// The registers that hold the value, already converted to the operand's dtype.
    pub value: Register,
    /// Elements where this register is false keep their bytes.
    pub mask: Option<Id>,
}

/// The same program for every element of a shape, without order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Map {
    /// The iteration shape; every operand's layout has it.
    pub shape: Dims,
    /// The program.
    pub graph: Graph,
    /// What it loads.
    pub inputs: Vec<Operand>,
    /// Its scalars.
    pub parameters: Vec<Parameter>,
    /// What it stores, in this order for each element.
    pub stores: Vec<Store>,
}

/// The program that turns the registers of a fold into results.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Finish {
    /// The program; its arguments are the fold's registers.
    pub graph: Graph,
    /// Its scalars.
    pub parameters: Vec<Parameter>,
    /// Where the result is.
    pub value: Register,
}

/// A reduction over the last axes of a shape, of values that a program makes from each element.
#[derive(Clone)]
pub struct Reduce {
    /// The axes that stay.
    pub kept: Dims,
    /// The axes that are reduced, in their order.
    pub reduced: Dims,
    /// The program, run for every element; its position is that within the reduced axes.
    pub graph: Graph,
    /// What it loads; layouts are over the kept axes and then the reduced ones.
    pub inputs: Vec<Operand>,
    /// Its scalars.
    pub parameters: Vec<Parameter>,
    /// The registers that an element contributes.
    pub element: SmallVec<[Id; 3]>,
    /// How they combine.
    pub fold: Arc<CompiledFold>,
    /// What becomes of the combined registers.
    pub finish: Finish,
    /// Where the results go, over the kept axes.
    pub output: Operand,
}

/// Running results along the last axis.
#[derive(Clone)]
pub struct Scan {
    /// The shape; the last axis is scanned.
    pub shape: Dims,
    /// What is scanned; converted to the fold's accumulator as it is loaded.
    pub input: Operand,
    /// Where the results go; its dtype is the fold's accumulator, or what that is rounded to.
    pub output: Operand,
    /// How elements combine.
    pub fold: Arc<CompiledFold>,
}

/// What a sort answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sorted {
    /// The elements in order.
    Values,
    /// The positions of the elements in order, as int64.
    Positions,
}

/// A stable sort along the last axis, NaN last.
#[derive(Clone)]
pub struct Sort {
    /// The shape; the last axis is sorted.
    pub shape: Dims,
    /// What is sorted.
    pub input: Operand,
    /// Where the answer goes.
    pub output: Operand,
    /// What the answer is.
    pub answer: Sorted,
}

/// The elements of `source` (or their row-major positions, as int64) where `mask` is true, in row-major order.
#[derive(Clone)]
pub struct Select {
    /// The shape of mask and source.
    pub shape: Dims,
    /// Which are taken; bool.
    pub mask: Operand,
    /// What is taken; positions if there is none.
    pub source: Option<Operand>,
    /// Where they go: one axis, exactly as long as there are true elements in the mask.
    pub output: Operand,
}

/// What an index array says about one axis.
#[derive(Clone)]
pub struct IndexOperand {
    /// The indices, over the iteration shape; int64 once loaded.
    pub operand: Operand,
    /// The length of the axis.
    pub length: usize,
    /// The bytes from one element of the axis to the next.
    pub stride: isize,
}

/// What happens to an index outside its axis.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bounds {
    /// It is an error, raised at the next look; negative indices count from the end.
    Raise,
    /// It wraps around.
    Wrap,
    /// It is moved to the nearest end; negative indices are 0.
    Clip,
}

/// `output[..] = source[.., indices, ..]`, elements copied as they are.
#[derive(Clone)]
pub struct Gather {
    /// The iteration shape.
    pub shape: Dims,
    /// The source over the iteration shape, with stride 0 where an index says where to go.
    pub source: Operand,
    /// The indices.
    pub indices: Vec<IndexOperand>,
    /// What happens outside.
    pub bounds: Bounds,
    /// Where the elements go.
    pub output: Operand,
}

/// `target[.., indices, ..] = source[..]`; of writes to the same place the last one in row-major order stays.
#[derive(Clone)]
pub struct Scatter {
    /// The iteration shape.
    pub shape: Dims,
    /// What is written; of the target's dtype.
    pub source: Operand,
    /// The indices.
    pub indices: Vec<IndexOperand>,
    /// What happens outside.
    pub bounds: Bounds,
    /// The target over the iteration shape, with stride 0 where an index says where to go.
    pub target: Operand,
    /// How many elements the whole target view has.
    pub target_len: usize,
}

/// `output[b] = left[b] @ right[b]` for every `b` of a batch shape.
#[derive(Clone)]
pub struct MatMul {
    /// The batch shape.
    pub batch: Dims,
    /// Rows of the left and of the result.
    pub rows: usize,
    /// Columns of the right and of the result.
    pub columns: usize,
    /// Columns of the left, rows of the right.
    pub inner: usize,
    /// Over batch, rows, inner.
    pub left: Operand,
    /// Over batch, inner, columns.
    pub right: Operand,
    /// Over batch, rows, columns; row-major.
    pub output: Operand,
}

/// Which random numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distribution {
    /// In [0, 1), float64 from a word or float32 from half a word.
    Uniform,
    /// Standard normal, float64 from a word or float32 from half a word.
    Normal,
    /// Raw words, uint64.
    Words,
    /// Integers `low .. low + span` (of the output's dtype), each from a word of its own, four to a counter block; span 0 means 2^64.
    Integers {
        /// The least.
        low: i64,
        /// How many there are.
        span: u64,
    },
}

/// Random numbers by Philox4x64-10, element `i` a function of key, start and `i` only.
#[derive(Clone)]
pub struct Random {
    /// The key.
    pub key: [u64; 2],
    /// The counter of the first block.
    pub counter: [u64; 4],
    /// How many words of the first block are already used, in half words.
    pub skip: u64,
    /// Which numbers.
    pub distribution: Distribution,
    /// Where they go; row-major.
    pub output: Operand,
}

/// Anything that a backend can be asked to do.
#[derive(Clone)]
pub enum Op {
    /// See [`Map`].
    Map(Map),
    /// See [`Reduce`].
    Reduce(Reduce),
    /// See [`Scan`].
    Scan(Scan),
    /// See [`Sort`].
    Sort(Sort),
    /// See [`Select`].
    Select(Select),
    /// See [`Gather`].
    Gather(Gather),
    /// See [`Scatter`].
    Scatter(Scatter),
    /// See [`MatMul`].
    MatMul(MatMul),
    /// See [`Random`].
    Random(Random),
}

impl Op {
    /// What it reads, in the order in which a backend is given their addresses.
    #[must_use]
    pub fn reads(&self) -> SmallVec<[&Operand; 8]> {
        match self {
            Op::Map(map) => map.inputs.iter().collect(),
            Op::Reduce(reduce) => reduce.inputs.iter().collect(),
            Op::Scan(scan) => SmallVec::from_slice(&[&scan.input]),
            Op::Sort(sort) => SmallVec::from_slice(&[&sort.input]),
            Op::Select(select) => std::iter::once(&select.mask).chain(&select.source).collect(),
            Op::Gather(gather) => {
                std::iter::once(&gather.source).chain(gather.indices.iter().map(|index| &index.operand)).collect()
            }
            Op::Scatter(scatter) => {
                std::iter::once(&scatter.source).chain(scatter.indices.iter().map(|index| &index.operand)).collect()
            }
            Op::MatMul(product) => SmallVec::from_slice(&[&product.left, &product.right]),
            Op::Random(_) => SmallVec::new(),
        }
    }

    /// What it writes, whose addresses follow those of [`Op::reads`].
    #[must_use]
    pub fn writes(&self) -> SmallVec<[&Operand; 4]> {
        match self {
            Op::Map(map) => map.stores.iter().map(|store| &store.operand).collect(),
            Op::Reduce(reduce) => SmallVec::from_slice(&[&reduce.output]),
            Op::Scan(scan) => SmallVec::from_slice(&[&scan.output]),
            Op::Sort(sort) => SmallVec::from_slice(&[&sort.output]),
            Op::Select(select) => SmallVec::from_slice(&[&select.output]),
            Op::Gather(gather) => SmallVec::from_slice(&[&gather.output]),
            Op::Scatter(scatter) => SmallVec::from_slice(&[&scatter.target]),
            Op::MatMul(product) => SmallVec::from_slice(&[&product.output]),
            Op::Random(random) => SmallVec::from_slice(&[&random.output]),
        }
    }

    /// What it is called in messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Op::Map(_) => "map",
            Op::Reduce(reduce) => reduce.fold.fold.name,
            Op::Scan(_) => "scan",
            Op::Sort(_) => "sort",
            Op::Select(_) => "select",
            Op::Gather(_) => "take",
            Op::Scatter(_) => "put",
            Op::MatMul(_) => "matmul",
            Op::Random(_) => "random",
        }
    }
}

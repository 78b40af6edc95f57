//! What a pack holds: the kernels of single operations on the layouts that programs mostly have.

use crate::{
    bound::Scope,
    kernel::{DeviceLimits, Kernel},
    planner::Planner,
    stepwise::every_step,
};
use cupric_core::{Bits, DType, Dims, Layout, Typed};
use cupric_ir::{
    Bounds, CompiledFold, Distribution, Ex, FOLDS, Finish, Gather, IndexOperand, Input, MapStep, MatMul, Op, Operand,
    Random, ReduceStep, Register, Scan, Scatter, Select, Sort, Sorted, Step, StorageId, Ufunc, alone, fold, trace,
    ufunc, ufuncs,
};
use smallvec::SmallVec;
use std::{collections::BTreeSet, sync::Arc};

/// Every kernel that a pack has to hold, in the order of their keys.
#[must_use]
pub fn pack_kernels() -> Vec<Arc<Kernel>> {
    let planner = Planner::new(DeviceLimits::default());
    for op in single_operations() {
        // An operation without a kernel has nothing to pack.
        let _ = planner.plan(&op, &[]);
        let _ = planner.plan_packed(&op, &[]);
    }
    for op in accumulations() {
        let _ = planner.plan_packed(&op, &[]);
    }
    let nothing = product(DType::Bool);
    every_step(&Scope::new(&planner, &nothing, &[]));
    planner.spelled()
}

/// Single operations whose kernels cover the common layouts of each dtype.
fn single_operations() -> Vec<Op> {
    let mut ops: Vec<Op> = ufuncs().iter().flat_map(|row| loops(row)).collect();
    ops.extend(conversions());
    ops.extend(reductions());
    ops.extend(scans());
    for dtype in DType::ALL {
        ops.extend(sorts(dtype));
        ops.extend(by_index(dtype));
        ops.push(select(dtype));
        ops.push(product(dtype));
    }
    ops.extend(random_numbers());
    ops
}

/// Hands out operands of different storages.
#[derive(Default)]
struct Storages(u64);

impl Storages {
    fn operand(&mut self, dtype: DType, shape: &[usize]) -> Operand {
        self.0 += 1;
        Operand { storage: StorageId(self.0), dtype, layout: Layout::row_major(shape, dtype.size()).into() }
    }
}

const LEN: usize = 4096;
/// The folds that scans are made with.
const SCANNED: [&str; 4] = ["sum", "prod", "max", "min"];

/// The loops of a ufunc on packed arrays, with every choice of arrays and scalars.
fn loops(row: &'static Ufunc) -> Vec<Op> {
    let mixed = [(DType::Int64, DType::UInt64), (DType::UInt64, DType::Int64)];
    let same = DType::ALL.iter().map(|&dtype| SmallVec::<[DType; 3]>::from_elem(dtype, row.inputs));
    let choice =
        DType::ALL.iter().filter(|_| row.inputs == 3).map(|&dtype| SmallVec::from_slice(&[DType::Bool, dtype, dtype]));
    let mixed = mixed.iter().filter(|_| row.inputs == 2).map(|&(left, right)| SmallVec::from_slice(&[left, right]));
    let mut known = BTreeSet::new();
    let mut ops = Vec::new();
    for dtypes in same.chain(choice).chain(mixed) {
        let typed: Vec<Typed> = dtypes.iter().map(|&dtype| Typed::Strong(dtype)).collect();
        let Ok(resolved) = row.resolve(&typed, None) else { continue };
        if !known.insert(resolved.takes.to_vec()) {
            continue;
        }
        let body = Arc::new(resolved.compile());
        for scalars in 0..(1_u32 << row.inputs) - 1 {
            let mut storages = Storages::default();
            let inputs = resolved.takes.iter().enumerate().map(|(index, &dtype)| match scalars >> index & 1 {
                0 => Input::Array(storages.operand(dtype, &[LEN])),
                _ => Input::Scalar { dtype, bits: Bits::default() },
            });
            let inputs = inputs.collect();
            let outputs = resolved.gives.iter().map(|&dtype| storages.operand(dtype, &[LEN])).collect();
            let shape = Dims::from_elem(LEN, 1);
            ops.push(alone(&Step::Map(MapStep { shape, body: body.clone(), inputs, outputs, mask: None })));
        }
    }
    ops
}

/// Copies, by dtypes from and to, packed and transposed.
fn conversions() -> Vec<Op> {
    let Some(copy) = ufunc("copy") else { return Vec::new() };
    let mut ops = Vec::new();
    for from in DType::ALL {
        let Ok(resolved) = copy.resolve(&[Typed::Strong(from)], None) else { continue };
        let body = Arc::new(resolved.compile());
        for to in DType::ALL {
            let mut storages = Storages::default();
            let mut push = |shape: &[usize], input: Operand, output: Operand| {
                let (inputs, outputs) = ([Input::Array(input)], [output]);
                let (inputs, outputs) = (inputs.into_iter().collect(), outputs.into_iter().collect());
                ops.push(alone(&Step::Map(MapStep {
                    shape: shape.into(),
                    body: body.clone(),
                    inputs,
                    outputs,
                    mask: None,
                })));
            };
            push(&[LEN], storages.operand(from, &[LEN]), storages.operand(to, &[LEN]));
            if from == to {
                for side in [32, 64] {
                    let mut turned = storages.operand(from, &[side, side]);
                    turned.layout = turned.layout.reversed_axes().into();
                    push(&[side, side], turned, storages.operand(to, &[side, side]));
                }
                let mut stepped = storages.operand(from, &[64, 128]);
                Arc::make_mut(&mut stepped.layout).shape[1] = 64;
                push(&[64, 64], stepped, storages.operand(to, &[64, 64]));
            }
        }
    }
    ops
}

/// Reductions of everything, along the last axis, and along the first.
fn reductions() -> Vec<Op> {
    let mut ops = Vec::new();
    let forms: [(&[usize], &[usize]); 8] = [
        (&[100_000_000], &[0]),
        (&[50_000], &[0]),
        (&[1000], &[0]),
        (&[1000, 4096], &[1]),
        (&[1000, 256], &[1]),
        (&[1000, 16], &[1]),
        (&[4096, 1024], &[0]),
        (&[16, 1024], &[0]),
    ];
    for fold in FOLDS {
        for dtype in DType::ALL {
            let Ok(compiled) = fold.compile(fold.accumulator(dtype)) else { continue };
            let compiled = Arc::new(compiled);
            ops.extend(forms.map(|(shape, axes)| reduction(&compiled, dtype, shape, axes)));
        }
    }
    ops
}

/// A reduction whose result is what the fold gives.
fn reduction(fold: &Arc<CompiledFold>, dtype: DType, shape: &[usize], axes: &[usize]) -> Op {
    let position = fold.fold.is_position();
    let kept = if position { fold.state.len() - 1 } else { 0 };
    let complex = !position && fold.state.len() == 2;
    let (graph, ids) = trace(|| {
        let parts = if complex { vec![0, 1] } else { vec![kept] };
        let part = |index: usize| Ex::argument(index, fold.state[index]).round_to(fold.gives.component());
        parts.into_iter().map(part).collect()
    });
    let value = Register { real: ids[0], imaginary: ids.get(1).copied() };
    let finish = Finish { graph, parameters: Vec::new(), value };
    let mut storages = Storages::default();
    let input = storages.operand(dtype, shape);
    let rest: Dims = (0..shape.len()).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]).collect();
    let output = storages.operand(fold.gives, &rest);
    alone(&Step::Reduce(ReduceStep { input, axes: axes.into(), fold: fold.clone(), finish, output }))
}

/// Reductions and scans in every dtype that their folds accumulate in, be it that of no element.
fn accumulations() -> Vec<Op> {
    let mut ops = Vec::new();
    for (fold, accumulator) in FOLDS.iter().flat_map(|fold| DType::ALL.map(|dtype| (fold, dtype))) {
        let Ok(compiled) = fold.compile(accumulator) else { continue };
        let compiled = Arc::new(compiled);
        ops.push(reduction(&compiled, accumulator, &[LEN], &[0]));
        if SCANNED.contains(&fold.name) {
            ops.push(scan(&compiled, accumulator, &[LEN]));
        }
    }
    ops
}

fn scans() -> Vec<Op> {
    let folds = SCANNED.into_iter().filter_map(fold);
    let mut ops = Vec::new();
    for fold in folds {
        for dtype in DType::ALL {
            let Ok(compiled) = fold.compile(fold.accumulator(dtype)) else { continue };
            let compiled = Arc::new(compiled);
            ops.extend([&[100_000][..], &[100, 512], &[100, 64]].map(|shape| scan(&compiled, dtype, shape)));
        }
    }
    ops
}

fn scan(fold: &Arc<CompiledFold>, dtype: DType, shape: &[usize]) -> Op {
    let mut storages = Storages::default();
    let (input, output) = (storages.operand(dtype, shape), storages.operand(fold.accumulator, shape));
    Op::Scan(Scan { shape: shape.into(), input, output, fold: fold.clone() })
}

fn sorts(dtype: DType) -> Vec<Op> {
    let mut ops = Vec::new();
    for answer in [Sorted::Values, Sorted::Positions] {
        let gives = if answer == Sorted::Values { dtype } else { DType::Int64 };
        // The last one counts in 64 bits.
        for len in [16, 64, 256, 1024, 2048, 100_000, 1 << 30] {
            for shape in [&[len][..], &[100, len]] {
                let mut storages = Storages::default();
                let (input, output) = (storages.operand(dtype, shape), storages.operand(gives, shape));
                ops.push(Op::Sort(Sort { shape: shape.into(), input, output, answer }));
            }
        }
    }
    ops
}

fn select(dtype: DType) -> Op {
    let mut storages = Storages::default();
    let mask = storages.operand(DType::Bool, &[LEN]);
    // The positions stand in for one dtype, whose elements are moved as others of their size are.
    let source = (dtype != DType::Bool).then(|| storages.operand(dtype, &[LEN]));
    let output = storages.operand(if source.is_some() { dtype } else { DType::Int64 }, &[LEN]);
    Op::Select(Select { shape: Dims::from_elem(LEN, 1), mask, source, output })
}

/// Elements and rows by one index.
fn by_index(dtype: DType) -> Vec<Op> {
    let mut ops = Vec::new();
    for bounds in [Bounds::Raise, Bounds::Wrap, Bounds::Clip] {
        for columns in [1, 64] {
            let mut storages = Storages::default();
            let shape: &[usize] = if columns == 1 { &[LEN] } else { &[LEN, columns] };
            let whole = storages.operand(dtype, shape);
            let stride = whole.layout.strides[0];
            let mut moved = whole.clone();
            Arc::make_mut(&mut moved.layout).strides[0] = 0;
            let mut index = storages.operand(DType::Int64, &[LEN]);
            if columns > 1 {
                index.layout = Layout { shape: shape.into(), strides: [8, 0][..].into(), offset: 0 }.into();
            }
            let indices = vec![IndexOperand { operand: index, length: LEN, stride }];
            let other = storages.operand(dtype, shape);
            let shape: Dims = shape.into();
            let target_len = LEN * columns;
            ops.push(Op::Scatter(Scatter {
                shape: shape.clone(),
                source: other.clone(),
                indices: indices.clone(),
                bounds,
                target: moved.clone(),
                target_len,
            }));
            ops.push(Op::Gather(Gather { shape, source: moved, indices, bounds, output: other }));
        }
    }
    ops
}

fn product(dtype: DType) -> Op {
    let mut storages = Storages::default();
    let [left, right, output] = [(); 3].map(|()| storages.operand(dtype, &[64, 64]));
    Op::MatMul(MatMul { batch: Dims::new(), rows: 64, columns: 64, inner: 64, left, right, output })
}

fn random_numbers() -> Vec<Op> {
    let floats = [Distribution::Uniform, Distribution::Normal]
        .into_iter()
        .flat_map(|distribution| [(distribution, DType::Float32), (distribution, DType::Float64)]);
    let integers = DType::ALL.into_iter().map(|dtype| (Distribution::Integers { low: 0, span: 6 }, dtype));
    floats
        .chain(integers)
        .chain([(Distribution::Words, DType::UInt64)])
        .map(|(distribution, dtype)| {
            let output = Storages::default().operand(dtype, &[LEN]);
            Op::Random(Random { key: [0; 2], counter: [0; 4], skip: 0, distribution, output })
        })
        .collect()
}

//! Whatever can be asked for runs by the kernels of a pack alone.

#[expect(dead_code, reason = "other tests use the rest")]
mod common;

use common::packed;
use cupric_codegen::{DeviceLimits, Planner, pack_kernels};
use cupric_core::{Bits, DType, Dims, Layout, Typed};
use cupric_ir::{
    Bounds, CompiledFold, Distribution, Ex, FOLDS, Finish, Gather, IndexOperand, Input, MapStep, MatMul, Op, Operand,
    Parameter, Random, ReduceStep, Register, Resolved, Scan, Scatter, Select, Sort, Sorted, Step, StorageId, Ufunc,
    alone, fuse, trace, ufunc, ufuncs,
};
use std::{collections::HashSet, sync::Arc};

/// Plans operations by the pack, and keeps the names of those that need other kernels.
struct Checker {
    planner: Planner,
    pack: HashSet<u128>,
    lacking: Vec<String>,
    checked: usize,
}

impl Checker {
    fn new() -> Checker {
        let pack = pack_kernels().iter().map(|kernel| kernel.key).collect();
        Checker { planner: Planner::new(DeviceLimits::default()), pack, lacking: Vec::new(), checked: 0 }
    }

    fn check(&mut self, op: &Op, name: impl Fn() -> String) {
        self.checked += 1;
        match self.planner.plan_packed(op, &[]) {
            None => self.lacking.push(format!("{}: no program", name())),
            Some(program) => {
                let other = program.launches.iter().find(|launch| !self.pack.contains(&launch.kernel.key));
                self.lacking.extend(other.map(|launch| format!("{}: {}", name(), launch.kernel.name)));
            }
        }
    }

    fn finish(self, least: usize) {
        let shown = self.lacking[..self.lacking.len().min(20)].join("\n");
        assert!(self.lacking.is_empty(), "{} of {} lack kernels:\n{shown}", self.lacking.len(), self.checked);
        assert!(self.checked >= least, "{} operations", self.checked);
    }
}

/// Layouts that need other kernels than packed arrays where kernels depend on layouts.
fn lies(storage: u64, dtype: DType, shape: &[usize]) -> [Operand; 3] {
    let whole = packed(storage, dtype, shape);
    let turned = shape.iter().rev().copied().collect::<Vec<_>>();
    let turned = Operand { layout: Layout::row_major(&turned, dtype.size()).reversed_axes().into(), ..whole.clone() };
    let odd = Operand { layout: Layout { offset: 1, ..Layout::clone(&whole.layout) }.into(), ..whole.clone() };
    [whole, turned, odd]
}

fn map_step(resolved: &Resolved, scalars: u32, lie: usize, gives: &[DType]) -> MapStep {
    let shape = [6, 4];
    let inputs = resolved.takes.iter().enumerate().map(|(index, &dtype)| match scalars >> index & 1 {
        0 => Input::Array(lies(index as u64, dtype, &shape)[lie].clone()),
        _ => Input::Scalar { dtype, bits: Bits([3, 0]) },
    });
    let inputs = inputs.collect();
    let outputs = gives.iter().enumerate().map(|(index, &dtype)| lies(50 + index as u64, dtype, &shape)[lie].clone());
    MapStep {
        shape: shape[..].into(),
        body: Arc::new(resolved.compile()),
        inputs,
        outputs: outputs.collect(),
        mask: None,
    }
}

/// The loops of a row that some dtypes lead to, each once.
fn loops(row: &'static Ufunc) -> Vec<Resolved> {
    let mut known = HashSet::new();
    let pairs = DType::ALL.into_iter().flat_map(|a| DType::ALL.map(|b| [a, b]));
    pairs
        .filter_map(|[a, b]| {
            let mut types = vec![Typed::Strong(a); row.inputs];
            if let Some(last) = types.last_mut() {
                *last = Typed::Strong(b);
            }
            let resolved = row.resolve(&types, None).ok()?;
            known.insert(resolved.takes.to_vec()).then_some(resolved)
        })
        .collect()
}

#[test]
fn every_loop_of_every_ufunc() {
    let mut checker = Checker::new();
    for row in ufuncs() {
        for resolved in loops(row) {
            for (scalars, lie) in (0..1 << row.inputs).flat_map(|scalars| [0, 1, 2].map(|lie| (scalars, lie))) {
                let step = map_step(&resolved, scalars, lie, &resolved.gives);
                checker
                    .check(&alone(&Step::Map(step)), || format!("{} {:?} {scalars:b} {lie}", row.name, resolved.takes));
            }
            let mut masked = map_step(&resolved, 0, 0, &resolved.gives);
            masked.mask = Some(packed(90, DType::Bool, &[6, 4]));
            checker.check(&alone(&Step::Map(masked)), || format!("{} {:?} where", row.name, resolved.takes));
        }
    }
    checker.finish(5000);
}

#[test]
fn every_conversion() {
    let mut checker = Checker::new();
    for (from, to) in DType::ALL.into_iter().flat_map(|from| DType::ALL.map(|to| (from, to))) {
        let resolved = ufunc("copy").unwrap().resolve(&[Typed::Strong(from)], None).unwrap();
        for lie in 0..3 {
            let step = map_step(&resolved, 0, lie, &[to]);
            checker.check(&alone(&Step::Map(step)), || format!("{from} to {to} {lie}"));
        }
    }
    checker.finish(600);
}

/// A reduction as the library makes it: the state over a count, perhaps its root; positions as they are.
fn reduction(fold: &Arc<CompiledFold>, input: Operand, axes: &[usize], scaled: bool) -> Op {
    let position = fold.fold.is_position();
    let scaled = scaled && !position && fold.gives != DType::Bool && !fold.gives.is_integer();
    let parameters = if scaled { vec![Parameter { ty: fold.state[0], bits: 7 }] } else { Vec::new() };
    let (graph, ids) = trace(|| {
        let state: Vec<Ex> = fold.state.iter().enumerate().map(|(index, &ty)| Ex::argument(index, ty)).collect();
        match (position, scaled) {
            (true, _) => vec![state[state.len() - 1]],
            (_, true) => {
                let value =
                    |part: &Ex| (*part / Ex::parameter(0, fold.state[0])).sqrt().round_to(fold.gives.component());
                state.iter().map(value).collect()
            }
            _ => state.iter().map(|part| part.round_to(fold.gives.component())).collect(),
        }
    });
    let finish = Finish { graph, parameters, value: Register { real: ids[0], imaginary: ids.get(1).copied() } };
    let shape = input.layout.shape.clone();
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]).collect();
    let output = packed(99, fold.gives, &kept);
    alone(&Step::Reduce(ReduceStep { input, axes: axes.into(), fold: fold.clone(), finish, output }))
}

/// Every fold in every dtype that it can accumulate in.
fn compiled() -> Vec<Arc<CompiledFold>> {
    let pairs = FOLDS.iter().flat_map(|fold| DType::ALL.map(|dtype| (fold, dtype)));
    pairs.filter_map(|(fold, dtype)| Some(Arc::new(fold.compile(dtype).ok()?))).collect()
}

#[test]
fn every_reduction_in_every_accumulator() {
    let mut checker = Checker::new();
    let spaces: [(&[usize], &[usize]); 6] = [
        (&[5000], &[0]),
        (&[9, 40], &[1]),
        (&[3000, 20], &[0]),
        (&[4, 5, 6], &[0, 2]),
        (&[], &[]),
        (&[2_000_000_000], &[0]),
    ];
    for (fold, dtype) in compiled().iter().flat_map(|fold| DType::ALL.map(|dtype| (fold, dtype))) {
        for ((shape, axes), scaled) in spaces.into_iter().flat_map(|space| [false, true].map(|scaled| (space, scaled)))
        {
            for input in lies(1, dtype, shape) {
                let name = || format!("{} of {dtype} in {} {shape:?}", fold.fold.name, fold.accumulator);
                checker.check(&reduction(fold, input, axes, scaled), name);
            }
        }
        if fold.identity.is_some() {
            let nothing = packed(1, dtype, &[3, 0]);
            checker.check(&reduction(fold, nothing, &[1], false), || format!("{} of no {dtype}", fold.fold.name));
        }
    }
    checker.finish(20_000);
}

#[test]
fn a_reduction_of_a_fused_program() {
    // What a deviation is made of.
    let mut checker = Checker::new();
    for dtype in [DType::Float16, DType::Float32, DType::Float64] {
        let fold = Arc::new(FOLDS[0].compile(dtype).unwrap());
        let square = ufunc("square").unwrap().resolve(&[Typed::Strong(dtype)], None).unwrap();
        let step = map_step(&square, 0, 0, &[dtype]);
        let made = step.outputs[0].clone();
        let Op::Reduce(_) = reduction(&fold, made.clone(), &[1], true) else { panic!("a reduction") };
        let (graph, ids) = trace(|| vec![Ex::argument(0, fold.state[0]).round_to(dtype)]);
        let finish = Finish { graph, parameters: Vec::new(), value: Register { real: ids[0], imaginary: None } };
        let output = packed(99, dtype, &[6]);
        let reduce = ReduceStep { input: made, axes: [1][..].into(), fold, finish, output };
        let fused = fuse(&[Step::Map(step), Step::Reduce(reduce)], |id| id == StorageId(99) || id.0 < 50);
        assert_eq!(fused.len(), 1);
        checker.check(&fused[0].op, || format!("sum of squares {dtype}"));
    }
    checker.finish(3);
}

#[test]
fn every_scan_in_every_accumulator() {
    let mut checker = Checker::new();
    let scanned = |fold: &&Arc<CompiledFold>| matches!(fold.fold.name, "sum" | "prod" | "max" | "min");
    for (fold, dtype) in compiled().iter().filter(scanned).flat_map(|fold| DType::ALL.map(|dtype| (fold, dtype))) {
        for shape in [&[5000][..], &[7, 30], &[3, 2_000_000], &[1_000_000_000]] {
            for input in lies(1, dtype, shape) {
                let (shape, output) = (Dims::from_slice(shape), packed(2, fold.accumulator, shape));
                let op = Op::Scan(Scan { shape, input, output, fold: fold.clone() });
                checker.check(&op, || format!("running {} of {dtype} in {}", fold.fold.name, fold.accumulator));
            }
        }
    }
    checker.finish(5000);
}

#[test]
fn every_sort_and_selection() {
    let mut checker = Checker::new();
    for (dtype, shape) in DType::ALL.into_iter().flat_map(|dtype| {
        [&[1][..], &[9], &[3000], &[5, 2000], &[3, 5000], &[1 << 22, 700], &[5_000_000_000]].map(|shape| (dtype, shape))
    }) {
        for answer in [Sorted::Values, Sorted::Positions] {
            let gives = if answer == Sorted::Values { dtype } else { DType::Int64 };
            for (input, output) in lies(1, dtype, shape).into_iter().zip(lies(2, gives, shape)) {
                let op = Op::Sort(Sort { shape: shape.into(), input, output, answer });
                checker.check(&op, || format!("sort {dtype} {shape:?} {answer:?}"));
            }
        }
        let source = lies(1, dtype, shape).map(Some).into_iter().chain([None]);
        for source in source {
            let output = packed(3, source.as_ref().map_or(DType::Int64, |source| source.dtype), &[5]);
            let mask = lies(2, DType::Bool, shape)[1].clone();
            let op = Op::Select(Select { shape: shape.into(), mask, source, output });
            checker.check(&op, || format!("select {dtype} {shape:?}"));
        }
    }
    checker.finish(400);
}

#[test]
fn every_index() {
    let mut checker = Checker::new();
    let shape = [40, 3];
    let integers = DType::ALL.into_iter().filter(|dtype| dtype.is_integer());
    for (dtype, by) in integers.flat_map(|by| DType::ALL.map(|dtype| (dtype, by))) {
        for (bounds, lie) in
            [Bounds::Raise, Bounds::Wrap, Bounds::Clip].into_iter().flat_map(|how| [0, 1].map(|lie| (how, lie)))
        {
            let mut index = lies(1, by, &[40])[lie].clone();
            index.layout =
                Layout { shape: shape[..].into(), strides: [index.layout.strides[0], 0][..].into(), offset: 0 }.into();
            let mut whole = packed(2, dtype, &[40, 3]);
            let stride = whole.layout.strides[0];
            std::sync::Arc::make_mut(&mut whole.layout).strides[0] = 0;
            let indices = vec![IndexOperand { operand: index, length: 40, stride }];
            let other = lies(3, dtype, &shape)[lie].clone();
            let (shape, name) = (Dims::from_slice(&shape), || format!("{dtype} by {by}"));
            let (source, output) = (whole.clone(), other.clone());
            let gather = Gather { shape: shape.clone(), source, indices: indices.clone(), bounds, output };
            checker.check(&Op::Gather(gather), name);
            let scatter = Scatter { shape, source: other, indices, bounds, target: whole, target_len: 120 };
            checker.check(&Op::Scatter(scatter), name);
        }
    }
    checker.finish(1000);
}

#[test]
fn every_product_and_random_number() {
    let mut checker = Checker::new();
    for (dtype, sizes) in DType::ALL
        .into_iter()
        .flat_map(|dtype| [[5, 6, 7], [1, 300, 1], [3, 0, 4], [70_000, 9, 8]].map(|sizes| (dtype, sizes)))
    {
        let [rows, inner, columns] = sizes;
        for (batch, lie) in [&[][..], &[2, 3]].into_iter().flat_map(|batch| [0, 1, 2].map(|lie| (batch, lie))) {
            let side = |storage: u64, a: usize, b: usize| lies(storage, dtype, &[batch, &[a, b]].concat())[lie].clone();
            let (left, right) = (side(1, rows, inner), side(2, inner, columns));
            let output = packed(3, dtype, &[batch, &[rows, columns]].concat());
            let op = Op::MatMul(MatMul { batch: batch.into(), rows, columns, inner, left, right, output });
            checker.check(&op, || format!("matmul {dtype} {sizes:?}"));
        }
        for distribution in [
            Distribution::Uniform,
            Distribution::Normal,
            Distribution::Words,
            Distribution::Integers { low: 0, span: 6 },
        ] {
            for output in lies(1, dtype, &[30, 40]) {
                let random = Random { key: [0; 2], counter: [0; 4], skip: 3, distribution, output };
                let fits = match distribution {
                    Distribution::Words => dtype == DType::UInt64,
                    Distribution::Integers { .. } => dtype == DType::Bool || dtype.is_integer(),
                    _ => matches!(dtype, DType::Float32 | DType::Float64),
                };
                if fits {
                    checker.check(&Op::Random(random), || format!("{distribution:?} {dtype}"));
                }
            }
        }
    }
    checker.finish(300);
}

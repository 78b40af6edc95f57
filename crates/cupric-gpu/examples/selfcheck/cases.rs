//! Operations of every kind, with their storages.

use crate::data::{Lie, Numbers, element, hostile, layout, whole};
use cupric_core::{DType, Dims, Kind, Layout, Scalar, Typed};
use cupric_ir::{
    Bounds, Distribution, Ex, FOLDS, Finish, Fold, Gather, IndexOperand, Input, MapStep, MatMul, Op, Operand, Random,
    ReduceStep, Register, Resolved, Scan, Scatter, Select, Sort, Sorted, Step, StorageId, Ufunc, alone, fuse, trace,
    ufunc, ufuncs,
};
use std::sync::Arc;

/// Operations; their storages are numbered as they stand in the list.
pub struct Case {
    pub ops: Vec<Op>,
    pub storages: Vec<Vec<u8>>,
}

/// A case that is made when it is wanted.
pub struct Plan {
    pub name: String,
    pub make: Box<dyn Fn() -> Case + Send + Sync>,
}

/// What every byte of an output is before.
const FRESH: u8 = 0xab;

#[derive(Default)]
struct Storages(Vec<Vec<u8>>);

impl Storages {
    fn input(&mut self, dtype: DType, shape: &[usize], lie: Lie, seed: u64) -> Operand {
        self.filled(dtype, shape, lie, |count| hostile(dtype, count, seed))
    }

    fn filled(&mut self, dtype: DType, shape: &[usize], lie: Lie, fill: impl Fn(usize) -> Vec<u8>) -> Operand {
        let (layout, bytes) = layout(shape, dtype.size(), lie);
        // One byte more than a multiple of the size: the elements themselves begin at the offset.
        let mut storage = vec![0; layout.offset];
        storage.extend(fill(bytes.div_ceil(dtype.size())));
        self.add(dtype, layout, storage)
    }

    fn output(&mut self, dtype: DType, shape: &[usize], lie: Lie) -> Operand {
        let (layout, bytes) = layout(shape, dtype.size(), lie);
        self.add(dtype, layout, vec![FRESH; bytes])
    }

    fn add(&mut self, dtype: DType, layout: Layout, bytes: Vec<u8>) -> Operand {
        self.0.push(bytes);
        Operand { storage: StorageId(self.0.len() as u64 - 1), dtype, layout: layout.into() }
    }

    fn case(self, op: Op) -> Case {
        Case { ops: vec![op], storages: self.0 }
    }
}

fn plan(name: String, make: impl Fn() -> Case + Send + Sync + 'static) -> Plan {
    Plan { name, make: Box::new(make) }
}

pub fn all() -> Vec<Plan> {
    [
        maps(),
        layouts(),
        casts(),
        groups(),
        reductions(),
        scans(),
        sorts(),
        selections(),
        indexing(),
        products(),
        randoms(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn typed(row: &Ufunc, dtype: DType) -> Vec<Typed> {
    let mut inputs = vec![Typed::Strong(dtype); row.inputs];
    if row.name == "where" {
        inputs[0] = Typed::Strong(DType::Bool);
    }
    inputs
}

fn map_step(storages: &mut Storages, resolved: &Resolved, shape: &[usize], lies: (Lie, Lie), mask: bool) -> MapStep {
    let inputs = resolved.takes.iter().enumerate();
    let inputs =
        inputs.map(|(index, &dtype)| Input::Array(storages.input(dtype, shape, lies.0, index as u64))).collect();
    let outputs = resolved.gives.iter().map(|&dtype| storages.output(dtype, shape, lies.1)).collect();
    let mask = mask.then(|| storages.input(DType::Bool, shape, Lie::Packed, 77));
    MapStep { shape: shape.into(), body: Arc::new(resolved.compile()), inputs, outputs, mask }
}

fn map_case(row: &'static Ufunc, dtype: DType, shape: &[usize], lies: (Lie, Lie), mask: bool) -> Case {
    let resolved = row.resolve(&typed(row, dtype), None).expect("the loop was found before");
    let mut storages = Storages::default();
    let step = map_step(&mut storages, &resolved, shape, lies, mask);
    storages.case(alone(&Step::Map(step)))
}

/// Every row in every dtype that it takes without conversion.
fn maps() -> Vec<Plan> {
    let mut plans = Vec::new();
    for row in ufuncs() {
        for dtype in DType::ALL {
            let resolved = row.resolve(&typed(row, dtype), None);
            if resolved.is_ok_and(|resolved| resolved.takes.last() == Some(&dtype)) {
                let name = format!("map {} {dtype}", row.name);
                plans.push(plan(name, move || map_case(row, dtype, &[50_021], (Lie::Packed, Lie::Packed), false)));
            }
        }
    }
    plans
}

/// One row in all layouts.
fn layouts() -> Vec<Plan> {
    let row = ufunc("add").expect("a row");
    let shapes: [&[usize]; 4] = [&[5], &[37, 129], &[11, 3, 64, 5], &[2, 3, 2, 3, 2, 3, 5]];
    let mut plans = Vec::new();
    for (shape, input) in shapes.into_iter().flat_map(|shape| Lie::ALL.map(|lie| (shape, lie))) {
        for output in [Lie::Packed, Lie::EveryOther, Lie::Transposed, Lie::Backwards] {
            for dtype in [DType::Float32, DType::Int8, DType::Complex128] {
                let name = format!("map add {dtype} {shape:?} {input:?} -> {output:?}");
                plans.push(plan(name, move || map_case(row, dtype, shape, (input, output), false)));
            }
        }
    }
    for dtype in [DType::Float32, DType::Bool, DType::Complex64] {
        for lie in [Lie::Packed, Lie::Transposed] {
            let name = format!("map add {dtype} {lie:?} where");
            plans.push(plan(name, move || map_case(row, dtype, &[67, 301], (lie, lie), true)));
        }
    }
    plans
}

/// Every dtype to every other one.
fn casts() -> Vec<Plan> {
    let row = ufunc("copy").expect("a row");
    let pairs = DType::ALL.into_iter().flat_map(|from| DType::ALL.map(|to| (from, to)));
    let cast = move |from: DType, to: DType| {
        let mut storages = Storages::default();
        let resolved = row.resolve(&[Typed::Strong(from)], None).expect("copy takes all dtypes");
        let input = storages.input(from, &[20_011], Lie::Packed, 3);
        let output = storages.output(to, &[20_011], Lie::Packed);
        let step = MapStep {
            shape: [20_011][..].into(),
            body: Arc::new(resolved.compile()),
            inputs: std::iter::once(Input::Array(input)).collect(),
            outputs: std::iter::once(output).collect(),
            mask: None,
        };
        storages.case(alone(&Step::Map(step)))
    };
    pairs.map(|(from, to)| plan(format!("cast {from} -> {to}"), move || cast(from, to))).collect()
}

/// `sin(a) * b + c * c - a / b`, as few operations as fusion makes of it. `fresh` gives storage for a temporary.
pub fn expression(operands: &[Operand; 3], output: Operand, mut fresh: impl FnMut() -> Operand) -> Vec<Op> {
    let mut steps = Vec::new();
    let mut apply = |name: &str, inputs: &[&Operand], result: Operand| -> Operand {
        let row = ufunc(name).expect("a row");
        let resolved = row.resolve(&vec![Typed::Strong(result.dtype); inputs.len()], None).expect("a loop");
        steps.push(Step::Map(MapStep {
            shape: result.layout.shape.clone(),
            body: Arc::new(resolved.compile()),
            inputs: inputs.iter().map(|&operand| Input::Array(operand.clone())).collect(),
            outputs: std::iter::once(result.clone()).collect(),
            mask: None,
        }));
        result
    };
    let [a, b, c] = operands;
    let sine = apply("sin", &[a], fresh());
    let product = apply("multiply", &[&sine, b], fresh());
    let square = apply("multiply", &[c, c], fresh());
    let sum = apply("add", &[&product, &square], fresh());
    let quotient = apply("divide", &[a, b], fresh());
    let kept = apply("subtract", &[&sum, &quotient], output).storage;
    fuse(&steps, |storage| storage == kept).into_iter().map(|fused| fused.op).collect()
}

fn groups() -> Vec<Plan> {
    let make = |dtype: DType, lie: Lie| {
        let mut storages = Storages::default();
        let shape = [211, 307];
        let operands = [0, 1, 2].map(|seed| storages.input(dtype, &shape, lie, seed));
        let output = storages.output(dtype, &shape, Lie::Packed);
        let ops = expression(&operands, output, || storages.output(dtype, &shape, Lie::Packed));
        Case { ops, storages: storages.0 }
    };
    let kinds = [DType::Float16, DType::Float32, DType::Float64, DType::BFloat16];
    let kinds = kinds.into_iter().flat_map(|dtype| [Lie::Packed, Lie::Transposed].map(|lie| (dtype, lie)));
    kinds.map(|(dtype, lie)| plan(format!("group {dtype} {lie:?}"), move || make(dtype, lie))).collect()
}

/// A reduction whose result is what the fold gives.
pub fn reduction(
    fold: &'static Fold,
    input: Operand,
    axes: &[usize],
    output: impl FnOnce(DType, &[usize]) -> Operand,
) -> Op {
    let accumulator = fold.accumulator(input.dtype);
    let compiled = Arc::new(fold.compile(accumulator).expect("a loop"));
    let state = compiled.state.clone();
    let (graph, results) = trace(|| {
        let registers: Vec<Ex> = state.iter().enumerate().map(|(index, &ty)| Ex::argument(index, ty)).collect();
        match fold.is_position() {
            true => vec![registers[registers.len() - 1]],
            false => registers.iter().map(|register| register.round_to(accumulator.component())).collect(),
        }
    });
    let value = Register { real: results[0], imaginary: results.get(1).copied() };
    let finish = Finish { graph, parameters: Vec::new(), value };
    let shape = input.layout.shape.iter().enumerate();
    let kept: Vec<usize> = shape.filter(|(axis, _)| !axes.contains(axis)).map(|(_, &size)| size).collect();
    let output = output(compiled.gives, &kept);
    alone(&Step::Reduce(ReduceStep { input, axes: axes.into(), fold: compiled, finish, output }))
}

fn reductions() -> Vec<Plan> {
    let mut plans = Vec::new();
    let make = |fold: &'static Fold, dtype, shape: &'static [usize], axes: &'static [usize], lie| {
        let mut storages = Storages::default();
        let input = storages.input(dtype, shape, lie, 9);
        let op = reduction(fold, input, axes, |gives, kept| storages.output(gives, kept, Lie::Packed));
        storages.case(op)
    };
    let spaces: [(&'static [usize], &'static [usize]); 4] =
        [(&[200_003], &[0]), (&[301, 2_500], &[1]), (&[2_500, 301], &[0]), (&[20_000, 7], &[1])];
    let more: [(&'static [usize], &'static [usize]); 8] = [
        (&[1], &[0]),
        (&[127], &[0]),
        (&[1_024], &[0]),
        (&[1_025], &[0]),
        (&[3_000_001], &[0]),
        (&[40, 50, 60], &[0, 2]),
        (&[40, 50, 60], &[1]),
        (&[3, 100_000], &[1]),
    ];
    let takes = |fold: &'static Fold, dtype: DType| fold.compile(fold.accumulator(dtype)).is_ok();
    for (fold, dtype) in FOLDS.iter().flat_map(|fold| DType::ALL.map(|dtype| (fold, dtype))) {
        for (shape, axes) in spaces.into_iter().filter(|_| takes(fold, dtype)) {
            let name = format!("{} {dtype} {shape:?} over {axes:?}", fold.name);
            plans.push(plan(name, move || make(fold, dtype, shape, axes, Lie::Packed)));
        }
    }
    for fold in FOLDS.iter().filter(|fold| ["sum", "argmax"].contains(&fold.name)) {
        for ((shape, axes), lie) in more.into_iter().flat_map(|space| Lie::ALL.map(|lie| (space, lie))) {
            let name = format!("{} float32 {shape:?} over {axes:?} {lie:?}", fold.name);
            plans.push(plan(name, move || make(fold, DType::Float32, shape, axes, lie)));
        }
    }
    plans
}

/// A scan along the last axis.
pub fn scan(fold: &'static Fold, input: Operand, output: impl FnOnce(DType, &[usize]) -> Operand) -> Op {
    let accumulator = fold.accumulator(input.dtype);
    let shape = input.layout.shape.clone();
    let output = output(accumulator, &shape);
    Op::Scan(Scan { shape, input, output, fold: Arc::new(fold.compile(accumulator).expect("a loop")) })
}

fn scans() -> Vec<Plan> {
    let mut plans = Vec::new();
    let make = |fold: &'static Fold, dtype, shape: &'static [usize], lie| {
        let mut storages = Storages::default();
        let input = storages.input(dtype, shape, lie, 11);
        let op = scan(fold, input, |gives, shape| storages.output(gives, shape, Lie::Packed));
        storages.case(op)
    };
    let numeric = DType::ALL.into_iter().filter(|&dtype| dtype != DType::Bool);
    let pairs = numeric.flat_map(|dtype| FOLDS.iter().map(move |fold| (fold, dtype)));
    for (fold, dtype) in pairs.filter(|(fold, _)| matches!(fold.name, "sum" | "prod" | "max" | "min")) {
        for shape in [&[300_007][..], &[53, 4_001], &[5_000, 9]] {
            plans.push(plan(format!("cum{} {dtype} {shape:?}", fold.name), move || {
                make(fold, dtype, shape, Lie::Packed)
            }));
        }
        if fold.name == "sum" && dtype == DType::Float32 {
            for lie in Lie::ALL {
                plans.push(plan(format!("cumsum {dtype} {lie:?}"), move || make(fold, dtype, &[67, 2_049], lie)));
            }
        }
    }
    plans
}

fn sorts() -> Vec<Plan> {
    let mut plans = Vec::new();
    let make = |dtype: DType, shape: &'static [usize], lie, answer| {
        let mut storages = Storages::default();
        let input = storages.input(dtype, shape, lie, 13);
        let gives = if answer == Sorted::Values { dtype } else { DType::Int64 };
        let output = storages.output(gives, shape, Lie::Packed);
        storages.case(Op::Sort(Sort { shape: shape.into(), input, output, answer }))
    };
    for dtype in DType::ALL {
        for (shape, answer) in [&[100_003][..], &[700, 333], &[3_000, 7], &[5, 20_000]]
            .into_iter()
            .flat_map(|shape| [Sorted::Values, Sorted::Positions].map(|answer| (shape, answer)))
        {
            let name = format!("sort {dtype} {shape:?} {answer:?}");
            plans.push(plan(name, move || make(dtype, shape, Lie::Packed, answer)));
        }
    }
    for lie in Lie::ALL {
        plans.push(plan(format!("sort float32 {lie:?}"), move || {
            make(DType::Float32, &[31, 3_001], lie, Sorted::Values)
        }));
    }
    plans
}

fn selections() -> Vec<Plan> {
    let make = |dtype: Option<DType>, shape: &'static [usize], lie: Lie| {
        let mut storages = Storages::default();
        let mask = storages.input(DType::Bool, shape, lie, 17);
        let bytes = &storages.0[0];
        let (strides, sizes) = (&mask.layout.strides, shape);
        let chosen = (0..sizes.iter().product::<usize>()).filter(|&index| {
            let mut rest = index;
            let mut at = mask.layout.offset as isize;
            for axis in (0..sizes.len()).rev() {
                at += (rest % sizes[axis]) as isize * strides[axis];
                rest /= sizes[axis];
            }
            bytes[at as usize] != 0
        });
        let count = chosen.count();
        let source = dtype.map(|dtype| storages.input(dtype, shape, lie, 18));
        let output = storages.output(dtype.unwrap_or(DType::Int64), &[count], Lie::Packed);
        storages.case(Op::Select(Select { shape: shape.into(), mask, source, output }))
    };
    let kinds = [None, Some(DType::Bool), Some(DType::Int16), Some(DType::Float32), Some(DType::Complex128)];
    let kinds = kinds.into_iter().flat_map(|dtype| Lie::ALL.map(|lie| (dtype, lie)));
    let shapes = kinds.flat_map(|(dtype, lie)| [&[300_001][..], &[97, 311]].map(|shape| (dtype, lie, shape)));
    shapes
        .map(|(dtype, lie, shape)| plan(format!("select {dtype:?} {shape:?} {lie:?}"), move || make(dtype, shape, lie)))
        .collect()
}

fn indices(storages: &mut Storages, count: usize, bounds: Bounds, length: usize) -> Operand {
    let mut numbers = Numbers::new(19);
    let bytes = (0..count).flat_map(|_| {
        let index = numbers.below(2 * length as u64) as i64 - length as i64;
        let index = if bounds == Bounds::Raise { index } else { index * 2 };
        element(DType::Int64, Scalar::Int(index.into()).to_bits(DType::Int64))
    });
    let bytes: Vec<u8> = bytes.collect();
    storages.add(DType::Int64, Layout::row_major(&[count], 8), bytes)
}

/// `a[i]` or `a[i] = b` for rows of a matrix.
fn rows_case(dtype: DType, bounds: Bounds, scatter: bool) -> Case {
    let (length, columns, count) = (501, 33, 4_000);
    let mut storages = Storages::default();
    let matrix = storages.input(dtype, &[length, columns], Lie::Packed, 20);
    let mut index = indices(&mut storages, count, bounds, length);
    let shape: Dims = [count, columns][..].into();
    let item = dtype.size() as isize;
    index.layout = Layout { shape: shape.clone(), strides: [8, 0][..].into(), offset: 0 }.into();
    let over = Layout { shape: shape.clone(), strides: [0, item][..].into(), offset: 0 };
    let matrix = Operand { layout: over.into(), ..matrix };
    let indices = vec![IndexOperand { operand: index, length, stride: item * columns as isize }];
    if scatter {
        let source = storages.input(dtype, &shape, Lie::Packed, 21);
        let target_len = length * columns;
        return storages.case(Op::Scatter(Scatter { shape, source, indices, bounds, target: matrix, target_len }));
    }
    let output = storages.output(dtype, &shape, Lie::Packed);
    storages.case(Op::Gather(Gather { shape, source: matrix, indices, bounds, output }))
}

fn indexing() -> Vec<Plan> {
    let kinds = [DType::Bool, DType::Float16, DType::Float32, DType::Int64, DType::Complex128];
    let all = kinds.into_iter().flat_map(|dtype| [Bounds::Raise, Bounds::Wrap, Bounds::Clip].map(|how| (dtype, how)));
    all.flat_map(|(dtype, bounds)| {
        [(false, "gather"), (true, "scatter")].map(|(scatter, name)| {
            plan(format!("{name} {dtype} {bounds:?}"), move || rows_case(dtype, bounds, scatter))
        })
    })
    .collect()
}

/// A gather whose index 700 lies outside of an axis of 501.
pub fn outside() -> Case {
    let mut case = rows_case(DType::Float32, Bounds::Raise, false);
    case.storages[1][80..88].copy_from_slice(&700_i64.to_le_bytes());
    case
}

fn products() -> Vec<Plan> {
    let make = |dtype: DType, batch: &'static [usize], [rows, inner, columns]: [usize; 3], lie: Lie| {
        let over = |a: usize, b: usize| -> Vec<usize> { batch.iter().copied().chain([a, b]).collect() };
        let mut storages = Storages::default();
        let left = storages.filled(dtype, &over(rows, inner), lie, |count| whole(dtype, count, 23));
        let right = storages.filled(dtype, &over(inner, columns), lie, |count| whole(dtype, count, 24));
        let output = storages.output(dtype, &over(rows, columns), Lie::Packed);
        storages.case(Op::MatMul(MatMul { batch: batch.into(), rows, columns, inner, left, right, output }))
    };
    let mut plans = Vec::new();
    for (dtype, lie) in DType::ALL.into_iter().flat_map(|dtype| Lie::ALL.map(|lie| (dtype, lie))) {
        // Sums in a float16 stay below 2048, where they are exact; those in an integer may wrap.
        let spaces: [(&'static [usize], [usize; 3]); 4] =
            [(&[], [65, 130, 33]), (&[3, 5], [7, 20, 9]), (&[], [1, 100, 50]), (&[], [50, 100, 1])];
        let exact = dtype.kind() != Kind::Bool || lie != Lie::Unaligned;
        for (batch, sizes) in spaces.into_iter().filter(|_| exact) {
            plans.push(plan(format!("matmul {dtype} {batch:?} {sizes:?} {lie:?}"), move || {
                make(dtype, batch, sizes, lie)
            }));
        }
    }
    plans
}

fn randoms() -> Vec<Plan> {
    use Distribution::{Integers, Normal, Uniform, Words};
    let make = |distribution, dtype: DType, skip: u64| {
        let mut storages = Storages::default();
        let output = storages.output(dtype, &[100_003], Lie::Packed);
        let (key, counter) = ([0x1234_5678_9abc_def0, 42], [u64::MAX - 3, 7, 0, 0]);
        storages.case(Op::Random(Random { key, counter, skip, distribution, output }))
    };
    let kinds = [
        (Uniform, DType::Float32),
        (Uniform, DType::Float64),
        (Normal, DType::Float32),
        (Normal, DType::Float64),
        (Words, DType::UInt64),
        (Integers { low: -3, span: 10 }, DType::Int64),
        (Integers { low: 0, span: (1 << 63) + 5 }, DType::UInt64),
        (Integers { low: 5, span: 200 }, DType::UInt8),
        (Integers { low: 0, span: 0 }, DType::UInt64),
    ];
    kinds
        .into_iter()
        .flat_map(|(distribution, dtype)| [0, 4].map(|skip| (distribution, dtype, skip)))
        .map(|(distribution, dtype, skip)| {
            plan(format!("random {distribution:?} {dtype} after {skip}"), move || make(distribution, dtype, skip))
        })
        .collect()
}

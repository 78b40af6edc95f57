//! Programs of a fixed set of kernels, for where nothing can be compiled, or not yet.

use crate::{
    anywhere::{self, Follow, INDICES},
    bound::{Bound, Scope},
    kernel::Program,
    matmul, random, reduce, scan, select, sort,
    stepwise::{Steps, Value, flat, is_flat, over},
};
use cupric_core::{DType, Dims, Layout, Strides};
use cupric_ir::{
    Bounds, Component, Gather, IndexOperand, Map, MatMul, Node, Op, Parameter, Prim, Random, Reduce, Register, Scan,
    Scatter, Select, Sort, Sorted, Ty,
};

/// The program; none if it would need another kernel.
pub(crate) fn plan(scope: &Scope, op: &Op) -> Option<Program> {
    match op {
        Op::Map(op) => map(scope, op),
        Op::Reduce(op) => reduce(scope, op),
        Op::Scan(op) => scan(scope, op),
        Op::Sort(op) => sort(scope, op),
        Op::Select(op) => select(scope, op),
        Op::Gather(op) => gather(scope, op),
        Op::Scatter(op) => scatter(scope, op),
        Op::MatMul(op) => product(scope, op),
        Op::Random(op) => random(scope, op),
    }
}

/// The value of a leaf that is a parameter.
fn parameter(parameters: &[Parameter], node: Node) -> Option<Value> {
    match node {
        Node::Parameter(index) => parameters.get(usize::from(index)).map(|&parameter| Value::Scalar(parameter)),
        _ => None,
    }
}

fn map(scope: &Scope, map: &Map) -> Option<Program> {
    let count = map.shape.iter().product();
    if count == 0 {
        return Some(Program::default());
    }
    let mut steps = Steps::new(scope, count);
    let parts = |value: Register| std::iter::once(value.real).chain(value.imaginary);
    let roots: Vec<u32> = map.stores.iter().flat_map(|store| parts(store.value).chain(store.mask)).collect();
    // The last step of a program with one result may write it where it belongs.
    let last = map.graph.nodes().len() as u32 - 1;
    let target = match &map.stores[..] {
        [store] if store.mask.is_none() && store.value.real == last && store.value.imaginary.is_none() => {
            let to = scope.write(0);
            let kept = !matches!(to.dtype, DType::Float16 | DType::BFloat16) && is_flat(&to, &map.shape);
            kept.then(|| (last, flat(&to, count)))
        }
        _ => None,
    };
    let computed =
        target.is_some() && matches!(map.graph.nodes()[last as usize].0, Node::Op { .. } | Node::Call { .. });
    let values = steps.run(&map.graph, &roots, target, |steps, node, _| match node {
        Node::Load { input, component } => steps.load(&map.shape, &scope.read(usize::from(input)), component),
        Node::Position => Some(steps.positions()),
        other => parameter(&map.parameters, other),
    })?;
    if computed {
        return Some(steps.program);
    }
    let mut values = values.into_iter();
    for (index, store) in map.stores.iter().enumerate() {
        let real = values.next()?;
        let imaginary = match store.value.imaginary {
            Some(_) => Some(values.next()?),
            None => None,
        };
        let mask = match store.mask {
            Some(_) => Some(values.next()?),
            None => None,
        };
        steps.store(&map.shape, &scope.write(index), (&real, imaginary.as_ref()), mask.as_ref())?;
    }
    Some(steps.program)
}

fn reduce(scope: &Scope, op: &Reduce) -> Option<Program> {
    let rows: usize = op.kept.iter().product();
    let count: usize = op.reduced.iter().product();
    if rows == 0 {
        return Some(Program::default());
    }
    let mut steps = Steps::new(scope, rows * count);
    let states: Vec<Value> = if count == 0 {
        let identity = op.fold.identity.as_ref()?.iter().zip(&op.fold.state);
        identity.map(|(&bits, &ty)| Value::Scalar(Parameter { ty, bits })).collect()
    } else {
        let shape: Dims = op.kept.iter().chain(&op.reduced).copied().collect();
        let values = steps.run(&op.graph, &op.element, None, |steps, node, _| match node {
            Node::Load { input, component } => steps.load(&shape, &scope.read(usize::from(input)), component),
            Node::Position => {
                let (all, len) = (steps.positions(), Parameter { ty: Ty::I64, bits: count as u64 });
                Some(steps.apply(Prim::FloorMod, Ty::I64, &[all, Value::Scalar(len)]))
            }
            other => parameter(&op.parameters, other),
        })?;
        let elements: Vec<Bound> = values.iter().map(|value| steps.array(value)).collect();
        let states = reduce::states(&scope.wide(), op, &elements, rows, count, &mut steps.program);
        states.into_iter().map(Value::Array).collect()
    };
    steps.count = rows;
    let finish = &op.finish;
    let roots: Vec<u32> = std::iter::once(finish.value.real).chain(finish.value.imaginary).collect();
    let results = steps.run(&finish.graph, &roots, None, |_, node, _| match node {
        Node::Argument(index) => states.get(usize::from(index)).cloned(),
        other => parameter(&finish.parameters, other),
    })?;
    steps.store(&op.kept, &scope.write(0), (&results[0], results.get(1)), None)?;
    Some(steps.program)
}

fn scan(scope: &Scope, op: &Scan) -> Option<Program> {
    if op.shape.contains(&0) {
        return Some(Program::default());
    }
    let (&count, rows) = op.shape.split_last()?;
    let rows: usize = rows.iter().product();
    let mut steps = Steps::new(scope, rows * count);
    let (graph, element) = scan::load(&op.fold, op.input.dtype);
    let input = scope.read(0);
    let values = steps.run(&graph, &element, None, |steps, node, _| match node {
        Node::Load { component, .. } => steps.load(&op.shape, &input, component),
        _ => None,
    })?;
    let states: Vec<Bound> = values.iter().map(|value| own(&mut steps, value)).collect();
    scan::states(&scope.wide(), &op.fold, &states, rows, count, &mut steps.program);
    let (graph, value) = scan::unload(&op.fold, op.output.dtype);
    let roots: Vec<u32> = std::iter::once(value.real).chain(value.imaginary).collect();
    let results = steps.run(&graph, &roots, None, |_, node, _| match node {
        Node::Argument(index) => states.get(usize::from(index)).cloned().map(Value::Array),
        _ => None,
    })?;
    steps.store(&op.shape, &scope.write(0), (&results[0], results.get(1)), None)?;
    Some(steps.program)
}

/// An array that may be written: an operand's own elements are copied.
fn own(steps: &mut Steps, value: &Value) -> Bound {
    let array = steps.array(value);
    if array.storage.is_none() {
        return array;
    }
    let to = steps.scratch(array.dtype);
    let shape = [steps.count];
    let raw = |bound: &Bound| bound.clone().raw();
    steps.program.launches.extend(anywhere::copy(steps.scope, &shape, &raw(&array), &raw(&to), None));
    to
}

/// A packed copy of an operand, elements as they are.
fn copied(steps: &mut Steps, shape: &[usize], operand: &Bound) -> Option<Bound> {
    steps.count = shape.iter().product();
    let to = over(&steps.scratch(operand.dtype), shape);
    let launch = anywhere::copy(steps.scope, shape, &operand.clone().raw(), &to.clone().raw(), None)?;
    steps.program.launches.push(launch);
    Some(to)
}

/// Copies packed elements to where they belong.
fn put(steps: &mut Steps, shape: &[usize], from: &Bound, to: &Bound) -> Option<()> {
    let launch = anywhere::copy(steps.scope, shape, &over(from, shape).raw(), &to.clone().raw(), None)?;
    steps.program.launches.push(launch);
    Some(())
}

fn sort(scope: &Scope, op: &Sort) -> Option<Program> {
    if op.shape.contains(&0) {
        return Some(Program::default());
    }
    let (&count, rows) = op.shape.split_last()?;
    let rows: usize = rows.iter().product();
    let mut steps = Steps::new(scope, rows * count);
    let input = copied(&mut steps, &op.shape, &scope.read(0))?;
    let dtype = if op.answer == Sorted::Values { op.input.dtype } else { DType::Int64 };
    let output = steps.scratch(dtype);
    sort::packed(scope, &input, &output, op.answer, rows, count, &mut steps.program);
    put(&mut steps, &op.shape, &output, &scope.write(0))?;
    Some(steps.program)
}

fn select(scope: &Scope, op: &Select) -> Option<Program> {
    let output = scope.write(0);
    let (count, kept): (usize, usize) = (op.shape.iter().product(), output.layout.len());
    if count == 0 || kept == 0 {
        return Some(Program::default());
    }
    let mut steps = Steps::new(scope, count);
    let mask = over(&copied(&mut steps, &op.shape, &scope.read(0))?, &[count]);
    let mut inputs = vec![mask];
    if op.source.is_some() {
        inputs.push(over(&copied(&mut steps, &op.shape, &scope.read(1))?, &[count]).raw());
    }
    steps.count = kept;
    let result = steps.scratch(output.dtype);
    select::launches(&scope.wide(), &[count], inputs, &result, &mut steps.program);
    put(&mut steps, &[kept], &result, &output)?;
    Some(steps.program)
}

/// The indices as int64 in the workspace, over the iteration.
fn indices(steps: &mut Steps, shape: &[usize], first: usize, given: &[IndexOperand]) -> Option<Vec<Bound>> {
    if given.len() > INDICES {
        return None;
    }
    let mut all = Vec::new();
    for index in 0..given.len() {
        let operand = steps.scope.read(first + index);
        // Axes along which an index stays the same are not repeated.
        let strides = &operand.layout.strides;
        let own: Dims = shape.iter().zip(strides).map(|(&size, &stride)| if stride == 0 { 1 } else { size }).collect();
        steps.count = own.iter().product();
        let operand = Bound { layout: Layout { shape: own.clone(), ..operand.layout.clone() }, ..operand };
        let value = steps.load(&own, &operand, Component::Real)?;
        let value = if operand.dtype == DType::Int64 { value } else { steps.apply(Prim::Cast, Ty::I64, &[value]) };
        let array = self::own(steps, &value);
        let packed = over(&array, &own).layout.strides;
        let strides: Strides = packed.iter().zip(&own).map(|(&step, &size)| if size == 1 { 0 } else { step }).collect();
        let layout = Layout { shape: shape.into(), strides, offset: array.layout.offset };
        all.push(Bound { layout, ..array });
    }
    Some(all)
}

fn follow<'a>(bounds: Bounds, given: &[IndexOperand], indices: &'a [Bound], slots: Vec<isize>) -> Follow<'a> {
    Follow {
        bounds,
        indices,
        lengths: given.iter().map(|index| index.length).collect(),
        strides: given.iter().map(|index| index.stride).collect(),
        slots,
    }
}

fn gather(scope: &Scope, op: &Gather) -> Option<Program> {
    let mut steps = Steps::new(scope, 1);
    if op.shape.contains(&0) {
        return Some(steps.program);
    }
    let arrays = indices(&mut steps, &op.shape, 1, &op.indices)?;
    let follow = follow(op.bounds, &op.indices, &arrays, Vec::new());
    let launch = anywhere::gather(scope, &op.shape, &scope.read(0).raw(), &scope.write(0).raw(), &follow)?;
    steps.program.launches.push(launch);
    Some(steps.program)
}

fn scatter(scope: &Scope, op: &Scatter) -> Option<Program> {
    let mut steps = Steps::new(scope, 1);
    if op.shape.contains(&0) {
        return Some(steps.program);
    }
    let arrays = indices(&mut steps, &op.shape, 1, &op.indices)?;
    let (slots, index_slots) = crate::scatter::slots(op);
    let winners = steps.take(8 * op.target_len.max(1));
    let follow = follow(op.bounds, &op.indices, &arrays, index_slots.to_vec());
    let ends = [&scope.read(0).raw(), &scope.write(0).raw()];
    steps.program.launches.extend(anywhere::scatter(scope, &op.shape, ends, &slots, winners, &follow)?);
    Some(steps.program)
}

fn product(scope: &Scope, op: &MatMul) -> Option<Program> {
    let mut steps = Steps::new(scope, 1);
    let output = scope.write(0);
    if output.layout.is_empty() {
        return Some(steps.program);
    }
    let shape = |rows: usize, columns: usize| -> Dims { op.batch.iter().copied().chain([rows, columns]).collect() };
    let batch: usize = op.batch.iter().product();
    let mut sides = Vec::new();
    for (index, (rows, columns)) in [(op.rows, op.inner), (op.inner, op.columns)].into_iter().enumerate() {
        let side = scope.read(index);
        sides.push(match op.inner {
            // No element is read, wherever it would lie.
            0 => Bound::scratch(side.dtype, 0, &[batch, rows, columns]),
            _ => over(&copied(&mut steps, &shape(rows, columns), &side)?, &[batch, rows, columns]),
        });
    }
    steps.count = batch * op.rows * op.columns;
    sides.push(over(&steps.scratch(output.dtype), &[batch, op.rows, op.columns]));
    let result = sides[2].clone();
    let sides = sides.try_into().ok()?;
    steps.program.launches.push(matmul::launch(&scope.wide(), sides, [batch, op.rows, op.columns, op.inner]));
    put(&mut steps, &shape(op.rows, op.columns), &result, &output)?;
    Some(steps.program)
}

fn random(scope: &Scope, op: &Random) -> Option<Program> {
    let output = scope.write(0);
    let shape = output.layout.shape.clone();
    let count: usize = shape.iter().product();
    let mut steps = Steps::new(scope, count);
    if count == 0 {
        return Some(steps.program);
    }
    let result = steps.scratch(output.dtype);
    steps.program.launches.push(random::launch_for(&scope.wide(), op, result.clone()).ok()?);
    put(&mut steps, &shape, &result, &output)?;
    Some(steps.program)
}

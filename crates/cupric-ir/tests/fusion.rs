//! What is fused, what is written, and in which order kernels run.

use cupric_core::{Bits, DType, Layout};
use cupric_ir::{
    Ex, Finish, Input, MapStep, Node, Op, Operand, Prim, ReduceStep, Register, Step, StorageId, Ty, alone, fold, trace,
    ufunc,
};
use smallvec::smallvec;
use std::sync::Arc;

const N: usize = 1000;

fn vector(storage: u64) -> Operand {
    Operand { storage: StorageId(storage), dtype: DType::Float32, layout: Layout::row_major(&[N], 4).into() }
}

fn part(storage: u64, start: usize, len: usize) -> Operand {
    let layout = Layout { shape: smallvec![len], strides: smallvec![4], offset: 4 * start };
    Operand { storage: StorageId(storage), dtype: DType::Float32, layout: layout.into() }
}

fn map(name: &str, inputs: &[&Operand], output: &Operand) -> Step {
    let row = ufunc(name).expect("a ufunc");
    let typed: Vec<_> = inputs.iter().map(|operand| cupric_core::Typed::Strong(operand.dtype)).collect();
    let body = Arc::new(row.resolve(&typed, None).expect("a loop").compile());
    Step::Map(MapStep {
        shape: output.layout.shape.clone(),
        body,
        inputs: inputs.iter().map(|&operand| Input::Array(operand.clone())).collect(),
        outputs: smallvec![output.clone()],
        mask: None,
    })
}

fn sum(input: &Operand, output: &Operand) -> Step {
    let fold = Arc::new(fold("sum").expect("a fold").compile(input.dtype).expect("a loop"));
    let (graph, results) = trace(|| vec![Ex::argument(0, Ty::F32)]);
    let value = Register { real: results[0], imaginary: None };
    Step::Reduce(ReduceStep {
        input: input.clone(),
        axes: smallvec![0],
        fold,
        finish: Finish { graph, parameters: Vec::new(), value },
        output: output.clone(),
    })
}

fn scalar(storage: u64) -> Operand {
    Operand { storage: StorageId(storage), dtype: DType::Float32, layout: Layout::row_major(&[], 4).into() }
}

fn fuse(steps: &[Step], alive: impl Fn(StorageId) -> bool) -> Vec<Op> {
    cupric_ir::fuse(steps, alive).into_iter().map(|fused| fused.op).collect()
}

fn kinds(ops: &[Op]) -> Vec<&'static str> {
    ops.iter().map(Op::name).collect()
}

fn stores(op: &Op) -> Vec<u64> {
    op.writes().iter().map(|operand| operand.storage.0).collect()
}

#[test]
fn a_chain_becomes_one_map_that_writes_only_what_is_held() {
    let steps = [
        map("add", &[&vector(1), &vector(2)], &vector(3)),
        map("sqrt", &[&vector(3)], &vector(4)),
        map("multiply", &[&vector(4), &vector(1)], &vector(5)),
    ];
    let ops = fuse(&steps, |id| [1, 2, 5].contains(&id.0));
    assert_eq!(kinds(&ops), ["map"]);
    assert_eq!(stores(&ops[0]), [5]);
    assert_eq!(ops[0].reads().len(), 2, "each input is loaded once");
    let ops = fuse(&steps, |id| [1, 2, 4, 5].contains(&id.0));
    assert_eq!(stores(&ops[0]), [4, 5]);
}

#[test]
fn what_only_a_chain_sees_does_not_count_against_its_length() {
    let chain = |length: u64| -> Vec<Step> {
        (2..2 + length).map(|last| map("add", &[&vector(last), &vector(1)], &vector(last + 1))).collect()
    };
    let ops = fuse(&chain(100), |id| [1, 2, 102].contains(&id.0));
    assert_eq!(kinds(&ops), ["map"]);
    assert_eq!((ops[0].reads().len(), stores(&ops[0])), (2, vec![102]));
    let ops = fuse(&chain(100), |_| true);
    assert!(ops.len() > 3, "a kernel is given so many operands and no more");
    assert!(ops.iter().all(|op| op.reads().len() + op.writes().len() <= 24));
}

#[test]
fn what_a_chain_is_given_and_overwrites_counts() {
    // 30 arrays that somebody filled before.
    let steps: Vec<Step> = (2..32).map(|id| map("add", &[&vector(id), &vector(1)], &vector(id))).collect();
    let ops = fuse(&steps, |_| true);
    assert!(ops.iter().all(|op| op.reads().len() + op.writes().len() <= 48), "{:?}", kinds(&ops));
    assert!(ops.len() > 1);
}

#[test]
fn what_nobody_will_see_is_left_out() {
    let total = sum(&vector(3), &scalar(4));
    let dead = [map("add", &[&vector(1), &vector(2)], &vector(3)), total, map("sqrt", &[&vector(3)], &vector(5))];
    assert!(fuse(&dead, |id| id.0 < 3).is_empty());
    let fused = cupric_ir::fuse(&dead, |id| id.0 < 3 || id.0 == 5);
    assert_eq!(fused.iter().map(|fused| fused.steps.to_vec()).collect::<Vec<_>>(), [[0, 2]]);
}

#[test]
fn a_reduction_does_not_write_into_what_feeds_it() {
    let steps = [map("sqrt", &[&vector(1)], &vector(2)), sum(&vector(2), &scalar(1))];
    assert_eq!(kinds(&fuse(&steps, |id| id.0 == 1)), ["map", "sum"]);
}

#[test]
fn branches_that_meet_become_one_map() {
    // sin(a) * b + c * c - a / b
    let steps = [
        map("sin", &[&vector(1)], &vector(4)),
        map("multiply", &[&vector(4), &vector(2)], &vector(5)),
        map("multiply", &[&vector(3), &vector(3)], &vector(6)),
        map("add", &[&vector(5), &vector(6)], &vector(7)),
        map("divide", &[&vector(1), &vector(2)], &vector(8)),
        map("subtract", &[&vector(7), &vector(8)], &vector(9)),
    ];
    let ops = fuse(&steps, |id| [1, 2, 3, 9].contains(&id.0));
    assert_eq!(kinds(&ops), ["map"]);
    assert_eq!((ops[0].reads().len(), stores(&ops[0])), (3, vec![9]));
}

#[test]
fn branches_with_a_reduction_between_them_stay_apart() {
    // q = a * a; s = sum(q); r = q + s: q must be written before it is summed.
    let total =
        Operand { layout: Layout { shape: smallvec![N], strides: smallvec![0], offset: 0 }.into(), ..scalar(3) };
    let steps = [
        map("square", &[&vector(1)], &vector(2)),
        sum(&vector(2), &scalar(3)),
        map("add", &[&vector(2), &total], &vector(4)),
    ];
    let ops = fuse(&steps, |id| [1, 4].contains(&id.0));
    assert_eq!(kinds(&ops), ["map", "sum", "map"]);
}

#[test]
fn a_reduction_takes_in_the_maps_that_feed_it_alone() {
    let steps = [
        map("subtract", &[&vector(1), &vector(2)], &vector(3)),
        map("square", &[&vector(3)], &vector(4)),
        sum(&vector(4), &scalar(5)),
    ];
    let ops = fuse(&steps, |id| [1, 2, 5].contains(&id.0));
    assert_eq!(kinds(&ops), ["sum"]);
    assert_eq!(stores(&ops[0]), [5]);
    let ops = fuse(&steps, |id| [1, 2, 3, 5].contains(&id.0));
    assert_eq!(kinds(&ops), ["map", "sum"], "what is held must be written by a map of its own");
    assert_eq!(stores(&ops[0]), [3]);
}

#[test]
fn two_reductions_of_one_result_read_it_from_memory() {
    let steps = [map("square", &[&vector(1)], &vector(2)), sum(&vector(2), &scalar(3)), sum(&vector(2), &scalar(4))];
    let ops = fuse(&steps, |id| [1, 3, 4].contains(&id.0));
    assert_eq!(kinds(&ops), ["map", "sum", "sum"]);
    assert_eq!(stores(&ops[0]), [2]);
}

#[test]
fn normalising_reads_its_input_once_for_each_pass() {
    // m = mean(a); d = a - m; q = d * d; s = sum(q); r = d / s
    let mean = Operand { layout: Layout { shape: smallvec![N], strides: smallvec![0], offset: 0 }.into(), ..scalar(2) };
    let total = Operand { layout: mean.layout.clone(), ..scalar(5) };
    let steps = [
        sum(&vector(1), &scalar(2)),
        map("subtract", &[&vector(1), &mean], &vector(3)),
        map("square", &[&vector(3)], &vector(4)),
        sum(&vector(4), &scalar(5)),
        map("divide", &[&vector(3), &total], &vector(6)),
    ];
    let ops = fuse(&steps, |id| [1, 6].contains(&id.0));
    assert_eq!(ops.len(), 4, "{:?}", kinds(&ops));
    assert_eq!(stores(ops.last().expect("four")), [6]);
}

#[test]
fn a_write_closes_the_groups_that_read_other_places_of_the_storage() {
    let steps = [
        map("square", &[&part(1, 0, 10)], &part(2, 0, 10)),
        map("sqrt", &[&part(3, 0, 10)], &part(1, 5, 10)),
        map("square", &[&part(1, 0, 10)], &part(4, 0, 10)),
    ];
    let ops = fuse(&steps, |_| true);
    assert_eq!(ops.iter().map(stores).collect::<Vec<_>>(), [[2], [1], [4]]);
}

#[test]
fn in_place_steps_on_the_same_places_stay_one_map() {
    let steps = [
        map("square", &[&vector(1)], &vector(1)),
        map("sqrt", &[&vector(1)], &vector(1)),
        map("add", &[&vector(1), &vector(1)], &vector(2)),
    ];
    let ops = fuse(&steps, |_| true);
    assert_eq!(kinds(&ops), ["map"]);
    assert_eq!(stores(&ops[0]), [1, 2], "of writes to the same elements the last one stays");
}

#[test]
fn what_reads_before_a_write_keeps_the_old_values() {
    // b = a + a; a = sqrt(b): the write may join, since each element is read before it is written.
    let steps = [map("add", &[&vector(1), &vector(1)], &vector(2)), map("sqrt", &[&vector(2)], &vector(1))];
    let ops = fuse(&steps, |_| true);
    let Op::Map(map) = &ops[0] else { panic!("a map") };
    let first = map.graph.nodes().iter().position(|(node, _)| matches!(node, Node::Op { prim: Prim::Add, .. }));
    assert!(first.is_some() && ops.len() == 1);
}

#[test]
fn a_masked_write_is_not_read_from_registers() {
    let Step::Map(masked) = map("square", &[&vector(1)], &vector(2)) else { panic!("a map") };
    let mask = Operand { dtype: DType::Bool, layout: Layout::row_major(&[N], 1).into(), ..vector(7) };
    let masked = Step::Map(MapStep { mask: Some(mask), ..masked });
    let ops = fuse(&[masked, map("sqrt", &[&vector(2)], &vector(3))], |_| true);
    assert_eq!(ops.len(), 2);
}

#[test]
fn scalars_are_parameters_and_never_part_of_the_program() {
    let with = |value: f32| {
        let Step::Map(step) = map("add", &[&vector(1), &vector(1)], &vector(2)) else { panic!("a map") };
        let bits = Bits([u64::from(value.to_bits()), 0]);
        let inputs = smallvec![Input::Array(vector(1)), Input::Scalar { dtype: DType::Float32, bits }];
        let Op::Map(map) = fuse(&[Step::Map(MapStep { inputs, ..step })], |_| true).remove(0) else { panic!("a map") };
        map
    };
    assert_eq!(with(1.0).graph, with(2.0).graph);
    assert_ne!(with(1.0).parameters, with(2.0).parameters);
}

#[test]
fn every_order_respects_what_steps_need_of_each_other() {
    // Random steps over few storages: each op must run after those whose writes it reads or whose reads it overwrites.
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..200 {
        let mut operand = || match random(4) {
            0 => part(random(5) + 1, random(3) as usize, 10),
            _ => part(random(5) + 1, 0, 10),
        };
        let steps: Vec<Step> = (0..30).map(|_| map("add", &[&operand(), &operand()], &operand())).collect();
        assert_eq!(run(&fuse(&steps, |_| true)), run(&steps.iter().map(alone).collect::<Vec<_>>()));
    }
}

/// Runs maps of additions on small integers, element by element, all loads of an element before its stores.
fn run(ops: &[Op]) -> Vec<Vec<u32>> {
    let mut memory: Vec<Vec<u32>> = (0..6).map(|k| (0..20).map(|i| k * 100 + i).collect()).collect();
    for op in ops {
        let Op::Map(map) = op else { panic!("a map") };
        for element in 0..10 {
            let place = |operand: &Operand| (operand.storage.0 as usize, operand.layout.offset / 4 + element);
            let mut values: Vec<u32> = Vec::new();
            for (node, _) in map.graph.nodes() {
                values.push(match *node {
                    Node::Load { input, .. } => {
                        let (storage, index) = place(&map.inputs[input as usize]);
                        memory[storage][index]
                    }
                    Node::Op { prim: Prim::Add, args } => {
                        values[args[0] as usize].wrapping_add(values[args[1] as usize])
                    }
                    other => panic!("{other:?}"),
                });
            }
            for store in &map.stores {
                let (storage, index) = place(&store.operand);
                memory[storage][index] = values[store.value.real as usize];
            }
        }
    }
    memory
}

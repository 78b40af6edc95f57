//! Maps against the plain evaluator: every ufunc, every dtype, hostile layouts.

mod common;

use common::{
    Source, World, assert_same,
    evaluate::{Leaves, evaluate},
    layouts, repeated, single,
};
use cupric_core::{Bits, DType, Layout, Typed, cast_bits};
use cupric_ir::{Component, Input, Map, MapStep, Op, Operand, Resolved, Step, fuse, registers, ufunc, ufuncs};
use smallvec::SmallVec;
use std::{slice, sync::Arc};

fn map(op: &Op) -> &Map {
    let Op::Map(map) = op else { panic!("a map") };
    map
}

/// What a store holds for each element, as the evaluator sees it; `None` where the mask is false.
fn expected(world: &World, map: &Map, len: usize) -> Vec<Vec<Option<Bits>>> {
    let element = |index: usize| {
        let load = |input: usize, component: Component| {
            let operand = &map.inputs[input];
            let bits = registers(operand.dtype, world.get(operand, index)).0[component as usize];
            if operand.dtype == DType::Bool { u64::from(bits != 0) } else { bits }
        };
        let leaves = Leaves { load: &load, parameters: &map.parameters, arguments: &[], position: index };
        let values = evaluate(&map.graph, &leaves);
        map.stores
            .iter()
            .map(|store| {
                let value = |id: u32| values[id as usize];
                let bits = Bits([value(store.value.real), store.value.imaginary.map_or(0, value)]);
                let dtype = store.operand.dtype;
                let half = matches!(dtype, DType::Float16 | DType::BFloat16);
                let stored = if half { cast_bits(DType::Float32, dtype, bits) } else { bits };
                store.mask.is_none_or(|mask| value(mask) != 0).then_some(stored)
            })
            .collect::<Vec<_>>()
    };
    let elements: Vec<_> = (0..len).map(element).collect();
    (0..map.stores.len()).map(|store| elements.iter().map(|stores| stores[store]).collect()).collect()
}

fn check(world: &mut World, op: &Op, about: &str) {
    let map = map(op);
    let len = map.shape.iter().product();
    let before: Vec<_> = map.stores.iter().map(|store| world.all(&store.operand)).collect();
    let expected = expected(world, map, len);
    world.run(op);
    for ((store, expected), before) in map.stores.iter().zip(&expected).zip(&before) {
        for index in 0..len {
            let found = world.get(&store.operand, index);
            let wanted = expected[index].unwrap_or(before[index]);
            assert_same(store.operand.dtype, found, wanted, &|| format!("{about}, element {index}"));
        }
    }
}

fn step(resolved: &Resolved, inputs: &[Operand], outputs: &[Operand], mask: Option<Operand>) -> Step {
    Step::Map(MapStep {
        shape: outputs[0].layout.shape.clone(),
        body: Arc::new(resolved.compile()),
        inputs: inputs.iter().cloned().map(Input::Array).collect(),
        outputs: SmallVec::from(outputs),
        mask,
    })
}

fn resolve(name: &str, dtypes: &[DType]) -> Resolved {
    let typed: Vec<Typed> = dtypes.iter().map(|&dtype| Typed::Strong(dtype)).collect();
    ufunc(name).expect("a ufunc").resolve(&typed, None).expect("a loop")
}

#[test]
fn every_ufunc_gives_what_its_program_says_for_every_dtype() {
    let mut source = Source(1);
    let mut checked = 0;
    for row in ufuncs() {
        for dtype in DType::ALL {
            let Ok(resolved) = row.resolve(&vec![Typed::Strong(dtype); row.inputs], None) else { continue };
            let mut world = World::new(1);
            let inputs: Vec<Operand> = (0..row.inputs)
                .map(|_| world.array(dtype, Layout::row_major(&[300], dtype.size()), &mut source))
                .collect();
            let outputs: Vec<Operand> = resolved
                .gives
                .iter()
                .map(|&gives| world.array(gives, Layout::row_major(&[300], gives.size()), &mut source))
                .collect();
            check(&mut world, &single(step(&resolved, &inputs, &outputs, None)), &format!("{} of {dtype}", row.name));
            checked += 1;
        }
    }
    assert!(checked > 300, "only {checked} loops were checked");
}

#[test]
fn every_layout_is_read_and_written() {
    let mut source = Source(2);
    for shape in [&[][..], &[5], &[1], &[3, 0, 2], &[37, 41], &[3, 700], &[2100], &[5, 4, 3, 67]] {
        for dtype in DType::ALL {
            let resolved = resolve("add", &[dtype, dtype]);
            let mut places = layouts(shape, dtype.size());
            if shape.first().is_some_and(|&size| size > 0) {
                places.push(repeated(shape, dtype.size()));
            }
            for (index, left) in places.iter().enumerate() {
                let mut world = World::new(1);
                let right = &places[(index + 1) % places.len()];
                let inputs = [left, right].map(|layout| world.array(dtype, layout.clone(), &mut source));
                let outputs = [world.array(dtype, layouts(shape, dtype.size())[index % 4].clone(), &mut source)];
                let op = single(step(&resolved, &inputs, &outputs, None));
                check(&mut world, &op, &format!("{dtype} {shape:?} layout {index}"));
            }
        }
    }
}

#[test]
fn conversions_follow_the_table_between_all_dtypes() {
    let mut source = Source(3);
    for from in DType::ALL {
        for to in DType::ALL {
            let mut world = World::new(1);
            let input = world.array(from, Layout::row_major(&[1500], from.size()), &mut source);
            let output = world.array(to, layouts(&[1500], to.size())[3].clone(), &mut source);
            let op = single(step(&resolve("copy", &[from]), slice::from_ref(&input), slice::from_ref(&output), None));
            world.run(&op);
            for index in 0..1500 {
                let expected = cast_bits(from, to, world.get(&input, index));
                let about = || format!("{from} to {to}, {:x?}", world.get(&input, index));
                assert_same(to, world.get(&output, index), expected, &about);
            }
        }
    }
}

#[test]
fn bytes_outside_of_the_output_and_unselected_ones_stay() {
    let mut source = Source(4);
    for dtype in DType::ALL {
        let mut world = World::new(2);
        let shape = [61, 50];
        for layout in layouts(&shape, dtype.size()) {
            let inputs = [0, 1].map(|_| world.array(dtype, Layout::row_major(&shape, dtype.size()), &mut source));
            let mask = world.array(DType::Bool, Layout::column_major(&shape, 1), &mut source);
            let output = world.array(dtype, layout, &mut source);
            let before = world.bytes(&output);
            let resolved = resolve("maximum", &[dtype, dtype]);
            let op = single(step(&resolved, &inputs, slice::from_ref(&output), Some(mask.clone())));
            check(&mut world, &op, &format!("masked {dtype}"));
            // Undoing the selected elements gives back every byte.
            let after = world.bytes(&output);
            world.put_back(&output, before.clone());
            let old = world.all(&output);
            world.put_back(&output, after);
            for (index, &old) in old.iter().enumerate() {
                if world.get(&mask, index).0[0] != 0 {
                    world.set(&output, index, old);
                }
            }
            assert_eq!(world.bytes(&output), before);
        }
    }
}

#[test]
fn an_output_may_be_an_input_with_the_same_layout() {
    let mut source = Source(5);
    for dtype in [DType::Float32, DType::Int16, DType::Complex128, DType::Float16] {
        for layout in layouts(&[40, 60], dtype.size()) {
            let mut world = World::new(1);
            let [a, b] = [0, 1].map(|_| world.array(dtype, layout.clone(), &mut source));
            let op = single(step(&resolve("multiply", &[dtype, dtype]), &[a.clone(), b], &[a], None));
            check(&mut world, &op, &format!("in place {dtype}"));
        }
    }
}

#[test]
fn fused_steps_with_several_outputs_give_what_the_program_says_with_any_number_of_threads() {
    let mut source = Source(6);
    let shape = [400, 700];
    let mut answers = Vec::new();
    for threads in [1, 3] {
        let mut values = Source(7);
        let mut world = World::new(threads);
        let mut array = |layout: Layout| world.array(DType::Float64, layout, &mut values);
        let packed = || Layout::row_major(&shape, 8);
        let [a, b, c] = [packed(), Layout::column_major(&shape, 8), repeated(&shape, 8)].map(&mut array);
        let [x, y, z] = [packed(), packed(), Layout::column_major(&shape, 8)].map(&mut array);
        let two = |name: &str, left: &Operand, right: &Operand, out: &Operand| {
            step(&resolve(name, &[DType::Float64; 2]), &[left.clone(), right.clone()], slice::from_ref(out), None)
        };
        let sine = step(&resolve("sin", &[DType::Float64]), slice::from_ref(&a), slice::from_ref(&x), None);
        let steps = [sine, two("add", &x, &b, &y), two("multiply", &y, &c, &z), two("subtract", &z, &x, &x)];
        let op = fuse(&steps, |_| true).remove(0).op;
        let sample = source.below(2000) as usize;
        let expected = expected(&world, map(&op), sample + 1);
        world.run(&op);
        for (store, expected) in map(&op).stores.iter().zip(&expected) {
            let wanted = expected[sample].expect("no mask");
            assert_same(DType::Float64, world.get(&store.operand, sample), wanted, &|| format!("element {sample}"));
        }
        answers.push([&x, &y, &z].map(|operand| world.all(operand)));
    }
    assert!(answers[0] == answers[1]);
}

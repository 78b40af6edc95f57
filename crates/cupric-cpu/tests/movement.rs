//! Sorting, selecting, taking, putting.

mod common;

use common::{Source, World, layouts};
use cupric_core::{Bits, DType, Error, Layout, Scalar};
use cupric_ir::{Bounds, Gather, IndexOperand, Op, Operand, Scatter, Select, Sort, Sorted};
use std::{cmp::Ordering, sync::Arc};

/// NumPy's order: NaN last; complex numbers by their real part, then by their imaginary one, those with NaN behind.
fn order(dtype: DType, a: Bits, b: Bits) -> Ordering {
    let part = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()));
    match (Scalar::from_bits(dtype, a), Scalar::from_bits(dtype, b)) {
        (Scalar::Float(a), Scalar::Float(b)) => part(a, b),
        (Scalar::Int(a), Scalar::Int(b)) => a.cmp(&b),
        (Scalar::Bool(a), Scalar::Bool(b)) => a.cmp(&b),
        (Scalar::Complex(ar, ai), Scalar::Complex(br, bi)) => {
            let class = |re: f64, im: f64| 2 * u8::from(re.is_nan()) + u8::from(im.is_nan());
            class(ar, ai).cmp(&class(br, bi)).then(part(ar, br)).then(part(ai, bi))
        }
        _ => panic!("one dtype"),
    }
}

#[test]
fn sorts_are_stable_with_nan_last_in_every_dtype_and_layout() {
    let mut source = Source(1);
    for dtype in DType::ALL {
        for (shape, threads) in [
            (vec![7], 1),
            (vec![3, 50], 1),
            (vec![70, 37], 2),
            (vec![2, 3000], 2),
            (vec![1, 100_000], 3),
            (vec![0, 4], 1),
        ] {
            for index in 0..if shape.contains(&100_000) { 1 } else { 4 } {
                let mut world = World::new(threads);
                let input = world.array(dtype, layouts(&shape, dtype.size())[index].clone(), &mut source);
                let values = world.array(dtype, layouts(&shape, dtype.size())[(index + 1) % 4].clone(), &mut source);
                let positions = world.array(DType::Int64, Layout::row_major(&shape, 8), &mut source);
                let sort = |output: &Operand, answer| {
                    let (shape, input, output) = (shape[..].into(), input.clone(), output.clone());
                    Op::Sort(Sort { shape, input, output, answer })
                };
                world.run(&sort(&values, Sorted::Values));
                world.run(&sort(&positions, Sorted::Positions));
                let n = shape[shape.len() - 1];
                for row in 0..input.layout.len() / n.max(1) {
                    let elements: Vec<Bits> = (0..n).map(|k| world.get(&input, row * n + k)).collect();
                    let mut expected: Vec<usize> = (0..n).collect();
                    expected.sort_by(|&a, &b| order(dtype, elements[a], elements[b]));
                    for (k, &place) in expected.iter().enumerate() {
                        assert_eq!(world.get(&positions, row * n + k).0[0] as usize, place, "{dtype} {shape:?}");
                        let truth =
                            |bits: Bits| if dtype == DType::Bool { Bits([u64::from(bits.0[0] != 0), 0]) } else { bits };
                        assert_eq!(truth(world.get(&values, row * n + k)), truth(elements[place]), "{dtype} {shape:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn selections_keep_the_order() {
    let mut source = Source(2);
    for dtype in DType::ALL {
        for (shape, threads) in [(vec![10], 1), (vec![0, 3], 1), (vec![30, 70], 1), (vec![300, 400], 3)] {
            let mut world = World::new(threads);
            let mask = world.array(DType::Bool, layouts(&shape, 1)[threads % 4].clone(), &mut source);
            let from = world.array(dtype, layouts(&shape, dtype.size())[2].clone(), &mut source);
            let expected: Vec<usize> = (0..mask.layout.len()).filter(|&i| world.get(&mask, i).0[0] != 0).collect();
            let n = expected.len();
            let out = world.array(dtype, layouts(&[n], dtype.size())[3].clone(), &mut source);
            let places = world.array(DType::Int64, Layout::row_major(&[n], 8).clone(), &mut source);
            for (from, output) in [(Some(from.clone()), out.clone()), (None, places.clone())] {
                let shape = shape[..].into();
                world.run(&Op::Select(Select { shape, mask: mask.clone(), source: from, output }));
            }
            for (k, &place) in expected.iter().enumerate() {
                assert_eq!(world.get(&places, k).0[0] as usize, place);
                assert_eq!(world.get(&out, k), world.get(&from, place), "{dtype}");
            }
        }
    }
}

/// `rows x columns` places in an array of `length` rows, by index arrays over the rows or over every element.
struct Case {
    world: World,
    table: Operand,
    over: Operand,
    index: IndexOperand,
    values: Operand,
    at: Vec<i64>,
}

fn case(dtype: DType, index_dtype: DType, every: bool, source: &mut Source) -> Case {
    let (length, rows, columns) = (50, 60, 40);
    let mut world = World::new(2);
    let table = world.array(dtype, layouts(&[length, columns], dtype.size())[source.below(4) as usize].clone(), source);
    let mut over = table.clone();
    Arc::make_mut(&mut over.layout).shape = [rows, columns][..].into();
    Arc::make_mut(&mut over.layout).strides[0] = 0;
    let shape = if every { [rows, columns] } else { [rows, 1] };
    let operand =
        world.array(index_dtype, layouts(&shape, index_dtype.size())[source.below(4) as usize].clone(), source);
    let signed = matches!(index_dtype, DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64);
    let at: Vec<i64> = (0..operand.layout.len())
        .map(|_| source.below(length as u64) as i64 - if signed && source.below(2) == 0 { length as i64 } else { 0 })
        .collect();
    for (place, &value) in at.iter().enumerate() {
        world.set(&operand, place, Scalar::Int(value.into()).to_bits(index_dtype));
    }
    let layout = operand.layout.broadcast_to(&[rows, columns]).expect("a unit axis is repeated");
    let index =
        IndexOperand { operand: Operand { layout: layout.into(), ..operand }, length, stride: table.layout.strides[0] };
    let values = world.array(dtype, layouts(&[rows, columns], dtype.size())[source.below(4) as usize].clone(), source);
    let at = (0..rows * columns).map(|i| at[if every { i } else { i / columns }].rem_euclid(length as i64)).collect();
    Case { world, table, over, index, values, at }
}

#[test]
fn taking_follows_the_indices() {
    let mut source = Source(3);
    for dtype in DType::ALL {
        for index_dtype in [DType::Int64, DType::UInt8, DType::Int8, DType::Int32] {
            for every in [true, false] {
                let Case { world, table, over, index, values, at } = case(dtype, index_dtype, every, &mut source);
                let (shape, output) = (values.layout.shape.clone(), values.clone());
                let op = Gather { shape, source: over, indices: vec![index], bounds: Bounds::Raise, output };
                world.run(&Op::Gather(op));
                for (i, &place) in at.iter().enumerate() {
                    assert_eq!(world.get(&values, i), world.get(&table, place as usize * 40 + i % 40));
                }
            }
        }
    }
}

#[test]
fn putting_keeps_the_last_value() {
    let mut source = Source(4);
    for dtype in DType::ALL {
        for every in [true, false] {
            let Case { world, table, over, index, values, at } = case(dtype, DType::Int64, every, &mut source);
            let mut expected = world.all(&table);
            for (i, &place) in at.iter().enumerate() {
                expected[place as usize * 40 + i % 40] = world.get(&values, i);
            }
            let (shape, target_len) = (values.layout.shape.clone(), table.layout.len());
            let op = Scatter {
                shape,
                source: values,
                indices: vec![index],
                bounds: Bounds::Raise,
                target: over,
                target_len,
            };
            world.run(&Op::Scatter(op));
            assert_eq!(world.all(&table), expected);
        }
    }
}

#[test]
fn indices_out_of_bounds_are_named_wrapped_or_clipped() {
    let mut source = Source(5);
    for (bad, wrapped, clipped) in [(50, 0, 49), (-51, 49, 0), (120, 20, 49)] {
        let Case { mut world, table, over, index, values, .. } = case(DType::Float64, DType::Int64, true, &mut source);
        let (place, shape) = (700, values.layout.shape.clone());
        world.set(&index.operand, place, Bits([bad as u64, 0]));
        world.set(&index.operand, place + 900, Bits([99, 0]));
        let take = |bounds| {
            let (shape, source, indices, output) = (shape.clone(), over.clone(), vec![index.clone()], values.clone());
            Op::Gather(Gather { shape, source, indices, bounds, output })
        };
        let error = Err(Error::IndexOutOfBounds { index: bad, axis: 0, size: 50 });
        assert_eq!(world.execute(&take(Bounds::Raise)), error);
        for (bounds, row) in [(Bounds::Wrap, wrapped), (Bounds::Clip, clipped)] {
            world.run(&take(bounds));
            assert_eq!(world.get(&values, place), world.get(&table, row * 40 + place % 40));
        }
        let before = world.bytes(&table);
        let target_len = table.layout.len();
        let op =
            Scatter { shape, source: values, indices: vec![index], bounds: Bounds::Raise, target: over, target_len };
        assert_eq!(world.execute(&Op::Scatter(op)), error);
        assert_eq!(world.bytes(&table), before);
    }
}

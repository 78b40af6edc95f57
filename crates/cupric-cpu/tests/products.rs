//! Matrix products.

mod common;

use common::{Source, World, layouts};
use cupric_core::{Bits, DType, Layout, Scalar, cast_bits};
use cupric_ir::{MatMul, Op, Operand};

fn product(batch: &[usize], [rows, columns, inner]: [usize; 3], [left, right, output]: [&Operand; 3]) -> Op {
    let (left, right, output) = (left.clone(), right.clone(), output.clone());
    Op::MatMul(MatMul { batch: batch.into(), rows, columns, inner, left, right, output })
}

/// Small whole numbers, so that every order of summing gives the same.
fn small(world: &mut World, operand: &Operand, source: &mut Source) {
    for index in 0..operand.layout.len() {
        let value = source.below(7) as f64 - 3.0;
        let bits = Scalar::Complex(value, source.below(5) as f64).to_bits(operand.dtype);
        world.set(operand, index, bits);
    }
}

fn times(dtype: DType, sum: Scalar, a: Scalar, b: Scalar) -> Scalar {
    let result = match (sum, a, b) {
        (Scalar::Bool(sum), Scalar::Bool(a), Scalar::Bool(b)) => Scalar::Bool(sum | (a & b)),
        (Scalar::Int(sum), Scalar::Int(a), Scalar::Int(b)) => Scalar::Int(sum + a * b),
        (Scalar::Float(sum), Scalar::Float(a), Scalar::Float(b)) => return Scalar::Float(sum + a * b),
        (Scalar::Complex(re, im), Scalar::Complex(a, b), Scalar::Complex(c, d)) => {
            Scalar::Complex(re + a * c - b * d, im + a * d + b * c)
        }
        _ => panic!("one dtype"),
    };
    Scalar::from_bits(dtype, result.to_bits(dtype))
}

#[test]
fn products_of_every_dtype_and_layout_are_exact() {
    let mut source = Source(1);
    let sizes = [(&[][..], [3, 4, 5]), (&[2, 3], [7, 33, 9]), (&[], [1, 1, 1]), (&[2], [5, 3, 0]), (&[], [40, 70, 65])];
    for dtype in DType::ALL {
        for (batch, [rows, columns, inner]) in sizes {
            for index in 0..4 {
                let mut world = World::new(1 + index % 2);
                let mut array = |tail: [usize; 2], index: usize| {
                    let shape: Vec<usize> = batch.iter().copied().chain(tail).collect();
                    let operand = world.array(dtype, layouts(&shape, dtype.size())[index].clone(), &mut source);
                    small(&mut world, &operand, &mut source);
                    operand
                };
                let (left, right) = (array([rows, inner], index), array([inner, columns], (index + 1) % 4));
                let output = array([rows, columns], if index == 3 { 3 } else { 0 });
                world.run(&product(batch, [rows, columns, inner], [&left, &right, &output]));
                let value = |operand: &Operand, at: usize| {
                    let bits = world.get(operand, at);
                    Scalar::from_bits(dtype, bits)
                };
                for at in 0..output.layout.len() {
                    let (matrix, row, column) = (at / (rows * columns), at / columns % rows, at % columns);
                    let zero = Scalar::from_bits(dtype, Bits([0, 0]));
                    let expected = (0..inner).fold(zero, |sum, k| {
                        let a = value(&left, (matrix * rows + row) * inner + k);
                        let b = value(&right, (matrix * inner + k) * columns + column);
                        times(dtype, sum, a, b)
                    });
                    assert_eq!(
                        value(&output, at),
                        expected,
                        "{dtype} {batch:?} {rows} {columns} {inner} layout {index}"
                    );
                }
            }
        }
    }
}

#[test]
fn integers_wrap() {
    let (mut world, mut source) = (World::new(1), Source(2));
    let [left, right, output] = [(); 3].map(|()| world.array(DType::Int8, Layout::row_major(&[1, 1], 1), &mut source));
    world.set(&left, 0, Bits([100, 0]));
    world.set(&right, 0, Bits([3, 0]));
    world.run(&product(&[], [1, 1, 1], [&left, &right, &output]));
    assert_eq!(world.get(&output, 0), cast_bits(DType::Int64, DType::Int8, Bits([300, 0])));
}

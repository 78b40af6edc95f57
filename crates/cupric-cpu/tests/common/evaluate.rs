//! A program run for one element, node by node.

use cupric_core::{Bits, DType, cast_bits};
use cupric_ir::{Component, Graph, Node, Parameter, Prim, Ty};

/// What the leaves of a program stand for.
pub struct Leaves<'a> {
    pub load: &'a dyn Fn(usize, Component) -> u64,
    pub parameters: &'a [Parameter],
    pub arguments: &'a [u64],
    pub position: usize,
}

/// The bits of every node.
pub fn evaluate(graph: &Graph, leaves: &Leaves<'_>) -> Vec<u64> {
    let mut values: Vec<u64> = Vec::new();
    for &(node, ty) in graph.nodes() {
        let value = match node {
            Node::Load { input, component } => (leaves.load)(input as usize, component),
            Node::Parameter(index) => leaves.parameters[index as usize].bits,
            Node::Argument(index) => leaves.arguments[index as usize],
            Node::Position => leaves.position as u64,
            Node::Literal(bits) => bits,
            Node::Op { prim, args } => {
                let from = graph.ty(args[if prim == Prim::Select { 1 } else { 0 }]);
                primitive(prim, from, ty, args.map(|arg| values.get(arg as usize).copied().unwrap_or(0)))
            }
            Node::Call { function, args } => {
                let given: Vec<u64> = args[..function.arity()].iter().map(|&arg| values[arg as usize]).collect();
                call(function, &given)
            }
            Node::Lookup { table, index } => u64::from(table[values[index as usize] as usize]),
        };
        values.push(value);
    }
    values
}

fn call(function: cupric_ir::Function, arguments: &[u64]) -> u64 {
    let programs = function.programs();
    let leaves = Leaves { load: &|_, _| 0, parameters: &[], arguments, position: 0 };
    let run = |program: &cupric_ir::Program| evaluate(&program.graph, &leaves)[program.result as usize];
    match &programs.rare {
        Some((test, rare)) if run(test) != 0 => run(rare),
        _ => run(&programs.usual),
    }
}

fn wide(ty: Ty, bits: u64) -> i128 {
    match ty {
        Ty::I8 => i128::from(bits as i8),
        Ty::I16 => i128::from(bits as i16),
        Ty::I32 => i128::from(bits as i32),
        Ty::I64 => i128::from(bits as i64),
        _ => i128::from(bits),
    }
}

fn cut(ty: Ty, value: i128) -> u64 {
    value as u64 & (u64::MAX >> (64 - 8 * ty.size()))
}

fn primitive(prim: Prim, from: Ty, to: Ty, args: [u64; 3]) -> u64 {
    match prim {
        Prim::Select => {
            if args[0] != 0 {
                args[1]
            } else {
                args[2]
            }
        }
        Prim::Bitcast => args[0],
        Prim::Cast => cast_bits(from.dtype(), to.dtype(), Bits([args[0], 0])).0[0],
        Prim::RoundF16 => round(from, DType::Float16, args[0]),
        Prim::RoundBF16 => round(from, DType::BFloat16, args[0]),
        _ if from == Ty::F32 => single(prim, args.map(|arg| f32::from_bits(arg as u32))),
        _ if from == Ty::F64 => double(prim, args.map(f64::from_bits)),
        _ => integer(prim, from, args),
    }
}

fn round(from: Ty, half: DType, bits: u64) -> u64 {
    cast_bits(half, DType::Float32, cast_bits(from.dtype(), half, Bits([bits, 0]))).0[0]
}

macro_rules! floating {
    ($name:ident, $T:ty) => {
        fn $name(prim: Prim, [a, b, c]: [$T; 3]) -> u64 {
            let number = match prim {
                Prim::Eq => return u64::from(a == b),
                Prim::Ne => return u64::from(a != b),
                Prim::Lt => return u64::from(a < b),
                Prim::Le => return u64::from(a <= b),
                Prim::Add => a + b,
                Prim::Sub => a - b,
                Prim::Mul => a * b,
                Prim::Div => a / b,
                Prim::FMod => a % b,
                Prim::Fma => a.mul_add(b, c),
                Prim::Neg => -a,
                Prim::Abs => a.abs(),
                Prim::Sqrt => a.sqrt(),
                Prim::Floor => a.floor(),
                Prim::Ceil => a.ceil(),
                Prim::Trunc => a.trunc(),
                Prim::Rint => a.round_ties_even(),
                Prim::Max if a.is_nan() || a >= b => a,
                Prim::Min if a.is_nan() || a <= b => a,
                Prim::Max | Prim::Min => b,
                _ => panic!("{prim:?} of floating point"),
            };
            u64::from(number.to_bits())
        }
    };
}
floating!(single, f32);
floating!(double, f64);

fn integer(prim: Prim, ty: Ty, args: [u64; 3]) -> u64 {
    let [a, b, _] = args.map(|arg| wide(ty, arg));
    let value = match prim {
        Prim::Eq => return u64::from(a == b),
        Prim::Ne => return u64::from(a != b),
        Prim::Lt => return u64::from(a < b),
        Prim::Le => return u64::from(a <= b),
        Prim::Add => a + b,
        Prim::Sub => a - b,
        Prim::Mul => a.wrapping_mul(b),
        Prim::FloorDiv => {
            if b == 0 {
                0
            } else {
                a / b - i128::from(a % b != 0 && (a < 0) != (b < 0))
            }
        }
        Prim::FloorMod => {
            if b == 0 {
                0
            } else {
                ((a % b) + b) % b
            }
        }
        Prim::PowInt => return power(ty, a, b),
        Prim::Neg => -a,
        Prim::Abs => a.abs(),
        Prim::Max => a.max(b),
        Prim::Min => a.min(b),
        Prim::And => a & b,
        Prim::Or => a | b,
        Prim::Xor => a ^ b,
        Prim::Not if ty == Ty::Bool => 1 - a,
        Prim::Not => !a,
        Prim::Shl => a << b,
        Prim::Shr => a >> b,
        Prim::MulHigh => return ((args[0] as u128 * args[1] as u128) >> (8 * ty.size())) as u64,
        _ => panic!("{prim:?} of {ty:?}"),
    };
    cut(ty, value)
}

fn power(ty: Ty, base: i128, exponent: i128) -> u64 {
    if exponent < 0 {
        return cut(
            ty,
            match base {
                1 => 1,
                -1 => {
                    if exponent % 2 == 0 {
                        1
                    } else {
                        -1
                    }
                }
                _ => 0,
            },
        );
    }
    let (mut result, mut square, mut left) = (1_u64, base as u64, exponent as u64);
    while left > 0 {
        if left % 2 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left /= 2;
    }
    cut(ty, i128::from(result))
}

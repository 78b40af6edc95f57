//! Operations for the tests.

use cupric_core::{Bits, DType, Layout, Typed, cast_bits};
use cupric_ir::{
    Ex, Finish, Input, MapStep, Op, Operand, ReduceStep, Register, Step, StorageId, alone, fold, trace, ufunc,
};
use smallvec::SmallVec;
use std::sync::Arc;

/// A packed operand.
pub fn packed(storage: u64, dtype: DType, shape: &[usize]) -> Operand {
    Operand { storage: StorageId(storage), dtype, layout: Layout::row_major(shape, dtype.size()).into() }
}

/// A float32 scalar.
pub fn scalar(value: f64) -> Input {
    let bits = cast_bits(DType::Float64, DType::Float32, Bits([value.to_bits(), 0]));
    Input::Scalar { dtype: DType::Float32, bits }
}

/// One ufunc call.
pub fn call(name: &str, inputs: Vec<Input>, output: Operand) -> MapStep {
    let typed = |input: &Input| match input {
        Input::Array(operand) => Typed::Strong(operand.dtype),
        Input::Scalar { dtype, .. } => Typed::Strong(*dtype),
    };
    let types: Vec<Typed> = inputs.iter().map(typed).collect();
    let body = Arc::new(ufunc(name).unwrap().resolve(&types, None).unwrap().compile());
    let shape = output.layout.shape.clone();
    MapStep { shape, body, inputs: inputs.into_iter().collect(), outputs: SmallVec::from_elem(output, 1), mask: None }
}

/// One ufunc call as an operation.
pub fn map(name: &str, inputs: Vec<Input>, output: Operand) -> Op {
    alone(&Step::Map(call(name, inputs, output)))
}

/// A reduction over some axes.
pub fn reduce(name: &str, input: Operand, axes: &[usize]) -> Op {
    let fold = Arc::new(fold(name).unwrap().compile(input.dtype).unwrap());
    let (graph, ids) = trace(|| vec![Ex::argument(fold.state.len() - 1, *fold.state.last().unwrap())]);
    let finish = Finish { graph, parameters: Vec::new(), value: Register { real: ids[0], imaginary: None } };
    let shape = &input.layout.shape;
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]).collect();
    let output = packed(99, fold.gives, &kept);
    alone(&Step::Reduce(ReduceStep { input, axes: axes.into(), fold, finish, output }))
}

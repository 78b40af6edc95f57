//! Several map steps become one program; a reduction takes the maps that feed it into its own.
//!
//! First the operands are sorted out, which gives a recipe: numbers that say which program is applied to what. Programs are built
//! once for each recipe and thread, since loops queue the same groups again and again.

use crate::{
    fold::CompiledFold,
    graph::{Builder, Component, Graph, Id, Node, Prim},
    op::{Map, Op, Operand, Parameter, Reduce, Store},
    row::{Body, Register},
    step::{Input, MapStep, ReduceStep},
    ty::Ty,
};
use cupric_core::{Bits, DType, cast_bits};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::{cell::RefCell, sync::Arc};

/// One map for these steps, in order. `stored` says which outputs (step, output) must reach memory.
pub fn merge_maps(steps: &[&MapStep], stored: impl Fn(usize, usize) -> bool) -> Op {
    let mut sorter = Sorter::default();
    for (index, step) in steps.iter().enumerate() {
        sorter.add(step, |output| stored(index, output));
    }
    let (kept, made) = sorter.stores();
    let program = program(steps, sorter.recipe, Root::Stores(&made));
    let stores =
        kept.into_iter().zip(&program.stores).map(|(operand, &(value, mask))| Store { operand, value, mask }).collect();
    let (graph, shape) = (program.graph.clone(), steps[0].shape.clone());
    Op::Map(Map { shape, graph, inputs: sorter.inputs, parameters: sorter.parameters, stores })
}

/// One reduction for a step and the maps that it takes in.
pub fn merge_reduce(maps: &[&MapStep], step: &ReduceStep) -> Op {
    let mut sorter = Sorter::default();
    for map in maps {
        sorter.add(map, |_| false);
    }
    let source = sorter.source(&step.input);
    sorter.note(source);
    sorter.recipe.push(Arc::as_ptr(&step.fold).addr() as u64);
    sorter.recipe.push(step.input.dtype as u64);
    let root = Root::Element { source, dtype: step.input.dtype, fold: &step.fold };
    let program = program(maps, sorter.recipe, root);
    let Sorter { mut inputs, parameters, .. } = sorter;
    let ndim = step.input.layout.ndim();
    let kept = (0..ndim).filter(|axis| !step.axes.contains(axis));
    let order: SmallVec<[usize; 6]> = kept.chain(step.axes.iter().copied()).collect();
    if order.windows(2).any(|pair| pair[0] > pair[1]) {
        for input in &mut inputs {
            input.layout = input.layout.transpose(&order).into();
        }
    }
    let shape = &step.input.layout.shape;
    let pick = |axes: &[usize]| axes.iter().map(|&axis| shape[axis]).collect();
    Op::Reduce(Reduce {
        kept: pick(&order[..ndim - step.axes.len()]),
        reduced: pick(&step.axes),
        graph: program.graph.clone(),
        inputs,
        parameters,
        element: program.element.clone(),
        fold: step.fold.clone(),
        finish: step.finish.clone(),
        output: step.output.clone(),
    })
}

/// Where a value comes from, within a group.
#[derive(Clone, Copy)]
enum Source {
    /// Loaded from the group's input of this number.
    Load(u16),
    /// A scalar: the parameters from this number on.
    Scalar(u16),
    /// What this store of the group has put there.
    Known(u16),
}

/// Sorts out what a group loads, takes as scalars, keeps in registers and stores.
#[derive(Default)]
struct Sorter {
    inputs: Vec<Operand>,
    parameters: Vec<Parameter>,
    // Every output so far, with whether it must reach memory; a later one in the same place takes its place.
    outputs: Vec<Output>,
    recipe: SmallVec<[u64; 24]>,
}

struct Output {
    operand: Operand,
    stored: bool,
    current: bool,
    masked: bool,
}

impl Sorter {
    fn add(&mut self, step: &MapStep, stored: impl Fn(usize) -> bool) {
        self.recipe.push(Arc::as_ptr(&step.body).addr() as u64);
        for (input, &dtype) in step.inputs.iter().zip(&step.body.takes) {
            let source = match input {
                Input::Array(operand) => self.source(operand),
                Input::Scalar { dtype: from, bits } => self.scalar(*from, dtype, *bits),
            };
            self.note(source);
            if let Input::Array(operand) = input {
                self.recipe.push(operand.dtype as u64);
            }
        }
        let mask = step.mask.as_ref().map(|mask| self.source(mask));
        self.recipe.push(mask.is_some().into());
        mask.into_iter().for_each(|mask| self.note(mask));
        for (index, operand) in step.outputs.iter().enumerate() {
            self.put(operand, stored(index), mask.is_some());
        }
    }

    fn note(&mut self, source: Source) {
        self.recipe.push(match source {
            Source::Load(number) => u64::from(number),
            Source::Scalar(number) => 1 << 16 | u64::from(number),
            Source::Known(number) => 2 << 16 | u64::from(number),
        });
    }

    fn put(&mut self, operand: &Operand, stored: bool, masked: bool) {
        for output in &mut self.outputs {
            if output.operand == *operand {
                output.current = false;
                // What is overwritten as a whole need not be stored.
                output.stored &= masked;
            }
        }
        self.outputs.push(Output { operand: operand.clone(), stored, current: !masked, masked });
        self.recipe.push(operand.dtype as u64);
    }

    fn source(&mut self, operand: &Operand) -> Source {
        let known = self.outputs.iter().position(|output| output.current && output.operand == *operand);
        if let Some(known) = known {
            return Source::Known(known as u16);
        }
        let load = self.inputs.iter().position(|input| input == operand).unwrap_or_else(|| {
            self.inputs.push(operand.clone());
            self.inputs.len() - 1
        });
        Source::Load(load as u16)
    }

    fn scalar(&mut self, from: DType, dtype: DType, bits: Bits) -> Source {
        let first = self.parameters.len() as u16;
        let (ty, bits) = (Ty::of(dtype), registers(dtype, cast_bits(from, dtype, bits)));
        let parts = if dtype.is_complex() { 2 } else { 1 };
        self.parameters.extend(bits.0[..parts].iter().map(|&bits| Parameter { ty, bits }));
        Source::Scalar(first)
    }

    /// The operands that are stored, and the numbers of the outputs that they are, which become part of the recipe.
    fn stores(&mut self) -> (Vec<Operand>, SmallVec<[usize; 4]>) {
        let made: SmallVec<[usize; 4]> = (0..self.outputs.len()).filter(|&index| self.outputs[index].stored).collect();
        self.recipe.extend(made.iter().map(|&index| index as u64 | u64::from(self.outputs[index].masked) << 32));
        (made.iter().map(|&index| self.outputs[index].operand.clone()).collect(), made)
    }
}

/// What a group's program is for.
enum Root<'a> {
    /// These outputs, counted over all steps.
    Stores(&'a [usize]),
    /// The registers of a fold.
    Element { source: Source, dtype: DType, fold: &'a Arc<CompiledFold> },
}

/// The program of a group, without its operands.
struct Program {
    graph: Graph,
    stores: Vec<(Register, Option<Id>)>,
    element: SmallVec<[Id; 3]>,
    // Recipes name programs by their addresses, which must not be used again while the recipe is known.
    #[expect(dead_code, reason = "held to keep the addresses in the recipe")]
    bodies: (Vec<Arc<Body>>, Option<Arc<CompiledFold>>),
}

/// The most recipes that a thread remembers.
const MOST_PROGRAMS: usize = 4096;

thread_local! {
    static PROGRAMS: RefCell<FxHashMap<SmallVec<[u64; 24]>, Arc<Program>>> = RefCell::default();
}

fn program(steps: &[&MapStep], recipe: SmallVec<[u64; 24]>, root: Root<'_>) -> Arc<Program> {
    if let Some(program) = PROGRAMS.with_borrow(|programs| programs.get(&recipe).cloned()) {
        return program;
    }
    let program = Arc::new(build(steps, root));
    PROGRAMS.with_borrow_mut(|programs| {
        if programs.len() >= MOST_PROGRAMS {
            programs.clear();
        }
        programs.insert(recipe, program.clone());
    });
    program
}

/// Follows the sorting a second time, now with a builder.
fn build(steps: &[&MapStep], root: Root<'_>) -> Program {
    let mut sorter = Sorter::default();
    let mut writer = Writer::default();
    for step in steps {
        let values: SmallVec<[Register; 3]> = step
            .inputs
            .iter()
            .zip(&step.body.takes)
            .map(|(input, &dtype)| match input {
                Input::Array(operand) => {
                    let value = writer.value(sorter.source(operand), operand.dtype);
                    convert(&mut writer.builder, value, operand.dtype, dtype)
                }
                Input::Scalar { dtype: from, bits } => writer.value(sorter.scalar(*from, dtype, *bits), dtype),
            })
            .collect();
        let mask = step.mask.as_ref().map(|mask| writer.value(sorter.source(mask), DType::Bool).real);
        writer.step(step, &values, mask);
        for operand in &step.outputs {
            sorter.put(operand, true, mask.is_some());
        }
    }
    let bodies: Vec<Arc<Body>> = steps.iter().map(|step| step.body.clone()).collect();
    match root {
        Root::Stores(made) => writer.stores(made, bodies),
        Root::Element { source, dtype, fold } => writer.element(source, dtype, fold, bodies),
    }
}

#[derive(Default)]
struct Writer {
    builder: Builder,
    // The value and the mask of each output so far.
    outputs: Vec<(Register, Option<Id>)>,
}

impl Writer {
    fn value(&mut self, source: Source, dtype: DType) -> Register {
        let ty = Ty::of(dtype);
        let mut pair = |real: Node, imaginary: Node| Register {
            real: self.builder.node(real, ty),
            imaginary: dtype.is_complex().then(|| self.builder.node(imaginary, ty)),
        };
        match source {
            Source::Known(output) => self.outputs[output as usize].0,
            Source::Scalar(first) => pair(Node::Parameter(first), Node::Parameter(first + 1)),
            Source::Load(input) => {
                let part = |component| Node::Load { input, component };
                pair(part(Component::Real), part(Component::Imaginary))
            }
        }
    }

    fn step(&mut self, step: &MapStep, values: &[Register], mask: Option<Id>) {
        let names = self.builder.splice(&step.body.graph, |builder, leaf, ty| match leaf {
            Node::Load { input, component: Component::Real } => values[input as usize].real,
            Node::Load { input, component: Component::Imaginary } => {
                values[input as usize].imaginary.expect("only complex inputs are asked for an imaginary part")
            }
            other => builder.node(other, ty),
        });
        for (index, operand) in step.outputs.iter().enumerate() {
            let result = step.body.results[index];
            let real = names[result.real as usize];
            let here = Register { real, imaginary: result.imaginary.map(|id| names[id as usize]) };
            let value = convert(&mut self.builder, here, step.body.gives[index], operand.dtype);
            self.outputs.push((value, mask));
        }
    }

    fn stores(self, made: &[usize], bodies: Vec<Arc<Body>>) -> Program {
        let stores: Vec<(Register, Option<Id>)> = made.iter().map(|&output| self.outputs[output]).collect();
        let mut roots: Vec<Id> = stores
            .iter()
            .flat_map(|&(value, mask)| std::iter::once(value.real).chain(value.imaginary).chain(mask))
            .collect();
        let graph = self.builder.finish(&mut roots);
        let mut renamed = roots.into_iter();
        let mut next = || renamed.next().expect("one root for each register");
        let rename = |(value, mask): (Register, Option<Id>)| {
            let real = next();
            (Register { real, imaginary: value.imaginary.map(|_| next()) }, mask.map(|_| next()))
        };
        let stores = stores.into_iter().map(rename).collect();
        Program { graph, stores, element: SmallVec::new(), bodies: (bodies, None) }
    }

    fn element(mut self, source: Source, dtype: DType, fold: &Arc<CompiledFold>, bodies: Vec<Arc<Body>>) -> Program {
        let value = self.value(source, dtype);
        let value = convert(&mut self.builder, value, dtype, fold.accumulator);
        let mut element: Vec<Id> = std::iter::once(value.real).chain(value.imaginary).collect();
        if element.len() < fold.state.len() {
            element.push(self.builder.node(Node::Position, Ty::I64));
        }
        let graph = self.builder.finish(&mut element);
        Program {
            graph,
            stores: Vec::new(),
            element: SmallVec::from_vec(element),
            bodies: (bodies, Some(fold.clone())),
        }
    }
}

/// The bits of the registers that hold an element of these bits.
#[must_use]
pub fn registers(dtype: DType, bits: Bits) -> Bits {
    match dtype {
        DType::Float16 | DType::BFloat16 => cast_bits(dtype, DType::Float32, bits),
        _ => bits,
    }
}

/// Converts an element between dtypes, in registers.
pub fn convert(builder: &mut Builder, value: Register, from: DType, to: DType) -> Register {
    if from == to {
        return value;
    }
    let ty = Ty::of(to);
    let part = |builder: &mut Builder, id: Id| {
        let at = builder.ty(id);
        match to {
            DType::Float16 | DType::BFloat16 => {
                let wide = if at.is_float() { id } else { builder.op(Prim::Cast, Ty::F32, &[id]) };
                // Small integers are float16 values as they are.
                if to == DType::Float16 && matches!(from, DType::Bool | DType::Int8 | DType::UInt8) {
                    return wide;
                }
                let prim = if to == DType::Float16 { Prim::RoundF16 } else { Prim::RoundBF16 };
                builder.op(prim, Ty::F32, &[wide])
            }
            _ if at == ty => id,
            _ => builder.op(Prim::Cast, ty, &[id]),
        }
    };
    let real = part(builder, value.real);
    match (value.imaginary, to.is_complex()) {
        (Some(id), true) => Register { real, imaginary: Some(part(builder, id)) },
        (None, true) => Register { real, imaginary: Some(builder.node(Node::Literal(0), ty)) },
        (Some(id), false) if to == DType::Bool => {
            let imaginary = part(builder, id);
            Register { real: builder.op(Prim::Or, Ty::Bool, &[real, imaginary]), imaginary: None }
        }
        (_, false) => Register { real, imaginary: None },
    }
}

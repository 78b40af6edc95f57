//! Programs node by node: each primitive is a kernel over packed arrays, so a fixed set of kernels runs every program.

use crate::{
    anywhere,
    bound::{Bound, Scope, raw_dtype},
    kernel::{Launch, Program},
    map::{self, Job, Store},
};
use cupric_core::{DType, Layout};
use cupric_ir::{Builder, Component, Function, Graph, Id, Node, Parameter, Prim, Register, Ty};
use smallvec::SmallVec;

/// Elements of one launch, so that byte offsets fit 32 bits.
const PIECE: usize = 1 << 27;

/// A register of every element.
#[derive(Clone)]
pub(crate) enum Value {
    /// Packed, in the register's own dtype.
    Array(Bound),
    /// The same for all.
    Scalar(Parameter),
}

/// What is computed so far.
pub(crate) struct Steps<'s, 'a> {
    pub scope: &'s Scope<'a>,
    pub program: Program,
    /// Elements of each array.
    pub count: usize,
    // Pieces of the workspace that are free again: offset and bytes.
    free: Vec<(usize, usize)>,
}

/// One step: what computes a register from others.
#[derive(Clone, Copy)]
enum Action {
    Prim(Prim),
    Call(Function),
    /// The only argument as it is.
    Keep,
    Position,
}

impl<'s, 'a> Steps<'s, 'a> {
    pub(crate) fn new(scope: &'s Scope<'a>, count: usize) -> Steps<'s, 'a> {
        Steps { scope, program: Program::default(), count, free: Vec::new() }
    }

    /// Bytes of the workspace.
    pub(crate) fn take(&mut self, bytes: usize) -> usize {
        let bytes = bytes.next_multiple_of(256);
        let fits = self.free.iter().enumerate().filter(|(_, (_, free))| *free >= bytes);
        if let Some((index, _)) = fits.min_by_key(|(_, (_, free))| *free) {
            return self.free.swap_remove(index).0;
        }
        let offset = self.program.workspace;
        self.program.workspace += bytes;
        offset
    }

    fn give(&mut self, value: &Value) {
        if let Value::Array(bound) = value
            && bound.storage.is_none()
        {
            self.free.push((bound.layout.offset, (bound.item() * self.count).next_multiple_of(256)));
        }
    }

    /// A packed array in the workspace.
    pub(crate) fn scratch(&mut self, dtype: DType) -> Bound {
        let offset = self.take(self.count * dtype.size());
        Bound::scratch(dtype, offset, &[self.count])
    }

    /// Runs a program; `leaf` gives the values of its leaves except literals, `target` says where one result goes.
    pub(crate) fn run(
        &mut self,
        graph: &Graph,
        roots: &[Id],
        target: Option<(Id, Bound)>,
        mut leaf: impl FnMut(&mut Self, Node, Ty) -> Option<Value>,
    ) -> Option<Vec<Value>> {
        let mut uses = graph.uses(roots);
        let mut values: Vec<Value> = Vec::with_capacity(graph.nodes().len());
        for (index, &(node, ty)) in graph.nodes().iter().enumerate() {
            let given: SmallVec<[Value; 3]> = node.args().iter().map(|&id| values[id as usize].clone()).collect();
            let goal = target.as_ref().filter(|(id, _)| *id as usize == index).map(|(_, bound)| bound.clone());
            let value = match node {
                Node::Literal(bits) => Value::Scalar(Parameter { ty, bits }),
                Node::Op { prim, .. } => self.step(Action::Prim(prim), ty, &given, goal),
                Node::Call { function, .. } => self.step(Action::Call(function), ty, &given, goal),
                Node::Lookup { .. } => return None,
                other => leaf(self, other, ty)?,
            };
            values.push(value);
            for &arg in node.args() {
                uses[arg as usize] -= 1;
                if uses[arg as usize] == 0 {
                    let value = values[arg as usize].clone();
                    self.give(&value);
                }
            }
        }
        Some(roots.iter().map(|&id| values[id as usize].clone()).collect())
    }

    /// The positions of the elements.
    pub(crate) fn positions(&mut self) -> Value {
        let base = Value::Scalar(Parameter { ty: Ty::I64, bits: 0 });
        self.step(Action::Position, Ty::I64, &[base], None)
    }

    /// An operation on registers.
    pub(crate) fn apply(&mut self, prim: Prim, ty: Ty, given: &[Value]) -> Value {
        self.step(Action::Prim(prim), ty, given, None)
    }

    /// The array of a value.
    pub(crate) fn array(&mut self, value: &Value) -> Bound {
        let kept = match value {
            Value::Array(bound) => return bound.clone(),
            Value::Scalar(parameter) => self.step(Action::Keep, parameter.ty, std::slice::from_ref(value), None),
        };
        match kept {
            Value::Array(bound) => bound,
            Value::Scalar(_) => Bound::scratch(DType::Bool, 0, &[0]),
        }
    }

    fn step(&mut self, action: Action, ty: Ty, given: &[Value], goal: Option<Bound>) -> Value {
        let mut given: SmallVec<[Value; 3]> = given.into();
        let scalar = given.iter().all(|value| matches!(value, Value::Scalar(_)));
        // A program that loads nothing would be one more kernel for each primitive.
        let widened = scalar && matches!(action, Action::Prim(_) | Action::Call(_));
        if widened {
            given[0] = Value::Array(self.array(&given[0].clone()));
        }
        let to = goal.unwrap_or_else(|| self.scratch(ty.dtype()));
        for begin in (0..self.count).step_by(PIECE) {
            let len = PIECE.min(self.count - begin);
            let launch = one(self.scope, action, ty, &given, &to, begin, len);
            self.program.launches.extend(launch);
        }
        if widened {
            let value = given[0].clone();
            self.give(&value);
        }
        Value::Array(to)
    }

    /// A conversion between an array of half-precision elements and one of float32.
    fn convert(&mut self, from: &Bound, to: &Bound) {
        for begin in (0..self.count).step_by(PIECE) {
            let len = PIECE.min(self.count - begin);
            let mut builder = Builder::default();
            let real = builder.node(Node::Load { input: 0, component: Component::Real }, Ty::F32);
            let graph = builder.finish(&mut [real]);
            let stores =
                vec![Store { bound: part(to, begin, len), value: Register { real, imaginary: None }, mask: None }];
            let inputs = vec![part(from, begin, len)];
            let job = Job { shape: &[len], graph: &graph, inputs, parameters: &[], stores, gathered: None };
            self.program.launches.extend(map::plan_job(self.scope, &job));
        }
    }

    /// The registers of (a component of) an operand of any layout over a shape.
    pub(crate) fn load(&mut self, shape: &[usize], operand: &Bound, component: Component) -> Option<Value> {
        let ty = Ty::of(operand.dtype);
        let bits = match (operand.dtype.is_complex(), half(operand.dtype)) {
            (false, _) if is_flat(operand, shape) => flat(operand, self.count),
            _ => {
                let from = side(operand, component);
                let mut to = self.scratch(from.dtype);
                let over = over(&to, shape);
                self.program.launches.push(anywhere::copy(self.scope, shape, &from, &over, None)?);
                to.dtype = if operand.dtype.is_complex() { ty.dtype() } else { operand.dtype };
                to
            }
        };
        if !half(operand.dtype) {
            return Some(Value::Array(bits));
        }
        let to = self.scratch(DType::Float32);
        self.convert(&bits, &to);
        self.give(&Value::Array(bits));
        Some(Value::Array(to))
    }

    /// Stores registers to an operand of any layout over a shape, where a mask is true if there is one.
    pub(crate) fn store(
        &mut self,
        shape: &[usize],
        operand: &Bound,
        value: (&Value, Option<&Value>),
        mask: Option<&Value>,
    ) -> Option<()> {
        let mask = match mask {
            Some(Value::Scalar(parameter)) if parameter.bits == 0 => return Some(()),
            Some(Value::Array(mask)) => Some(over(mask, shape)),
            _ => None,
        };
        let parts = [(Some(value.0), Component::Real), (value.1, Component::Imaginary)];
        for (value, component) in parts.into_iter().filter_map(|(value, component)| Some((value?, component))) {
            let mut bits = self.array(value);
            if half(operand.dtype) {
                let to = self.scratch(operand.dtype);
                self.convert(&bits, &to);
                bits = to;
            }
            let (from, to) = (over(&bits.raw(), shape), side(operand, component));
            self.program.launches.push(anywhere::copy(self.scope, shape, &from, &to, mask.as_ref())?);
        }
        Some(())
    }
}

const fn half(dtype: DType) -> bool {
    matches!(dtype, DType::Float16 | DType::BFloat16)
}

/// Whether an operand is packed in row-major order and begins where vectors may.
pub(crate) fn is_flat(operand: &Bound, shape: &[usize]) -> bool {
    let layout = Layout { shape: shape.into(), ..operand.layout.clone() };
    layout.is_row_major(operand.item()) && operand.starts_at_multiple_of(16)
}

/// A flat operand as one axis.
pub(crate) fn flat(operand: &Bound, count: usize) -> Bound {
    let layout = Layout { offset: operand.layout.offset, ..Layout::row_major(&[count], operand.item()) };
    Bound { layout, ..operand.clone() }
}

/// A packed array over a shape.
pub(crate) fn over(array: &Bound, shape: &[usize]) -> Bound {
    let layout = Layout { offset: array.layout.offset, ..Layout::row_major(shape, array.item()) };
    Bound { layout, ..array.clone() }
}

/// A component of an operand, as bits.
fn side(operand: &Bound, component: Component) -> Bound {
    let mut side = operand.clone();
    side.dtype = raw_dtype(operand.dtype.component().size());
    if component == Component::Imaginary {
        side.layout.offset += operand.item() / 2;
    }
    side
}

/// Some elements of a packed array.
fn part(array: &Bound, begin: usize, len: usize) -> Bound {
    let mut part = flat(array, len);
    part.layout.offset += begin * array.item();
    part
}

/// The launch of one step for some elements.
fn one(scope: &Scope, action: Action, ty: Ty, given: &[Value], to: &Bound, begin: usize, len: usize) -> Vec<Launch> {
    let mut builder = Builder::default();
    let (mut inputs, mut parameters, mut args) = (Vec::new(), Vec::new(), SmallVec::<[Id; 3]>::new());
    for value in given {
        args.push(match value {
            Value::Array(bound) => {
                inputs.push(part(bound, begin, len));
                let load = Node::Load { input: inputs.len() as u16 - 1, component: Component::Real };
                builder.node(load, Ty::of(bound.dtype))
            }
            Value::Scalar(parameter) => {
                let bits = if matches!(action, Action::Position) { begin as u64 } else { parameter.bits };
                parameters.push(Parameter { bits, ..*parameter });
                builder.node(Node::Parameter(parameters.len() as u16 - 1), parameter.ty)
            }
        });
    }
    let mut root = [match action {
        Action::Prim(prim) => builder.op(prim, ty, &args),
        Action::Call(function) => {
            let mut all = [0; 3];
            all[..args.len()].copy_from_slice(&args);
            builder.node(Node::Call { function, args: all }, ty)
        }
        Action::Keep => args[0],
        Action::Position => {
            let position = builder.node(Node::Position, Ty::I64);
            builder.op(Prim::Add, Ty::I64, &[position, args[0]])
        }
    }];
    let graph = builder.finish(&mut root);
    let value = Register { real: root[0], imaginary: None };
    let stores = vec![Store { bound: part(to, begin, len), value, mask: None }];
    map::plan_job(scope, &Job { shape: &[len], graph: &graph, inputs, parameters: &parameters, stores, gathered: None })
}

const TYPES: [Ty; 11] =
    [Ty::Bool, Ty::I8, Ty::I16, Ty::I32, Ty::I64, Ty::U8, Ty::U16, Ty::U32, Ty::U64, Ty::F32, Ty::F64];

/// The types of arguments, and of the result, that a primitive is used with.
fn signatures(prim: Prim) -> Vec<(SmallVec<[Ty; 3]>, Ty)> {
    let same = |fits: fn(Ty) -> bool| -> Vec<(SmallVec<[Ty; 3]>, Ty)> {
        let types = TYPES.into_iter().filter(|&ty| fits(ty));
        types.map(|ty| (SmallVec::from_elem(ty, prim.arity()), ty)).collect()
    };
    let between = |fits: fn(Ty, Ty) -> bool| {
        let pairs = TYPES.into_iter().flat_map(|from| TYPES.into_iter().map(move |to| (from, to)));
        pairs
            .filter(|&(from, to)| from != to && fits(from, to))
            .map(|(from, to)| (SmallVec::from_elem(from, 1), to))
            .collect()
    };
    match prim {
        Prim::Add | Prim::Sub | Prim::Mul | Prim::Neg | Prim::Abs | Prim::Max | Prim::Min => same(|ty| ty != Ty::Bool),
        Prim::Div | Prim::FMod | Prim::Fma | Prim::Sqrt | Prim::Floor | Prim::Ceil | Prim::Trunc | Prim::Rint => {
            same(Ty::is_float)
        }
        Prim::FloorDiv | Prim::FloorMod | Prim::PowInt | Prim::Shl | Prim::Shr => same(Ty::is_integer),
        Prim::And | Prim::Or | Prim::Xor | Prim::Not => same(|ty| !ty.is_float()),
        Prim::MulHigh => same(|ty| matches!(ty, Ty::U32 | Ty::U64)),
        Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le => {
            TYPES.iter().map(|&ty| (SmallVec::from_elem(ty, 2), Ty::Bool)).collect()
        }
        Prim::Select => TYPES.iter().map(|&ty| (SmallVec::from_slice(&[Ty::Bool, ty, ty]), ty)).collect(),
        Prim::Cast => between(|_, _| true),
        Prim::Bitcast => between(|from, to| from.size() == to.size() && from != Ty::Bool && to != Ty::Bool),
        Prim::RoundF16 | Prim::RoundBF16 => [Ty::F32, Ty::F64].map(|ty| (SmallVec::from_elem(ty, 1), Ty::F32)).to_vec(),
    }
}

const PRIMS: [Prim; 34] = [
    Prim::Add,
    Prim::Sub,
    Prim::Mul,
    Prim::Div,
    Prim::FloorDiv,
    Prim::FloorMod,
    Prim::PowInt,
    Prim::FMod,
    Prim::Fma,
    Prim::Neg,
    Prim::Abs,
    Prim::Sqrt,
    Prim::Floor,
    Prim::Ceil,
    Prim::Trunc,
    Prim::Rint,
    Prim::Max,
    Prim::Min,
    Prim::And,
    Prim::Or,
    Prim::Xor,
    Prim::Not,
    Prim::Shl,
    Prim::Shr,
    Prim::MulHigh,
    Prim::Eq,
    Prim::Ne,
    Prim::Lt,
    Prim::Le,
    Prim::Select,
    Prim::Cast,
    Prim::Bitcast,
    Prim::RoundF16,
    Prim::RoundBF16,
];

/// Plans every step once, so that the planner spells all of their kernels.
pub(crate) fn every_step(scope: &Scope) {
    let mut steps = Steps::new(scope, 1024);
    for prim in PRIMS {
        for (takes, gives) in signatures(prim) {
            steps.choices(Action::Prim(prim), &takes, gives);
        }
    }
    for &function in Function::ALL {
        let takes: SmallVec<[Ty; 3]> = SmallVec::from_elem(function.result(), function.arity());
        steps.choices(Action::Call(function), &takes, function.result());
    }
    for ty in TYPES {
        let _ = steps.array(&Value::Scalar(Parameter { ty, bits: 0 }));
    }
    let _ = steps.positions();
    for dtype in [DType::Float16, DType::BFloat16] {
        let (narrow, wide) = (steps.scratch(dtype), steps.scratch(DType::Float32));
        steps.convert(&narrow, &wide);
        steps.convert(&wide, &narrow);
    }
}

impl Steps<'_, '_> {
    /// A step with every choice of arrays and scalars but that of scalars alone.
    fn choices(&mut self, action: Action, takes: &[Ty], gives: Ty) {
        for scalars in 0..(1_u32 << takes.len()) - 1 {
            let given = takes.iter().enumerate().map(|(index, &ty)| match (scalars >> index) & 1 {
                0 => Value::Array(Bound::scratch(ty.dtype(), 0, &[self.count])),
                _ => Value::Scalar(Parameter { ty, bits: 0 }),
            });
            let given: SmallVec<[Value; 3]> = given.collect();
            let _ = self.step(action, gives, &given, None);
        }
    }
}

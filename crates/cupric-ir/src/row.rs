//! A ufunc is a row: a name, a rule of types, and per class of dtypes a body over symbolic expressions.

use crate::{
    expression::{Cx, Ex, trace},
    graph::{Component, Graph, Id},
    ty::Ty,
};
use cupric_core::{DType, Error, Result, Typed, promote, result_type};
use smallvec::SmallVec;

/// A set of dtypes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Class(u16);

impl Class {
    /// The set of the dtypes given.
    #[must_use]
    pub const fn of(dtypes: &[DType]) -> Class {
        let (mut bits, mut index) = (0, 0);
        while index < dtypes.len() {
            bits |= 1 << dtypes[index] as u16;
            index += 1;
        }
        Class(bits)
    }

    /// The dtypes that are in one of two sets.
    #[must_use]
    pub const fn and(self, other: Class) -> Class {
        Class(self.0 | other.0)
    }

    /// Whether a dtype is in the set.
    #[must_use]
    pub const fn has(self, dtype: DType) -> bool {
        self.0 & (1 << dtype as u16) != 0
    }
}

/// `bool` alone.
pub const BOOL: Class = Class::of(&[DType::Bool]);
/// The signed integers.
pub const SIGNED: Class = Class::of(&[DType::Int8, DType::Int16, DType::Int32, DType::Int64]);
/// The unsigned integers.
pub const UNSIGNED: Class = Class::of(&[DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64]);
/// All integers.
pub const INTEGER: Class = SIGNED.and(UNSIGNED);
/// The real floating-point types.
pub const FLOAT: Class = Class::of(&[DType::Float16, DType::BFloat16, DType::Float32, DType::Float64]);
/// The complex types.
pub const COMPLEX: Class = Class::of(&[DType::Complex64, DType::Complex128]);
/// Integers and floats.
pub const REAL: Class = INTEGER.and(FLOAT);
/// Everything that is one register.
pub const PLAIN: Class = BOOL.and(REAL);

/// What a loop computes for one element.
#[derive(Clone, Copy)]
pub enum Formula {
    /// One real value from one.
    Unary(fn(Ex) -> Ex),
    /// One real value from two.
    Binary(fn(Ex, Ex) -> Ex),
    /// One real value from three.
    Ternary(fn(Ex, Ex, Ex) -> Ex),
    /// Two real values from two.
    Pair(fn(Ex, Ex) -> (Ex, Ex)),
    /// One complex value from one.
    ComplexUnary(fn(Cx) -> Cx),
    /// One complex value from two.
    ComplexBinary(fn(Cx, Cx) -> Cx),
    /// One complex value from three.
    ComplexTernary(fn(Cx, Cx, Cx) -> Cx),
    /// One real value from a complex one.
    Measure(fn(Cx) -> Ex),
    /// One real value from two complex ones.
    Compare(fn(Cx, Cx) -> Ex),
    /// A choice by a truth value between two real values.
    Choice(fn(Ex, Ex, Ex) -> Ex),
    /// A choice by a truth value between two complex values.
    ComplexChoice(fn(Ex, Cx, Cx) -> Cx),
}

/// What a loop's results are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gives {
    /// The dtype that the loop computes in.
    Same,
    /// Truth values.
    Bool,
    /// The real dtype beside a complex one.
    Part,
}

/// A body and the dtypes that it serves.
#[derive(Clone, Copy)]
pub struct Loop {
    class: Class,
    // Exactly these inputs, where two different dtypes meet without a common one.
    mixed: Option<[DType; 2]>,
    gives: Gives,
    formula: Formula,
}

impl Loop {
    /// A loop over a class of dtypes.
    #[must_use]
    pub const fn new(class: Class, gives: Gives, formula: Formula) -> Loop {
        Loop { class, mixed: None, gives, formula }
    }

    /// A loop over exactly two input dtypes, giving truth values.
    #[must_use]
    pub const fn mixed(left: DType, right: DType, formula: Formula) -> Loop {
        Loop { class: Class::of(&[]), mixed: Some([left, right]), gives: Gives::Bool, formula }
    }
}

/// How the dtype that a ufunc computes in follows from its inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The common dtype, or the next one that has a loop.
    Common,
    /// As `Common`, but integers become the float type that holds them (int8 gives float16).
    Inexact,
    /// As `Common`, but integers become float64.
    Quotient,
}

/// A universal function.
pub struct Ufunc {
    /// NumPy's name.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// How many arrays it takes.
    pub inputs: usize,
    /// How many arrays it gives.
    pub outputs: usize,
    /// How its dtype is found.
    pub rule: Rule,
    /// The loops, tried in order.
    pub loops: &'static [Loop],
    /// Dtypes that are refused, with the sentence for them.
    pub refuses: Option<(Class, &'static str)>,
}

impl Ufunc {
    /// A row without refusals.
    #[must_use]
    pub const fn new(
        name: &'static str,
        doc: &'static str,
        shape: (usize, usize),
        rule: Rule,
        loops: &'static [Loop],
    ) -> Ufunc {
        Ufunc { name, doc, inputs: shape.0, outputs: shape.1, rule, loops, refuses: None }
    }

    /// The same row, which refuses some dtypes with a sentence.
    #[must_use]
    pub const fn refusing(mut self, class: Class, sentence: &'static str) -> Ufunc {
        self.refuses = Some((class, sentence));
        self
    }

    /// Finds the loop for inputs of these dtypes.
    ///
    /// # Errors
    /// When no loop takes them, with NumPy's words.
    pub fn resolve(&'static self, inputs: &[Typed], dtype: Option<DType>) -> Result<Resolved> {
        let dtype = self.computed_in(dtype, inputs)?;
        if let (None, [Typed::Strong(left), Typed::Strong(right)]) = (dtype, inputs)
            && let Some(body) = self.loops.iter().find(|body| body.mixed == Some([*left, *right]))
        {
            return Ok(Resolved::mixed(self, body, [*left, *right]));
        }
        let common = match dtype {
            Some(dtype) => dtype,
            None => {
                let inputs = self.typed(inputs);
                // Beside a Python number the common dtype is found first.
                let strong = inputs.iter().all(|input| matches!(input, Typed::Strong(_)));
                let lift = |&input: &Typed| if strong { self.lifted_input(input) } else { input };
                let lifted: SmallVec<[Typed; 3]> = inputs.iter().map(lift).collect();
                self.lifted(result_type(&lifted))
            }
        };
        if let Some((class, sentence)) = self.refuses
            && class.has(common)
        {
            return Err(Error::Type(sentence.into()));
        }
        let found = candidates(common).find_map(|dtype| {
            self.loops.iter().find(|body| body.mixed.is_none() && body.class.has(dtype)).map(|body| (body, dtype))
        });
        match found {
            Some((body, at)) if dtype.is_none() || at == common => Ok(Resolved::common(self, body, at)),
            _ => Err(self.no_loop(inputs)),
        }
    }

    /// What the dtype that a caller names says about the loop: for truth values, which have one dtype, nothing.
    fn computed_in(&self, dtype: Option<DType>, inputs: &[Typed]) -> Result<Option<DType>> {
        match dtype {
            Some(named) if self.loops.iter().all(|body| body.gives == Gives::Bool) => match named {
                DType::Bool => Ok(None),
                _ => Err(self.no_loop(inputs)),
            },
            other => Ok(other),
        }
    }

    fn no_loop(&self, inputs: &[Typed]) -> Error {
        let types = inputs.iter().map(|&input| result_type(&[input])).collect();
        Error::NoLoop { ufunc: self.name.into(), types }
    }

    fn typed<'a>(&self, inputs: &'a [Typed]) -> &'a [Typed] {
        match self.loops[0].formula {
            Formula::Choice(_) | Formula::ComplexChoice(_) => &inputs[1..],
            _ => inputs,
        }
    }

    /// Each integer input becomes a float before the common dtype is found.
    fn lifted_input(&self, input: Typed) -> Typed {
        match input {
            Typed::Strong(dtype) if self.rule == Rule::Inexact => Typed::Strong(self.lifted(dtype)),
            other => other,
        }
    }

    fn lifted(&self, common: DType) -> DType {
        let whole = common == DType::Bool || common.is_integer();
        match self.rule {
            Rule::Quotient if whole => DType::Float64,
            Rule::Inexact if whole => match common.size() {
                1 => DType::Float16,
                2 => DType::Float32,
                _ => DType::Float64,
            },
            _ => common,
        }
    }
}

/// The dtypes that hold every value of `common`, itself first.
fn candidates(common: DType) -> impl Iterator<Item = DType> {
    std::iter::once(common).chain(
        DType::ALL
            .into_iter()
            .filter(move |&dtype| dtype != common && dtype != DType::BFloat16 && promote(common, dtype) == dtype),
    )
}

/// Up to three dtypes in a row.
pub type DTypes = SmallVec<[DType; 3]>;

/// A ufunc whose dtypes are known.
#[derive(Clone)]
pub struct Resolved {
    /// The dtype that each input is converted to.
    pub takes: DTypes,
    /// The dtype of each output.
    pub gives: DTypes,
    ufunc: &'static Ufunc,
    body: &'static Loop,
}

impl Resolved {
    fn common(ufunc: &'static Ufunc, body: &'static Loop, dtype: DType) -> Resolved {
        let mut takes: DTypes = SmallVec::from_elem(dtype, ufunc.inputs);
        if matches!(body.formula, Formula::Choice(_) | Formula::ComplexChoice(_)) {
            takes[0] = DType::Bool;
        }
        let gives = match body.gives {
            Gives::Same => dtype,
            Gives::Bool => DType::Bool,
            Gives::Part => dtype.component(),
        };
        Resolved { takes, gives: SmallVec::from_elem(gives, ufunc.outputs), ufunc, body }
    }

    fn mixed(ufunc: &'static Ufunc, body: &'static Loop, takes: [DType; 2]) -> Resolved {
        Resolved { takes: SmallVec::from_slice(&takes), gives: SmallVec::from_elem(DType::Bool, 1), ufunc, body }
    }

    /// The ufunc.
    #[must_use]
    pub const fn ufunc(&self) -> &'static Ufunc {
        self.ufunc
    }

    /// Records the loop's formula.
    #[must_use]
    pub fn compile(&self) -> Body {
        let mut values = Vec::new();
        let (graph, results) = trace(|| {
            values = self.apply();
            values.iter().flat_map(|value| value.registers()).collect()
        });
        let mut results = results.into_iter();
        let results = values
            .iter()
            .map(|value| match value {
                Value::Real(_) => [results.next(), None],
                Value::Complex(_) => [results.next(), results.next()],
            })
            .map(|[real, imaginary]| Register { real: real.expect("one register a value"), imaginary })
            .collect();
        Body { graph, results, takes: self.takes.clone(), gives: self.gives.clone() }
    }

    fn apply(&self) -> Vec<Value> {
        let real = |input: usize| Ex::load(input, Component::Real, Ty::of(self.takes[input]));
        let complex =
            |input: usize| Cx { re: real(input), im: Ex::load(input, Component::Imaginary, Ty::of(self.takes[input])) };
        let rounded = |value: Ex| Value::Real(value.round_to(self.gives[0]));
        match self.body.formula {
            Formula::Unary(f) => vec![rounded(f(real(0)))],
            Formula::Binary(f) => vec![rounded(f(real(0), real(1)))],
            Formula::Ternary(f) | Formula::Choice(f) => vec![rounded(f(real(0), real(1), real(2)))],
            Formula::Pair(f) => {
                let (first, second) = f(real(0), real(1));
                vec![rounded(first), rounded(second)]
            }
            Formula::ComplexUnary(f) => vec![Value::Complex(f(complex(0)))],
            Formula::ComplexBinary(f) => vec![Value::Complex(f(complex(0), complex(1)))],
            Formula::ComplexTernary(f) => vec![Value::Complex(f(complex(0), complex(1), complex(2)))],
            Formula::Measure(f) => vec![rounded(f(complex(0)))],
            Formula::Compare(f) => vec![rounded(f(complex(0), complex(1)))],
            Formula::ComplexChoice(f) => vec![Value::Complex(f(real(0), complex(1), complex(2)))],
        }
    }
}

enum Value {
    Real(Ex),
    Complex(Cx),
}

impl Value {
    fn registers(&self) -> SmallVec<[Ex; 2]> {
        match self {
            Value::Real(value) => SmallVec::from_slice(&[*value]),
            Value::Complex(value) => SmallVec::from_slice(&[value.re, value.im]),
        }
    }
}

/// The registers that hold one element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Register {
    /// The element, or its real part.
    pub real: Id,
    /// The imaginary part of a complex element.
    pub imaginary: Option<Id>,
}

/// A compiled loop: a program whose inputs are loads, with the dtypes it takes and gives.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Body {
    /// The program.
    pub graph: Graph,
    /// Where the results are.
    pub results: SmallVec<[Register; 2]>,
    /// The dtype that each input is converted to before it is used.
    pub takes: DTypes,
    /// The dtype of each result.
    pub gives: DTypes,
}

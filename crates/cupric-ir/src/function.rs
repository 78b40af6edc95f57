//! Named functions: formulas of `cupric-math` that stay one node in a program.
//!
//! A GPU is given their text, which running the formula with symbolic numbers yields; a CPU runs the formula itself.

use crate::{
    expression::{Ex, trace},
    graph::{Graph, Id},
    symbolic::{S32, S64, Truth},
    ty::Ty,
};
use cupric_math::{area, exp, hyperbolic, log, plane, pow, root, trig};

/// How a function is computed.
#[derive(Clone, Copy)]
enum Formula {
    One32(fn(S32) -> S32),
    One64(fn(S64) -> S64),
    Two32(fn(S32, S32) -> S32),
    Two64(fn(S64, S64) -> S64),
    // A short path for most arguments, a test for the others, and a path that is right for all.
    Rare32(fn(S32) -> S32, fn(S32) -> Truth, fn(S32) -> S32),
    Rare64(fn(S64) -> S64, fn(S64) -> Truth, fn(S64) -> S64),
}

macro_rules! functions {
    ($($variant:ident $name:literal $formula:expr;)*) => {
        /// A named function of one or two registers of one type.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[expect(missing_docs, reason = "each is the function that it is named after, with its width in bits")]
        pub enum Function { $($variant),* }

        impl Function {
            /// Every function.
            pub const ALL: &[Function] = &[$(Function::$variant),*];
            const TABLE: &[(&str, Formula)] = &[$(($name, $formula)),*];
        }
    };
}
functions! {
    Exp32 "exp32" Formula::One32(exp::exp32);
    Exp64 "exp64" Formula::One64(exp::exp64);
    Expm132 "expm1_32" Formula::One32(exp::expm1_32);
    Expm164 "expm1_64" Formula::One64(exp::expm1_64);
    Exp232 "exp2_32" Formula::One32(exp::exp2_32);
    Exp264 "exp2_64" Formula::One64(exp::exp2_64);
    Log32 "log32" Formula::One32(log::log32);
    Log64 "log64" Formula::One64(log::log64);
    Log1p32 "log1p_32" Formula::One32(log::log1p_32);
    Log1p64 "log1p_64" Formula::One64(log::log1p_64);
    Log232 "log2_32" Formula::One32(log::log2_32);
    Log264 "log2_64" Formula::One64(log::log2_64);
    Log1032 "log10_32" Formula::One32(log::log10_32);
    Log1064 "log10_64" Formula::One64(log::log10_64);
    Sin32 "sin32" Formula::Rare32(trig::sin32, trig::trig32_is_rare, trig::sin32_rare);
    Sin64 "sin64" Formula::Rare64(trig::sin64, trig::trig64_is_rare, trig::sin64_rare);
    Cos32 "cos32" Formula::Rare32(trig::cos32, trig::trig32_is_rare, trig::cos32_rare);
    Cos64 "cos64" Formula::Rare64(trig::cos64, trig::trig64_is_rare, trig::cos64_rare);
    Tan32 "tan32" Formula::Rare32(trig::tan32, trig::trig32_is_rare, trig::tan32_rare);
    Tan64 "tan64" Formula::Rare64(trig::tan64, trig::trig64_is_rare, trig::tan64_rare);
    Sinh32 "sinh32" Formula::One32(hyperbolic::sinh32);
    Sinh64 "sinh64" Formula::One64(hyperbolic::sinh64);
    Cosh32 "cosh32" Formula::One32(hyperbolic::cosh32);
    Cosh64 "cosh64" Formula::One64(hyperbolic::cosh64);
    Tanh32 "tanh32" Formula::One32(hyperbolic::tanh32);
    Tanh64 "tanh64" Formula::One64(hyperbolic::tanh64);
    Asinh32 "asinh32" Formula::One32(area::asinh32);
    Asinh64 "asinh64" Formula::One64(area::asinh64);
    Acosh32 "acosh32" Formula::One32(area::acosh32);
    Acosh64 "acosh64" Formula::One64(area::acosh64);
    Atanh32 "atanh32" Formula::One32(area::atanh32);
    Atanh64 "atanh64" Formula::One64(area::atanh64);
    Cbrt32 "cbrt32" Formula::One32(root::cbrt32);
    Cbrt64 "cbrt64" Formula::One64(root::cbrt64);
    Asin32 "asin32" Formula::One32(plane::asin32);
    Asin64 "asin64" Formula::One64(plane::asin64);
    Acos32 "acos32" Formula::One32(plane::acos32);
    Acos64 "acos64" Formula::One64(plane::acos64);
    Atan32 "atan32" Formula::One32(plane::atan32);
    Atan64 "atan64" Formula::One64(plane::atan64);
    Atan232 "atan2_32" Formula::Two32(plane::atan2_32);
    Atan264 "atan2_64" Formula::Two64(plane::atan2_64);
    Hypot32 "hypot32" Formula::Two32(plane::hypot32);
    Hypot64 "hypot64" Formula::Two64(plane::hypot64);
    Pow32 "pow32" Formula::Two32(pow::pow32);
    Pow64 "pow64" Formula::Two64(pow::pow64);
}

/// A function's program: its arguments are the function's.
pub struct Program {
    /// The steps.
    pub graph: Graph,
    /// Where the answer is.
    pub result: Id,
}

/// A function's programs.
pub struct Programs {
    /// Right where `rare` (if there is one) is false.
    pub usual: Program,
    /// A test, giving `Bool`, and a program that is right everywhere.
    pub rare: Option<(Program, Program)>,
}

impl Function {
    fn formula(self) -> Formula {
        Self::TABLE[self as usize].1
    }

    /// Its name in generated text.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::TABLE[self as usize].0
    }

    /// How many arguments it takes.
    #[must_use]
    pub const fn arity(self) -> usize {
        match Self::TABLE[self as usize].1 {
            Formula::Two32(_) | Formula::Two64(_) => 2,
            _ => 1,
        }
    }

    /// The type of its arguments and its result.
    #[must_use]
    pub const fn result(self) -> Ty {
        match Self::TABLE[self as usize].1 {
            Formula::One32(_) | Formula::Two32(_) | Formula::Rare32(..) => Ty::F32,
            _ => Ty::F64,
        }
    }

    /// Records its formula.
    #[must_use]
    pub fn programs(self) -> Programs {
        let narrow = |index| S32(Ex::argument(index, Ty::F32));
        let wide = |index| S64(Ex::argument(index, Ty::F64));
        let (usual, rare) = match self.formula() {
            Formula::One32(f) => (record(|| f(narrow(0)).0), None),
            Formula::One64(f) => (record(|| f(wide(0)).0), None),
            Formula::Two32(f) => (record(|| f(narrow(0), narrow(1)).0), None),
            Formula::Two64(f) => (record(|| f(wide(0), wide(1)).0), None),
            Formula::Rare32(f, test, rare) => {
                (record(|| f(narrow(0)).0), Some((record(|| test(narrow(0)).0), record(|| rare(narrow(0)).0))))
            }
            Formula::Rare64(f, test, rare) => {
                (record(|| f(wide(0)).0), Some((record(|| test(wide(0)).0), record(|| rare(wide(0)).0))))
            }
        };
        Programs { usual, rare }
    }
}

fn record(body: impl FnOnce() -> Ex) -> Program {
    let (graph, results) = trace(|| vec![body()]);
    Program { graph, result: results[0] }
}

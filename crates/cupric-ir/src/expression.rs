//! Symbolic values: what the bodies of rows and the formulas of `cupric-math` are run with to yield a [`Graph`].

use crate::{
    function::Function,
    graph::{Builder, Component, Graph, Id, Node, Prim},
    ty::Ty,
};
use cupric_core::DType;
use std::{
    cell::RefCell,
    ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub},
};

thread_local! {
    // A stack: the body of a named function may be built while another program is.
    static BUILDERS: RefCell<Vec<Builder>> = const { RefCell::new(Vec::new()) };
}

fn with_builder<R>(act: impl FnOnce(&mut Builder) -> R) -> R {
    BUILDERS.with_borrow_mut(|stack| act(stack.last_mut().expect("expressions live inside `trace`")))
}

/// Runs `body`, recording the expressions it makes; gives the program and the names of the results.
pub fn trace(body: impl FnOnce() -> Vec<Ex>) -> (Graph, Vec<Id>) {
    BUILDERS.with_borrow_mut(|stack| stack.push(Builder::default()));
    let results = body();
    let builder = BUILDERS.with_borrow_mut(Vec::pop).expect("pushed above");
    let mut roots: Vec<Id> = results.iter().map(|result| result.id).collect();
    let graph = builder.finish(&mut roots);
    (graph, roots)
}

/// One symbolic register.
#[derive(Clone, Copy, Debug)]
pub struct Ex {
    id: Id,
    ty: Ty,
}

impl Ex {
    fn of(node: Node, ty: Ty) -> Ex {
        Ex { id: with_builder(|builder| builder.node(node, ty)), ty }
    }

    fn op(prim: Prim, ty: Ty, given: &[Ex]) -> Ex {
        let mut args = [0; 3];
        for (arg, ex) in args.iter_mut().zip(given) {
            *arg = ex.id;
        }
        Ex::of(Node::Op { prim, args }, ty)
    }

    /// A component of the current element of an input.
    #[must_use]
    pub fn load(input: usize, component: Component, ty: Ty) -> Ex {
        Ex::of(Node::Load { input: input as u16, component }, ty)
    }

    /// A register handed in by whoever runs the program.
    #[must_use]
    pub fn argument(index: usize, ty: Ty) -> Ex {
        Ex::of(Node::Argument(index as u16), ty)
    }

    /// A scalar given at the launch.
    #[must_use]
    pub fn parameter(index: usize, ty: Ty) -> Ex {
        Ex::of(Node::Parameter(index as u16), ty)
    }

    /// The position of the current element.
    #[must_use]
    pub fn position() -> Ex {
        Ex::of(Node::Position, Ty::I64)
    }

    /// An entry of a constant table.
    #[must_use]
    pub fn lookup(table: &'static [u32], index: Ex, ty: Ty) -> Ex {
        Ex::of(Node::Lookup { table, index: index.id }, ty)
    }

    /// Applies a named function.
    #[must_use]
    pub fn call(function: Function, given: &[Ex]) -> Ex {
        let mut args = [0; 3];
        for (arg, ex) in args.iter_mut().zip(given) {
            *arg = ex.id;
        }
        Ex::of(Node::Call { function, args }, function.result())
    }

    /// The bits of a register as a constant of a formula.
    #[must_use]
    pub fn bits(ty: Ty, bits: u64) -> Ex {
        Ex::of(Node::Literal(bits), ty)
    }

    /// A number as a constant of a formula, in the given type.
    #[must_use]
    pub fn number(ty: Ty, value: f64) -> Ex {
        let bits = match ty {
            Ty::F64 => value.to_bits(),
            Ty::F32 => u64::from((value as f32).to_bits()),
            Ty::Bool => u64::from(value != 0.0),
            _ => (value as i64 as u64) & (u64::MAX >> (64 - 8 * ty.size() as u32)),
        };
        Ex::bits(ty, bits)
    }

    /// A constant of this register's type.
    #[must_use]
    pub fn lit(self, value: f64) -> Ex {
        Ex::number(self.ty, value)
    }

    /// The register's type.
    #[must_use]
    pub const fn ty(self) -> Ty {
        self.ty
    }

    /// The register's width in bits.
    #[must_use]
    pub const fn width(self) -> u32 {
        8 * self.ty.size() as u32
    }

    /// `self == other`.
    #[must_use]
    pub fn equal(self, other: Ex) -> Ex {
        Ex::op(Prim::Eq, Ty::Bool, &[self, other])
    }

    /// `self != other`.
    #[must_use]
    pub fn not_equal(self, other: Ex) -> Ex {
        Ex::op(Prim::Ne, Ty::Bool, &[self, other])
    }

    /// `self < other`.
    #[must_use]
    pub fn less(self, other: Ex) -> Ex {
        Ex::op(Prim::Lt, Ty::Bool, &[self, other])
    }

    /// `self <= other`.
    #[must_use]
    pub fn less_equal(self, other: Ex) -> Ex {
        Ex::op(Prim::Le, Ty::Bool, &[self, other])
    }

    /// Whether this is a NaN.
    #[must_use]
    pub fn is_nan(self) -> Ex {
        self.not_equal(self)
    }

    /// `self ? yes : no`.
    #[must_use]
    pub fn select(self, yes: Ex, no: Ex) -> Ex {
        Ex::op(Prim::Select, yes.ty, &[self, yes, no])
    }

    /// Converts by NumPy's table.
    #[must_use]
    pub fn cast(self, ty: Ty) -> Ex {
        if ty == self.ty { self } else { Ex::op(Prim::Cast, ty, &[self]) }
    }

    /// The same bits read as another type of the same width.
    #[must_use]
    pub fn bitcast(self, ty: Ty) -> Ex {
        if ty == self.ty { self } else { Ex::op(Prim::Bitcast, ty, &[self]) }
    }

    /// Rounds to what an element of `dtype` can hold.
    #[must_use]
    pub fn round_to(self, dtype: DType) -> Ex {
        match dtype {
            DType::Float16 => Ex::op(Prim::RoundF16, Ty::F32, &[self]),
            DType::BFloat16 => Ex::op(Prim::RoundBF16, Ty::F32, &[self]),
            _ => self.cast(Ty::of(dtype)),
        }
    }

    fn unary(self, prim: Prim) -> Ex {
        Ex::op(prim, self.ty, &[self])
    }

    fn binary(self, prim: Prim, other: Ex) -> Ex {
        Ex::op(prim, self.ty, &[self, other])
    }

    /// Absolute value.
    #[must_use]
    pub fn abs(self) -> Ex {
        if self.ty.is_float() || self.ty.is_signed() { self.unary(Prim::Abs) } else { self }
    }

    /// Square root.
    #[must_use]
    pub fn sqrt(self) -> Ex {
        self.unary(Prim::Sqrt)
    }

    /// Rounds towards minus infinity.
    #[must_use]
    pub fn floor(self) -> Ex {
        self.unary(Prim::Floor)
    }

    /// Rounds towards plus infinity.
    #[must_use]
    pub fn ceil(self) -> Ex {
        self.unary(Prim::Ceil)
    }

    /// Rounds towards zero.
    #[must_use]
    pub fn trunc(self) -> Ex {
        self.unary(Prim::Trunc)
    }

    /// Rounds to nearest, ties to even.
    #[must_use]
    pub fn rint(self) -> Ex {
        self.unary(Prim::Rint)
    }

    /// The larger, NaN if either is.
    #[must_use]
    pub fn maximum(self, other: Ex) -> Ex {
        self.binary(Prim::Max, other)
    }

    /// The smaller, NaN if either is.
    #[must_use]
    pub fn minimum(self, other: Ex) -> Ex {
        self.binary(Prim::Min, other)
    }

    /// `self * b + c`, rounded once.
    #[must_use]
    pub fn fma(self, b: Ex, c: Ex) -> Ex {
        Ex::op(Prim::Fma, self.ty, &[self, b, c])
    }

    /// C's `fmod`.
    #[must_use]
    pub fn fmod(self, other: Ex) -> Ex {
        self.binary(Prim::FMod, other)
    }

    /// Integer quotient towards minus infinity.
    #[must_use]
    pub fn floor_div(self, other: Ex) -> Ex {
        self.binary(Prim::FloorDiv, other)
    }

    /// Integer remainder with the divisor's sign.
    #[must_use]
    pub fn floor_mod(self, other: Ex) -> Ex {
        self.binary(Prim::FloorMod, other)
    }

    /// Integer power, wrapping.
    #[must_use]
    pub fn pow_int(self, other: Ex) -> Ex {
        self.binary(Prim::PowInt, other)
    }

    /// Whether this is not zero.
    #[must_use]
    pub fn truth(self) -> Ex {
        if self.ty == Ty::Bool { self } else { self.not_equal(self.lit(0.0)) }
    }

    /// Zero with this value's sign; floating point only.
    #[must_use]
    pub fn signed_zero(self) -> Ex {
        let word = if self.ty == Ty::F32 { Ty::U32 } else { Ty::U64 };
        let sign = Ex::bits(word, 1 << (self.width() - 1));
        (self.bitcast(word) & sign).bitcast(self.ty)
    }

    /// `self << by`, with `by` below the width.
    #[must_use]
    pub fn left_shift(self, by: Ex) -> Ex {
        self.binary(Prim::Shl, by)
    }

    /// `self >> by`, with `by` below the width; arithmetic on signed types.
    #[must_use]
    pub fn right_shift(self, by: Ex) -> Ex {
        self.binary(Prim::Shr, by)
    }

    /// High half of the full unsigned product.
    #[must_use]
    pub fn mul_high(self, other: Ex) -> Ex {
        self.binary(Prim::MulHigh, other)
    }

    /// Applies the function of the register's width.
    fn elementary(self, narrow: Function, wide: Function) -> Ex {
        Ex::call(if self.ty == Ty::F32 { narrow } else { wide }, &[self])
    }

    fn elementary_pair(self, other: Ex, narrow: Function, wide: Function) -> Ex {
        Ex::call(if self.ty == Ty::F32 { narrow } else { wide }, &[self, other])
    }

    /// e to this power.
    #[must_use]
    pub fn exp(self) -> Ex {
        self.elementary(Function::Exp32, Function::Exp64)
    }

    /// e to this power, minus 1.
    #[must_use]
    pub fn expm1(self) -> Ex {
        self.elementary(Function::Expm132, Function::Expm164)
    }

    /// 2 to this power.
    #[must_use]
    pub fn exp2(self) -> Ex {
        self.elementary(Function::Exp232, Function::Exp264)
    }

    /// Natural logarithm.
    #[must_use]
    pub fn log(self) -> Ex {
        self.elementary(Function::Log32, Function::Log64)
    }

    /// Natural logarithm of 1 plus this.
    #[must_use]
    pub fn log1p(self) -> Ex {
        self.elementary(Function::Log1p32, Function::Log1p64)
    }

    /// Logarithm to base 2.
    #[must_use]
    pub fn log2(self) -> Ex {
        self.elementary(Function::Log232, Function::Log264)
    }

    /// Logarithm to base 10.
    #[must_use]
    pub fn log10(self) -> Ex {
        self.elementary(Function::Log1032, Function::Log1064)
    }

    /// Sine of an angle in radians.
    #[must_use]
    pub fn sin(self) -> Ex {
        self.elementary(Function::Sin32, Function::Sin64)
    }

    /// Cosine of an angle in radians.
    #[must_use]
    pub fn cos(self) -> Ex {
        self.elementary(Function::Cos32, Function::Cos64)
    }

    /// Tangent of an angle in radians.
    #[must_use]
    pub fn tan(self) -> Ex {
        self.elementary(Function::Tan32, Function::Tan64)
    }

    /// Hyperbolic sine.
    #[must_use]
    pub fn sinh(self) -> Ex {
        self.elementary(Function::Sinh32, Function::Sinh64)
    }

    /// Hyperbolic cosine.
    #[must_use]
    pub fn cosh(self) -> Ex {
        self.elementary(Function::Cosh32, Function::Cosh64)
    }

    /// Hyperbolic tangent.
    #[must_use]
    pub fn tanh(self) -> Ex {
        self.elementary(Function::Tanh32, Function::Tanh64)
    }

    /// Inverse tangent.
    #[must_use]
    pub fn atan(self) -> Ex {
        self.elementary(Function::Atan32, Function::Atan64)
    }

    /// Inverse sine.
    #[must_use]
    pub fn asin(self) -> Ex {
        self.elementary(Function::Asin32, Function::Asin64)
    }

    /// Inverse cosine.
    #[must_use]
    pub fn acos(self) -> Ex {
        self.elementary(Function::Acos32, Function::Acos64)
    }

    /// Inverse hyperbolic sine.
    #[must_use]
    pub fn asinh(self) -> Ex {
        self.elementary(Function::Asinh32, Function::Asinh64)
    }

    /// Inverse hyperbolic cosine.
    #[must_use]
    pub fn acosh(self) -> Ex {
        self.elementary(Function::Acosh32, Function::Acosh64)
    }

    /// Inverse hyperbolic tangent.
    #[must_use]
    pub fn atanh(self) -> Ex {
        self.elementary(Function::Atanh32, Function::Atanh64)
    }

    /// Cube root.
    #[must_use]
    pub fn cbrt(self) -> Ex {
        self.elementary(Function::Cbrt32, Function::Cbrt64)
    }

    /// `self` to the power `other`, floating point.
    #[must_use]
    pub fn pow(self, other: Ex) -> Ex {
        self.elementary_pair(other, Function::Pow32, Function::Pow64)
    }

    /// The angle of the point (`other`, `self`).
    #[must_use]
    pub fn atan2(self, other: Ex) -> Ex {
        self.elementary_pair(other, Function::Atan232, Function::Atan264)
    }

    /// The length of the vector (`self`, `other`).
    #[must_use]
    pub fn hypot(self, other: Ex) -> Ex {
        self.elementary_pair(other, Function::Hypot32, Function::Hypot64)
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident $prim:ident;)*) => { $(
        impl $operator for Ex {
            type Output = Ex;
            fn $method(self, other: Ex) -> Ex {
                self.binary(Prim::$prim, other)
            }
        }
    )* };
}
operators! { Add add Add; Sub sub Sub; Mul mul Mul; Div div Div; BitAnd bitand And; BitOr bitor Or; BitXor bitxor Xor; }

impl Neg for Ex {
    type Output = Ex;
    fn neg(self) -> Ex {
        self.unary(Prim::Neg)
    }
}

impl Not for Ex {
    type Output = Ex;
    fn not(self) -> Ex {
        self.unary(Prim::Not)
    }
}

/// A symbolic complex value.
#[derive(Clone, Copy, Debug)]
pub struct Cx {
    /// Real part.
    pub re: Ex,
    /// Imaginary part.
    pub im: Ex,
}

impl Cx {
    /// Whether either part is not zero.
    #[must_use]
    pub fn truth(self) -> Ex {
        self.re.truth() | self.im.truth()
    }

    /// Lexicographic `self < other`, false where a NaN takes part.
    #[must_use]
    pub fn less(self, other: Cx) -> Ex {
        let parts_are_numbers = !(self.im.is_nan() | other.im.is_nan());
        (self.re.less(other.re) & parts_are_numbers) | (self.re.equal(other.re) & self.im.less(other.im))
    }

    /// Lexicographic `self <= other`, false where a NaN takes part.
    #[must_use]
    pub fn less_equal(self, other: Cx) -> Ex {
        let parts_are_numbers = !(self.im.is_nan() | other.im.is_nan());
        (self.re.less(other.re) & parts_are_numbers) | (self.re.equal(other.re) & self.im.less_equal(other.im))
    }

    /// Whether either part is a NaN.
    #[must_use]
    pub fn is_nan(self) -> Ex {
        self.re.is_nan() | self.im.is_nan()
    }

    /// `condition ? yes : no`, part by part.
    #[must_use]
    pub fn choose(condition: Ex, yes: Cx, no: Cx) -> Cx {
        Cx { re: condition.select(yes.re, no.re), im: condition.select(yes.im, no.im) }
    }
}

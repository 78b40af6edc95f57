//! Symbolic numbers for the formulas of `cupric-math`: running a formula with them records it.

use crate::{
    expression::{Cx, Ex},
    ty::Ty,
};
use cupric_math::{Complex, Elementary, Integer, Mask, Real, Word64, complex};
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// A symbolic truth value.
#[derive(Clone, Copy)]
pub struct Truth(pub Ex);

/// A symbolic number of a fixed type.
macro_rules! number {
    ($(#[$doc:meta] $name:ident: $($operator:ident $method:ident),*;)*) => { $(
        #[$doc]
        #[derive(Clone, Copy)]
        pub struct $name(pub Ex);
        $(impl $operator for $name {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                $name($operator::$method(self.0, other.0))
            }
        })*
    )* };
}
number! {
    /// A symbolic float32.
    S32: Add add, Sub sub, Mul mul, Div div;
    /// A symbolic float64.
    S64: Add add, Sub sub, Mul mul, Div div;
    /// A symbolic int32.
    SI32: Add add, Sub sub, Mul mul, BitAnd bitand, BitOr bitor, BitXor bitxor;
    /// A symbolic int64.
    SI64: Add add, Sub sub, Mul mul, BitAnd bitand, BitOr bitor, BitXor bitxor;
    /// A symbolic word of 64 random bits.
    SW64:;
}

impl BitAnd for Truth {
    type Output = Truth;
    fn bitand(self, other: Truth) -> Truth {
        Truth(self.0 & other.0)
    }
}

impl BitOr for Truth {
    type Output = Truth;
    fn bitor(self, other: Truth) -> Truth {
        Truth(self.0 | other.0)
    }
}

impl Not for Truth {
    type Output = Truth;
    fn not(self) -> Truth {
        Truth(!self.0)
    }
}

impl Mask for Truth {}

macro_rules! integer {
    ($name:ident, $ty:expr, $unsigned:expr) => {
        impl Integer for $name {
            type Mask = Truth;
            fn literal(value: i64) -> Self {
                $name(Ex::bits($ty, (value as u64) & (u64::MAX >> (64 - 8 * $ty.size() as u32))))
            }
            fn shl(self, by: u32) -> Self {
                $name(self.0.left_shift(self.0.lit(f64::from(by))))
            }
            fn shr(self, by: u32) -> Self {
                $name(self.0.right_shift(self.0.lit(f64::from(by))))
            }
            fn shr_logical(self, by: u32) -> Self {
                self.shr_logical_by($name(self.0.lit(f64::from(by))))
            }
            fn shl_by(self, by: Self) -> Self {
                $name(self.0.left_shift(by.0))
            }
            fn shr_logical_by(self, by: Self) -> Self {
                $name(self.0.bitcast($unsigned).right_shift(by.0.bitcast($unsigned)).bitcast($ty))
            }
            fn mul_high_unsigned(self, other: Self) -> Self {
                $name(self.0.bitcast($unsigned).mul_high(other.0.bitcast($unsigned)).bitcast($ty))
            }
            fn lookup(table: &'static [u32], index: Self) -> Self {
                $name(Ex::lookup(table, index.0, $ty))
            }
            fn eq(self, other: Self) -> Truth {
                Truth(self.0.equal(other.0))
            }
            fn lt(self, other: Self) -> Truth {
                Truth(self.0.less(other.0))
            }
            fn select(mask: Truth, yes: Self, no: Self) -> Self {
                $name(mask.0.select(yes.0, no.0))
            }
        }
    };
}
integer!(SI32, Ty::I32, Ty::U32);
integer!(SI64, Ty::I64, Ty::U64);

macro_rules! real {
    ($name:ident, $int:ident, $ty:expr) => {
        impl Neg for $name {
            type Output = Self;
            fn neg(self) -> Self {
                $name(-self.0)
            }
        }
        impl Real for $name {
            type Mask = Truth;
            type Int = $int;
            fn literal(value: f64) -> Self {
                $name(Ex::number($ty, value))
            }
            fn fma(self, b: Self, c: Self) -> Self {
                $name(self.0.fma(b.0, c.0))
            }
            fn sqrt(self) -> Self {
                $name(self.0.sqrt())
            }
            fn abs(self) -> Self {
                $name(self.0.abs())
            }
            fn rint(self) -> Self {
                $name(self.0.rint())
            }
            fn floor(self) -> Self {
                $name(self.0.floor())
            }
            fn trunc(self) -> Self {
                $name(self.0.trunc())
            }
            fn eq(self, other: Self) -> Truth {
                Truth(self.0.equal(other.0))
            }
            fn lt(self, other: Self) -> Truth {
                Truth(self.0.less(other.0))
            }
            fn le(self, other: Self) -> Truth {
                Truth(self.0.less_equal(other.0))
            }
            fn select(mask: Truth, yes: Self, no: Self) -> Self {
                $name(mask.0.select(yes.0, no.0))
            }
            fn to_bits(self) -> $int {
                $int(self.0.bitcast(<$int as Typed>::TY))
            }
            fn from_bits(bits: $int) -> Self {
                $name(bits.0.bitcast($ty))
            }
            fn to_int(self) -> $int {
                $int(self.0.cast(<$int as Typed>::TY))
            }
            fn from_int(int: $int) -> Self {
                $name(int.0.cast($ty))
            }
        }
    };
}

trait Typed {
    const TY: Ty;
}
impl Typed for SI32 {
    const TY: Ty = Ty::I32;
}
impl Typed for SI64 {
    const TY: Ty = Ty::I64;
}
real!(S32, SI32, Ty::F32);
real!(S64, SI64, Ty::F64);

macro_rules! elementary {
    ($name:ident, $bits:literal: $($one:ident)*; $($two:ident)*) => {
        impl Elementary for $name {
            fn bits(self) -> u32 {
                $bits
            }
            $(fn $one(self) -> Self {
                $name(self.0.$one())
            })*
            $(fn $two(self, other: Self) -> Self {
                $name(self.0.$two(other.0))
            })*
        }
    };
}
elementary!(S32, 32: exp expm1 log log1p sin cos tan sinh cosh tanh; pow atan2 hypot);
elementary!(S64, 64: exp expm1 log log1p sin cos tan sinh cosh tanh; pow atan2 hypot);

fn narrow(z: Cx) -> Complex<S32> {
    Complex { re: S32(z.re), im: S32(z.im) }
}

fn wide(z: Cx) -> Complex<S64> {
    Complex { re: S64(z.re), im: S64(z.im) }
}

impl From<Complex<S32>> for Cx {
    fn from(z: Complex<S32>) -> Cx {
        Cx { re: z.re.0, im: z.im.0 }
    }
}

impl From<Complex<S64>> for Cx {
    fn from(z: Complex<S64>) -> Cx {
        Cx { re: z.re.0, im: z.im.0 }
    }
}

macro_rules! complex_functions {
    ($(#[$doc:meta] $name:ident $formula:ident $($other:ident)?;)*) => {
        impl Cx {
            /// The distance from 0, without overflow.
            #[must_use]
            pub fn abs(self) -> Ex {
                if self.re.ty() == Ty::F32 { complex::abs(narrow(self)).0 } else { complex::abs(wide(self)).0 }
            }
            $(#[$doc]
            #[must_use]
            pub fn $name(self $(, $other: Cx)?) -> Cx {
                if self.re.ty() == Ty::F32 {
                    complex::$formula(narrow(self) $(, narrow($other))?).into()
                } else {
                    complex::$formula(wide(self) $(, wide($other))?).into()
                }
            })*
        }
    };
}
complex_functions! {
    /// The product by its plain formula.
    product mul other;
    /// The quotient by Smith's algorithm.
    quotient div other;
    /// Square root.
    sqrt sqrt;
    /// e to this power.
    exp exp;
    /// Natural logarithm.
    log log;
    /// Sine.
    sin sin;
    /// Cosine.
    cos cos;
    /// Tangent.
    tan tan;
    /// Hyperbolic sine.
    sinh sinh;
    /// Hyperbolic cosine.
    cosh cosh;
    /// Hyperbolic tangent.
    tanh tanh;
    /// `self` to the power `other`.
    pow pow other;
}

impl Word64 for SW64 {
    type Mask = Truth;
    type Real64 = S64;
    type Real32 = S32;
    fn literal(value: u64) -> Self {
        SW64(Ex::bits(Ty::U64, value))
    }
    fn add(self, other: Self) -> Self {
        SW64(self.0 + other.0)
    }
    fn mul(self, other: Self) -> Self {
        SW64(self.0 * other.0)
    }
    fn mul_high(self, other: Self) -> Self {
        SW64(self.0.mul_high(other.0))
    }
    fn xor(self, other: Self) -> Self {
        SW64(self.0 ^ other.0)
    }
    fn and(self, other: Self) -> Self {
        SW64(self.0 & other.0)
    }
    fn or(self, other: Self) -> Self {
        SW64(self.0 | other.0)
    }
    fn shl(self, by: u32) -> Self {
        SW64(self.0.left_shift(self.0.lit(f64::from(by))))
    }
    fn shr(self, by: u32) -> Self {
        SW64(self.0.right_shift(self.0.lit(f64::from(by))))
    }
    fn eq(self, other: Self) -> Truth {
        Truth(self.0.equal(other.0))
    }
    fn lt(self, other: Self) -> Truth {
        Truth(self.0.less(other.0))
    }
    fn select(mask: Truth, yes: Self, no: Self) -> Self {
        SW64(mask.0.select(yes.0, no.0))
    }
    fn to_f64(self) -> S64 {
        S64(self.0.cast(Ty::F64))
    }
    fn to_f32(self) -> S32 {
        S32(self.0.cast(Ty::F32))
    }
}

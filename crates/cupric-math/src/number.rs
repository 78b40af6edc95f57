//! The abstract numbers that every formula of this crate is written over.
//!
//! Every operation here is exact or correctly rounded by IEEE 754, or is integer arithmetic modulo a power of two, so each
//! implementation (native or printed as text) gives the same bits.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// The outcome of a comparison; picks between two values without a branch.
pub trait Mask: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {}

/// A signed two's complement integer; `+`, `-` and `*` wrap.
pub trait Integer:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
{
    /// What comparisons answer.
    type Mask: Mask;

    /// A constant, cut to the width.
    fn literal(value: i64) -> Self;
    /// Shifts left by a constant below the width.
    fn shl(self, by: u32) -> Self;
    /// Shifts right by a constant below the width: arithmetic for signed types, logical for unsigned ones.
    fn shr(self, by: u32) -> Self;
    /// Shifts right by a constant below the width, filling with zeros.
    fn shr_logical(self, by: u32) -> Self;
    /// Shifts left by a number from 0 to the width minus 1.
    fn shl_by(self, by: Self) -> Self;
    /// Shifts right by a number from 0 to the width minus 1, filling with zeros.
    fn shr_logical_by(self, by: Self) -> Self;
    /// The high half of the double-width product, both factors read as unsigned.
    fn mul_high_unsigned(self, other: Self) -> Self;
    /// `table[index]`, widened with zeros; the caller keeps the index in range.
    fn lookup(table: &'static [u32], index: Self) -> Self;
    /// Equality.
    fn eq(self, other: Self) -> Self::Mask;
    /// Less than, as signed numbers.
    fn lt(self, other: Self) -> Self::Mask;
    /// `yes` where the mask holds, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// Inequality.
    #[inline(always)]
    fn ne(self, other: Self) -> Self::Mask {
        !self.eq(other)
    }
    /// Less than or equal, as signed numbers.
    #[inline(always)]
    fn le(self, other: Self) -> Self::Mask {
        !other.lt(self)
    }
}

/// A binary floating-point number of 32 or 64 bits, rounded to nearest, ties to even, with subnormals.
pub trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// What comparisons answer.
    type Mask: Mask;
    /// The signed integer of the same width.
    type Int: Integer<Mask = Self::Mask>;

    /// A constant, rounded to the width.
    fn literal(value: f64) -> Self;
    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
    /// The correctly rounded square root.
    fn sqrt(self) -> Self;
    /// Clears the sign bit.
    fn abs(self) -> Self;
    /// The nearest integer, ties to even.
    fn rint(self) -> Self;
    /// The largest integer not above.
    fn floor(self) -> Self;
    /// The integer part, towards zero.
    fn trunc(self) -> Self;
    /// Equality; false for a NaN.
    fn eq(self, other: Self) -> Self::Mask;
    /// Less than; false for a NaN.
    fn lt(self, other: Self) -> Self::Mask;
    /// Less than or equal; false for a NaN.
    fn le(self, other: Self) -> Self::Mask;
    /// `yes` where the mask holds, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// The bits as an integer of the same width.
    fn to_bits(self) -> Self::Int;
    /// The number that these bits stand for.
    fn from_bits(bits: Self::Int) -> Self;
    /// Truncates; the caller keeps the value in the integer's range.
    fn to_int(self) -> Self::Int;
    /// The nearest number to an integer, ties to even.
    fn from_int(int: Self::Int) -> Self;

    /// Inequality; true for a NaN.
    #[inline(always)]
    fn ne(self, other: Self) -> Self::Mask {
        !self.eq(other)
    }
}

/// An unsigned word of 64 random bits; `add` and `mul` wrap.
pub trait Word64: Copy {
    /// What comparisons answer.
    type Mask: Mask;
    /// The float64 beside this word.
    type Real64: Real<Mask = Self::Mask>;
    /// The float32 beside this word.
    type Real32: Real<Mask = Self::Mask>;

    /// A constant.
    fn literal(value: u64) -> Self;
    /// The sum modulo 2^64.
    fn add(self, other: Self) -> Self;
    /// The low 64 bits of the product.
    fn mul(self, other: Self) -> Self;
    /// The high 64 bits of the product.
    fn mul_high(self, other: Self) -> Self;
    /// Exclusive or of the bits.
    fn xor(self, other: Self) -> Self;
    /// And of the bits.
    fn and(self, other: Self) -> Self;
    /// Or of the bits.
    fn or(self, other: Self) -> Self;
    /// Shifts left by a constant below 64.
    fn shl(self, by: u32) -> Self;
    /// Shifts right by a constant below 64, filling with zeros.
    fn shr(self, by: u32) -> Self;
    /// Equality.
    fn eq(self, other: Self) -> Self::Mask;
    /// Less than, unsigned.
    fn lt(self, other: Self) -> Self::Mask;
    /// `yes` where the mask holds, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// As a float64; the caller keeps the word at most 2^53, so this is exact.
    fn to_f64(self) -> Self::Real64;
    /// As a float32; the caller keeps the word at most 2^24, so this is exact.
    fn to_f32(self) -> Self::Real32;
}

//! Rust's own numbers: inside a `#[target_feature]` loop these inline to vector instructions.
//!
//! `+`, `-` and `*` of integers wrap as the traits ask only while overflow checks are off, as in this workspace's profiles.

use crate::number::{Integer, Mask, Real, Word64};

impl Mask for bool {}

impl Integer for i32 {
    type Mask = bool;
    #[inline(always)]
    fn literal(value: i64) -> Self {
        value as i32
    }
    #[inline(always)]
    fn shl(self, by: u32) -> Self {
        self << by
    }
    #[inline(always)]
    fn shr(self, by: u32) -> Self {
        self >> by
    }
    #[inline(always)]
    fn shr_logical(self, by: u32) -> Self {
        (self as u32 >> by) as i32
    }
    #[inline(always)]
    fn shl_by(self, by: Self) -> Self {
        self << by
    }
    #[inline(always)]
    fn shr_logical_by(self, by: Self) -> Self {
        (self as u32 >> by) as i32
    }
    #[inline(always)]
    fn mul_high_unsigned(self, other: Self) -> Self {
        ((self as u32 as u64 * other as u32 as u64) >> i32::BITS) as i32
    }
    #[inline(always)]
    fn lookup(table: &'static [u32], index: Self) -> Self {
        table[index as usize] as i32
    }
    #[inline(always)]
    fn eq(self, other: Self) -> bool {
        self == other
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
}

impl Integer for i64 {
    type Mask = bool;
    #[inline(always)]
    fn literal(value: i64) -> Self {
        value
    }
    #[inline(always)]
    fn shl(self, by: u32) -> Self {
        self << by
    }
    #[inline(always)]
    fn shr(self, by: u32) -> Self {
        self >> by
    }
    #[inline(always)]
    fn shr_logical(self, by: u32) -> Self {
        (self as u64 >> by) as i64
    }
    #[inline(always)]
    fn shl_by(self, by: Self) -> Self {
        self << by
    }
    #[inline(always)]
    fn shr_logical_by(self, by: Self) -> Self {
        (self as u64 >> by) as i64
    }
    #[inline(always)]
    fn mul_high_unsigned(self, other: Self) -> Self {
        ((self as u64 as u128 * other as u64 as u128) >> i64::BITS) as i64
    }
    #[inline(always)]
    fn lookup(table: &'static [u32], index: Self) -> Self {
        table[index as usize] as i64
    }
    #[inline(always)]
    fn eq(self, other: Self) -> bool {
        self == other
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
}

impl Real for f32 {
    type Mask = bool;
    type Int = i32;
    #[inline(always)]
    fn literal(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        self.mul_add(b, c)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f32::abs(self)
    }
    #[inline(always)]
    fn rint(self) -> Self {
        self.round_ties_even()
    }
    #[inline(always)]
    fn floor(self) -> Self {
        f32::floor(self)
    }
    #[inline(always)]
    fn trunc(self) -> Self {
        f32::trunc(self)
    }
    #[inline(always)]
    fn eq(self, other: Self) -> bool {
        self == other
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn le(self, other: Self) -> bool {
        self <= other
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn to_bits(self) -> i32 {
        f32::to_bits(self) as i32
    }
    #[inline(always)]
    fn from_bits(bits: i32) -> Self {
        f32::from_bits(bits as u32)
    }
    #[inline(always)]
    fn to_int(self) -> i32 {
        self as i32
    }
    #[inline(always)]
    fn from_int(int: i32) -> Self {
        int as f32
    }
}

impl Real for f64 {
    type Mask = bool;
    type Int = i64;
    #[inline(always)]
    fn literal(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        self.mul_add(b, c)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }
    #[inline(always)]
    fn rint(self) -> Self {
        self.round_ties_even()
    }
    #[inline(always)]
    fn floor(self) -> Self {
        f64::floor(self)
    }
    #[inline(always)]
    fn trunc(self) -> Self {
        f64::trunc(self)
    }
    #[inline(always)]
    fn eq(self, other: Self) -> bool {
        self == other
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn le(self, other: Self) -> bool {
        self <= other
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn to_bits(self) -> i64 {
        f64::to_bits(self) as i64
    }
    #[inline(always)]
    fn from_bits(bits: i64) -> Self {
        f64::from_bits(bits as u64)
    }
    #[inline(always)]
    fn to_int(self) -> i64 {
        self as i64
    }
    #[inline(always)]
    fn from_int(int: i64) -> Self {
        int as f64
    }
}

impl Word64 for u64 {
    type Mask = bool;
    type Real64 = f64;
    type Real32 = f32;
    #[inline(always)]
    fn literal(value: u64) -> Self {
        value
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }
    #[inline(always)]
    fn mul_high(self, other: Self) -> Self {
        ((self as u128 * other as u128) >> 64) as u64
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn shl(self, by: u32) -> Self {
        self << by
    }
    #[inline(always)]
    fn shr(self, by: u32) -> Self {
        self >> by
    }
    #[inline(always)]
    fn eq(self, other: Self) -> bool {
        self == other
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self as f64
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self as f32
    }
}

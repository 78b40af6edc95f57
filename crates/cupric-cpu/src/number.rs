//! What the loops ask of Rust's numbers beyond their operators.

/// An integer, with NumPy's answers where mathematics has none.
pub(crate) trait Whole: Copy {
    /// `|a|`; the least signed number stays itself.
    fn magnitude(self) -> Self;
    /// The quotient rounded towards minus infinity; 0 where the divisor is 0.
    fn floor_div(self, by: Self) -> Self;
    /// The remainder with the divisor's sign; 0 where the divisor is 0.
    fn floor_mod(self, by: Self) -> Self;
    /// The power, wrapping; a negative exponent gives the truncated reciprocal.
    fn power(self, exponent: Self) -> Self;
}

macro_rules! signed {
    ($($T:ty)*) => {$(
        impl Whole for $T {
            #[inline(always)]
            fn magnitude(self) -> Self { self.wrapping_abs() }
            #[inline(always)]
            fn floor_div(self, by: Self) -> Self {
                let (quotient, rest) = (self.checked_div(by), self.checked_rem(by));
                match (quotient, rest) {
                    (Some(quotient), Some(rest)) => quotient - Self::from(rest != 0 && (rest < 0) != (by < 0)),
                    _ if by == 0 => 0,
                    _ => self,
                }
            }
            #[inline(always)]
            fn floor_mod(self, by: Self) -> Self {
                match self.checked_rem(by) {
                    Some(rest) if rest != 0 && (rest < 0) != (by < 0) => rest + by,
                    Some(rest) => rest,
                    None => 0,
                }
            }
            #[inline(always)]
            fn power(self, exponent: Self) -> Self {
                if exponent >= 0 {
                    return raise(self as u64, exponent as u64) as Self;
                }
                match self {
                    1 => 1,
                    -1 => if exponent & 1 == 0 { 1 } else { -1 },
                    _ => 0,
                }
            }
        }
    )*};
}

macro_rules! unsigned {
    ($($T:ty)*) => {$(
        impl Whole for $T {
            #[inline(always)]
            fn magnitude(self) -> Self { self }
            #[inline(always)]
            fn floor_div(self, by: Self) -> Self { self.checked_div(by).unwrap_or(0) }
            #[inline(always)]
            fn floor_mod(self, by: Self) -> Self { self.checked_rem(by).unwrap_or(0) }
            #[inline(always)]
            fn power(self, exponent: Self) -> Self { raise(self as u64, exponent as u64) as Self }
        }
    )*};
}

signed!(i8 i16 i32 i64);
unsigned!(u8 u16 u32 u64);

/// The low bits of a power do not depend on the bits above them, so one width serves all.
#[inline(always)]
fn raise(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1_u64;
    while exponent != 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}

/// A number with a maximum and a minimum that propagate NaN.
pub(crate) trait Extreme: Copy + PartialOrd {
    /// The larger; the first NaN if there is one; the first of equals.
    fn larger(self, other: Self) -> Self;
    /// The smaller; the first NaN if there is one; the first of equals.
    fn smaller(self, other: Self) -> Self;
    /// Whether it is not even itself.
    fn is_nan(self) -> bool;
}

macro_rules! extreme {
    ($($T:ty)*) => {$(
        impl Extreme for $T {
            #[inline(always)]
            fn larger(self, other: Self) -> Self { if (self >= other) | (self != self) { self } else { other } }
            #[inline(always)]
            fn smaller(self, other: Self) -> Self { if (self <= other) | (self != self) { self } else { other } }
            #[inline(always)]
            fn is_nan(self) -> bool { self != self }
        }
    )*};
}

extreme!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

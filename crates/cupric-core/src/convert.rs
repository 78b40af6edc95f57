//! Native scalar conversions with NumPy's x86-64 results, free of branches so that loops over them vectorise.
//!
//! Float to integer follows the baseline instructions: 8 and 16 bits wrap the 32-bit conversion, 32 unsigned bits wrap
//! the 64-bit one, 64 unsigned bits subtract 2^63 first. NumPy's AVX-512 loops for long contiguous arrays give other
//! uint32 values for NaN and out-of-range input; its scalar loops, which are the same on every x86-64, are followed.
//! Half formats travel as their bit patterns.

const TWO_31: f64 = 2_147_483_648.0;
const TWO_63: f64 = 9_223_372_036_854_775_808.0;

// `as` saturates, which compilers do not vectorise on x86; the integer and rounding arithmetic below they do.

/// float64 to int32; NaN and out of range give `i32::MIN`.
#[inline(always)]
pub fn f64_to_i32(x: f64) -> i32 {
    // Adding 1.5 * 2^52 rounds to an integer, which then stands in the low bits.
    let shift = 6_755_399_441_055_744.0;
    let near = (x + shift) - shift;
    let excess = if near.abs() > x.abs() { 1.0_f64.copysign(x) } else { 0.0 };
    let integer = (near - excess + shift).to_bits() as i32;
    if x > -TWO_31 - 1.0 && x < TWO_31 { integer } else { i32::MIN }
}

/// float64 to int64; NaN and out of range give `i64::MIN`.
#[inline(always)]
pub fn f64_to_i64(x: f64) -> i64 {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i64 - 1023;
    let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
    let left = mantissa << ((exponent - 52) as u64 & 63);
    let right = mantissa >> ((52 - exponent).min(63) as u64 & 63);
    let magnitude = (if exponent >= 52 { left } else { right }) as i64;
    let sign = bits as i64 >> 63;
    if exponent >= 63 { i64::MIN } else { (magnitude ^ sign).wrapping_sub(sign) }
}

/// float64 to int8, wrapping [`f64_to_i32`].
#[inline(always)]
pub fn f64_to_i8(x: f64) -> i8 {
    f64_to_i32(x) as i8
}

/// float64 to int16, wrapping [`f64_to_i32`].
#[inline(always)]
pub fn f64_to_i16(x: f64) -> i16 {
    f64_to_i32(x) as i16
}

/// float64 to uint8, wrapping [`f64_to_i32`].
#[inline(always)]
pub fn f64_to_u8(x: f64) -> u8 {
    f64_to_i32(x) as u8
}

/// float64 to uint16, wrapping [`f64_to_i32`].
#[inline(always)]
pub fn f64_to_u16(x: f64) -> u16 {
    f64_to_i32(x) as u16
}

/// float64 to uint32, wrapping [`f64_to_i64`].
#[inline(always)]
pub fn f64_to_u32(x: f64) -> u32 {
    f64_to_i64(x) as u32
}

/// float64 to uint64: from 2^63 on, what is left after subtracting it.
#[inline(always)]
pub fn f64_to_u64(x: f64) -> u64 {
    let high = x >= TWO_63;
    let low = if high { x - TWO_63 } else { x };
    f64_to_i64(low) as u64 ^ (u64::from(high) << 63)
}

/// float32 to int32; NaN and out of range give `i32::MIN`.
#[inline(always)]
pub fn f32_to_i32(x: f32) -> i32 {
    let bits = x.to_bits();
    let exponent = ((bits >> 23) & 0xff) as i32 - 127;
    let mantissa = (bits & 0x007f_ffff) | 0x0080_0000;
    let left = mantissa << ((exponent - 23).clamp(0, 31) as u32);
    let right = mantissa >> ((23 - exponent).clamp(0, 31) as u32);
    let magnitude = (if exponent >= 23 { left } else { right }) as i32;
    let sign = bits as i32 >> 31;
    if exponent >= 31 { i32::MIN } else { (magnitude ^ sign).wrapping_sub(sign) }
}

/// float32 to int64; NaN and out of range give `i64::MIN`.
#[inline(always)]
pub fn f32_to_i64(x: f32) -> i64 {
    f64_to_i64(f64::from(x))
}

/// float32 to int8, wrapping [`f32_to_i32`].
#[inline(always)]
pub fn f32_to_i8(x: f32) -> i8 {
    f32_to_i32(x) as i8
}

/// float32 to int16, wrapping [`f32_to_i32`].
#[inline(always)]
pub fn f32_to_i16(x: f32) -> i16 {
    f32_to_i32(x) as i16
}

/// float32 to uint8, wrapping [`f32_to_i32`].
#[inline(always)]
pub fn f32_to_u8(x: f32) -> u8 {
    f32_to_i32(x) as u8
}

/// float32 to uint16, wrapping [`f32_to_i32`].
#[inline(always)]
pub fn f32_to_u16(x: f32) -> u16 {
    f32_to_i32(x) as u16
}

/// float32 to uint32, wrapping [`f32_to_i64`].
#[inline(always)]
pub fn f32_to_u32(x: f32) -> u32 {
    f32_to_i64(x) as u32
}

/// float32 to uint64: from 2^63 on, what is left after subtracting it.
#[inline(always)]
pub fn f32_to_u64(x: f32) -> u64 {
    f64_to_u64(f64::from(x))
}

/// float32 to float16, to nearest even; a NaN keeps the top of its payload and stays a NaN.
#[inline(always)]
pub fn f32_to_f16(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let abs = bits & 0x7fff_ffff;
    let rounded = abs.wrapping_add(0xfff + ((abs >> 13) & 1)).wrapping_sub(112 << 23) >> 13;
    let normal = rounded.min(0x7c00);
    // The last place of 0.5 is the smallest float16, so the addition rounds as float16 does there.
    let subnormal = (f32::from_bits(abs) + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
    let nan = 0x7c00 | ((abs >> 13) & 0x3ff).max(1);
    let finite = if abs < 113 << 23 { subnormal } else { normal };
    let magnitude = if abs > 0x7f80_0000 { nan } else { finite };
    (sign | magnitude) as u16
}

/// float64 to float16, rounded once, to nearest even; a NaN keeps the top of its payload and stays a NaN.
#[inline(always)]
pub fn f64_to_f16(x: f64) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 48) & 0x8000;
    let abs = bits & (u64::MAX >> 1);
    let rounded = abs.wrapping_add((1 << 41) - 1 + ((abs >> 42) & 1)).wrapping_sub(1008 << 52) >> 42;
    let normal = rounded.min(0x7c00);
    // The last place of 2^28 is the smallest float16.
    let unit = 268_435_456.0_f64;
    let subnormal = (f64::from_bits(abs) + unit).to_bits().wrapping_sub(unit.to_bits());
    let nan = 0x7c00 | ((abs >> 42) & 0x3ff).max(1);
    let finite = if abs < 1009 << 52 { subnormal } else { normal };
    let magnitude = if abs > 0x7ff << 52 { nan } else { finite };
    (sign | magnitude) as u16
}

/// float32 to bfloat16, to nearest even; every NaN becomes the quiet one of its sign.
#[inline(always)]
pub fn f32_to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    let nan = ((bits >> 16) & 0x8000) | 0x7fc0;
    (if x.is_nan() { nan } else { rounded }) as u16
}

/// float64 to bfloat16, rounded once, to nearest even; every NaN becomes the quiet one of its sign.
#[inline(always)]
pub fn f64_to_bf16(x: f64) -> u16 {
    // Rounding to odd on the way keeps what the second rounding has to know.
    let near = x as f32;
    let back = f64::from(near);
    let bits = near.to_bits();
    let toward = if back.abs() < x.abs() { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    let odd = if back == x || bits & 1 == 1 || x.is_nan() { bits } else { toward };
    f32_to_bf16(f32::from_bits(odd))
}

/// float16 to float32, exact; a NaN keeps its payload.
#[inline(always)]
pub fn f16_to_f32(h: u16) -> f32 {
    let sign = u32::from(h & 0x8000) << 16;
    let shifted = u32::from(h & 0x7fff) << 13;
    let base = f32::from_bits(113 << 23);
    let subnormal = (f32::from_bits((113 << 23) + shifted) - base).to_bits();
    let finite = if shifted < 1 << 23 { subnormal } else { shifted + (112 << 23) };
    let magnitude = if shifted >= 0x1f << 23 { shifted + (224 << 23) } else { finite };
    f32::from_bits(sign | magnitude)
}

/// float16 to float64, exact; a NaN keeps its payload.
#[inline(always)]
pub fn f16_to_f64(h: u16) -> f64 {
    let sign = u64::from(h & 0x8000) << 48;
    let shifted = u64::from(h & 0x7fff) << 42;
    let base = f64::from_bits(1009 << 52);
    let subnormal = (f64::from_bits((1009 << 52) + shifted) - base).to_bits();
    let finite = if shifted < 1 << 52 { subnormal } else { shifted + (1008 << 52) };
    let magnitude = if shifted >= 0x1f << 52 { shifted + (2016 << 52) } else { finite };
    f64::from_bits(sign | magnitude)
}

/// bfloat16 to float32, exact.
#[inline(always)]
pub fn bf16_to_f32(b: u16) -> f32 {
    f32::from_bits(u32::from(b) << 16)
}

/// bfloat16 to float64, exact; a NaN becomes quiet.
#[inline(always)]
pub fn bf16_to_f64(b: u16) -> f64 {
    f64::from(bf16_to_f32(b))
}

/// bfloat16 to float16; every NaN becomes the quiet one of its sign.
#[inline(always)]
pub fn bf16_to_f16(b: u16) -> u16 {
    let nan = (b & 0x8000) | 0x7e00;
    if b & 0x7fff > 0x7f80 { nan } else { f32_to_f16(bf16_to_f32(b)) }
}

/// float16 to bfloat16; every NaN becomes the quiet one of its sign.
#[inline(always)]
pub fn f16_to_bf16(h: u16) -> u16 {
    f32_to_bf16(f16_to_f32(h))
}

/// uint64 to bfloat16, rounded once.
#[inline(always)]
pub fn u64_to_bf16(x: u64) -> u16 {
    // Past 53 bits, what float64 would round away is kept as one sticky bit.
    let sticky = ((x >> 11) | u64::from(x & 0x7ff != 0)) << 11;
    f64_to_bf16((if x >> 53 == 0 { x } else { sticky }) as f64)
}

/// int64 to bfloat16, rounded once.
#[inline(always)]
pub fn i64_to_bf16(x: i64) -> u16 {
    u64_to_bf16(x.unsigned_abs()) | if x < 0 { 0x8000 } else { 0 }
}

//! Conversion of one element between dtypes, in bit patterns.

use crate::convert;
use crate::dtype::DType;
use crate::scalar::Bits;

/// One real number in the width its dtype computes with.
#[derive(Clone, Copy)]
enum Number {
    Signed(i64),
    Unsigned(u64),
    Half(u16),
    Brain(u16),
    Single(f32),
    Double(f64),
}

/// NumPy's unsafe cast of one element. A complex number becomes real by dropping its imaginary part, and true when
/// either part is not zero.
pub fn cast_bits(from: DType, to: DType, bits: Bits) -> Bits {
    if from == to {
        return bits;
    }
    let (source, target) = (from.component(), to.component());
    let real = read(source, bits.0[0]);
    let imaginary = read(source, bits.0[1]);
    match (from.is_complex(), to) {
        (true, DType::Bool) => Bits([u64::from(real.is_nonzero() || imaginary.is_nonzero()), 0]),
        (true, DType::Complex64 | DType::Complex128) => Bits([real.write(target), imaginary.write(target)]),
        _ => Bits([real.write(target), 0]),
    }
}

fn read(component: DType, bits: u64) -> Number {
    match component {
        DType::Bool => Number::Unsigned(u64::from(bits != 0)),
        DType::Int8 => Number::Signed(i64::from(bits as i8)),
        DType::Int16 => Number::Signed(i64::from(bits as i16)),
        DType::Int32 => Number::Signed(i64::from(bits as i32)),
        DType::Int64 => Number::Signed(bits as i64),
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => Number::Unsigned(bits),
        DType::Float16 => Number::Half(bits as u16),
        DType::BFloat16 => Number::Brain(bits as u16),
        DType::Float32 | DType::Complex64 => Number::Single(f32::from_bits(bits as u32)),
        DType::Float64 | DType::Complex128 => Number::Double(f64::from_bits(bits)),
    }
}

impl Number {
    fn write(self, component: DType) -> u64 {
        match component {
            DType::Bool => u64::from(self.is_nonzero()),
            DType::Float16 => u64::from(self.to_f16()),
            DType::BFloat16 => u64::from(self.to_bf16()),
            DType::Float32 | DType::Complex64 => u64::from(self.to_f32().to_bits()),
            DType::Float64 | DType::Complex128 => self.to_f64().to_bits(),
            _ => self.to_integer(component),
        }
    }

    fn is_nonzero(self) -> bool {
        match self {
            Self::Signed(x) => x != 0,
            Self::Unsigned(x) => x != 0,
            Self::Half(x) | Self::Brain(x) => x & 0x7fff != 0,
            Self::Single(x) => x != 0.0,
            Self::Double(x) => x != 0.0,
        }
    }

    fn to_f16(self) -> u16 {
        match self {
            // Whatever float64 rounds away lies far beyond float16's range.
            Self::Signed(x) => convert::f64_to_f16(x as f64),
            Self::Unsigned(x) => convert::f64_to_f16(x as f64),
            Self::Half(x) => x,
            Self::Brain(x) => convert::bf16_to_f16(x),
            Self::Single(x) => convert::f32_to_f16(x),
            Self::Double(x) => convert::f64_to_f16(x),
        }
    }

    fn to_bf16(self) -> u16 {
        match self {
            Self::Signed(x) => convert::i64_to_bf16(x),
            Self::Unsigned(x) => convert::u64_to_bf16(x),
            Self::Half(x) => convert::f16_to_bf16(x),
            Self::Brain(x) => x,
            Self::Single(x) => convert::f32_to_bf16(x),
            Self::Double(x) => convert::f64_to_bf16(x),
        }
    }

    fn to_f32(self) -> f32 {
        match self {
            Self::Signed(x) => x as f32,
            Self::Unsigned(x) => x as f32,
            Self::Half(x) => convert::f16_to_f32(x),
            Self::Brain(x) => convert::bf16_to_f32(x),
            Self::Single(x) => x,
            Self::Double(x) => x as f32,
        }
    }

    fn to_f64(self) -> f64 {
        match self {
            Self::Signed(x) => x as f64,
            Self::Unsigned(x) => x as f64,
            Self::Half(x) => convert::f16_to_f64(x),
            Self::Brain(x) => convert::bf16_to_f64(x),
            Self::Single(x) => f64::from(x),
            Self::Double(x) => x,
        }
    }

    fn to_integer(self, dtype: DType) -> u64 {
        match self {
            Self::Signed(x) => truncate(dtype, x as u64),
            Self::Unsigned(x) => truncate(dtype, x),
            Self::Half(_) | Self::Brain(_) | Self::Single(_) => integer_from_f32(dtype, self.to_f32()),
            Self::Double(x) => integer_from_f64(dtype, x),
        }
    }
}

/// Keeps the low bits that an integer dtype has.
pub(crate) fn truncate(dtype: DType, bits: u64) -> u64 {
    bits & (u64::MAX >> (64 - 8 * dtype.size()))
}

fn integer_from_f32(dtype: DType, x: f32) -> u64 {
    match dtype {
        DType::UInt64 => convert::f32_to_u64(x),
        DType::Int64 | DType::UInt32 => truncate(dtype, convert::f32_to_i64(x) as u64),
        _ => truncate(dtype, convert::f32_to_i32(x) as u64),
    }
}

fn integer_from_f64(dtype: DType, x: f64) -> u64 {
    match dtype {
        DType::UInt64 => convert::f64_to_u64(x),
        DType::Int64 | DType::UInt32 => truncate(dtype, convert::f64_to_i64(x) as u64),
        _ => truncate(dtype, convert::f64_to_i32(x) as u64),
    }
}

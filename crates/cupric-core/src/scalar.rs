//! Host values and the bit patterns of elements.

use smallvec::SmallVec;

use crate::cast::{cast_bits, truncate};
use crate::convert;
use crate::dtype::{DType, Kind};
use crate::error::{Error, Result};
use crate::promote::{Typed, Weak};

/// A number on the host.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A real number.
    Float(f64),
    /// Real and imaginary parts.
    Complex(f64, f64),
}

/// The bit patterns of an element's real and imaginary components, each zero-extended from the component's width.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Bits(pub [u64; 2]);

impl Scalar {
    /// How the value takes part in promotion: as the Python number it came from.
    pub const fn typed(self) -> Typed {
        match self {
            Self::Bool(_) => Typed::Strong(DType::Bool),
            Self::Int(_) => Typed::Weak(Weak::Int),
            Self::Float(_) => Typed::Weak(Weak::Float),
            Self::Complex(..) => Typed::Weak(Weak::Complex),
        }
    }

    /// NumPy's unsafe cast: integers wrap, an imaginary part is dropped.
    pub fn to_bits(self, dtype: DType) -> Bits {
        match self {
            Self::Bool(x) => cast_bits(DType::Bool, dtype, Bits([u64::from(x), 0])),
            Self::Int(x) => integer_to_bits(x, dtype),
            Self::Float(x) => cast_bits(DType::Float64, dtype, Bits([x.to_bits(), 0])),
            Self::Complex(re, im) => cast_bits(DType::Complex128, dtype, Bits([re.to_bits(), im.to_bits()])),
        }
    }

    /// NumPy's conversion of a Python number that is assigned to an element.
    /// # Errors
    /// An integer out of bounds, NaN or infinity into an integer, a complex number into a real dtype.
    pub fn to_bits_checked(self, dtype: DType) -> Result<Bits> {
        if dtype == DType::Bool {
            return Ok(self.to_bits(dtype));
        }
        match (self, dtype.kind()) {
            (Self::Int(x), Kind::Signed | Kind::Unsigned) => bounded(x, dtype),
            // Python turns the integer into a float64 first.
            (Self::Int(x), _) => Ok(Self::Float(x as f64).to_bits(dtype)),
            (Self::Float(x), Kind::Signed | Kind::Unsigned) => bounded(float_to_integer(x)?, dtype),
            (Self::Complex(..), Kind::Signed | Kind::Unsigned) => Err(Error::Type(
                "int() argument must be a string, a bytes-like object or a real number, not 'complex'".to_owned(),
            )),
            (Self::Complex(..), Kind::Float) => {
                Err(Error::Type("float() argument must be a string or a real number, not 'complex'".to_owned()))
            }
            _ => Ok(self.to_bits(dtype)),
        }
    }

    /// The value of an element.
    pub fn from_bits(dtype: DType, bits: Bits) -> Self {
        let wide = |part: usize| match dtype.component() {
            DType::Float16 => convert::f16_to_f64(bits.0[part] as u16),
            DType::BFloat16 => convert::bf16_to_f64(bits.0[part] as u16),
            DType::Float32 => f64::from(f32::from_bits(bits.0[part] as u32)),
            _ => f64::from_bits(bits.0[part]),
        };
        match dtype.kind() {
            Kind::Bool => Self::Bool(bits.0[0] != 0),
            Kind::Signed => Self::Int(i128::from(cast_bits(dtype, DType::Int64, bits).0[0] as i64)),
            Kind::Unsigned => Self::Int(i128::from(bits.0[0])),
            Kind::Float => Self::Float(wide(0)),
            Kind::Complex => Self::Complex(wide(0), wide(1)),
        }
    }
}

fn integer_to_bits(x: i128, dtype: DType) -> Bits {
    if let Ok(x) = i64::try_from(x) {
        return cast_bits(DType::Int64, dtype, Bits([x as u64, 0]));
    }
    if let Ok(x) = u64::try_from(x) {
        return cast_bits(DType::UInt64, dtype, Bits([x, 0]));
    }
    if dtype.is_integer() {
        return Bits([truncate(dtype, x as u64), 0]);
    }
    Scalar::Float(x as f64).to_bits(dtype)
}

fn bounded(x: i128, dtype: DType) -> Result<Bits> {
    let bits = Bits([truncate(dtype, x as u64), 0]);
    if Scalar::from_bits(dtype, bits) == Scalar::Int(x) {
        return Ok(bits);
    }
    match i64::try_from(x) {
        Ok(_) => Err(Error::IntegerOutOfBounds { value: x, dtype }),
        Err(_) => Err(Error::Overflow("Python int too large to convert to C long".to_owned())),
    }
}

fn float_to_integer(x: f64) -> Result<i128> {
    if x.is_nan() {
        return Err(Error::Value("cannot convert float NaN to integer".to_owned()));
    }
    if x.is_infinite() {
        return Err(Error::Overflow("cannot convert float infinity to integer".to_owned()));
    }
    Ok(x as i128)
}

impl Bits {
    /// The element's bytes in memory, little-endian.
    pub fn to_bytes(self, dtype: DType) -> SmallVec<[u8; 16]> {
        let width = dtype.component().size();
        let mut bytes = SmallVec::from_slice(&self.0[0].to_le_bytes()[..width]);
        if dtype.is_complex() {
            bytes.extend_from_slice(&self.0[1].to_le_bytes()[..width]);
        }
        bytes
    }

    /// The element that begins at the front of `bytes`.
    /// # Panics
    /// When there are fewer bytes than the dtype has.
    pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Self {
        let width = dtype.component().size();
        let mut result = Self::default();
        for (word, part) in result.0.iter_mut().zip(bytes[..dtype.size()].chunks(width)) {
            let mut wide = [0; 8];
            wide[..width].copy_from_slice(part);
            *word = u64::from_le_bytes(wide);
        }
        result
    }
}

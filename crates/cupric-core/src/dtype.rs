//! Element types.

use std::fmt;

/// The type of an array's elements.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DType {
    /// One byte, true when not zero.
    Bool,
    /// 8-bit signed integer.
    Int8,
    /// 16-bit signed integer.
    Int16,
    /// 32-bit signed integer.
    Int32,
    /// 64-bit signed integer.
    Int64,
    /// 8-bit unsigned integer.
    UInt8,
    /// 16-bit unsigned integer.
    UInt16,
    /// 32-bit unsigned integer.
    UInt32,
    /// 64-bit unsigned integer.
    UInt64,
    /// IEEE 754 half precision.
    Float16,
    /// The upper half of a float32.
    BFloat16,
    /// IEEE 754 single precision.
    Float32,
    /// IEEE 754 double precision.
    Float64,
    /// Two float32: real, imaginary.
    Complex64,
    /// Two float64: real, imaginary.
    Complex128,
}

/// The family a dtype belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Truth values.
    Bool,
    /// Signed integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Real floating point.
    Float,
    /// Complex floating point.
    Complex,
}

use DType::{
    BFloat16, Bool, Complex64, Complex128, Float16, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32,
    UInt64,
};

impl DType {
    /// Every dtype, in declaration order.
    pub const ALL: [Self; 15] = [
        Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, BFloat16, Float32, Float64, Complex64,
        Complex128,
    ];

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            Bool | Int8 | UInt8 => 1,
            Int16 | UInt16 | Float16 | BFloat16 => 2,
            Int32 | UInt32 | Float32 => 4,
            Int64 | UInt64 | Float64 | Complex64 => 8,
            Complex128 => 16,
        }
    }

    /// NumPy's name.
    pub const fn name(self) -> &'static str {
        match self {
            Bool => "bool",
            Int8 => "int8",
            Int16 => "int16",
            Int32 => "int32",
            Int64 => "int64",
            UInt8 => "uint8",
            UInt16 => "uint16",
            UInt32 => "uint32",
            UInt64 => "uint64",
            Float16 => "float16",
            BFloat16 => "bfloat16",
            Float32 => "float32",
            Float64 => "float64",
            Complex64 => "complex64",
            Complex128 => "complex128",
        }
    }

    /// The family.
    pub const fn kind(self) -> Kind {
        match self {
            Bool => Kind::Bool,
            Int8 | Int16 | Int32 | Int64 => Kind::Signed,
            UInt8 | UInt16 | UInt32 | UInt64 => Kind::Unsigned,
            Float16 | BFloat16 | Float32 | Float64 => Kind::Float,
            Complex64 | Complex128 => Kind::Complex,
        }
    }

    /// Whether elements have an imaginary part.
    pub const fn is_complex(self) -> bool {
        matches!(self.kind(), Kind::Complex)
    }

    /// Whether elements are real floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// Whether elements are signed or unsigned integers; bool is not one.
    pub const fn is_integer(self) -> bool {
        matches!(self.kind(), Kind::Signed | Kind::Unsigned)
    }

    /// Whether elements are real or complex floating-point numbers.
    pub const fn is_inexact(self) -> bool {
        matches!(self.kind(), Kind::Float | Kind::Complex)
    }

    /// The dtype of the real part: float32 for complex64, float64 for complex128, others themselves.
    pub const fn component(self) -> Self {
        match self {
            Complex64 => Float32,
            Complex128 => Float64,
            other => other,
        }
    }

    /// The complex dtype that holds this one with NumPy's promotion.
    pub const fn to_complex(self) -> Self {
        match self {
            Bool | Int8 | Int16 | UInt8 | UInt16 | Float16 | BFloat16 | Float32 | Complex64 => Complex64,
            Int32 | Int64 | UInt32 | UInt64 | Float64 | Complex128 => Complex128,
        }
    }

    /// Reads what `numpy.dtype` takes as text on x86-64 Linux, and "bfloat16"; `None` for what Cupric has no dtype for.
    pub fn from_name(name: &str) -> Option<Self> {
        match name.as_bytes() {
            [b'<' | b'=' | b'|', ..] => from_code(&name[1..]),
            [b'>', ..] => from_code(&name[1..]).filter(|dtype| dtype.size() == 1),
            _ => from_code(name).or_else(|| from_word(name)),
        }
    }
}

/// One-letter and sized codes, which may follow a byte order.
fn from_code(code: &str) -> Option<DType> {
    Some(match code {
        "?" | "b1" => Bool,
        "b" | "i1" => Int8,
        "h" | "i2" => Int16,
        "i" | "i4" => Int32,
        "l" | "q" | "p" | "n" | "i8" => Int64,
        "B" | "u1" => UInt8,
        "H" | "u2" => UInt16,
        "I" | "u4" => UInt32,
        "L" | "Q" | "P" | "N" | "u8" => UInt64,
        "e" | "f2" => Float16,
        "f" | "f4" => Float32,
        "d" | "f8" => Float64,
        "F" | "c8" => Complex64,
        "D" | "c16" => Complex128,
        _ => return None,
    })
}

fn from_word(word: &str) -> Option<DType> {
    Some(match word {
        "bool_" => Bool,
        "byte" => Int8,
        "short" => Int16,
        "intc" => Int32,
        "int" | "int_" | "long" | "longlong" | "intp" => Int64,
        "ubyte" => UInt8,
        "ushort" => UInt16,
        "uintc" => UInt32,
        "uint" | "ulong" | "ulonglong" | "uintp" => UInt64,
        "half" => Float16,
        "single" => Float32,
        "float" | "double" => Float64,
        "csingle" => Complex64,
        "complex" | "cdouble" => Complex128,
        _ => return DType::ALL.into_iter().find(|dtype| dtype.name() == word),
    })
}

impl fmt::Display for DType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

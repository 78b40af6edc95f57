//! The types of registers: what a value has while it is being computed.

use cupric_core::DType;

/// The type of one register.
///
/// Half-precision elements are computed in `F32` and rounded at the end of each row; complex elements are two registers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Ty {
    /// Truth value.
    Bool,
    /// Signed 8-bit integer.
    I8,
    /// Signed 16-bit integer.
    I16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 8-bit integer.
    U8,
    /// Unsigned 16-bit integer.
    U16,
    /// Unsigned 32-bit integer.
    U32,
    /// Unsigned 64-bit integer.
    U64,
    /// IEEE 754 single precision.
    F32,
    /// IEEE 754 double precision.
    F64,
}

impl Ty {
    /// The register type in which (a component of) an element of `dtype` is computed.
    #[must_use]
    pub const fn of(dtype: DType) -> Ty {
        match dtype {
            DType::Bool => Ty::Bool,
            DType::Int8 => Ty::I8,
            DType::Int16 => Ty::I16,
            DType::Int32 => Ty::I32,
            DType::Int64 => Ty::I64,
            DType::UInt8 => Ty::U8,
            DType::UInt16 => Ty::U16,
            DType::UInt32 => Ty::U32,
            DType::UInt64 => Ty::U64,
            DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Complex64 => Ty::F32,
            DType::Float64 | DType::Complex128 => Ty::F64,
        }
    }

    /// Bytes of a register of this type.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Ty::Bool | Ty::I8 | Ty::U8 => 1,
            Ty::I16 | Ty::U16 => 2,
            Ty::I32 | Ty::U32 | Ty::F32 => 4,
            Ty::I64 | Ty::U64 | Ty::F64 => 8,
        }
    }

    /// Whether this is a floating-point type.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }

    /// Whether this is a signed integer type.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64)
    }

    /// Whether this is an integer type, signed or not.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        !self.is_float() && !matches!(self, Ty::Bool)
    }

    /// The dtype whose elements are stored exactly as this register.
    #[must_use]
    pub const fn dtype(self) -> DType {
        match self {
            Ty::Bool => DType::Bool,
            Ty::I8 => DType::Int8,
            Ty::I16 => DType::Int16,
            Ty::I32 => DType::Int32,
            Ty::I64 => DType::Int64,
            Ty::U8 => DType::UInt8,
            Ty::U16 => DType::UInt16,
            Ty::U32 => DType::UInt32,
            Ty::U64 => DType::UInt64,
            Ty::F32 => DType::Float32,
            Ty::F64 => DType::Float64,
        }
    }
}

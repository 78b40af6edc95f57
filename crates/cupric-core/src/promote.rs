//! Promotion (NEP 50) and casting rules.

use std::fmt;

use crate::dtype::{DType, Kind};
use crate::error::{Error, Result};

/// A Python number without a width of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Weak {
    /// Python `int`.
    Int,
    /// Python `float`.
    Float,
    /// Python `complex`.
    Complex,
}

/// What takes part in promotion. Python's `bool` is `Strong(Bool)`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Typed {
    /// An array or a NumPy scalar.
    Strong(DType),
    /// A Python number.
    Weak(Weak),
}

/// Which conversions an operation may make.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Casting {
    /// None.
    No,
    /// Only of byte order, which here is none.
    Equiv,
    /// Those that keep every value.
    Safe,
    /// Safe ones and those within a kind.
    SameKind,
    /// Any.
    Unsafe,
}

impl Casting {
    /// Reads NumPy's name.
    /// # Errors
    /// For any other text.
    pub fn from_name(name: &str) -> Result<Self> {
        Ok(match name {
            "no" => Self::No,
            "equiv" => Self::Equiv,
            "safe" => Self::Safe,
            "same_kind" => Self::SameKind,
            "unsafe" => Self::Unsafe,
            _ => return Err(Error::UnknownCasting { given: name.to_owned() }),
        })
    }

    /// NumPy's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Equiv => "equiv",
            Self::Safe => "safe",
            Self::SameKind => "same_kind",
            Self::Unsafe => "unsafe",
        }
    }
}

impl fmt::Display for Casting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The smallest dtype that both convert to safely. bfloat16 acts as float16 does; the two together give float32.
pub const fn promote(a: DType, b: DType) -> DType {
    if a as u8 == b as u8 {
        return a;
    }
    match (a.kind(), b.kind()) {
        (Kind::Bool, _) => b,
        (_, Kind::Bool) => a,
        (Kind::Complex, _) | (_, Kind::Complex) => wider(a.to_complex(), b.to_complex()),
        (Kind::Float, Kind::Float) => promote_floats(a, b),
        (Kind::Float, _) => promote_float_integer(a, b),
        (_, Kind::Float) => promote_float_integer(b, a),
        (Kind::Signed, Kind::Unsigned) => promote_mixed(a, b),
        (Kind::Unsigned, Kind::Signed) => promote_mixed(b, a),
        (Kind::Signed, Kind::Signed) | (Kind::Unsigned, Kind::Unsigned) => wider(a, b),
    }
}

const fn wider(a: DType, b: DType) -> DType {
    if a.size() >= b.size() { a } else { b }
}

const fn promote_floats(a: DType, b: DType) -> DType {
    // Neither half format holds the other.
    if a.size() == 2 && b.size() == 2 { DType::Float32 } else { wider(a, b) }
}

const fn promote_float_integer(float: DType, integer: DType) -> DType {
    match integer.size() {
        1 => float,
        2 => wider(float, DType::Float32),
        _ => DType::Float64,
    }
}

const fn promote_mixed(signed: DType, unsigned: DType) -> DType {
    let needed = match unsigned.size() {
        1 => DType::Int16,
        2 => DType::Int32,
        4 => DType::Int64,
        _ => return DType::Float64,
    };
    wider(signed, needed)
}

/// The dtype of an operation on all of `inputs`: NEP 50. Of nothing it is float64.
pub fn result_type(inputs: &[Typed]) -> DType {
    let mut strong: Option<DType> = None;
    let mut weak: Option<Weak> = None;
    for &input in inputs {
        match input {
            Typed::Strong(dtype) => strong = Some(strong.map_or(dtype, |other| promote(other, dtype))),
            Typed::Weak(kind) => weak = weak.max(Some(kind)),
        }
    }
    match (strong, weak) {
        (Some(dtype), None) => dtype,
        (Some(dtype), Some(kind)) => promote_weak(dtype, kind),
        (None, Some(Weak::Int)) => DType::Int64,
        (None, Some(Weak::Complex)) => DType::Complex128,
        (None, Some(Weak::Float) | None) => DType::Float64,
    }
}

fn promote_weak(dtype: DType, weak: Weak) -> DType {
    match (weak, dtype.kind()) {
        (Weak::Int, Kind::Bool) => DType::Int64,
        (Weak::Float, Kind::Bool | Kind::Signed | Kind::Unsigned) => DType::Float64,
        (Weak::Complex, Kind::Bool | Kind::Signed | Kind::Unsigned) => DType::Complex128,
        (Weak::Complex, Kind::Float) => dtype.to_complex(),
        _ => dtype,
    }
}

/// Whether `from` may become `to` under a casting rule.
pub fn can_cast(from: DType, to: DType, casting: Casting) -> bool {
    match casting {
        Casting::No | Casting::Equiv => from == to,
        Casting::Safe => promote(from, to) == to,
        Casting::SameKind => promote(from, to) == to || rank(from) <= rank(to),
        Casting::Unsafe => true,
    }
}

const fn rank(dtype: DType) -> u8 {
    match dtype.kind() {
        Kind::Bool => 0,
        Kind::Unsigned => 1,
        Kind::Signed => 2,
        Kind::Float => 3,
        Kind::Complex => 4,
    }
}

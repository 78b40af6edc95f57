//! Unsigned integers in the order of the elements that they stand for.

use cupric_core::DType;

/// How the bits of an element are to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Truth,
    Unsigned,
    Signed,
    /// Floating point, with the bits of infinity.
    Float(u64),
}

impl Form {
    pub(crate) const fn of(dtype: DType) -> Form {
        match dtype {
            DType::Bool => Form::Truth,
            DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => Form::Unsigned,
            DType::Float16 => Form::Float(0x7c00),
            DType::BFloat16 => Form::Float(0x7f80),
            DType::Float32 | DType::Complex64 => Form::Float(0x7f80_0000),
            DType::Float64 | DType::Complex128 => Form::Float(0x7ff0_0000_0000_0000),
            _ => Form::Signed,
        }
    }

    pub(crate) const fn is_float(self) -> bool {
        matches!(self, Form::Float(_))
    }
}

/// The bits of an element, and keys made of them.
pub(crate) trait Key: Copy + Ord + Default + From<u8> + Send + Sync + 'static {
    /// The key of every NaN, after all others.
    const LAST: Self;

    /// The key of an element: equal for zeros of both signs, and for all NaN.
    fn key(self, form: Form) -> Self;
    /// The element with this key; zero without a sign.
    fn bits(self, form: Form) -> Self;
    /// Whether these are the bits of a negative zero.
    fn is_negative_zero(self) -> bool;
    /// The eight bits from `shift` on.
    fn digit(self, shift: u32) -> u8;
    /// The same number, with 64 bits.
    fn wide(self) -> u64;
    /// The bits that are set in either.
    fn or(self, other: Self) -> Self;
    /// The bits that are set in one of both.
    fn xor(self, other: Self) -> Self;
    /// Both in their order.
    fn ordered(self, other: Self) -> (Self, Self);
}

macro_rules! keys {
    ($($T:ty)*) => {$(
        impl Key for $T {
            const LAST: $T = <$T>::MAX;

            #[inline(always)]
            fn key(self, form: Form) -> $T {
                const SIGN: $T = 1 << (<$T>::BITS - 1);
                match form {
                    Form::Truth => <$T>::from(self != 0),
                    Form::Unsigned => self,
                    Form::Signed => self ^ SIGN,
                    Form::Float(_) if self == SIGN => SIGN,
                    Form::Float(infinity) if self & !SIGN > infinity as $T => Self::LAST,
                    Form::Float(_) => if self & SIGN != 0 { !self } else { self | SIGN },
                }
            }

            #[inline(always)]
            fn bits(self, form: Form) -> $T {
                const SIGN: $T = 1 << (<$T>::BITS - 1);
                match form {
                    Form::Truth | Form::Unsigned => self,
                    Form::Signed => self ^ SIGN,
                    Form::Float(_) => if self & SIGN != 0 { self ^ SIGN } else { !self },
                }
            }

            #[inline(always)]
            fn is_negative_zero(self) -> bool {
                self == 1 << (<$T>::BITS - 1)
            }

            #[inline(always)]
            fn digit(self, shift: u32) -> u8 {
                (self >> shift) as u8
            }

            #[inline(always)]
            fn wide(self) -> u64 {
                self.into()
            }

            #[inline(always)]
            fn or(self, other: $T) -> $T {
                self | other
            }

            #[inline(always)]
            fn xor(self, other: $T) -> $T {
                self ^ other
            }

            #[inline(always)]
            fn ordered(self, other: $T) -> ($T, $T) {
                (self.min(other), self.max(other))
            }
        }
    )*};
}

keys!(u8 u16 u32 u64);

/// The key of a complex element: numbers first, then those with a NaN imaginary part, a NaN real part, both; each in the
/// order of the parts that are numbers, the real one first.
pub(crate) fn complex_key<K: Key + ComplexPart>([real, imaginary]: [K; 2]) -> (u8, K, K) {
    let (re, im) = (real.key(K::FORM), imaginary.key(K::FORM));
    let nothing = K::default();
    match (re == K::LAST, im == K::LAST) {
        (false, false) => (0, re, im),
        (false, true) => (1, re, nothing),
        (true, false) => (2, im, nothing),
        (true, true) => (3, nothing, nothing),
    }
}

/// The bits of a part of a complex element.
pub(crate) trait ComplexPart {
    /// How they are to be read.
    const FORM: Form;
}

impl ComplexPart for u32 {
    const FORM: Form = Form::of(DType::Float32);
}

impl ComplexPart for u64 {
    const FORM: Form = Form::of(DType::Float64);
}

//! How the elements of an operand are reached along the innermost axis.

use crate::{bound::Bound, element::memory_type};
use cupric_core::DType;

/// How a thread takes its neighbouring elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Mode {
    /// All in accesses of up to 16 bytes.
    Vector,
    /// One by one, a step apart.
    Each,
    /// One by one and byte by byte: the addresses are not multiples of the element's size.
    Bytes,
    /// One for all.
    Once,
    /// One for all, byte by byte.
    OnceBytes,
}

/// The mode for `count` elements a thread; `strides` end with the innermost one.
pub(crate) fn mode(operand: &Bound, strides: &[isize], offset: usize, count: usize, reused: Reuse) -> Mode {
    let item = operand.item();
    let starts = |align: usize| (operand.address as usize).wrapping_add(offset).is_multiple_of(align);
    let steps = |strides: &[isize], align: usize| strides.iter().all(|stride| stride.unsigned_abs() % align == 0);
    let aligned = starts(item) && steps(strides, item);
    let (inner, outer) = strides.split_last().map_or((0, &[][..]), |(inner, outer)| (*inner, outer));
    let wide = (item * count).min(16);
    match (inner, reused) {
        (0, Reuse::Allowed) => {
            if aligned {
                Mode::Once
            } else {
                Mode::OnceBytes
            }
        }
        _ if !aligned => Mode::Bytes,
        _ if count > 1 && inner == item as isize && starts(wide) && steps(outer, wide) => Mode::Vector,
        _ => Mode::Each,
    }
}

/// Whether one element may stand for all that lie at the same address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reuse {
    Allowed,
    Forbidden,
}

impl Mode {
    /// How many elements are held.
    pub(crate) const fn held(self, count: usize) -> usize {
        match self {
            Mode::Once | Mode::OnceBytes => 1,
            _ => count,
        }
    }

    /// An expression that loads a pack from an address.
    pub(crate) fn load(self, dtype: DType, count: usize, at: &str, step: &str, present: &str) -> String {
        let ty = memory_type(dtype);
        match self {
            Mode::Vector => format!("load_vector<{ty}, {count}>({at}, {present})"),
            Mode::Each => format!("load_each<{ty}, {count}>({at}, {step}, {present})"),
            Mode::Bytes => format!("load_each_bytes<{ty}, {count}>({at}, {step}, {present})"),
            Mode::Once => format!("load_each<{ty}, 1>({at}, 0, 1)"),
            Mode::OnceBytes => format!("load_each_bytes<{ty}, 1>({at}, 0, 1)"),
        }
    }

    /// A statement that stores a pack to an address and those a step apart, or only what `keep` keeps of it.
    pub(crate) fn store(
        self,
        dtype: DType,
        count: usize,
        (at, step): (&str, &str),
        pack: &str,
        keep: Option<&str>,
        present: &str,
    ) -> String {
        let ty = memory_type(dtype);
        let step = if self == Mode::Vector { dtype.size().to_string() } else { step.to_owned() };
        let bytes = if matches!(self, Mode::Bytes | Mode::OnceBytes) { "_bytes" } else { "" };
        match (self, keep) {
            (_, Some(keep)) => {
                format!("store_each{bytes}_where<{ty}, {count}>({at}, {step}, {pack}, {keep}, {present});\n")
            }
            (Mode::Vector, None) => format!("store_vector<{ty}, {count}>({at}, {pack}, {present});\n"),
            (_, None) => format!("store_each{bytes}<{ty}, {count}>({at}, {step}, {pack}, {present});\n"),
        }
    }

    /// Loads one element.
    pub(crate) fn load_one(self, dtype: DType, at: &str) -> String {
        let bytes = if matches!(self, Mode::Bytes | Mode::OnceBytes) { "_bytes" } else { "" };
        format!("load{bytes}<{}>({at})", memory_type(dtype))
    }

    /// Stores one element.
    pub(crate) fn store_one(self, dtype: DType, at: &str, value: &str) -> String {
        let bytes = if matches!(self, Mode::Bytes | Mode::OnceBytes) { "_bytes" } else { "" };
        format!("store{bytes}<{}>({at}, {value});\n", memory_type(dtype))
    }
}

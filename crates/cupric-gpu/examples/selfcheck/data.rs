//! Random elements that include what goes wrong most easily, and layouts to put them in.

use cupric_core::{Bits, DType, Kind, Layout, Scalar, Strides};

/// A small generator: quick, and the same everywhere.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound
    }
}

/// The bytes of one element.
pub fn element(dtype: DType, bits: Bits) -> Vec<u8> {
    let size = dtype.component().size();
    let parts = if dtype.is_complex() { 2 } else { 1 };
    (0..parts).flat_map(|part| bits.0[part].to_le_bytes()[..size].to_vec()).collect()
}

/// Hostile elements: specials, limits, small numbers, any bits.
pub fn hostile(dtype: DType, count: usize, seed: u64) -> Vec<u8> {
    let mut numbers = Numbers::new(seed + 1);
    let mut component = || match dtype.kind() {
        Kind::Bool => numbers.below(2),
        Kind::Signed | Kind::Unsigned => match numbers.below(8) {
            0 => [0, 1, u64::MAX, 1 << 7, 1 << 15, 1 << 31, 1 << 63, i64::MAX as u64][numbers.below(8) as usize],
            1..=4 => numbers.below(23).wrapping_sub(11),
            _ => numbers.next(),
        },
        Kind::Float | Kind::Complex => match numbers.below(8) {
            0 => {
                let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.0, -1.0, 1e-310];
                float(dtype, special[numbers.below(8) as usize])
            }
            1..=5 => float(dtype, numbers.below(1 << 40) as f64 / (1_u64 << 36) as f64 - 8.0),
            _ => numbers.next(),
        },
    };
    let size = dtype.component().size();
    let parts = dtype.size() / size;
    (0..count * parts).flat_map(|_| component().to_le_bytes()[..size].to_vec()).collect()
}

fn float(dtype: DType, value: f64) -> u64 {
    Scalar::Float(value).to_bits(dtype.component()).0[0]
}

/// Small whole numbers, whose sums of products are exact in every dtype.
pub fn whole(dtype: DType, count: usize, seed: u64) -> Vec<u8> {
    let mut numbers = Numbers::new(seed + 1);
    let low = if dtype.kind() == Kind::Unsigned || dtype == DType::Bool { 0 } else { -2 };
    let most = if dtype == DType::Bool { 2 } else { 5 };
    (0..count).flat_map(|_| element(dtype, Scalar::Int(low + numbers.below(most) as i128).to_bits(dtype))).collect()
}

/// How elements lie in their storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    Packed,
    EveryOther,
    Backwards,
    Transposed,
    Repeated,
    Unaligned,
}

impl Lie {
    pub const ALL: [Lie; 6] =
        [Lie::Packed, Lie::EveryOther, Lie::Backwards, Lie::Transposed, Lie::Repeated, Lie::Unaligned];
}

/// A layout of a shape, and the bytes that its storage needs.
pub fn layout(shape: &[usize], item: usize, lie: Lie) -> (Layout, usize) {
    let packed = Layout::row_major(shape, item);
    let bytes = shape.iter().product::<usize>() * item;
    match lie {
        Lie::Packed => (packed, bytes),
        Lie::EveryOther => {
            let strides: Strides = packed.strides.iter().map(|stride| stride * 2).collect();
            (Layout { strides, ..packed }, bytes * 2)
        }
        Lie::Backwards => ((0..shape.len()).fold(packed, |layout, axis| layout.flip(axis)), bytes),
        Lie::Transposed => {
            let reversed: Vec<usize> = shape.iter().rev().copied().collect();
            (Layout::row_major(&reversed, item).reversed_axes(), bytes)
        }
        Lie::Repeated => {
            let mut strides = packed.strides.clone();
            strides[0] = 0;
            (Layout { strides, ..packed }, bytes)
        }
        Lie::Unaligned => (Layout { offset: 1, ..packed }, bytes + 1),
    }
}

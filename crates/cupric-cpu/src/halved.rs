//! Words of 64 bits whose products are made of halves, as vectors multiply them.

use cupric_math::Word64;

/// A word.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Halved(pub(crate) u64);

const HALF: u32 = 32;
const LOW: u64 = 0xffff_ffff;

impl Halved {
    /// The upper and the lower half of the product.
    #[inline(always)]
    fn product(self, other: Halved) -> (u64, u64) {
        let [a, b] = [self.0, other.0].map(|word| [word >> HALF, word & LOW]);
        let least = a[1] * b[1];
        let cross = a[0] * b[1] + (least >> HALF);
        let middle = a[1] * b[0] + (cross & LOW);
        (a[0] * b[0] + (cross >> HALF) + (middle >> HALF), middle << HALF | least & LOW)
    }
}

impl Word64 for Halved {
    type Mask = bool;
    type Real64 = f64;
    type Real32 = f32;
    #[inline(always)]
    fn literal(value: u64) -> Halved {
        Halved(value)
    }
    #[inline(always)]
    fn add(self, other: Halved) -> Halved {
        Halved(self.0.wrapping_add(other.0))
    }
    #[inline(always)]
    fn mul(self, other: Halved) -> Halved {
        Halved(self.product(other).1)
    }
    #[inline(always)]
    fn mul_high(self, other: Halved) -> Halved {
        Halved(self.product(other).0)
    }
    #[inline(always)]
    fn xor(self, other: Halved) -> Halved {
        Halved(self.0 ^ other.0)
    }
    #[inline(always)]
    fn and(self, other: Halved) -> Halved {
        Halved(self.0 & other.0)
    }
    #[inline(always)]
    fn or(self, other: Halved) -> Halved {
        Halved(self.0 | other.0)
    }
    #[inline(always)]
    fn shl(self, by: u32) -> Halved {
        Halved(self.0 << by)
    }
    #[inline(always)]
    fn shr(self, by: u32) -> Halved {
        Halved(self.0 >> by)
    }
    #[inline(always)]
    fn eq(self, other: Halved) -> bool {
        self.0 == other.0
    }
    #[inline(always)]
    fn lt(self, other: Halved) -> bool {
        self.0 < other.0
    }
    #[inline(always)]
    fn select(mask: bool, yes: Halved, no: Halved) -> Halved {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.0 as f64
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self.0 as f32
    }
}

#[cfg(test)]
mod tests {
    use super::Halved;
    use cupric_math::Word64;

    #[test]
    fn products_of_halves_are_products() {
        let words =
            [0, 1, 2, u64::MAX, u64::MAX - 1, 1 << 32, (1 << 32) - 1, 0xd2e7_470e_e14c_6c93, 0x8000_0000_0000_0000];
        for (a, b) in words.iter().flat_map(|&a| words.map(|b| (a, b))) {
            assert_eq!(Halved(a).mul(Halved(b)).0, Word64::mul(a, b));
            assert_eq!(Halved(a).mul_high(Halved(b)).0, Word64::mul_high(a, b));
        }
    }
}

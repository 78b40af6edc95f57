//! Two hashes of 128 bits: one of text that is the same in every process, one of structures that is quick.

use std::hash::{Hash, Hasher};

const SEEDS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];
const FACTORS: [u64; 2] = [0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db];

/// Names what a kernel's text depends on, within this process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct StructuralKey(pub u128);

/// A hasher of 128 bits, for integers on a machine of one kind.
pub(crate) struct Mixer([u64; 2]);

impl Mixer {
    pub(crate) const fn new() -> Mixer {
        Mixer(SEEDS)
    }

    fn word(&mut self, word: u64) {
        for (lane, factor) in self.0.iter_mut().zip(FACTORS) {
            let product = u128::from(*lane ^ word).wrapping_mul(u128::from(factor));
            *lane = (product as u64) ^ ((product >> 64) as u64).rotate_left(17) ^ word.wrapping_mul(SEEDS[0]);
        }
    }

    pub(crate) fn total(mut self) -> u128 {
        self.word(SEEDS[1]);
        self.word(SEEDS[0]);
        u128::from(self.0[0]) << 64 | u128::from(self.0[1])
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0[0]
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
        self.word(bytes.len() as u64);
    }

    fn write_u8(&mut self, value: u8) {
        self.word(u64::from(value));
    }

    fn write_u16(&mut self, value: u16) {
        self.word(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.word(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.word(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.word(value as u64);
    }
}

/// The key of a structure.
pub(crate) fn structure(parts: impl Hash) -> StructuralKey {
    let mut mixer = Mixer::new();
    parts.hash(&mut mixer);
    StructuralKey(mixer.total())
}

/// The hash of a text.
pub(crate) fn text(text: &str) -> u128 {
    let mut mixer = Mixer::new();
    mixer.write(text.as_bytes());
    mixer.total()
}

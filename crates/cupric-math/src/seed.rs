//! NumPy's way from a seed to a key, on the host.

const POOL: usize = 4;

/// Mixes entropy into a pool of 128 bits and spreads it again, as `numpy.random.SeedSequence` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedSequence {
    pool: [u32; POOL],
}

/// The running multiplier of the mixing steps.
struct Hasher {
    factor: u32,
    step: u32,
}

impl Hasher {
    fn hash(&mut self, value: u32) -> u32 {
        let value = value ^ self.factor;
        self.factor = self.factor.wrapping_mul(self.step);
        let value = value.wrapping_mul(self.factor);
        value ^ (value >> 16)
    }
}

fn mix(x: u32, y: u32) -> u32 {
    let value = x.wrapping_mul(0xca01_f9dd).wrapping_sub(y.wrapping_mul(0x4973_f715));
    value ^ (value >> 16)
}

impl SeedSequence {
    /// From entropy as 32-bit words, lowest first (an integer seed without its leading zero words, or a list of such), and a
    /// spawn key in the same form.
    pub fn new(entropy: &[u32], spawn_key: &[u32]) -> Self {
        let mut words = entropy.to_vec();
        if !spawn_key.is_empty() && words.len() < POOL {
            words.resize(POOL, 0);
        }
        words.extend_from_slice(spawn_key);
        Self { pool: Self::mixed(&words) }
    }

    /// From one integer.
    pub fn from_integer(seed: u128) -> Self {
        let words: Vec<u32> = (0..4).map(|i| (seed >> (32 * i)) as u32).collect();
        let used = words.iter().rposition(|&word| word != 0).map_or(1, |last| last + 1);
        Self::new(&words[..used], &[])
    }

    fn mixed(entropy: &[u32]) -> [u32; POOL] {
        let mut hasher = Hasher { factor: 0x43b0_d7e5, step: 0x931e_8875 };
        let mut pool = [0; POOL];
        for (i, slot) in pool.iter_mut().enumerate() {
            *slot = hasher.hash(entropy.get(i).copied().unwrap_or(0));
        }
        for from in 0..POOL {
            for to in (0..POOL).filter(|&to| to != from) {
                pool[to] = mix(pool[to], hasher.hash(pool[from]));
            }
        }
        for &word in entropy.iter().skip(POOL) {
            for slot in &mut pool {
                *slot = mix(*slot, hasher.hash(word));
            }
        }
        pool
    }

    /// The first 32-bit words of the state.
    pub fn generate_state(&self, count: usize) -> Vec<u32> {
        let mut hasher = Hasher { factor: 0x8b51_f9dd, step: 0x58f3_8ded };
        (0..count).map(|i| hasher.hash(self.pool[i % POOL])).collect()
    }

    /// The key of a Philox generator made from this.
    pub fn philox_key(&self) -> [u64; 2] {
        let words = self.generate_state(4);
        let pair = |i: usize| u64::from(words[i]) | u64::from(words[i + 1]) << 32;
        [pair(0), pair(2)]
    }
}

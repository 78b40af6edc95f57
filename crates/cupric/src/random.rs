//! Random numbers: one generator, Philox4x64-10, the same numbers on every device.

use crate::array::Array;
use cupric_core::{DType, Error, Result};
use cupric_ir::{Distribution, Op, Random, Step};
use cupric_math::seed::SeedSequence;

/// Half words in a block.
const BLOCK: u64 = 8;

/// A stream of random numbers.
///
/// Element `i` of a call depends on the key, the place in the stream and `i` only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Generator {
    key: [u64; 2],
    // The blocks that are used up, and how many half words of the next one are.
    counter: [u64; 4],
    used: u64,
}

impl Generator {
    /// The generator that NumPy's `Philox(seed)` is, from the seed's 32-bit words, lowest first.
    ///
    /// ```
    /// # fn main() -> cupric::Result<()> {
    /// let mut generator = cupric::random::Generator::new(&[5]);
    /// let numbers = generator.random(&[1000], cupric::DType::Float64)?;
    /// assert_eq!(numbers.shape(), [1000]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn new(entropy: &[u32]) -> Generator {
        Generator::from_key(SeedSequence::new(entropy, &[]).philox_key())
    }

    /// The generator with this key, at its start.
    #[must_use]
    pub const fn from_key(key: [u64; 2]) -> Generator {
        Generator { key, counter: [0; 4], used: 0 }
    }

    /// The generator in a known state.
    #[must_use]
    pub const fn from_state(key: [u64; 2], counter: [u64; 4], used: u64) -> Generator {
        Generator { key, counter, used }
    }

    /// The key, the blocks used up, and the half words used of the next one.
    #[must_use]
    pub const fn state(&self) -> ([u64; 2], [u64; 4], u64) {
        (self.key, self.counter, self.used)
    }

    /// Uniform numbers in [0, 1): float64 from a word each, float32 from half a word each. With a fresh generator the float64
    /// ones are those of NumPy's `Generator(Philox(seed)).random`.
    ///
    /// # Errors
    /// When the dtype is another one.
    pub fn random(&mut self, shape: &[usize], dtype: DType) -> Result<Array> {
        self.fill(shape, dtype, Distribution::Uniform, float_halves(dtype, "random")?, 1)
    }

    /// Standard normal numbers, float64 or float32, by the method of Box and Muller.
    ///
    /// # Errors
    /// When the dtype is another one.
    pub fn standard_normal(&mut self, shape: &[usize], dtype: DType) -> Result<Array> {
        self.fill(shape, dtype, Distribution::Normal, float_halves(dtype, "standard_normal")?, 2)
    }

    /// Integers from `low` on, `span` of them (0 stands for 2^64), each as likely as the others.
    ///
    /// # Errors
    /// When the dtype is no integer.
    pub fn integers(&mut self, shape: &[usize], low: i64, span: u64, dtype: DType) -> Result<Array> {
        if !dtype.is_integer() && dtype != DType::Bool {
            return Err(Error::Type(format!("Unsupported dtype dtype('{dtype}') for integers")));
        }
        self.fill(shape, dtype, Distribution::Integers { low, span }, 2, 1)
    }

    /// Raw words.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn words(&mut self, shape: &[usize]) -> Result<Array> {
        self.fill(shape, DType::UInt64, Distribution::Words, 2, 1)
    }

    /// Draws numbers that take `halves` half words each, `together` at a time.
    fn fill(
        &mut self,
        shape: &[usize],
        dtype: DType,
        distribution: Distribution,
        halves: u64,
        together: u64,
    ) -> Result<Array> {
        let output = Array::empty(shape, dtype)?;
        let unit = halves * together;
        self.advance(self.used.next_multiple_of(unit) - self.used);
        let op = Op::Random(Random {
            key: self.key,
            counter: self.counter,
            skip: self.used,
            distribution,
            output: output.operand(),
        });
        let count = output.size() as u64;
        if count > 0 {
            output.enqueue(Step::Single(op), &[], &[output.storage()])?;
        }
        self.advance((count * halves).next_multiple_of(unit));
        Ok(output)
    }

    fn advance(&mut self, halves: u64) {
        let total = self.used + halves;
        self.used = total % BLOCK;
        let mut carry = total / BLOCK;
        for word in &mut self.counter {
            let (sum, over) = word.overflowing_add(carry);
            *word = sum;
            carry = u64::from(over);
        }
    }
}

fn float_halves(dtype: DType, name: &str) -> Result<u64> {
    match dtype {
        DType::Float64 => Ok(2),
        DType::Float32 => Ok(1),
        _ => Err(Error::Type(format!("Unsupported dtype dtype('{dtype}') for {name}"))),
    }
}

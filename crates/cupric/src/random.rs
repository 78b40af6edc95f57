//! Random numbers: one generator, Philox4x64-10, the same numbers on every device.

use crate::array::Array;
use cupric_core::{DType, Dims, Error, Result, element_count};
use cupric_ir::{Op, Random, Step};
use cupric_math::seed::SeedSequence;

pub use cupric_ir::Distribution as Numbers;

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
        self.draw(Numbers::Uniform, shape, dtype)?.array()
    }

    /// Standard normal numbers, float64 or float32, by the method of Box and Muller.
    ///
    /// # Errors
    /// When the dtype is another one.
    pub fn standard_normal(&mut self, shape: &[usize], dtype: DType) -> Result<Array> {
        self.draw(Numbers::Normal, shape, dtype)?.array()
    }

    /// Integers from `low` on, `span` of them (0 stands for 2^64), each as likely as the others.
    ///
    /// # Errors
    /// When the dtype is no integer.
    pub fn integers(&mut self, shape: &[usize], low: i64, span: u64, dtype: DType) -> Result<Array> {
        self.draw(Numbers::Integers { low, span }, shape, dtype)?.array()
    }

    /// Raw words.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn words(&mut self, shape: &[usize]) -> Result<Array> {
        self.draw(Numbers::Words, shape, DType::UInt64)?.array()
    }

    /// Sets numbers of the stream aside; they are made by [`Draw::array`], which needs the generator no more.
    ///
    /// # Errors
    /// When there are no such numbers of this dtype, or too many are wanted.
    pub fn draw(&mut self, numbers: Numbers, shape: &[usize], dtype: DType) -> Result<Draw> {
        let (halves, together) = measure(numbers, dtype)?;
        let count = element_count(shape)? as u64;
        let unit = halves * together;
        self.advance(self.used.next_multiple_of(unit) - self.used);
        let draw = Draw { key: self.key, counter: self.counter, skip: self.used, numbers, shape: shape.into(), dtype };
        self.advance((count * halves).next_multiple_of(unit));
        Ok(draw)
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

/// How many half words a number takes, and how many numbers are made together.
fn measure(numbers: Numbers, dtype: DType) -> Result<(u64, u64)> {
    match numbers {
        Numbers::Uniform => Ok((float_halves(dtype, "random")?, 1)),
        Numbers::Normal => Ok((float_halves(dtype, "standard_normal")?, 2)),
        Numbers::Integers { .. } if !dtype.is_integer() && dtype != DType::Bool => {
            Err(Error::Type(format!("Unsupported dtype dtype('{dtype}') for integers")))
        }
        Numbers::Integers { .. } | Numbers::Words => Ok((2, 1)),
    }
}

/// Numbers that are set aside.
pub struct Draw {
    key: [u64; 2],
    counter: [u64; 4],
    skip: u64,
    numbers: Numbers,
    shape: Dims,
    dtype: DType,
}

impl Draw {
    /// The numbers.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn array(self) -> Result<Array> {
        let Draw { key, counter, skip, numbers, shape, dtype } = self;
        let output = Array::empty(&shape, dtype)?;
        if output.size() > 0 {
            let op = Op::Random(Random { key, counter, skip, distribution: numbers, output: output.operand() });
            output.enqueue(Step::Single(Box::new(op)), &[], &[output.storage()])?;
        }
        Ok(output)
    }
}

fn float_halves(dtype: DType, name: &str) -> Result<u64> {
    match dtype {
        DType::Float64 => Ok(2),
        DType::Float32 => Ok(1),
        _ => Err(Error::Type(format!("Unsupported dtype dtype('{dtype}') for {name}"))),
    }
}

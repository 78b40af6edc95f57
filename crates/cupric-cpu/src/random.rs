//! Random numbers: Philox words, and what is made of them.

use crate::{
    halved::Halved,
    level::{Kernel, Run, best, unary},
    scratch::Scratch,
    space::{Space, TILE},
    threads::Threads,
    transfer::{Field, Stretch},
};
use cupric_core::{DType, Error, Result};
use cupric_ir::{Component, Distribution, Random};
use cupric_math::random::{
    ROUNDS, bounded, bounded_attempt, bounded_threshold, counter_at, mix, next_key, normal32, normal64, uniform32,
    uniform64,
};

/// Draws random numbers; `addresses` has the base of the output.
pub(crate) fn random(random: &Random, addresses: &[u64], threads: &Threads) -> Result<()> {
    let dtype = random.output.dtype;
    let kind = Kind::of(random.distribution, dtype)?;
    let layout = &random.output.layout;
    let space = Space::new(&layout.shape, &[&layout.strides]);
    let output = Field::new(&random.output, addresses[0]);
    let tiles = space.tiles();
    threads.share(tiles.count(), space.len, |range| {
        let mut drawer = Drawer::new(random, kind);
        for (start, n) in range.map(|tile| tiles.tile(tile)) {
            let values = drawer.draw(start, n);
            let at = Stretch { space: &space, operand: 0, start, n };
            // SAFETY: the operation's caller vouches for the output; the values are `n` registers.
            unsafe { output.store(Component::Real, at, values, None, values) };
        }
    });
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Words,
    Uniform32,
    Uniform64,
    Normal32,
    Normal64,
    Integers { low: i64, span: u64, width: usize },
}

impl Kind {
    fn of(distribution: Distribution, dtype: DType) -> Result<Kind> {
        Ok(match (distribution, dtype) {
            (Distribution::Words, DType::UInt64) => Kind::Words,
            (Distribution::Uniform, DType::Float32) => Kind::Uniform32,
            (Distribution::Uniform, DType::Float64) => Kind::Uniform64,
            (Distribution::Normal, DType::Float32) => Kind::Normal32,
            (Distribution::Normal, DType::Float64) => Kind::Normal64,
            (Distribution::Integers { low, span }, _) if dtype.is_integer() || dtype == DType::Bool => {
                Kind::Integers { low, span, width: dtype.size() }
            }
            _ => return Err(Error::Unsupported { what: format!("{distribution:?} of {dtype}") }),
        })
    }

    /// Units of what elements are made of, in one word.
    const fn per_word(self) -> usize {
        match self {
            Kind::Uniform32 | Kind::Normal32 => 2,
            _ => 1,
        }
    }
}

/// Where a stretch of words stands in a stream.
struct Stream {
    key: [u64; 2],
    start: [u64; 4],
    block: u64,
}

/// What integers lie in.
struct Span {
    low: u64,
    range: u64,
    threshold: u64,
}

struct Drawer<'a> {
    random: &'a Random,
    kind: Kind,
    words: *mut u64,
    // Uniform numbers, and what is made of them.
    uniform: *mut u8,
    values: *mut u8,
    _scratch: Scratch,
}

// A tile's words, and those of the blocks that it cuts.
const WORDS: usize = TILE + 16;

impl<'a> Drawer<'a> {
    fn new(random: &'a Random, kind: Kind) -> Drawer<'a> {
        let mut scratch = Scratch::new(3 * WORDS * 8);
        let base = scratch.base();
        let [words, uniform, values] = [0, 1, 2].map(|part| base.wrapping_add(part * WORDS * 8));
        Drawer { random, kind, words: words.cast(), uniform, values, _scratch: scratch }
    }

    /// Elements `start .. start + n`, as registers.
    fn draw(&mut self, start: usize, n: usize) -> *mut u8 {
        // Pairs of normal numbers begin at even elements.
        let first = if matches!(self.kind, Kind::Normal32 | Kind::Normal64) { start & !1 } else { start };
        let per_word = self.kind.per_word();
        // In units of what an element is made of: words or half words.
        let skipped = (self.random.skip as usize * per_word).div_ceil(2);
        let (at, end) = (first + skipped, (start + n).next_multiple_of(2) + skipped);
        let (word, last) = (at / per_word, end.div_ceil(per_word));
        let block = word / 4;
        let count = (last.div_ceil(4) - block) * 4;
        self.fill(block as u64, count);
        // SAFETY: there is room for what so many words make.
        unsafe { self.convert(at - block * 4 * per_word, start - first, n, (at, count)) }
    }

    /// Words of whole blocks.
    fn fill(&mut self, block: u64, count: usize) {
        let stream = Stream { key: self.random.key, start: self.random.counter, block };
        let stream = std::ptr::from_ref(&stream).cast();
        // SAFETY: there is room for the words of a tile and of the blocks that it cuts.
        unsafe { best::<Words>()(self.words.cast(), stream, stream, stream, count / 4) };
    }

    /// Values from `count` words: `at` is the first unit, `skipped` elements of a pair come before the first that is wanted,
    /// `place` is where the first unit stands in the stream.
    unsafe fn convert(&mut self, at: usize, skipped: usize, n: usize, (place, count): (usize, usize)) -> *mut u8 {
        let (words, uniform, values) = (self.words.cast::<u8>(), self.uniform, self.values);
        let pairs = (skipped + n).div_ceil(2);
        let run = |run: Run, out: *mut u8, from: *mut u8, n: usize| {
            // SAFETY: each buffer has room for as many elements as `count` words make.
            unsafe { run(out, from, from, from, n) };
        };
        let size = 8 / self.kind.per_word();
        let first = at * size;
        match self.kind {
            Kind::Words => return words.wrapping_add(first),
            Kind::Integers { low, span, width } => {
                let words = words.wrapping_add(first);
                // SAFETY: the buffers have room for a tile.
                unsafe { self.integers(words.cast(), n, place, (low as u64, span)) };
                match width {
                    1 => run(unary(|word: u64| word as u8), values, words, n),
                    2 => run(unary(|word: u64| word as u16), values, words, n),
                    4 => run(unary(|word: u64| word as u32), values, words, n),
                    _ => return words,
                }
                return values;
            }
            Kind::Uniform32 | Kind::Normal32 => run(unary(uniform32::<u64>), uniform, words, count),
            Kind::Uniform64 | Kind::Normal64 => run(unary(uniform64::<u64>), uniform, words, count),
        }
        let uniform = uniform.wrapping_add(first);
        match self.kind {
            Kind::Normal32 => run(unary(|[u, v]: [f32; 2]| normal32(u, v)), values, uniform, pairs),
            Kind::Normal64 => run(unary(|[u, v]: [f64; 2]| normal64(u, v)), values, uniform, pairs),
            _ => return uniform,
        }
        values.wrapping_add(skipped * size)
    }

    /// Makes integers of words, in place; the first word belongs to element `place`.
    unsafe fn integers(&mut self, words: *mut u64, n: usize, place: usize, (low, range): (u64, u64)) {
        let threshold = if range == 0 { 0 } else { bounded_threshold(range) };
        let (span, mut refused) = (Span { low, range, threshold }, 0_u8);
        let (out, how) = (self.values, std::ptr::from_ref(&span).cast());
        // SAFETY: the caller has `n` words, and there is room for as many integers.
        unsafe { best::<Integers>()(out, words.cast(), how, (&raw mut refused).cast_const(), n) };
        for i in 0..if refused != 0 { n } else { 0 } {
            // SAFETY: as above.
            unsafe {
                if !bounded_attempt(*words.add(i), range, threshold).1 {
                    let (key, start) = (self.random.key, self.random.counter);
                    let value = bounded(key, start, (place + i) as u64, range);
                    out.cast::<u64>().add(i).write(value.wrapping_add(low));
                }
            }
        }
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(out.cast(), words, n) };
    }
}

/// Blocks of words that are computed at once: each round goes over all of them, as vectors.
const LANES: usize = 16;

/// Blocks of words.
struct Words;

impl Kernel for Words {
    #[inline(always)]
    unsafe fn run(out: *mut u8, stream: *const u8, _: *const u8, _: *const u8, n: usize) {
        // SAFETY: the caller gives a stream, and room for `n` blocks.
        let stream = unsafe { &*stream.cast::<Stream>() };
        let start = stream.start.map(Halved);
        for first in (0..n).step_by(LANES) {
            let mut words = [[Halved(0); LANES]; 4];
            (0..LANES).for_each(|lane| {
                let counter = counter_at(start, Halved(stream.block + (first + lane) as u64));
                (0..4).for_each(|word| words[word][lane] = counter[word]);
            });
            let mut key = stream.key.map(Halved);
            for round in 0..ROUNDS {
                if round > 0 {
                    key = next_key(key);
                }
                let [a, b, c, d] = words;
                for lane in 0..LANES {
                    let mixed = mix([a[lane], b[lane], c[lane], d[lane]], key);
                    (0..4).for_each(|word| words[word][lane] = mixed[word]);
                }
            }
            let [a, b, c, d] = &words;
            for lane in 0..LANES.min(n - first) {
                // SAFETY: as above.
                unsafe { out.cast::<[Halved; 4]>().add(first + lane).write([a[lane], b[lane], c[lane], d[lane]]) }
            }
        }
    }
}

/// Integers of words, and whether a word was refused.
struct Integers;

impl Kernel for Integers {
    #[inline(always)]
    unsafe fn run(out: *mut u8, words: *const u8, span: *const u8, refused: *const u8, n: usize) {
        // SAFETY: the caller gives a span, and room for an answer.
        let (span, refused) = unsafe { (&*span.cast::<Span>(), &mut *refused.cast_mut()) };
        let mut any = false;
        for i in 0..n {
            // SAFETY: the caller has `n` words, and room for as many integers.
            let word = Halved(unsafe { *words.cast::<u64>().add(i) });
            let (value, fits) = bounded_attempt(word, Halved(span.range), Halved(span.threshold));
            let value = if span.range == 0 { word } else { value };
            any |= !fits;
            // SAFETY: as above.
            unsafe { out.cast::<u64>().add(i).write(value.0.wrapping_add(span.low)) }
        }
        *refused = u8::from(any);
    }
}

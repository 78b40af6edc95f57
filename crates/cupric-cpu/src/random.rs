//! Random numbers: Philox words, and what is made of them.

use crate::{
    level::{Kernel, Run, best},
    scratch::Scratch,
    space::{Space, TILE},
    threads::Threads,
    transfer::{Field, Stretch},
};
use cupric_core::{DType, Error, Result};
use cupric_ir::{Component, Distribution, Random};
use cupric_math::random::{bounded, counter_at, normal32, normal64, philox4x64, uniform32, uniform64};

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

    /// Elements made of one word.
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

struct Drawer<'a> {
    random: &'a Random,
    kind: Kind,
    words: *mut u64,
    values: *mut u8,
    _scratch: Scratch,
}

// A tile's words, and those of the blocks that it cuts.
const WORDS: usize = TILE + 16;

impl<'a> Drawer<'a> {
    fn new(random: &'a Random, kind: Kind) -> Drawer<'a> {
        let mut scratch = Scratch::new(2 * WORDS * 8);
        let base = scratch.base();
        Drawer { random, kind, words: base.cast(), values: base.wrapping_add(WORDS * 8), _scratch: scratch }
    }

    /// Elements `start .. start + n`, as registers.
    fn draw(&mut self, start: usize, n: usize) -> *mut u8 {
        let skip = self.random.skip as usize;
        if let Kind::Integers { low, span, width } = self.kind
            && span != 0
        {
            self.integers(start + skip.div_ceil(2), n, low, span, width);
            return self.values;
        }
        // Pairs of normal numbers begin at even elements.
        let first = if matches!(self.kind, Kind::Normal32 | Kind::Normal64) { start & !1 } else { start };
        let per_word = self.kind.per_word();
        // In units of what an element is made of: words or half words.
        let skipped = (skip * per_word).div_ceil(2);
        let (at, end) = (first + skipped, (start + n).next_multiple_of(2) + skipped);
        let (word, last) = (at / per_word, end.div_ceil(per_word));
        self.fill(word as u64 / 4, (last.div_ceil(4) - word / 4) * 4);
        self.convert(at - word / 4 * 4 * per_word, start - first, n);
        self.values
    }

    /// Words of whole blocks.
    fn fill(&mut self, block: u64, count: usize) {
        let stream = Stream { key: self.random.key, start: self.random.counter, block };
        let stream = std::ptr::from_ref(&stream).cast();
        // SAFETY: there is room for the words of a tile and of the blocks that it cuts.
        unsafe { words()(self.words.cast(), stream, stream, stream, count / 4) };
    }

    /// Values from the words: `at` is the first unit, `skipped` elements of a pair come before the first that is wanted.
    fn convert(&mut self, at: usize, skipped: usize, n: usize) {
        // SAFETY: `fill` wrote as many words.
        let words = unsafe { std::slice::from_raw_parts(self.words, WORDS) };
        let single = |unit: usize| uniform32(words[unit / 2])[unit % 2];
        // SAFETY: there is room for the values of a tile.
        unsafe {
            match self.kind {
                Kind::Words => put(self.values, n, |i| words[at + i]),
                Kind::Uniform64 => put(self.values, n, |i| uniform64(words[at + i])),
                Kind::Uniform32 => put(self.values, n, |i| single(at + i)),
                Kind::Normal64 => pairs(self.values, skipped, n, |i| {
                    normal64(uniform64(words[at + 2 * i]), uniform64(words[at + 2 * i + 1]))
                }),
                Kind::Normal32 => {
                    pairs(self.values, skipped, n, |i| normal32(single(at + 2 * i), single(at + 2 * i + 1)));
                }
                Kind::Integers { low, width, .. } => {
                    put_integers(self.values, n, width, |i| words[at + i].wrapping_add(low as u64));
                }
            }
        }
    }

    fn integers(&mut self, first: usize, n: usize, low: i64, span: u64, width: usize) {
        let (key, start) = (self.random.key, self.random.counter);
        let value = |i: usize| bounded(key, start, (first + i) as u64, span).wrapping_add(low as u64);
        // SAFETY: there is room for the values of a tile.
        unsafe { put_integers(self.values, n, width, value) };
    }
}

unsafe fn put<T>(out: *mut u8, n: usize, value: impl Fn(usize) -> T) {
    for i in 0..n {
        // SAFETY: the caller has room for `n` values.
        unsafe { out.cast::<T>().add(i).write(value(i)) }
    }
}

unsafe fn put_integers(out: *mut u8, n: usize, width: usize, value: impl Fn(usize) -> u64) {
    // SAFETY: the caller has room for `n` values.
    unsafe {
        match width {
            1 => put(out, n, |i| value(i) as u8),
            2 => put(out, n, |i| value(i) as u16),
            4 => put(out, n, |i| value(i) as u32),
            _ => put(out, n, value),
        }
    }
}

unsafe fn pairs<T: Copy>(out: *mut u8, skipped: usize, n: usize, pair: impl Fn(usize) -> [T; 2]) {
    for i in 0..(skipped + n).div_ceil(2) {
        for (side, value) in pair(i).into_iter().enumerate() {
            let element = (2 * i + side).wrapping_sub(skipped);
            if element < n {
                // SAFETY: the caller has room for `n` values.
                unsafe { out.cast::<T>().add(element).write(value) }
            }
        }
    }
}

struct Words;

impl Kernel for Words {
    #[inline(always)]
    unsafe fn run(out: *mut u8, stream: *const u8, _: *const u8, _: *const u8, n: usize) {
        // SAFETY: the caller gives a stream, and room for `n` blocks.
        let stream = unsafe { &*stream.cast::<Stream>() };
        for i in 0..n {
            let block = philox4x64(counter_at(stream.start, stream.block + i as u64), stream.key);
            // SAFETY: as above.
            unsafe { out.cast::<[u64; 4]>().add(i).write(block) }
        }
    }
}

fn words() -> Run {
    best::<Words>()
}

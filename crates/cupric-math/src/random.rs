//! Philox4x64-10 in NumPy's order, and the numbers made of its words: element `i` depends on the key and on `i` only.
//!
//! No fused steps here, so that the streams do not depend on them.

use crate::coefficients::{Constants, F32, F64};
use crate::number::{Integer, Real, Word64};
use crate::words::{Words, fast_sum, flip_sign, plain_polynomial, real, small};

const MULTIPLIERS: [u64; 2] = [0xd2e7_470e_e14c_6c93, 0xca5a_8263_9512_1157];
const KEY_STEPS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbb67_ae85_84ca_a73b];

/// How often the words of a counter are mixed.
pub const ROUNDS: usize = 10;

/// The four words of one counter.
#[inline(always)]
pub fn philox4x64<W: Word64>(counter: [W; 4], key: [W; 2]) -> [W; 4] {
    let (mut words, mut key) = (counter, key);
    for round in 0..ROUNDS {
        if round > 0 {
            key = next_key(key);
        }
        words = mix(words, key);
    }
    words
}

/// The key of the next round.
#[inline(always)]
pub fn next_key<W: Word64>(key: [W; 2]) -> [W; 2] {
    [key[0].add(W::literal(KEY_STEPS[0])), key[1].add(W::literal(KEY_STEPS[1]))]
}

/// One round.
#[inline(always)]
pub fn mix<W: Word64>(words: [W; 4], key: [W; 2]) -> [W; 4] {
    let (a, b) = (W::literal(MULTIPLIERS[0]), W::literal(MULTIPLIERS[1]));
    [
        b.mul_high(words[2]).xor(words[1]).xor(key[0]),
        b.mul(words[2]),
        a.mul_high(words[0]).xor(words[3]).xor(key[1]),
        a.mul(words[0]),
    ]
}

/// The counter of block `index` of a stream that starts at `start`: NumPy counts up before it draws.
#[inline(always)]
pub fn counter_at<W: Word64>(start: [W; 4], index: W) -> [W; 4] {
    let (zero, one) = (W::literal(0), W::literal(1));
    let carry = |sum: W, term: W| W::select(sum.lt(term), one, zero);
    let step = index.add(one);
    // `index + 1` itself wraps only for the last index.
    let first = start[0].add(step);
    let second = start[1].add(carry(first, step)).add(W::select(step.eq(zero), one, zero));
    let third_carry = W::select(second.lt(start[1]), one, zero);
    let third = start[2].add(third_carry);
    let fourth = start[3].add(W::select(third.lt(start[2]), one, zero));
    [first, second, third, fourth]
}

/// A float64 in `[0, 1)` from a word.
#[inline(always)]
pub fn uniform64<W: Word64>(word: W) -> W::Real64 {
    word.shr(11).to_f64() * real(0.5f64.powi(53))
}

/// A float32 in `[0, 1)` from the low and from the high half of a word, in the order in which NumPy uses them.
#[inline(always)]
pub fn uniform32<W: Word64>(word: W) -> [W::Real32; 2] {
    let unit = real(0.5f64.powi(24));
    [word.and(W::literal(0xffff_ffff)).shr(8).to_f32() * unit, word.shr(40).to_f32() * unit]
}

/// Two independent standard normal float64 from two uniform ones.
#[inline(always)]
pub fn normal64<R: Real>(u: R, v: R) -> [R; 2] {
    normal(u, v, &F64)
}

/// Two independent standard normal float32 from two uniform ones.
#[inline(always)]
pub fn normal32<R: Real>(u: R, v: R) -> [R; 2] {
    normal(u, v, &F32)
}

/// A standard exponential float64 from a uniform one.
#[inline(always)]
pub fn exponential64<R: Real>(u: R) -> R {
    real::<R>(0.0) - log_of_unit(real::<R>(1.0) - u, &F64)
}

/// A standard exponential float32 from a uniform one.
#[inline(always)]
pub fn exponential32<R: Real>(u: R) -> R {
    real::<R>(0.0) - log_of_unit(real::<R>(1.0) - u, &F32)
}

/// One try at an integer below `range`, without bias: the integer, and whether the word may be used.
///
/// Try `k` of an element takes its word from [`attempt_counter`].
#[inline(always)]
pub fn bounded_attempt<W: Word64>(word: W, range: W, threshold: W) -> (W, W::Mask) {
    (word.mul_high(range), !word.mul(range).lt(threshold))
}

/// The low products below this are refused by [`bounded_attempt`]: `2^64 mod range`, computed on the host.
pub const fn bounded_threshold(range: u64) -> u64 {
    range.wrapping_neg() % range
}

/// The counter of try `attempt` for the element whose first counter is `first`: the top word, which no stream reaches, counts tries.
#[inline(always)]
pub fn attempt_counter<W: Word64>(first: [W; 4], attempt: W) -> [W; 4] {
    [first[0], first[1], first[2], first[3].add(attempt.shl(32))]
}

/// An unbiased integer below `range` for element `index` of the stream: four elements share a block.
pub fn bounded(key: [u64; 2], start: [u64; 4], index: u64, range: u64) -> u64 {
    let (first, lane) = (counter_at(start, index / 4), (index % 4) as usize);
    let threshold = bounded_threshold(range);
    let mut attempt = 0;
    loop {
        let word = philox4x64(attempt_counter(first, attempt), key)[lane];
        if let (value, true) = bounded_attempt(word, range, threshold) {
            return value;
        }
        attempt += 1;
    }
}

/// Box and Muller.
#[inline(always)]
fn normal<R: Real>(u: R, v: R, c: &Constants) -> [R; 2] {
    let radius = (log_of_unit(real::<R>(1.0) - u, c) * real(-2.0)).sqrt();
    let [sin, cos] = sin_cos_of_turn(v, c);
    [radius * cos, radius * sin]
}

/// The logarithm for `0 < x <= 1`, of normal numbers.
#[inline(always)]
fn log_of_unit<R: Real>(x: R, c: &Constants) -> R {
    let bits = x.to_bits();
    let k = (bits - real::<R>(std::f64::consts::FRAC_1_SQRT_2).to_bits()).shr(c.mantissa);
    let f = R::from_bits(bits - k.shl(c.mantissa)) - real(1.0);
    let k: R = small(k, c);
    let s = f / (f + real(2.0));
    let z = s * s;
    let half = f * f * real(0.5);
    let cube = z * (z * plain_polynomial(z, c.atanh) + real(c.two_thirds[0]));
    let sum: Words<R> = fast_sum(k * real(c.ln2[0]), f);
    sum.high + (sum.low + (k * real(c.ln2[1]) + (s * (half + cube) - half)))
}

/// Sine and cosine of `2 pi u` for `0 <= u < 1`: quarters of a turn come off exactly.
#[inline(always)]
fn sin_cos_of_turn<R: Real>(u: R, c: &Constants) -> [R; 2] {
    let int = R::Int::literal;
    let quarters = u * real(4.0);
    let shifted = quarters + real(c.magic);
    let quadrant = shifted.to_bits();
    let x = (quarters - (shifted - real(c.magic))) * real(c.half_pi[0]);
    let z = x * x;
    let sin = x + x * z * plain_polynomial(z, c.sin);
    let cos = real::<R>(1.0) - (z * real(0.5) - z * z * plain_polynomial(z, c.cos));
    let odd = (quadrant & int(1)).eq(int(1));
    let flip = |x: R, quadrant: R::Int| flip_sign(x, (quadrant & int(2)).shl(c.bits - 2));
    [flip(R::select(odd, cos, sin), quadrant), flip(R::select(odd, sin, cos), quadrant + int(1))]
}

//! sin, cos, tan.
//!
//! Each comes in two forms: the plain one is right where `trig32_is_rare` (`trig64_is_rare`) is false, the `_rare` one everywhere.

use crate::coefficients::{Constants, F32, F64, TWO_OVER_PI};
use crate::number::{Integer, Real};
use crate::words::{Words, exact_product, exact_sum, fast_sum, flip_sign, polynomial, real, round_product};

/// Finite arguments too large for `sin32`, `cos32` and `tan32`.
#[inline(always)]
pub fn trig32_is_rare<R: Real>(x: R) -> R::Mask {
    is_rare(x, &F32)
}

/// Finite arguments too large for `sin64`, `cos64` and `tan64`.
#[inline(always)]
pub fn trig64_is_rare<R: Real>(x: R) -> R::Mask {
    is_rare(x, &F64)
}

/// Sine, float32, of arguments that are not rare.
#[inline(always)]
pub fn sin32<R: Real>(x: R) -> R {
    sin(x, near(x, &F32), &F32)
}

/// Sine, float32, of any argument.
#[inline(always)]
pub fn sin32_rare<R: Real>(x: R) -> R {
    sin(x, any(x, &F32), &F32)
}

/// Sine, float64, of arguments that are not rare.
#[inline(always)]
pub fn sin64<R: Real>(x: R) -> R {
    sin(x, near(x, &F64), &F64)
}

/// Sine, float64, of any argument.
#[inline(always)]
pub fn sin64_rare<R: Real>(x: R) -> R {
    sin(x, any(x, &F64), &F64)
}

/// Cosine, float32, of arguments that are not rare.
#[inline(always)]
pub fn cos32<R: Real>(x: R) -> R {
    cos(near(x, &F32), &F32)
}

/// Cosine, float32, of any argument.
#[inline(always)]
pub fn cos32_rare<R: Real>(x: R) -> R {
    cos(any(x, &F32), &F32)
}

/// Cosine, float64, of arguments that are not rare.
#[inline(always)]
pub fn cos64<R: Real>(x: R) -> R {
    cos(near(x, &F64), &F64)
}

/// Cosine, float64, of any argument.
#[inline(always)]
pub fn cos64_rare<R: Real>(x: R) -> R {
    cos(any(x, &F64), &F64)
}

/// Tangent, float32, of arguments that are not rare.
#[inline(always)]
pub fn tan32<R: Real>(x: R) -> R {
    tan(x, near(x, &F32), &F32)
}

/// Tangent, float32, of any argument.
#[inline(always)]
pub fn tan32_rare<R: Real>(x: R) -> R {
    tan(x, any(x, &F32), &F32)
}

/// Tangent, float64, of arguments that are not rare.
#[inline(always)]
pub fn tan64<R: Real>(x: R) -> R {
    tan(x, near(x, &F64), &F64)
}

/// Tangent, float64, of any argument.
#[inline(always)]
pub fn tan64_rare<R: Real>(x: R) -> R {
    tan(x, any(x, &F64), &F64)
}

/// An argument as `quadrant * pi/2 + rest`; only the low two bits of the quadrant count.
struct Reduced<R: Real> {
    quadrant: R::Int,
    rest: Words<R>,
}

#[inline(always)]
fn is_rare<R: Real>(x: R, c: &Constants) -> R::Mask {
    let size = x.abs();
    real::<R>(c.trig_limit).lt(size) & size.lt(real(f64::INFINITY))
}

#[inline(always)]
fn sin<R: Real>(x: R, reduced: Reduced<R>, c: &Constants) -> R {
    R::select(x.eq(real(0.0)), x, turn(reduced.rest, reduced.quadrant, c))
}

#[inline(always)]
fn cos<R: Real>(reduced: Reduced<R>, c: &Constants) -> R {
    turn(reduced.rest, reduced.quadrant + R::Int::literal(1), c)
}

#[inline(always)]
fn tan<R: Real>(x: R, reduced: Reduced<R>, c: &Constants) -> R {
    let (sin, cos) = (sin_words(reduced.rest, c), cos_words(reduced.rest, c));
    let odd = is_odd::<R>(reduced.quadrant);
    let pick = |yes: Words<R>, no: Words<R>| Words {
        high: R::select(odd, yes.high, no.high),
        low: R::select(odd, yes.low, no.low),
    };
    let value = pick(cos, sin).over(pick(sin, cos)).sum();
    R::select(x.eq(real(0.0)), x, flip_sign(value, reduced.quadrant.shl(c.bits - 1)))
}

/// The sine of `rest + quadrant * pi/2`.
#[inline(always)]
fn turn<R: Real>(rest: Words<R>, quadrant: R::Int, c: &Constants) -> R {
    let value = R::select(is_odd::<R>(quadrant), cos_words(rest, c).sum(), sin_words(rest, c).sum());
    flip_sign(value, (quadrant & R::Int::literal(2)).shl(c.bits - 2))
}

#[inline(always)]
fn is_odd<R: Real>(quadrant: R::Int) -> R::Mask {
    (quadrant & R::Int::literal(1)).eq(R::Int::literal(1))
}

/// Sine near zero.
#[inline(always)]
fn sin_words<R: Real>(x: Words<R>, c: &Constants) -> Words<R> {
    let z = x.high * x.high;
    let low = z.fma(x.low * real(-0.5), x.low);
    fast_sum(x.high, (z * x.high).fma(polynomial(z, c.sin), low))
}

/// Cosine near zero.
#[inline(always)]
fn cos_words<R: Real>(x: Words<R>, c: &Constants) -> Words<R> {
    let z = x.high * x.high;
    let half = z * real(0.5);
    let most = real::<R>(1.0) - half;
    let lost = (real::<R>(1.0) - most) - half;
    let tail = (z * z).fma(polynomial(z, c.cos), (-x.high).fma(x.low, lost));
    fast_sum(most, tail)
}

/// Three words of pi/2 subtracted.
#[inline(always)]
fn near<R: Real>(x: R, c: &Constants) -> Reduced<R> {
    let (k, quadrant) = round_product(x, std::f64::consts::FRAC_2_PI, c);
    // Exact: a multiple of the last place of the first word, and small.
    let first = (-k).fma(real(c.half_pi[0]), x);
    let second = exact_product(-k, real(c.half_pi[1]));
    let sum = exact_sum(first, second.high);
    let low = (-k).fma(real(c.half_pi[2]), sum.low + second.low);
    Reduced { quadrant, rest: fast_sum(sum.high, low) }
}

#[inline(always)]
fn any<R: Real>(x: R, c: &Constants) -> Reduced<R> {
    let rare = is_rare(x, c);
    let (close, distant) = (near(x, c), far(R::select(rare, x, real(2.0 * c.trig_limit)), c));
    Reduced {
        quadrant: R::Int::select(rare, distant.quadrant, close.quadrant),
        rest: Words {
            high: R::select(rare, distant.rest.high, close.rest.high),
            low: R::select(rare, distant.rest.low, close.rest.low),
        },
    }
}

/// Payne and Hanek: the significand times those bits of 2/pi that matter, in three integers, modulo four quadrants.
#[inline(always)]
fn far<R: Real>(x: R, c: &Constants) -> Reduced<R> {
    let int = R::Int::literal;
    let size = x.abs().to_bits();
    let significand = (size & int((1 << c.mantissa) - 1)) | int(1 << c.mantissa);
    let exponent = size.shr(c.mantissa) - int(c.bias + i64::from(c.mantissa));
    let product = quadrants::<R>(significand, exponent - int(2), c);
    let quadrant = (product[0] + int(1 << (c.bits - 3))).shr_logical(c.bits - 2);
    let bits = [join(product[0], product[1], 2, c), join(product[1], product[2], 2, c)];
    let fraction: Words<R> = half_pi_times(fraction(bits, c), c);
    let negative = x.lt(real(0.0));
    Reduced {
        quadrant: R::Int::select(negative, int(0) - quadrant, quadrant),
        rest: Words {
            high: R::select(negative, -fraction.high, fraction.high),
            low: R::select(negative, -fraction.low, fraction.low),
        },
    }
}

/// The product with 2/pi from bit `start` on, highest integer first; two bits of it count quadrants.
#[inline(always)]
fn quadrants<R: Real>(significand: R::Int, start: R::Int, c: &Constants) -> [R::Int; 3] {
    let int = R::Int::literal;
    let padded = start + int(c.bits.into());
    let (at, shift) = (padded.shr(c.bits.trailing_zeros()), padded & int(i64::from(c.bits) - 1));
    let word = |i: i64| table_word::<R>(at + int(i), c);
    let back = int(i64::from(c.bits) - 1) - shift;
    let window = |i: i64| word(i).shl_by(shift) | word(i + 1).shr_logical(1).shr_logical_by(back);
    let (low, middle) = (window(2), window(1));
    let carried = significand.mul_high_unsigned(low);
    let second = significand * middle + carried;
    let sign = int(i64::MIN >> (64 - c.bits));
    let carry = R::Int::select((second ^ sign).lt(carried ^ sign), int(1), int(0));
    let first = significand * window(0) + significand.mul_high_unsigned(middle) + carry;
    [first, second, significand * low]
}

/// An integer of the table of 2/pi: one word of it, or two.
#[inline(always)]
fn table_word<R: Real>(at: R::Int, c: &Constants) -> R::Int {
    let int = R::Int::literal;
    if c.bits == 32 {
        return R::Int::lookup(&TWO_OVER_PI, at + int(1));
    }
    let even = at + at;
    R::Int::lookup(&TWO_OVER_PI, even).shl(c.bits / 2) | R::Int::lookup(&TWO_OVER_PI, even + int(1))
}

/// `high` shifted left, filled from `low`.
#[inline(always)]
fn join<I: Integer>(high: I, low: I, by: u32, c: &Constants) -> I {
    high.shl(by) | low.shr_logical(c.bits - by)
}

/// A signed fixed-point fraction as a number: three pieces that convert exactly.
#[inline(always)]
fn fraction<R: Real>(bits: [R::Int; 2], c: &Constants) -> Words<R> {
    let piece = c.mantissa + 1;
    let left = c.bits - piece;
    let mask = |bits: u32| R::Int::literal((1 << bits) - 1);
    let first = bits[0].shr(left);
    let second = (bits[0] & mask(left)).shl(piece - left) | bits[1].shr_logical(2 * left);
    let third = bits[1] & mask(2 * left);
    let unit = |by: u32| real::<R>(0.5f64.powi(by as i32));
    let sum = exact_sum(R::from_int(first) * unit(piece), R::from_int(second) * unit(2 * piece));
    fast_sum(sum.high, sum.low + R::from_int(third) * unit(2 * c.bits))
}

#[inline(always)]
fn half_pi_times<R: Real>(x: Words<R>, c: &Constants) -> Words<R> {
    x.times(Words { high: real(c.half_pi[0]), low: real(c.half_pi[1]) })
}

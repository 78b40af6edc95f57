//! hypot, asin, acos, atan, atan2.

use crate::coefficients::{Constants, F32, F64};
use crate::number::{Integer, Real};
use crate::words::{Words, exact_product, fast_sum, flip_sign, polynomial, real, sign_bit};

/// The length of a vector, float32, without overflow on the way.
#[inline(always)]
pub fn hypot32<R: Real>(x: R, y: R) -> R {
    hypot(x, y, &F32)
}

/// The length of a vector, float64, without overflow on the way.
#[inline(always)]
pub fn hypot64<R: Real>(x: R, y: R) -> R {
    hypot(x, y, &F64)
}

/// Arc tangent, float32.
#[inline(always)]
pub fn atan32<R: Real>(x: R) -> R {
    atan2(x, real(1.0), &F32)
}

/// Arc tangent, float64.
#[inline(always)]
pub fn atan64<R: Real>(x: R) -> R {
    atan2(x, real(1.0), &F64)
}

/// Arc sine, float32.
#[inline(always)]
pub fn asin32<R: Real>(x: R) -> R {
    asin(x, &F32)
}

/// Arc sine, float64.
#[inline(always)]
pub fn asin64<R: Real>(x: R) -> R {
    asin(x, &F64)
}

/// Arc cosine, float32.
#[inline(always)]
pub fn acos32<R: Real>(x: R) -> R {
    acos(x, &F32)
}

/// Arc cosine, float64.
#[inline(always)]
pub fn acos64<R: Real>(x: R) -> R {
    acos(x, &F64)
}

/// The angle of the point `(x, y)`, float32.
#[inline(always)]
pub fn atan2_32<R: Real>(y: R, x: R) -> R {
    atan2(y, x, &F32)
}

/// The angle of the point `(x, y)`, float64.
#[inline(always)]
pub fn atan2_64<R: Real>(y: R, x: R) -> R {
    atan2(y, x, &F64)
}

#[inline(always)]
fn hypot<R: Real>(x: R, y: R, c: &Constants) -> R {
    let (x, y) = (x.abs(), y.abs());
    let swap = x.lt(y);
    let (long, short) = (R::select(swap, y, x), R::select(swap, x, y));
    let (unit, back) = comfortable_unit(long, c);
    let (a, b) = (long * unit, short * unit);
    let (aa, bb) = (exact_product(a, a), exact_product(b, b));
    let sum = fast_sum(aa.high, bb.high);
    let root = sum.high.sqrt();
    let rest = (-root).fma(root, sum.high) + (sum.low + (aa.low + bb.low));
    let value = (root + rest / (root + root)) * back;
    let value = R::select(long.eq(real(0.0)), long, value);
    let infinite = x.eq(real(f64::INFINITY)) | y.eq(real(f64::INFINITY));
    let value = R::select(x.ne(x) | y.ne(y), real(f64::NAN), value);
    R::select(infinite, real(f64::INFINITY), value)
}

/// A power of two that brings `size` near enough to 1 for its square, and its inverse.
#[inline(always)]
fn comfortable_unit<R: Real>(size: R, c: &Constants) -> (R, R) {
    let (up, down) = (real(c.far * c.far), real(1.0 / (c.far * c.far)));
    let (small, large) = (size.lt(real(1.0 / c.far)), real::<R>(c.far).lt(size));
    let pick = |up, down| R::select(large, down, R::select(small, up, real(1.0)));
    (pick(up, down), pick(down, up))
}

#[inline(always)]
fn atan2<R: Real>(y: R, x: R, c: &Constants) -> R {
    angle(one_word(y), one_word(x), c)
}

/// The angle beside the leg `x` of a triangle with hypotenuse 1.
#[inline(always)]
fn asin<R: Real>(x: R, c: &Constants) -> R {
    angle(one_word(x), other_leg(x), c)
}

#[inline(always)]
fn acos<R: Real>(x: R, c: &Constants) -> R {
    angle(other_leg(x), one_word(x), c)
}

/// The square root of `1 - x^2`, in two words.
#[inline(always)]
fn other_leg<R: Real>(x: R) -> Words<R> {
    let square = exact_product(x, x);
    let rest = fast_sum(real(1.0), -square.high);
    Words { high: rest.high, low: rest.low - square.low }.apart().root()
}

#[inline(always)]
fn one_word<R: Real>(x: R) -> Words<R> {
    Words { high: x, low: real(0.0) }
}

/// The angle is `base + sign * atan(short / long)`, with the base 0, pi/2 or pi.
#[inline(always)]
fn angle<R: Real>(y: Words<R>, x: Words<R>, c: &Constants) -> R {
    let (zero, one) = (real::<R>(0.0), real::<R>(1.0));
    let (up, side) = (absolute(y, c), absolute(x, c));
    let steep = side.high.lt(up.high);
    let ratio = ratio(select(steep, side, up), select(steep, up, side), c);
    let left = sign_bit(x.high, c).ne(R::Int::literal(0));
    let turned = R::select(left, one, zero);
    let quarters = R::select(steep, one, turned + turned);
    let sign = flip_sign(R::select(steep, -one, one), sign_bit(x.high, c));
    let z = ratio.high * ratio.high;
    let slope = z.fma(z.fma(real(0.33), real(-0.82)), one);
    let tail = (z * ratio.high).fma(polynomial(z, c.atan), ratio.low * slope);
    let sum = fast_sum(quarters * real(c.half_pi[0]), sign * ratio.high);
    let value = sum.high + (sum.low + sign.fma(tail, quarters * real(c.half_pi[1])));
    let value = R::select(up.high.ne(up.high) | side.high.ne(side.high), real(f64::NAN), value);
    flip_sign(value, sign_bit(y.high, c))
}

#[inline(always)]
fn absolute<R: Real>(x: Words<R>, c: &Constants) -> Words<R> {
    Words { high: x.high.abs(), low: flip_sign(x.low, sign_bit(x.high, c)) }
}

#[inline(always)]
fn select<R: Real>(mask: R::Mask, yes: Words<R>, no: Words<R>) -> Words<R> {
    Words { high: R::select(mask, yes.high, no.high), low: R::select(mask, yes.low, no.low) }
}

/// `short / long` in two words, with 0/0 = 0 and inf/inf = 1.
#[inline(always)]
fn ratio<R: Real>(short: Words<R>, long: Words<R>, c: &Constants) -> Words<R> {
    let (zero, one, infinity) = (real::<R>(0.0), real::<R>(1.0), real::<R>(f64::INFINITY));
    let infinite = long.high.eq(infinity);
    let top = R::select(infinite, R::select(short.high.eq(infinity), one, zero), short.high);
    let under = R::select(infinite | long.high.eq(zero), one, long.high);
    let unit = R::select(under.lt(real(1.0 / c.far)), real(c.far * c.far), one);
    let (top, under) = (top * unit, under * unit);
    // A true quotient, not a product with the inverse: where the correction underflows, it still is rounded once.
    let high = top / under;
    let lost = (-high).fma(long.low, short.low) * unit;
    Words { high, low: ((-high).fma(under, top) + lost) / under }
}

//! cbrt.

use crate::coefficients::{Constants, F32, F64};
use crate::log::split;
use crate::number::Real;
use crate::words::{exact_product, flip_sign, real, scale, sign_bit};

/// Cube root, float32.
#[inline(always)]
pub fn cbrt32<R: Real>(x: R) -> R {
    cbrt(x, &F32)
}

/// Cube root, float64.
#[inline(always)]
pub fn cbrt64<R: Real>(x: R) -> R {
    cbrt(x, &F64)
}

/// Halley's steps for a number from 0.7 to 5.7, the last one with the residue of two words.
#[inline(always)]
fn cbrt<R: Real>(x: R, c: &Constants) -> R {
    let size = x.abs();
    let (k, f) = split(size, c);
    let third = (k * real(1.0 / 3.0)).floor();
    let left = third.fma(real(-3.0), k);
    let lift = R::select(left.eq(real(0.0)), real(1.0), R::select(left.eq(real(1.0)), real(2.0), real(4.0)));
    let a = (f + real(1.0)) * lift;
    let mut y = a.fma(a.fma(real(-0.024), real(0.3)), real(0.72));
    for _ in 0..if c.bits == 32 { 2 } else { 3 } {
        let cube = y * y * y;
        y = y * ((cube + (a + a)) / (cube + cube + a));
    }
    let square = exact_product(y, y);
    let cube = exact_product(square.high, y);
    let rest = (a - cube.high) - square.low.fma(y, cube.low);
    let root = y + rest / (square.high * real(3.0));
    let value = flip_sign(scale(root, third.to_int(), c), sign_bit(x, c));
    R::select(size.lt(real(f64::INFINITY)) & real::<R>(0.0).lt(size), value, x)
}

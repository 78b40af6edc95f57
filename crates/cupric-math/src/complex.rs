//! Complex functions, with the special values of C99's annex G as NumPy gives them.

use crate::coefficients::{Constants, F32, F64};
use crate::elementary::Elementary;
use crate::number::Real;
use crate::words::{fast_sum, flip_sign, real, sign_bit};

/// A complex number.
#[derive(Clone, Copy, Debug)]
pub struct Complex<R> {
    /// The real part.
    pub re: R,
    /// The imaginary part.
    pub im: R,
}

/// Beyond the range of exp this much is taken off the exponent; e to this power is put back last.
const EXP_STEP: f64 = 64.0;
const EXP_OF_STEP: f64 = 6.235149080811617e27;

#[inline(always)]
fn constants<R: Elementary>(x: R) -> &'static Constants {
    if x.bits() == 32 { &F32 } else { &F64 }
}

#[inline(always)]
fn complex<R>(re: R, im: R) -> Complex<R> {
    Complex { re, im }
}

#[inline(always)]
fn select<R: Real>(mask: R::Mask, yes: Complex<R>, no: Complex<R>) -> Complex<R> {
    complex(R::select(mask, yes.re, no.re), R::select(mask, yes.im, no.im))
}

#[inline(always)]
fn infinity<R: Real>() -> R {
    real(f64::INFINITY)
}

#[inline(always)]
fn nan<R: Real>() -> R {
    real(f64::NAN)
}

#[inline(always)]
fn is_nan<R: Real>(x: R) -> R::Mask {
    x.ne(x)
}

#[inline(always)]
fn is_infinite<R: Real>(x: R) -> R::Mask {
    x.abs().eq(infinity())
}

#[inline(always)]
fn is_finite<R: Real>(x: R) -> R::Mask {
    x.abs().lt(infinity())
}

#[inline(always)]
fn is_zero<R: Real>(x: R) -> R::Mask {
    x.eq(real(0.0))
}

/// `size` with the sign of `x`; positive for a NaN, whose sign is another on each device.
#[inline(always)]
fn with_sign<R: Elementary>(size: R, x: R) -> R {
    R::select(is_nan(x), size.abs(), flip_sign(size.abs(), sign_bit(x, constants(x))))
}

/// The product by its plain formula.
#[inline(always)]
pub fn mul<R: Real>(a: Complex<R>, b: Complex<R>) -> Complex<R> {
    complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
}

/// The quotient by Smith's formula.
#[inline(always)]
pub fn div<R: Real>(a: Complex<R>, b: Complex<R>) -> Complex<R> {
    let flat = b.im.abs().le(b.re.abs());
    let (long, short) = (R::select(flat, b.re, b.im), R::select(flat, b.im, b.re));
    let ratio = short / long;
    let scale = real::<R>(1.0) / (long + short * ratio);
    let level = complex(a.re + a.im * ratio, a.im - a.re * ratio);
    let upright = complex(a.re * ratio + a.im, a.im * ratio - a.re);
    let top = select(flat, level, upright);
    let by_zero = complex(a.re / b.re.abs(), a.im / b.re.abs());
    select(is_zero(b.re) & is_zero(b.im), by_zero, complex(top.re * scale, top.im * scale))
}

/// The distance from zero.
#[inline(always)]
pub fn abs<R: Elementary>(z: Complex<R>) -> R {
    z.re.hypot(z.im)
}

/// The principal square root.
#[inline(always)]
pub fn sqrt<R: Elementary>(z: Complex<R>) -> Complex<R> {
    let c = constants(z.re);
    let (large, small) = (real::<R>(c.sqrt_large), real::<R>(c.normal * (c.far * c.far)));
    let size = R::select(z.re.abs().lt(z.im.abs()), z.im.abs(), z.re.abs());
    // Scaled by 4^n, so that the root is scaled by 2^n.
    let pick = |up, down| R::select(large.lt(size), real(down), R::select(size.lt(small), real(up), real(1.0)));
    let (scale, back): (R, R) = (pick(c.far * c.far, 0.0625), pick(1.0 / c.far, 4.0));
    let (re, im) = (z.re * scale, z.im * scale);
    let long = ((re.abs() + re.hypot(im)) * real(0.5)).sqrt();
    let short = im.abs() / (long + long) * back;
    let long = long * back;
    let right = !z.re.lt(real(0.0));
    let root = complex(R::select(right, long, short), with_sign(R::select(right, short, long), z.im));
    sqrt_special(z, root)
}

#[inline(always)]
fn sqrt_special<R: Elementary>(z: Complex<R>, root: Complex<R>) -> Complex<R> {
    let right = real::<R>(0.0).lt(z.re);
    let zero = with_sign(real(0.0), z.im);
    let flat = complex(infinity(), R::select(is_nan(z.im), nan(), zero));
    let steep = complex(R::select(is_nan(z.im), nan(), real(0.0)), with_sign(infinity(), z.im));
    let root = select(is_zero(z.re) & is_zero(z.im), complex(real(0.0), z.im), root);
    let root = select(is_nan(z.re) | is_nan(z.im), complex(nan(), nan()), root);
    let root = select(is_infinite(z.re), select::<R>(right, flat, steep), root);
    select(is_infinite(z.im), complex(infinity(), z.im), root)
}

/// `e^x` in two factors whose product may overflow.
#[inline(always)]
fn exp_factors<R: Elementary>(x: R) -> (R, R) {
    let large = real::<R>(constants(x).exp_plain).lt(x);
    let less = R::select(large, x - real(EXP_STEP), x);
    (less.exp(), R::select(large, real(EXP_OF_STEP), real(1.0)))
}

/// e to the power of `z`.
#[inline(always)]
pub fn exp<R: Elementary>(z: Complex<R>) -> Complex<R> {
    let (size, rest) = exp_factors(z.re);
    let value = complex(size * z.im.cos() * rest, size * z.im.sin() * rest);
    let value = select(is_zero(z.im), complex(size * rest, z.im), value);
    let gone = z.re.eq(real(f64::NEG_INFINITY)) & !is_finite(z.im);
    let value = select(gone, complex(real(0.0), with_sign(real(0.0), z.im)), value);
    select(z.re.eq(infinity()) & !is_finite(z.im), complex(infinity(), nan()), value)
}

/// The principal logarithm.
#[inline(always)]
pub fn log<R: Elementary>(z: Complex<R>) -> Complex<R> {
    complex(log_of_size(z), z.im.atan2(z.re))
}

/// `log |z|`; near `|z| = 1` without cancellation.
#[inline(always)]
fn log_of_size<R: Elementary>(z: Complex<R>) -> R {
    let c = constants(z.re);
    let (x, y) = (z.re.abs(), z.im.abs());
    let steep = x.lt(y);
    let (long, short) = (R::select(steep, y, x), R::select(steep, x, y));
    let (large, small) = (real::<R>(c.sqrt_large), real::<R>(c.normal));
    let lift = i32::try_from(c.mantissa).expect("a small number") + 1;
    let pick = |up, no, down| R::select(large.lt(long), real(down), R::select(long.lt(small), real(up), real(no)));
    let scale: R = pick(2f64.powi(lift), 1.0, 0.25);
    let shift: R = pick(-f64::from(lift) * std::f64::consts::LN_2, 0.0, 2.0 * std::f64::consts::LN_2);
    let shift = R::select(is_zero(long), real(0.0), shift);
    let plain = (x * scale).hypot(y * scale).log() + shift;
    let less = long - real(1.0);
    let more = long + real(1.0);
    // (long - 1) (long + 1) + short^2, its products exact.
    let (a, b) = (less * more, short * short);
    let sum = fast_sum(R::select(a.abs().lt(b), b, a), R::select(a.abs().lt(b), a, b));
    let lost = less.fma(more, -a) + short.fma(short, -b);
    let close = (sum.high + (sum.low + lost)).log1p() * real(0.5);
    R::select(real::<R>(0.5).lt(long) & long.lt(real(1.5)) & !is_infinite(short), close, plain)
}

/// Hyperbolic sine and cosine of the real part as factors beside `rest`, which may be large.
#[inline(always)]
fn sinh_cosh<R: Elementary>(x: R) -> (R, R, R) {
    let large = real::<R>(constants(x).exp_plain).lt(x.abs());
    let half = (x.abs() - real(EXP_STEP)).exp() * real(0.5);
    let sinh = R::select(large, with_sign(half, x), x.sinh());
    let cosh = R::select(large, half, x.cosh());
    (sinh, cosh, R::select(large, real(EXP_OF_STEP), real(1.0)))
}

/// Hyperbolic sine.
#[inline(always)]
pub fn sinh<R: Elementary>(z: Complex<R>) -> Complex<R> {
    let (sinh, cosh, rest) = sinh_cosh(z.re);
    let value = complex(sinh * z.im.cos() * rest, cosh * z.im.sin() * rest);
    let value = select(is_zero(z.im), complex(sinh * rest, z.im), value);
    let keeps = (is_zero(z.re) | is_infinite(z.re)) & !is_finite(z.im);
    select(keeps, complex(R::select(is_zero(z.re), z.re, infinity()), nan()), value)
}

/// Hyperbolic cosine.
#[inline(always)]
pub fn cosh<R: Elementary>(z: Complex<R>) -> Complex<R> {
    let (sinh, cosh, rest) = sinh_cosh(z.re);
    let value = complex(cosh * z.im.cos() * rest, sinh * z.im.sin() * rest);
    let zero = with_sign(real(0.0), z.re) * with_sign(real(1.0), z.im);
    let value = select(is_zero(z.im), complex(cosh * rest, zero), value);
    let value = select(is_zero(z.re) & !is_finite(z.im), complex(nan(), zero), value);
    select(is_infinite(z.re) & !is_finite(z.im), complex(infinity(), nan()), value)
}

/// Hyperbolic tangent, by Kahan's formula.
#[inline(always)]
pub fn tanh<R: Elementary>(z: Complex<R>) -> Complex<R> {
    let one = real::<R>(1.0);
    let far = real::<R>(constants(z.re).tanh_high).lt(z.re.abs());
    let tan = z.im.tan();
    let beta = tan.fma(tan, one);
    let sinh = R::select(far, one, z.re).sinh();
    let rho = sinh.fma(sinh, one).sqrt();
    let under = one + beta * sinh * sinh;
    let near = complex(beta * rho * sinh / under, tan / under);
    let small = (z.re.abs() * real(-1.0)).exp();
    let limit = complex(with_sign(one, z.re), z.im.sin() * z.im.cos() * real(4.0) * small * small);
    let value = select::<R>(far, limit, near);
    let value = select(is_zero(z.im), complex(z.re.tanh(), z.im), value);
    let end = complex(with_sign(one, z.re), with_sign(real(0.0), R::select(is_finite(z.im), value.im, z.im)));
    let value = select(is_infinite(z.re), end, value);
    select(is_zero(z.re) & !is_finite(z.im), complex(z.re, nan()), value)
}

/// Sine.
#[inline(always)]
pub fn sin<R: Elementary>(z: Complex<R>) -> Complex<R> {
    let value = sinh(complex(z.im, z.re));
    complex(value.im, value.re)
}

/// Cosine.
#[inline(always)]
pub fn cos<R: Elementary>(z: Complex<R>) -> Complex<R> {
    cosh(complex(-z.im, z.re))
}

/// Tangent.
#[inline(always)]
pub fn tan<R: Elementary>(z: Complex<R>) -> Complex<R> {
    let value = tanh(complex(z.im, z.re));
    complex(value.im, value.re)
}

/// `a` to the power of `b`: by products for small whole `b`, as NumPy does.
#[inline(always)]
pub fn pow<R: Elementary>(a: Complex<R>, b: Complex<R>) -> Complex<R> {
    let (zero, one) = (real::<R>(0.0), real::<R>(1.0));
    let whole = is_zero(b.im) & b.re.rint().eq(b.re) & b.re.abs().lt(real(100.0));
    let value = select(whole, whole_pow(a, b.re), exp(mul(b, log(a))));
    let of_zero = R::select(zero.lt(b.re), zero, nan());
    let value = select(is_zero(a.re) & is_zero(a.im), complex(of_zero, R::select(is_nan(of_zero), nan(), zero)), value);
    select(is_zero(b.re) & is_zero(b.im), complex(one, zero), value)
}

/// Seven binary digits of the power, lowest first.
#[inline(always)]
fn whole_pow<R: Elementary>(a: Complex<R>, power: R) -> Complex<R> {
    let one = complex(real::<R>(1.0), real(0.0));
    let (mut value, mut square, mut left) = (one, a, power.abs());
    let mut fresh = real::<R>(0.0).eq(real(0.0));
    for digit in 0..7 {
        let half = (left * real(0.5)).floor();
        let odd = (half + half).ne(left);
        let product = select(fresh, square, mul(value, square));
        value = select(odd, product, value);
        fresh = fresh & !odd;
        left = half;
        if digit < 6 {
            square = mul(square, square);
        }
    }
    select(power.lt(real(0.0)), div(one, value), value)
}

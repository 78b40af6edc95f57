//! The bits of all functions, pinned: they must not depend on the processor, the compiler or the optimisation.

use cupric_math::{Elementary, area, exp, log, plane, random, root};

/// Folds a number's bits into a hash; every NaN counts alike.
fn fold(hash: u64, x: f64) -> u64 {
    let bits = if x.is_nan() { 1 } else { x.to_bits() };
    (hash ^ bits).wrapping_mul(0x0100_0000_01b3).rotate_left(29)
}

fn shared<R: Elementary>(x: R, y: R) -> [R; 13] {
    [
        x.exp(),
        x.expm1(),
        x.log(),
        x.log1p(),
        x.sin(),
        x.cos(),
        x.tan(),
        x.sinh(),
        x.cosh(),
        x.tanh(),
        x.pow(y),
        x.atan2(y),
        x.hypot(y),
    ]
}

fn single(x: f32, y: f32) -> Vec<f32> {
    let rest = [exp::exp2_32, log::log2_32, log::log10_32, area::asinh32, area::acosh32, area::atanh32, root::cbrt32];
    let mut values = shared(x, y).to_vec();
    values.extend(rest.map(|function| function(x)));
    values.extend([plane::asin32(x), plane::acos32(x), plane::atan32(x)]);
    values.extend(random::normal32(x.abs().fract(), y.abs().fract()));
    values
}

fn double(x: f64, y: f64) -> Vec<f64> {
    let rest = [exp::exp2_64, log::log2_64, log::log10_64, area::asinh64, area::acosh64, area::atanh64, root::cbrt64];
    let mut values = shared(x, y).to_vec();
    values.extend(rest.map(|function| function(x)));
    values.extend([plane::asin64(x), plane::acos64(x), plane::atan64(x)]);
    values.extend(random::normal64(x.abs().fract(), y.abs().fract()));
    values
}

#[test]
fn bits_are_the_same_everywhere() {
    let (mut hash32, mut hash64) = (0, 0);
    for index in 0..4000u64 {
        let word = random::philox4x64([index, 0, 0, 0], [7, 9]);
        // Every bit pattern, and numbers of ordinary size.
        let (wild, tame) = (f64::from_bits(word[0]), (word[1] as i64 as f64) * 2f64.powi(-59));
        let y = (word[2] as i64 as f64) * 2f64.powi(-61);
        for x in [wild, tame] {
            hash64 = double(x, y).into_iter().fold(hash64, fold);
        }
        for x in [f32::from_bits(word[0] as u32), tame as f32] {
            hash32 = single(x, y as f32).into_iter().map(f64::from).fold(hash32, fold);
        }
    }
    assert_eq!((hash32, hash64), (7573901625536252398, 10666704036938725519));
}

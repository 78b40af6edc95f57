//! The float32 functions against the standard library's float64 ones, in units in the last place.

use cupric_math::{area, exp, hyperbolic, log, plane, pow, root, trig};

type Row = (&'static str, fn(f32) -> f32, fn(f64) -> f64);

const ROWS: &[Row] = &[
    ("exp", exp::exp32, f64::exp),
    ("exp2", exp::exp2_32, f64::exp2),
    ("expm1", exp::expm1_32, f64::exp_m1),
    ("log", log::log32, f64::ln),
    ("log2", log::log2_32, f64::log2),
    ("log10", log::log10_32, f64::log10),
    ("log1p", log::log1p_32, f64::ln_1p),
    ("sin", trig::sin32_rare, f64::sin),
    ("cos", trig::cos32_rare, f64::cos),
    ("tan", trig::tan32_rare, f64::tan),
    ("sinh", hyperbolic::sinh32, f64::sinh),
    ("cosh", hyperbolic::cosh32, f64::cosh),
    ("tanh", hyperbolic::tanh32, f64::tanh),
    ("asinh", area::asinh32, f64::asinh),
    ("acosh", area::acosh32, f64::acosh),
    ("atanh", area::atanh32, f64::atanh),
    ("cbrt", root::cbrt32, f64::cbrt),
    ("asin", plane::asin32, f64::asin),
    ("acos", plane::acos32, f64::acos),
    ("atan", plane::atan32, f64::atan),
];

/// Distance from `exact` in the spacing of float32 numbers there; infinite for a wrong special value.
fn ulps(got: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if got.to_bits() == nearest.to_bits() || (got.is_nan() && nearest.is_nan()) {
        return 0.0;
    }
    if got.is_nan() || nearest.is_nan() || got.is_sign_negative() != nearest.is_sign_negative() {
        return f64::INFINITY;
    }
    // Just past the largest number, the spacing goes on.
    let wide = |x: f32| if x.is_infinite() { 2f64.powi(128).copysign(x.into()) } else { x.into() };
    let exponent = ((exact.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let value = if exact.abs() > 2f64.powi(128) { 2f64.powi(128).copysign(exact) } else { exact };
    (wide(got) - value).abs() / 2f64.powi(exponent.clamp(-126, 127) - 23)
}

fn worst(row: &Row, stride: u32) -> (f64, f32) {
    let mut worst = (0.0, 0.0f32);
    let mut bits = Some(0u32);
    while let Some(at) = bits {
        let x = f32::from_bits(at);
        let error = ulps(row.1(x), row.2(x.into()));
        if error > worst.0 {
            worst = (error, x);
        }
        bits = at.checked_add(stride);
    }
    worst
}

fn check_all(stride: u32) {
    let mut failed = false;
    let only = std::env::var("CUPRIC_MATH_ONLY").unwrap_or_default();
    for row in ROWS.iter().filter(|row| only.is_empty() || only.split(',').any(|name| name == row.0)) {
        let (error, x) = worst(row, stride);
        println!("{}32: {error:.3} ulp at {x:e} ({:#x})", row.0, x.to_bits());
        failed |= error > 1.0;
    }
    assert!(!failed, "see the list above");
}

#[test]
fn a_stride_of_all_arguments_is_within_one_ulp() {
    check_all(4099);
}

type PairRow = (&'static str, fn(f32, f32) -> f32, fn(f64, f64) -> f64);

const PAIR_ROWS: &[PairRow] =
    &[("pow", pow::pow32, f64::powf), ("hypot", plane::hypot32, f64::hypot), ("atan2", plane::atan2_32, f64::atan2)];

/// Numbers of every kind: all bit patterns, and ordinary ones close to 1, zeros, infinities, integers, NaN.
fn hostile(state: &mut u64) -> f32 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    let bits = (*state >> 32) as u32;
    let special =
        [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 3.0, -3.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, 1e-45];
    match *state >> 29 & 7 {
        0 => special[bits as usize % special.len()],
        1 => (bits as i32 >> 25) as f32,
        2 | 3 => f32::from_bits(bits),
        4 => 1.0 + (bits as i32 as f32) * 2f32.powi(-40),
        5 => (bits as i32 as f32) * 2f32.powi(-24),
        _ => f32::from_bits(0x3f00_0000 + (bits >> 8)),
    }
}

#[test]
fn functions_of_two_numbers_are_within_one_ulp() {
    let mut state = 1;
    for row in PAIR_ROWS {
        let mut worst = (0.0, 0.0, 0.0);
        for _ in 0..2_000_000 {
            let (x, y) = (hostile(&mut state), hostile(&mut state));
            let error = ulps(row.1(x, y), row.2(x.into(), y.into()));
            if error > worst.0 {
                worst = (error, x, y);
            }
        }
        println!("{}32: {:.3} ulp at {:e} {:e}", row.0, worst.0, worst.1, worst.2);
        assert!(worst.0 <= 1.0, "{}32 is {} ulp off at {:e} {:e}", row.0, worst.0, worst.1, worst.2);
    }
}

/// `CUPRIC_MATH_ONLY=exp,log` picks functions.
#[test]
#[ignore = "minutes a function"]
fn every_argument_is_within_one_ulp() {
    check_all(1);
}

#[test]
fn the_rare_form_equals_the_plain_one_where_both_hold() {
    type Form = fn(f32) -> f32;
    let pairs: [(Form, Form); 3] =
        [(trig::sin32, trig::sin32_rare), (trig::cos32, trig::cos32_rare), (trig::tan32, trig::tan32_rare)];
    for bits in (0..u32::MAX).step_by(9973) {
        let x = f32::from_bits(bits);
        for (plain, rare) in pairs.iter().filter(|_| !trig::trig32_is_rare(x)) {
            assert!(plain(x).to_bits() == rare(x).to_bits() || !x.is_finite(), "{x:e}");
        }
    }
}

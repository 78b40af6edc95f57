//! Nanoseconds an element on a tile in the L1 cache, beside the standard library's function.
//!
//! `RUSTFLAGS="-C target-feature=+avx2,+fma" cargo run -p cupric-math --example speed` (or `+avx512f,+avx512dq,+avx512vl,...`).

use cupric_math::{area, exp, hyperbolic, log, plane, pow, random, root, trig};
use std::hint::black_box;
use std::time::Instant;

const TILE: usize = 2048;

fn nanoseconds<T: Copy>(tile: &[T], out: &mut [T], function: impl Fn(T) -> T) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..30 {
        let start = Instant::now();
        for _ in 0..20 {
            for (slot, &x) in out.iter_mut().zip(black_box(tile)) {
                *slot = function(x);
            }
            black_box(&mut *out);
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / (20 * TILE) as f64);
    }
    best
}

fn report<T: Copy + Default>(name: &str, make: impl Fn(f64) -> T, ours: impl Fn(T) -> T, std: impl Fn(T) -> T) {
    let tile: Vec<T> = (0..TILE).map(|i| make((i * 577 % TILE) as f64 / TILE as f64)).collect();
    let mut out = vec![T::default(); TILE];
    let (ours, std) = (nanoseconds(&tile, &mut out, ours), nanoseconds(&tile, &mut out, std));
    println!("{name:10} {ours:7.2} ns   std {std:7.2} ns");
}

/// Arguments from -10 to 10.
fn wide32(u: f64) -> f32 {
    (u * 20.0 - 10.0) as f32
}

fn wide64(u: f64) -> f64 {
    u * 20.0 - 10.0
}

fn positive32(u: f64) -> f32 {
    (u * 100.0 + 0.001) as f32
}

fn positive64(u: f64) -> f64 {
    u * 100.0 + 0.001
}

fn main() {
    report("exp32", wide32, exp::exp32, f32::exp);
    report("exp2_32", wide32, exp::exp2_32, f32::exp2);
    report("expm1_32", wide32, exp::expm1_32, f32::exp_m1);
    report("log32", positive32, log::log32, f32::ln);
    report("log2_32", positive32, log::log2_32, f32::log2);
    report("log10_32", positive32, log::log10_32, f32::log10);
    report("log1p_32", positive32, log::log1p_32, f32::ln_1p);
    report("sin32", wide32, trig::sin32, f32::sin);
    report("cos32", wide32, trig::cos32, f32::cos);
    report("tan32", wide32, trig::tan32, f32::tan);
    report("sin32_rare", wide32, trig::sin32_rare, f32::sin);
    report("sinh32", wide32, hyperbolic::sinh32, f32::sinh);
    report("cosh32", wide32, hyperbolic::cosh32, f32::cosh);
    report("tanh32", wide32, hyperbolic::tanh32, f32::tanh);
    report("asinh32", wide32, area::asinh32, f32::asinh);
    report("acosh32", positive32, area::acosh32, f32::acosh);
    report("cbrt32", wide32, root::cbrt32, f32::cbrt);
    report("asin32", |u| u as f32, plane::asin32, f32::asin);
    report("acos32", |u| u as f32, plane::acos32, f32::acos);
    report("atanh32", |u| u as f32, area::atanh32, f32::atanh);
    report("atan32", wide32, plane::atan32, f32::atan);
    report("hypot32", wide32, |x| plane::hypot32(x, 3.0), |x| x.hypot(3.0));
    report("pow32", positive32, |x| pow::pow32(x, 2.7), |x| x.powf(2.7));
    report("normal32", |u| u as f32, |u| random::normal32(u, 0.3)[0], |u| (-2.0 * (1.0 - u).ln()).sqrt());
    report("exp64", wide64, exp::exp64, f64::exp);
    report("exp2_64", wide64, exp::exp2_64, f64::exp2);
    report("expm1_64", wide64, exp::expm1_64, f64::exp_m1);
    report("log64", positive64, log::log64, f64::ln);
    report("log2_64", positive64, log::log2_64, f64::log2);
    report("log10_64", positive64, log::log10_64, f64::log10);
    report("log1p_64", positive64, log::log1p_64, f64::ln_1p);
    report("sin64", wide64, trig::sin64, f64::sin);
    report("cos64", wide64, trig::cos64, f64::cos);
    report("tan64", wide64, trig::tan64, f64::tan);
    report("sin64_rare", wide64, trig::sin64_rare, f64::sin);
    report("sinh64", wide64, hyperbolic::sinh64, f64::sinh);
    report("cosh64", wide64, hyperbolic::cosh64, f64::cosh);
    report("tanh64", wide64, hyperbolic::tanh64, f64::tanh);
    report("asinh64", wide64, area::asinh64, f64::asinh);
    report("acosh64", positive64, area::acosh64, f64::acosh);
    report("cbrt64", wide64, root::cbrt64, f64::cbrt);
    report("asin64", |u| u, plane::asin64, f64::asin);
    report("acos64", |u| u, plane::acos64, f64::acos);
    report("atanh64", |u| u, area::atanh64, f64::atanh);
    report("atan64", wide64, plane::atan64, f64::atan);
    report("hypot64", wide64, |x| plane::hypot64(x, 3.0), |x| x.hypot(3.0));
    report("pow64", positive64, |x| pow::pow64(x, 2.7), |x| x.powf(2.7));
    report("normal64", |u| u, |u| random::normal64(u, 0.3)[0], |u| (-2.0 * (1.0 - u).ln()).sqrt());
}

//! The float64 functions against correctly rounded results (`scripts/oracle.py`).

use cupric_math::functions::FUNCTIONS;
use cupric_math::{area, exp, hyperbolic, log, plane, pow, root, trig};
use std::collections::BTreeMap;

const ORACLE: &str = include_str!("oracle64.txt");

fn unary(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "exp" => exp::exp64,
        "exp2" => exp::exp2_64,
        "expm1" => exp::expm1_64,
        "log" => log::log64,
        "log2" => log::log2_64,
        "log10" => log::log10_64,
        "log1p" => log::log1p_64,
        "sin" => trig::sin64_rare,
        "cos" => trig::cos64_rare,
        "tan" => trig::tan64_rare,
        "sinh" => hyperbolic::sinh64,
        "cosh" => hyperbolic::cosh64,
        "tanh" => hyperbolic::tanh64,
        "asinh" => area::asinh64,
        "acosh" => area::acosh64,
        "atanh" => area::atanh64,
        "cbrt" => root::cbrt64,
        "asin" => plane::asin64,
        "acos" => plane::acos64,
        "atan" => plane::atan64,
        _ => return None,
    })
}

fn binary(name: &str) -> fn(f64, f64) -> f64 {
    match name {
        "pow" => pow::pow64,
        "hypot" => plane::hypot64,
        "atan2" => plane::atan2_64,
        _ => panic!("no function {name}"),
    }
}

/// A double's place in the order of all doubles.
fn place(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    if bits < 0 { i64::MIN - bits } else { bits }
}

/// One line of the oracle: the call, what came out, and its error in units in the last place.
fn check(line: &str) -> (&str, String, f64) {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |at: usize| f64::from_bits(u64::from_str_radix(words[at], 16).unwrap());
    let (name, last) = (words[0], words.len() - 1);
    let got = match unary(name) {
        Some(function) => function(number(1)),
        None => binary(name)(number(1), number(2)),
    };
    let exact = number(last - 1);
    let rest = words[last].parse::<f64>().unwrap() / 1000.0;
    let error = match got.is_nan() || got.is_sign_negative() != exact.is_sign_negative() {
        true => f64::INFINITY,
        false => ((place(got) - place(exact)) as f64 - rest).abs(),
    };
    (name, format!("{:e} {:e} -> {got:e}, not {exact:e}", number(1), number(2)), error)
}

#[test]
fn every_function_is_within_its_bound() {
    let mut worst = BTreeMap::new();
    for line in ORACLE.lines() {
        let (name, call, error) = check(line);
        let entry = worst.entry(name).or_insert((String::new(), 0.0));
        if error > entry.1 {
            *entry = (call, error);
        }
    }
    for (name, (call, error)) in &worst {
        println!("{name}64: {error:.3} ulp at {call}");
    }
    assert!(FUNCTIONS.iter().all(|function| worst.contains_key(function.name)));
    assert!(worst.values().all(|(_, error)| *error <= 1.0), "see the list above");
}

#[test]
fn the_rare_form_equals_the_plain_one_where_both_hold() {
    type Form = fn(f64) -> f64;
    let pairs: [(Form, Form); 3] =
        [(trig::sin64, trig::sin64_rare), (trig::cos64, trig::cos64_rare), (trig::tan64, trig::tan64_rare)];
    for bits in (0..=u64::MAX >> 44).map(|i| i << 44 | 0x123_4567_89ab) {
        let x = f64::from_bits(bits);
        for (plain, rare) in pairs.iter().filter(|_| !trig::trig64_is_rare(x)) {
            assert!(plain(x).to_bits() == rare(x).to_bits() || !x.is_finite(), "{x:e}");
        }
    }
}

#[test]
fn special_values_are_those_of_c99() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let cases: [(&str, f64, f64); 43] = [
        ("exp", inf, inf),
        ("exp", -inf, 0.0),
        ("exp", 710.0, inf),
        ("exp", -746.0, 0.0),
        ("exp2", 1024.0, inf),
        ("exp2", -1074.0, 5e-324),
        ("exp2", -inf, 0.0),
        ("expm1", -0.0, -0.0),
        ("expm1", -inf, -1.0),
        ("expm1", inf, inf),
        ("log", 0.0, -inf),
        ("log", -0.0, -inf),
        ("log", inf, inf),
        ("log", -1.0, nan),
        ("log", -inf, nan),
        ("log2", 0.0, -inf),
        ("log10", 1e22, 22.0),
        ("log1p", -1.0, -inf),
        ("log1p", -2.0, nan),
        ("log1p", -0.0, -0.0),
        ("log1p", inf, inf),
        ("sin", -0.0, -0.0),
        ("sin", inf, nan),
        ("cos", -inf, nan),
        ("tan", -0.0, -0.0),
        ("tan", inf, nan),
        ("sinh", -inf, -inf),
        ("sinh", -0.0, -0.0),
        ("cosh", -inf, inf),
        ("tanh", -inf, -1.0),
        ("tanh", -0.0, -0.0),
        ("asinh", -inf, -inf),
        ("asinh", -0.0, -0.0),
        ("acosh", 1.0, 0.0),
        ("acosh", inf, inf),
        ("acosh", 0.9, nan),
        ("atanh", 1.0, inf),
        ("atanh", -0.0, -0.0),
        ("atanh", 1.5, nan),
        ("cbrt", -inf, -inf),
        ("asin", 1.5, nan),
        ("atan", -inf, -std::f64::consts::FRAC_PI_2),
        ("atan", -0.0, -0.0),
    ];
    for (name, x, expected) in cases {
        let got = unary(name).unwrap()(x);
        assert!(got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan()), "{name} {x}: {got}");
    }
    for function in FUNCTIONS.iter().filter(|function| function.arity == 1) {
        assert!(unary(function.name).unwrap()(nan).is_nan(), "{}", function.name);
    }
}

#[test]
fn powers_and_angles_of_special_values_are_those_of_the_standard_library() {
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        1e300,
        -1e300,
        5e-324,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    for x in values {
        for y in values {
            for (name, expected) in [("pow", x.powf(y)), ("atan2", x.atan2(y)), ("hypot", x.hypot(y))] {
                let got = binary(name)(x, y);
                let close = got == expected || (got - expected).abs() <= f64::EPSILON * expected.abs();
                let same = close && got.is_sign_negative() == expected.is_sign_negative();
                assert!(same || got.is_nan() && expected.is_nan(), "{name} {x} {y}: {got}, not {expected}");
            }
        }
    }
}

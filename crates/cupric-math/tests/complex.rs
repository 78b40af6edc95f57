//! Complex functions against NumPy's values (`scripts/complex.py`): special values exactly, others closely.

use cupric_math::complex::*;

type Unary<R> = fn(Complex<R>) -> Complex<R>;
type Binary<R> = fn(Complex<R>, Complex<R>) -> Complex<R>;

fn unary<R: cupric_math::Elementary>(name: &str) -> Option<Unary<R>> {
    Some(match name {
        "sqrt" => sqrt,
        "exp" => exp,
        "log" => log,
        "sin" => sin,
        "cos" => cos,
        "tan" => tan,
        "sinh" => sinh,
        "cosh" => cosh,
        "tanh" => tanh,
        _ => return None,
    })
}

fn binary<R: cupric_math::Elementary>(name: &str) -> Binary<R> {
    match name {
        "mul" => mul,
        "div" => div,
        "pow" => pow,
        _ => panic!("no function {name}"),
    }
}

fn number(re: f64, im: f64) -> Complex<f64> {
    Complex { re, im }
}

/// C99 leaves some signs open: of a zero or an infinity beside a NaN.
fn agrees(got: f64, expected: f64, other: f64, size: f64, bound: f64) -> bool {
    if expected.is_nan() || got.is_nan() {
        return expected.is_nan() && got.is_nan();
    }
    if expected == 0.0 || expected.is_infinite() {
        return got == expected && (other.is_nan() || got.is_sign_negative() == expected.is_sign_negative());
    }
    (got - expected).abs() <= bound * size
}

fn close(got: Complex<f64>, expected: Complex<f64>, bound: f64) -> bool {
    let size = expected.re.hypot(expected.im);
    agrees(got.re, expected.re, expected.im, size, bound) && agrees(got.im, expected.im, expected.re, size, bound)
}

#[test]
fn functions_are_those_of_numpy() {
    let mut wrong = Vec::new();
    for line in include_str!("complex128.txt").lines() {
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let n: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
        let (got, expected) = match unary::<f64>(name) {
            Some(function) => (function(number(n[0], n[1])), number(n[2], n[3])),
            None => (binary(name)(number(n[0], n[1]), number(n[2], n[3])), number(n[4], n[5])),
        };
        let bound = if matches!(name, "mul" | "div") { 0.0 } else { 3e-15 };
        if !close(got, expected, bound) {
            wrong.push(format!("{line}, got {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn single_precision_follows_double_precision() {
    for step in -400..400 {
        let (re, im) = (step as f32 * 0.0371, (step * 7 % 31) as f32 * 0.113);
        for name in ["sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh"] {
            let got = unary::<f32>(name).unwrap()(Complex { re, im });
            let expected = unary::<f64>(name).unwrap()(number(re.into(), im.into()));
            assert!(
                close(number(got.re.into(), got.im.into()), expected, 1e-6),
                "{name} {re} {im}: {got:?} {expected:?}"
            );
        }
    }
}

/// Whether two results are the same, every NaN counting alike.
fn same(a: Complex<f64>, b: Complex<f64>) -> bool {
    let part = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    part(a.re, b.re) && part(a.im, b.im)
}

#[test]
fn the_sign_of_a_nan_does_not_show() {
    // Processors disagree about it: it must decide nothing, not even the sign of a zero.
    let others = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 800.0, -800.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for other in others {
        let pairs = [[(f64::NAN, other), (-f64::NAN, other)], [(other, f64::NAN), (other, -f64::NAN)]];
        for [plus, minus] in pairs.map(|pair| pair.map(|(re, im)| number(re, im))) {
            for name in ["sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh"] {
                let function = unary::<f64>(name).unwrap();
                let (got, expected) = (function(minus), function(plus));
                assert!(same(got, expected), "{name} of {minus:?}: {got:?}, and not {expected:?}");
            }
            for third in others {
                for power in [number(third, 0.0), number(third, other), number(2.0, third)] {
                    assert!(same(pow(minus, power), pow(plus, power)), "{minus:?} to the power {power:?}");
                    assert!(same(pow(power, minus), pow(power, plus)), "{power:?} to the power {minus:?}");
                    assert!(same(div(power, minus), div(power, plus)), "{power:?} by {minus:?}");
                }
            }
        }
    }
}

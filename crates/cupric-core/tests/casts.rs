//! Conversions of values against tables made by NumPy and ml_dtypes.

use cupric_core::{Bits, DType, Exception, Scalar, bf16_to_f32, cast_bits, f16_to_f32, f16_to_f64, f32_to_bf16};
use cupric_core::{f32_to_f16, f32_to_i32, f32_to_i64, f64_to_bf16, f64_to_f16, f64_to_i32, f64_to_i64};

fn bits(text: &str) -> Bits {
    let mut parts = text.split(',').map(|part| u64::from_str_radix(part, 16).unwrap());
    Bits([parts.next().unwrap(), parts.next().unwrap_or(0)])
}

#[test]
fn casts_give_the_bits_of_numpy() {
    let mut checked = 0;
    for line in include_str!("data/casts.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let mut dtype = || DType::from_name(words.next().unwrap()).unwrap();
        let (from, to) = (dtype(), dtype());
        for pair in words {
            let (source, target) = pair.split_once('=').unwrap();
            assert_eq!(cast_bits(from, to, bits(source)), bits(target), "{from} to {to}: {pair}");
            checked += 1;
        }
    }
    assert!(checked > 4000, "{checked}");
}

#[test]
fn halves_go_there_and_back_unchanged() {
    for h in 0..=u16::MAX {
        assert_eq!(f32_to_f16(f16_to_f32(h)), h);
        assert_eq!(f64_to_f16(f16_to_f64(h)), h);
        if !bf16_to_f32(h).is_nan() {
            assert_eq!(f32_to_bf16(bf16_to_f32(h)), h);
            assert_eq!(f64_to_bf16(f64::from(bf16_to_f32(h))), h);
        }
    }
}

#[test]
fn every_boundary_between_halves_rounds_to_even() {
    let next = |x: f64, step: i64| f64::from_bits(x.to_bits().wrapping_add_signed(step));
    for h in 0..0x7bff_u16 {
        let middle = (f16_to_f64(h) + f16_to_f64(h + 1)) / 2.0;
        let even = h + (h & 1);
        assert_eq!([f64_to_f16(next(middle, -1)), f64_to_f16(middle), f64_to_f16(next(middle, 1))], [h, even, h + 1]);
        assert_eq!(f32_to_f16(middle as f32), even);
    }
    for b in 0..0x7f7f_u16 {
        let middle = (f64::from(bf16_to_f32(b)) + f64::from(bf16_to_f32(b + 1))) / 2.0;
        let even = b + (b & 1);
        assert_eq!(
            [f64_to_bf16(next(middle, -1)), f64_to_bf16(middle), f64_to_bf16(next(middle, 1))],
            [b, even, b + 1]
        );
    }
}

#[test]
fn single_precision_agrees_with_an_independent_implementation() {
    let mut state = 1_u32;
    for _ in 0..1_000_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let x = f32::from_bits(state ^ (state >> 15));
        if !x.is_nan() {
            assert_eq!(f32_to_f16(x), half::f16::from_f32(x).to_bits(), "{x:e}");
            assert_eq!(f32_to_bf16(x), half::bf16::from_f32(x).to_bits(), "{x:e}");
        }
    }
}

#[test]
fn floats_to_integers_agree_with_saturating_conversion_where_it_is_right() {
    let mut state = 1_u64;
    for step in 0..4_000_000_u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Half of the values lie around the sizes of integers.
        let exponent = if step & 1 == 0 { state >> 53 } else { 1018 + state % 70 };
        let x = f64::from_bits((state << 63) | (exponent << 52) | (state.rotate_left(31) >> 12));
        for x in [x, x.round(), x.trunc() + 0.5] {
            let y = x as f32;
            assert_eq!(f64_to_i32(x), if x < 2_147_483_648.0 { x as i32 } else { i32::MIN }, "{x:e}");
            assert_eq!(f64_to_i64(x), if x < 9_223_372_036_854_775_808.0 { x as i64 } else { i64::MIN }, "{x:e}");
            assert_eq!(f32_to_i32(y), if y < 2_147_483_648.0 { y as i32 } else { i32::MIN }, "{y:e}");
            assert_eq!(f32_to_i64(y), if y < 9_223_372_036_854_775_808.0 { y as i64 } else { i64::MIN }, "{y:e}");
        }
    }
}

#[test]
fn python_integers_out_of_bounds_are_refused() {
    let refuse = |value, dtype| {
        let error = Scalar::Int(value).to_bits_checked(dtype).unwrap_err();
        assert_eq!(error.exception(), Exception::OverflowError);
        error.to_string()
    };
    assert_eq!(refuse(300, DType::UInt8), "Python integer 300 out of bounds for uint8");
    assert_eq!(refuse(-1, DType::UInt64), "Python integer -1 out of bounds for uint64");
    assert_eq!(refuse(128, DType::Int8), "Python integer 128 out of bounds for int8");
    assert_eq!(refuse(1 << 70, DType::Int8), "Python int too large to convert to C long");
    assert_eq!(refuse(1 << 63, DType::Int64), "Python int too large to convert to C long");
    assert_eq!(refuse(1 << 64, DType::UInt64), "Python int too large to convert to C long");
    assert_eq!(Scalar::Int(-128).to_bits_checked(DType::Int8), Ok(Bits([0x80, 0])));
    assert_eq!(Scalar::Int(u64::MAX.into()).to_bits_checked(DType::UInt64), Ok(Bits([u64::MAX, 0])));
    assert_eq!(Scalar::Int(1 << 70).to_bits_checked(DType::Float16), Ok(Bits([0x7c00, 0])));
    assert_eq!(Scalar::Int(2).to_bits_checked(DType::Bool), Ok(Bits([1, 0])));
}

#[test]
fn floats_and_complex_numbers_convert_as_in_assignments() {
    let refuse = |value: Scalar, dtype| {
        let error = value.to_bits_checked(dtype).unwrap_err();
        (error.exception(), error.to_string())
    };
    assert_eq!(Scalar::Float(1.5).to_bits_checked(DType::UInt8), Ok(Bits([1, 0])));
    assert_eq!(Scalar::Float(-0.5).to_bits_checked(DType::UInt8), Ok(Bits([0, 0])));
    assert_eq!(Scalar::Float(1e40).to_bits_checked(DType::Float32), Ok(Bits([0x7f80_0000, 0])));
    assert_eq!(Scalar::Complex(0.0, 1.0).to_bits_checked(DType::Bool), Ok(Bits([1, 0])));
    let (exception, text) = refuse(Scalar::Float(f64::NAN), DType::Int32);
    assert_eq!((exception, text.as_str()), (Exception::ValueError, "cannot convert float NaN to integer"));
    let (exception, text) = refuse(Scalar::Float(f64::INFINITY), DType::Int32);
    assert_eq!((exception, text.as_str()), (Exception::OverflowError, "cannot convert float infinity to integer"));
    assert_eq!(refuse(Scalar::Float(300.5), DType::UInt8).1, "Python integer 300 out of bounds for uint8");
    assert_eq!(refuse(Scalar::Complex(1.0, 2.0), DType::Float32).0, Exception::TypeError);
    assert_eq!(refuse(Scalar::Complex(1.0, 2.0), DType::Int8).0, Exception::TypeError);
}

#[test]
fn unsafe_conversion_of_scalars_wraps() {
    assert_eq!(Scalar::Int(300).to_bits(DType::UInt8), Bits([44, 0]));
    assert_eq!(Scalar::Int(-1).to_bits(DType::Int16), Bits([0xffff, 0]));
    assert_eq!(Scalar::Int((1 << 64) + 5).to_bits(DType::UInt8), Bits([5, 0]));
    assert_eq!(Scalar::Bool(true).to_bits(DType::Float16), Bits([0x3c00, 0]));
    assert_eq!(Scalar::Complex(1.0, 2.0).to_bits(DType::Complex64), Bits([0x3f80_0000, 0x4000_0000]));
    assert_eq!(Scalar::Complex(1.0, 2.0).to_bits(DType::Int8), Bits([1, 0]));
}

#[test]
fn scalars_and_bytes_go_there_and_back() {
    for dtype in DType::ALL {
        for value in [0, 1, 100] {
            let bits = Scalar::Int(value).to_bits(dtype);
            assert_eq!(Scalar::from_bits(dtype, bits).to_bits(dtype), bits);
            let bytes = bits.to_bytes(dtype);
            assert_eq!(bytes.len(), dtype.size());
            assert_eq!(Bits::from_bytes(dtype, &bytes), bits);
        }
    }
    let bits = Scalar::Complex(1.0, -2.0).to_bits(DType::Complex64);
    assert_eq!(bits.to_bytes(DType::Complex64)[..], [0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]);
    assert_eq!(Scalar::from_bits(DType::Int8, Bits([0xff, 0])), Scalar::Int(-1));
}

//! Promotion and casting rules against tables made by NumPy.

use cupric_core::{Casting, DType, Typed, Weak, can_cast, promote, result_type};

const TABLES: &str = include_str!("data/promotion.txt");

fn numpy_dtypes() -> Vec<DType> {
    DType::ALL.into_iter().filter(|&dtype| dtype != DType::BFloat16).collect()
}

/// Rows of a table: the dtype they are for, and their digits.
fn rows(table: &str) -> Vec<(DType, Vec<usize>)> {
    let lines = TABLES.lines().filter_map(|line| line.strip_prefix(table)?.strip_prefix(' '));
    let rows: Vec<_> = lines
        .map(|line| {
            let (name, digits) = line.split_once(' ').unwrap();
            (
                DType::from_name(name).unwrap(),
                digits.chars().map(|digit| digit.to_digit(16).unwrap() as usize).collect(),
            )
        })
        .collect();
    assert_eq!(rows.len(), 14);
    rows
}

#[test]
fn two_dtypes_promote_as_in_numpy() {
    let dtypes = numpy_dtypes();
    for (a, digits) in rows("promote") {
        for (&b, digit) in dtypes.iter().zip(digits) {
            assert_eq!(promote(a, b), dtypes[digit], "{a} with {b}");
            assert_eq!(result_type(&[Typed::Strong(a), Typed::Strong(b)]), dtypes[digit]);
        }
    }
}

#[test]
fn python_numbers_promote_as_in_numpy() {
    let dtypes = numpy_dtypes();
    for (dtype, digits) in rows("weak") {
        for (weak, digit) in [Weak::Int, Weak::Float, Weak::Complex].into_iter().zip(digits) {
            assert_eq!(result_type(&[Typed::Weak(weak), Typed::Strong(dtype)]), dtypes[digit], "{dtype} with {weak:?}");
        }
    }
    assert_eq!(result_type(&[Typed::Weak(Weak::Int)]), DType::Int64);
    assert_eq!(result_type(&[Typed::Weak(Weak::Float), Typed::Weak(Weak::Int)]), DType::Float64);
    assert_eq!(result_type(&[Typed::Weak(Weak::Float), Typed::Weak(Weak::Complex)]), DType::Complex128);
    let mixed = [Typed::Strong(DType::Int8), Typed::Weak(Weak::Float), Typed::Strong(DType::Float32)];
    assert_eq!(result_type(&mixed), DType::Float32);
}

#[test]
fn bfloat16_promotes_as_float16_does() {
    for other in numpy_dtypes() {
        let expected = match (other, promote(DType::Float16, other)) {
            (DType::Float16, _) => DType::Float32,
            (_, DType::Float16) => DType::BFloat16,
            (_, result) => result,
        };
        assert_eq!(promote(DType::BFloat16, other), expected, "{other}");
        assert_eq!(promote(other, DType::BFloat16), expected, "{other}");
    }
    let with = |weak| result_type(&[Typed::Strong(DType::BFloat16), Typed::Weak(weak)]);
    assert_eq!([with(Weak::Int), with(Weak::Float)], [DType::BFloat16; 2]);
    assert_eq!(with(Weak::Complex), DType::Complex64);
}

#[test]
fn casting_rules_are_those_of_numpy() {
    for casting in [Casting::Safe, Casting::SameKind, Casting::No] {
        for (from, digits) in rows(casting.name()) {
            for (to, digit) in numpy_dtypes().into_iter().zip(digits) {
                assert_eq!(can_cast(from, to, casting), digit == 1, "{from} to {to}, {casting}");
                assert!(can_cast(from, to, Casting::Unsafe));
            }
        }
    }
    assert!(!can_cast(DType::Float16, DType::BFloat16, Casting::Safe));
    assert!(can_cast(DType::Float16, DType::BFloat16, Casting::SameKind));
    assert!(can_cast(DType::BFloat16, DType::Float32, Casting::Safe));
}

#[test]
fn casting_names_are_read_and_others_refused() {
    for casting in [Casting::No, Casting::Equiv, Casting::Safe, Casting::SameKind, Casting::Unsafe] {
        assert_eq!(Casting::from_name(casting.name()), Ok(casting));
    }
    let error = Casting::from_name("foo").unwrap_err();
    assert_eq!(error.to_string(), "casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got 'foo')");
}

#[test]
fn dtype_names_are_those_of_numpy() {
    let codes = "? b h i l B H I L e f d F D";
    for (code, dtype) in codes.split(' ').zip(numpy_dtypes()) {
        for text in [code.to_owned(), format!("<{code}"), format!("={code}"), format!("|{code}")] {
            assert_eq!(DType::from_name(&text), Some(dtype), "{text}");
        }
        let swapped = (dtype.size() == 1).then_some(dtype);
        assert_eq!(DType::from_name(&format!(">{code}")), swapped, "{code}");
    }
    for dtype in DType::ALL {
        assert_eq!(DType::from_name(dtype.name()), Some(dtype));
        assert_eq!(dtype.to_string(), dtype.name());
    }
    for (text, dtype) in [
        ("float", DType::Float64),
        ("int_", DType::Int64),
        ("<f8", DType::Float64),
        ("c16", DType::Complex128),
        ("intc", DType::Int32),
        ("ulonglong", DType::UInt64),
        ("half", DType::Float16),
        ("csingle", DType::Complex64),
        ("n", DType::Int64),
        ("b1", DType::Bool),
    ] {
        assert_eq!(DType::from_name(text), Some(dtype), "{text}");
    }
    for text in ["", "<", ">f8", "<int8", "float_", "uint_", "longdouble", "g", "O", "f16", "S5", "é"] {
        assert_eq!(DType::from_name(text), None, "{text}");
    }
}

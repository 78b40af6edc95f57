//! Arrays end to end, on the host.

use cupric::{
    Array, Bounds, DType, Item, KeepAxes, Order, Reduction, Result, Scalar, Sorted, Spread, arange, concatenate, dot,
    eye, full, linspace, matmul, mean, ones,
    random::Generator,
    reduce, scan, sort, spread,
    ufunc::{self, Operand},
    zeros,
};

fn ints(values: &[i64], shape: &[isize]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Array::from_bytes(&[values.len()], DType::Int64, &bytes).unwrap().reshape(shape).unwrap()
}

fn floats(a: &Array) -> Vec<f64> {
    let wide = a.astype(DType::Float64, Order::RowMajor).unwrap();
    wide.to_bytes().unwrap().chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

fn call(name: &str, inputs: &[Operand<'_>]) -> Array {
    ufunc::call(ufunc::row(name), inputs, Default::default()).unwrap().remove(0)
}

fn slice(start: Option<isize>, stop: Option<isize>, step: Option<isize>) -> Item {
    Item::Slice { start, stop, step }
}

#[test]
fn arithmetic_promotes_and_broadcasts() {
    let a = ints(&[1, 2, 3], &[3]);
    let column = a.reshape(&[3, 1]).unwrap();
    assert_eq!(floats(&call("add", &[(&a).into(), (&column).into()])), [2., 3., 4., 3., 4., 5., 4., 5., 6.]);
    let half = call("multiply", &[(&a).into(), 0.5.into()]);
    assert_eq!((half.dtype(), floats(&half)), (DType::Float64, vec![0.5, 1.0, 1.5]));
}

#[test]
fn a_result_keeps_the_values_it_was_made_from() {
    let a = arange(5, DType::Float64).unwrap();
    let b = call("add", &[(&a).into(), 1.0.into()]);
    a.set(&[Item::Int(0)], 9.0.into()).unwrap();
    assert_eq!((floats(&b), floats(&a)), (vec![1., 2., 3., 4., 5.], vec![9., 1., 2., 3., 4.]));
}

#[test]
fn in_place_work_on_overlapping_views_is_as_if_the_input_were_copied() {
    let a = arange(10, DType::Float64).unwrap();
    let tail = a.get(&[slice(Some(1), None, None)]).unwrap();
    let head = a.get(&[slice(None, Some(-1), None)]).unwrap();
    let out = [Some(&tail)];
    let options = ufunc::Options { out: &out, ..Default::default() };
    ufunc::call(ufunc::row("add"), &[(&tail).into(), (&head).into()], options).unwrap();
    assert_eq!(floats(&a), [0., 1., 3., 5., 7., 9., 11., 13., 15., 17.]);
    let square = arange(16, DType::Float64).unwrap().reshape(&[4, 4]).unwrap();
    let out = [Some(&square)];
    let options = ufunc::Options { out: &out, ..Default::default() };
    ufunc::call(ufunc::row("add"), &[(&square).into(), (&square.reversed_axes()).into()], options).unwrap();
    assert_eq!(floats(&square)[..5], [0., 5., 10., 15., 5.]);
}

#[test]
fn reductions_take_axes() {
    let a = arange(24, DType::Float32).unwrap().reshape(&[2, 3, 4]).unwrap();
    let over =
        |axes: &[isize]| floats(&reduce("sum", &a, Reduction { axes: Some(axes), ..Default::default() }).unwrap());
    assert_eq!(over(&[0, 2]), [60., 92., 124.]);
    assert_eq!(over(&[1]), [12., 15., 18., 21., 48., 51., 54., 57.]);
    assert_eq!(floats(&reduce("argmax", &a, Reduction::default()).unwrap()), [23.]);
    let kept = Reduction { axes: Some(&[-1]), keep: KeepAxes::Yes, ..Default::default() };
    assert_eq!(mean(&a, kept).unwrap().shape(), [2, 3, 1]);
    let one = |a: Array| floats(&a)[0];
    let (variance, deviation) = (
        one(spread(&a, Reduction::default(), 0.0, Spread::Variance).unwrap()),
        one(spread(&a, Reduction::default(), 0.0, Spread::Deviation).unwrap()),
    );
    assert!((variance - 47.916_667).abs() < 1e-4 && (deviation - 6.922_186_552).abs() < 1e-5, "{variance} {deviation}");
    assert_eq!(floats(&scan("sum", &a, Some(1), None, None).unwrap())[4..8], [4., 6., 8., 10.]);
}

#[test]
fn large_sums_are_right_and_masks_take_part() {
    let a = ones(&[1_000_003], DType::Float32).unwrap();
    assert_eq!(floats(&reduce("sum", &a, Reduction::default()).unwrap()), [1_000_003.0]);
    let b = arange(6, DType::Int32).unwrap();
    let mask = call("greater", &[(&b).into(), 2i64.into()]);
    let some = Reduction { mask: Some(&mask), ..Default::default() };
    assert_eq!(floats(&reduce("sum", &b, some).unwrap()), [12.0]);
    assert_eq!(floats(&mean(&b, some).unwrap()), [4.0]);
    assert!(reduce("max", &b, some).is_err());
    assert!(reduce("max", &zeros(&[0], DType::Float64).unwrap(), Reduction::default()).is_err());
}

#[test]
fn indexing_reads_and_writes() {
    let a = arange(24, DType::Int64).unwrap().reshape(&[4, 6]).unwrap();
    let reversed = a.get(&[slice(None, None, Some(-1)), slice(None, None, Some(-2))]).unwrap();
    assert_eq!(floats(&reversed)[..4], [23., 21., 19., 17.]);
    let (rows, columns) = (ints(&[0, 2, -1], &[3]), ints(&[1, 4, 5], &[3]));
    let picked = a.get(&[Item::Array(rows.clone()), Item::Array(columns.clone())]).unwrap();
    assert_eq!(floats(&picked), [1., 16., 23.]);
    let mask = call("greater", &[(&a).into(), 20i64.into()]);
    assert_eq!(floats(&a.get(&[Item::Array(mask.clone())]).unwrap()), [21., 22., 23.]);
    a.set(&[Item::Array(mask)], 0i64.into()).unwrap();
    a.set(&[Item::Array(rows), Item::Array(columns)], (&ints(&[7, 8, 9], &[3])).into()).unwrap();
    let flat = floats(&a);
    assert_eq!((flat[1], flat[16], flat[21], flat[23]), (7., 8., 0., 9.));
    let twice = ints(&[0, 0], &[2]);
    let b = zeros(&[2], DType::Int64).unwrap();
    b.set(&[Item::Array(twice)], (&ints(&[1, 2], &[2])).into()).unwrap();
    assert_eq!(floats(&b), [2., 0.], "of repeated indices the last one stays");
    assert!(b.take(&ints(&[5], &[1]), Some(0), Bounds::Raise).is_err());
    assert_eq!(floats(&b.take(&ints(&[5], &[1]), Some(0), Bounds::Clip).unwrap()), [0.]);
}

#[test]
fn joining_sorting_and_products() -> Result<()> {
    let a = ints(&[3, 1, 2], &[3]);
    assert_eq!(floats(&sort(&a, Some(-1), Sorted::Values)?), [1., 2., 3.]);
    assert_eq!(floats(&sort(&a, Some(-1), Sorted::Positions)?), [1., 2., 0.]);
    assert_eq!(floats(&concatenate(&[a.clone(), a.clone()], Some(0), None)?).len(), 6);
    let m = arange(6, DType::Float64)?.reshape(&[2, 3])?;
    assert_eq!(floats(&matmul(&m, &m.reversed_axes())?), [5., 14., 14., 50.]);
    assert_eq!(floats(&dot(&m, &arange(3, DType::Float64)?)?), [5., 14.]);
    assert_eq!(floats(&matmul(&eye(3, 3, 0, DType::Int64)?, &a)?), [3., 1., 2.]);
    Ok(())
}

#[test]
fn random_numbers_are_those_of_numpy() -> Result<()> {
    // numpy.random.Generator(numpy.random.Philox(5)).random(3)
    let numbers = floats(&Generator::new(&[5]).random(&[3], DType::Float64)?);
    let again = floats(&Generator::new(&[5]).random(&[1000], DType::Float64)?);
    assert_eq!(numbers, again[..3]);
    let mut parts = Generator::new(&[5]);
    let split: Vec<f64> =
        [1, 2, 5].iter().flat_map(|&n| floats(&parts.random(&[n], DType::Float64).unwrap())).collect();
    assert_eq!(split, again[..8]);
    Ok(())
}

#[test]
fn ranges_are_numpys() -> Result<()> {
    use cupric::{Endpoint, arange_between};
    let between = |start, stop, step| arange_between(start, stop, step, None).map(|a| floats(&a));
    assert_eq!(between(Scalar::Int(0), Scalar::Int(10), Scalar::Int(3))?, [0., 3., 6., 9.]);
    assert_eq!(between(Scalar::Int(10), Scalar::Int(0), Scalar::Int(-4))?, [10., 6., 2.]);
    assert_eq!(between(Scalar::Int(0), Scalar::Int(-10), Scalar::Int(3))?, []);
    assert_eq!(between(Scalar::Float(0.0), Scalar::Float(1.0), Scalar::Float(0.25))?, [0., 0.25, 0.5, 0.75]);
    assert_eq!(floats(&linspace(0.0, 1.0, 5, Endpoint::Include, DType::Float64)?), [0., 0.25, 0.5, 0.75, 1.]);
    assert_eq!(floats(&full(&[2], Scalar::Float(7.5), DType::Float32)?), [7.5, 7.5]);
    Ok(())
}

//! Reductions and scans along axes.

use crate::{
    array::Array,
    ufunc::{Operand, Options, call, row},
};
use cupric_core::{DType, Dims, Error, Part, Result, Scalar, normalize_axes, normalize_axis};
use cupric_ir::{CompiledFold, Ex, Finish, Fold, Op, Parameter, ReduceStep, Register, Scan, Step, Ty, fold, trace};
use rustc_hash::FxHashMap;
use std::{cell::RefCell, sync::Arc};

/// What a caller may ask of a reduction.
#[derive(Clone, Copy, Default)]
pub struct Reduction<'a> {
    /// The axes to reduce; all if `None`.
    pub axes: Option<&'a [isize]>,
    /// The dtype to accumulate in.
    pub dtype: Option<DType>,
    /// Where the result goes.
    pub out: Option<&'a Array>,
    /// Whether reduced axes stay, with length 1.
    pub keep: KeepAxes,
    /// What to start from.
    pub initial: Option<Scalar>,
    /// Which elements take part.
    pub mask: Option<&'a Array>,
}

/// Whether reduced axes stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum KeepAxes {
    /// They go.
    #[default]
    No,
    /// They stay, with length 1.
    Yes,
}

thread_local! {
    static FOLDS: RefCell<FxHashMap<(&'static str, DType), Arc<CompiledFold>>> = RefCell::default();
}

fn compiled(fold: &'static Fold, accumulator: DType) -> Result<Arc<CompiledFold>> {
    let key = (fold.name, accumulator);
    if let Some(known) = FOLDS.with_borrow(|folds| folds.get(&key).cloned()) {
        return Ok(known);
    }
    let made = Arc::new(fold.compile(accumulator)?);
    FOLDS.with_borrow_mut(|folds| folds.insert(key, made.clone()));
    Ok(made)
}

fn named(name: &str) -> &'static Fold {
    fold(name).expect("a name of the table")
}

/// Reduces by the fold of this name: `sum`, `prod`, `max`, `min`, `any`, `all`, `argmax`, `argmin`.
///
/// # Errors
/// When an axis does not exist, nothing is reduced by a fold without identity, or the output does not fit.
pub fn reduce(name: &str, a: &Array, given: Reduction<'_>) -> Result<Array> {
    let fold = named(name);
    let accumulator = given.dtype.unwrap_or_else(|| fold.accumulator(a.dtype()));
    let masked;
    let a = match given.mask {
        Some(mask) => {
            masked = masked_out(fold, a, mask, accumulator, given.initial)?;
            &masked
        }
        None => a,
    };
    let result = fold_axes(fold, a, accumulator, given, plain_finish(fold, accumulator)?)?;
    match given.initial {
        Some(initial) => with_initial(fold, &result, initial, given.out),
        None => Ok(result),
    }
}

/// The elements, with those that do not take part replaced by what changes nothing.
fn masked_out(
    fold: &'static Fold,
    a: &Array,
    mask: &Array,
    accumulator: DType,
    initial: Option<Scalar>,
) -> Result<Array> {
    let neutral = match (compiled(fold, accumulator)?.identity.is_some(), initial) {
        (true, _) => Scalar::Int(i128::from(matches!(fold.name, "prod" | "all"))),
        (false, Some(initial)) => initial,
        (false, None) => {
            return Err(Error::Value(format!(
                "reduction operation '{}' does not have an identity, so to use a where mask one has to specify 'initial'",
                fold.ufunc
            )));
        }
    };
    let wide = a.to_dtype(accumulator)?;
    let neutral = Operand::Typed(accumulator, neutral.to_bits(accumulator));
    Ok(call(row("where"), &[mask.into(), (&wide).into(), neutral], Options::default())?.remove(0))
}

fn with_initial(fold: &'static Fold, result: &Array, initial: Scalar, out: Option<&Array>) -> Result<Array> {
    let initial = Operand::Typed(result.dtype(), initial.to_bits(result.dtype()));
    let out = [out];
    Ok(call(row(fold.ufunc), &[initial, result.into()], Options { out: &out, ..Options::default() })?.remove(0))
}

/// The registers as they are, rounded to the dtype of the result.
fn plain_finish(fold: &'static Fold, accumulator: DType) -> Result<Finish> {
    let compiled = compiled(fold, accumulator)?;
    let position = fold.is_position();
    Ok(finish(&compiled.state, Vec::new(), |state, _| {
        if position {
            return vec![state[state.len() - 1]];
        }
        state.iter().map(|register| register.round_to(accumulator.component())).collect()
    }))
}

fn finish(state: &[Ty], parameters: Vec<Parameter>, formula: impl FnOnce(&[Ex], &[Ex]) -> Vec<Ex>) -> Finish {
    let (graph, results) = trace(|| {
        let arguments: Vec<Ex> = state.iter().enumerate().map(|(index, &ty)| Ex::argument(index, ty)).collect();
        let scalars: Vec<Ex> =
            parameters.iter().enumerate().map(|(index, parameter)| Ex::parameter(index, parameter.ty)).collect();
        formula(&arguments, &scalars)
    });
    Finish { graph, parameters, value: Register { real: results[0], imaginary: results.get(1).copied() } }
}

struct Axes {
    reduced: Dims,
    kept: Dims,
    with_ones: Dims,
}

fn split(a: &Array, given: Option<&[isize]>) -> Result<Axes> {
    let mut reduced = match given {
        // A number has one axis here, as in NumPy: the one that it is repeated along.
        Some(axes) if a.ndim() == 0 && axes.iter().all(|axis| matches!(axis, 0 | -1)) => {
            normalize_axes(axes, 1)?;
            Dims::new()
        }
        Some(axes) => normalize_axes(axes, a.ndim())?,
        None => (0..a.ndim()).collect(),
    };
    reduced.sort_unstable();
    let kept = (0..a.ndim()).filter(|axis| !reduced.contains(axis)).map(|axis| a.shape()[axis]).collect();
    let with_ones = (0..a.ndim()).map(|axis| if reduced.contains(&axis) { 1 } else { a.shape()[axis] }).collect();
    Ok(Axes { reduced, kept, with_ones })
}

fn fold_axes(
    fold: &'static Fold,
    a: &Array,
    accumulator: DType,
    given: Reduction<'_>,
    finish: Finish,
) -> Result<Array> {
    let axes = split(a, given.axes)?;
    let compiled = compiled(fold, accumulator)?;
    let gives = compiled.gives;
    fold_into(&compiled, a, &axes, given, gives, finish)
}

fn fold_into(
    compiled: &Arc<CompiledFold>,
    a: &Array,
    axes: &Axes,
    given: Reduction<'_>,
    gives: DType,
    finish: Finish,
) -> Result<Array> {
    let shape = if given.keep == KeepAxes::Yes { &axes.with_ones } else { &axes.kept };
    let output = match given.out {
        Some(out) => {
            out.writable("output array")?;
            if out.shape() != &**shape {
                return Err(Error::Value(format!(
                    "output parameter for reduction operation {} has the wrong shape: {:?} given, {:?} expected",
                    compiled.fold.ufunc,
                    out.shape(),
                    &**shape
                )));
            }
            out.clone()
        }
        None => a.empty_beside(shape, gives)?,
    };
    let nothing = axes.reduced.iter().any(|&axis| a.shape()[axis] == 0);
    if nothing && !output.layout().is_empty() && compiled.identity.is_none() {
        if let Some(initial) = given.initial {
            output.fill(initial)?;
            return Ok(output);
        }
        return Err(empty_error(compiled.fold));
    }
    if output.layout().is_empty() {
        return Ok(output);
    }
    let into = if given.out.is_some() && (output.dtype() != gives || output.overlaps(a)) {
        a.empty_beside(shape, gives)?
    } else {
        output.clone()
    };
    let kept = into.reshaped(&axes.kept)?;
    let step = ReduceStep {
        input: a.operand(),
        axes: axes.reduced.iter().copied().collect(),
        fold: compiled.clone(),
        finish,
        output: kept.operand(),
    };
    kept.enqueue(Step::Reduce(step), &[a.storage()], &[kept.storage()])?;
    if !Arc::ptr_eq(into.storage(), output.storage()) {
        output.assign(&into)?;
    }
    Ok(output)
}

fn empty_error(fold: &Fold) -> Error {
    if fold.is_position() {
        Error::EmptySequence { operation: fold.name.into() }
    } else {
        Error::ReductionOfEmpty { operation: fold.ufunc.into() }
    }
}

/// The dtype that means and deviations of elements are computed in.
fn inexact(dtype: DType) -> DType {
    if dtype == DType::Bool || dtype.is_integer() { DType::Float64 } else { dtype }
}

/// The dtype that holds sums of `dtype`: half-precision sums are float32 until they are rounded.
fn wide(dtype: DType) -> DType {
    if matches!(dtype, DType::Float16 | DType::BFloat16) { DType::Float32 } else { dtype }
}

fn count(a: &Array, axes: &Axes) -> usize {
    axes.reduced.iter().map(|&axis| a.shape()[axis]).product()
}

/// The number of elements that take part, for a mean: one number, or one for each result.
enum Count {
    Same(f64),
    Each(Array),
}

fn counted(a: &Array, axes: &Axes, given: Reduction<'_>) -> Result<Count> {
    let Some(mask) = given.mask else { return Ok(Count::Same(count(a, axes) as f64)) };
    let mask = mask.broadcast_to(a.shape())?;
    let sum = Reduction { axes: given.axes, keep: given.keep, dtype: Some(DType::Int64), ..Reduction::default() };
    Ok(Count::Each(reduce("sum", &mask, sum)?))
}

/// Arithmetic mean.
///
/// # Errors
/// As [`reduce`].
pub fn mean(a: &Array, given: Reduction<'_>) -> Result<Array> {
    let gives = given.dtype.unwrap_or_else(|| inexact(a.dtype()));
    scaled_sum(a, given, gives, 0.0, Root::No)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    No,
    Square,
}

/// The sum over the count less `correction`, perhaps its square root.
fn scaled_sum(a: &Array, given: Reduction<'_>, gives: DType, correction: f64, root: Root) -> Result<Array> {
    let axes = split(a, given.axes)?;
    let compiled = compiled(named("sum"), wide(gives))?;
    let count = counted(a, &axes, given)?;
    let masked;
    let a = match given.mask {
        Some(mask) => {
            masked = masked_out(named("sum"), a, mask, wide(gives), None)?;
            &masked
        }
        None => a,
    };
    let plain = Reduction { mask: None, initial: None, ..given };
    match count {
        Count::Same(count) => {
            let ty = compiled.state[0];
            let divisor = Scalar::Float((count - correction).max(0.0)).to_bits(ty.dtype()).0[0];
            let finish = finish(&compiled.state, vec![Parameter { ty, bits: divisor }], |state, scalars| {
                let scaled = state.iter().map(|&register| register / scalars[0]);
                let rooted = scaled.map(|value| if root == Root::Square { value.sqrt() } else { value });
                rooted.map(|value| value.round_to(gives.component())).collect()
            });
            fold_into(&compiled, a, &axes, plain, gives, finish)
        }
        Count::Each(count) => {
            let sum = reduce("sum", a, Reduction { dtype: Some(wide(gives)), out: None, ..plain })?;
            let divisor = call(row("subtract"), &[(&count).into(), correction.into()], Options::default())?;
            let divisor = call(row("maximum"), &[(&divisor[0]).into(), 0.0.into()], Options::default())?;
            let scaled = call(row("divide"), &[(&sum).into(), (&divisor[0]).into()], Options::default())?.remove(0);
            let scaled = match root {
                Root::Square => call(row("sqrt"), &[(&scaled).into()], Options::default())?.remove(0),
                Root::No => scaled,
            };
            finish_into(scaled, gives, given.out)
        }
    }
}

fn finish_into(result: Array, gives: DType, out: Option<&Array>) -> Result<Array> {
    match out {
        Some(out) => {
            out.assign(&result)?;
            Ok(out.clone())
        }
        None => result.to_dtype(gives),
    }
}

/// What a variance gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spread {
    /// The variance.
    Variance,
    /// Its square root.
    Deviation,
}

/// Variance or standard deviation, with `ddof` taken from the count.
///
/// # Errors
/// As [`reduce`].
pub fn spread(a: &Array, given: Reduction<'_>, ddof: f64, what: Spread) -> Result<Array> {
    let dtype = given.dtype.unwrap_or_else(|| inexact(a.dtype()));
    let centred = Reduction {
        axes: given.axes,
        dtype: Some(wide(dtype)),
        keep: KeepAxes::Yes,
        mask: given.mask,
        ..Reduction::default()
    };
    let mean = mean(a, centred)?;
    let values = a.to_dtype(wide(dtype))?;
    let difference = call(row("subtract"), &[(&values).into(), (&mean).into()], Options::default())?.remove(0);
    let squares = squared_size(&difference)?;
    let root = if what == Spread::Deviation { Root::Square } else { Root::No };
    scaled_sum(&squares, given, dtype.component(), ddof, root)
}

/// `|x|**2`, without a detour over the root.
fn squared_size(a: &Array) -> Result<Array> {
    let square = |a: &Array| Ok::<_, Error>(call(row("square"), &[a.into()], Options::default())?.remove(0));
    if !a.dtype().is_complex() {
        return square(a);
    }
    let (re, im) = (square(&a.part(Part::Real)?)?, square(&a.part(Part::Imag)?)?);
    Ok(call(row("add"), &[(&re).into(), (&im).into()], Options::default())?.remove(0))
}

/// Running sums (`sum`) or products (`prod`) along an axis, or of all elements in row-major order.
///
/// # Errors
/// When the axis does not exist or the output does not fit.
pub fn scan(name: &str, a: &Array, axis: Option<isize>, dtype: Option<DType>, out: Option<&Array>) -> Result<Array> {
    let fold = named(name);
    let flat;
    let (a, axis) = match axis {
        Some(axis) if a.ndim() > 0 => (a, normalize_axis(axis, a.ndim())?),
        Some(axis) => {
            normalize_axis(axis, 1)?;
            flat = a.reshape(&[-1])?;
            (&flat, 0)
        }
        None => {
            flat = a.reshape(&[-1])?;
            (&flat, 0)
        }
    };
    let accumulator = dtype.unwrap_or_else(|| fold.accumulator(a.dtype()));
    let output = a.empty_beside(a.shape(), accumulator)?;
    if !output.layout().is_empty() {
        let (input, result) = (a.with_axis_last(axis), output.with_axis_last(axis));
        let op = Op::Scan(Scan {
            shape: result.layout().shape.clone(),
            input: input.operand(),
            output: result.operand(),
            fold: compiled(fold, accumulator)?,
        });
        result.enqueue(Step::Single(Box::new(op)), &[input.storage()], &[result.storage()])?;
    }
    match out {
        Some(out) if out.shape() != output.shape() => {
            Err(Error::Value("provided out is the wrong size for the accumulation.".into()))
        }
        Some(out) => {
            out.assign(&output)?;
            Ok(out.clone())
        }
        None => Ok(output),
    }
}

/// How many elements are not zero, as a number on the host.
///
/// # Errors
/// When an operation that should have made them failed.
pub fn count_true(mask: &Array) -> Result<usize> {
    let count = reduce("sum", mask, Reduction { dtype: Some(DType::Int64), ..Reduction::default() })?;
    match count.item()? {
        Scalar::Int(count) => Ok(count as usize),
        other => Err(Error::Type(format!("a count is an integer, not {other:?}"))),
    }
}

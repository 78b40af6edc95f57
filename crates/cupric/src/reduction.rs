//! Reductions and scans along axes.

use crate::{
    array::Array,
    ufunc::{Operand, Options, call, row},
};
use cupric_core::{
    Bits, Casting, DType, Dims, Error, Part, Result, Scalar, broadcast_shapes, can_cast, cast_bits, normalize_axes,
    normalize_axis,
};
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
    pub initial: Initial<'a>,
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

/// What a reduction starts from.
#[derive(Clone, Copy, Default)]
pub enum Initial<'a> {
    /// What changes nothing, where the fold has that.
    #[default]
    Identity,
    /// The first element: there must be one.
    First,
    /// A number; one of Python's must fit the result's dtype.
    Value(Operand<'a>),
}

impl Initial<'_> {
    /// The number as an element of `dtype`, if one was given.
    fn bits(self, dtype: DType) -> Result<Option<Bits>> {
        match self {
            Initial::Identity | Initial::First => Ok(None),
            Initial::Value(Operand::Number(number)) => number.to_bits_checked(dtype).map(Some),
            Initial::Value(Operand::Typed(from, bits)) => Ok(Some(cast_bits(from, dtype, bits))),
            Initial::Value(Operand::Array(array)) => Ok(Some(array.item()?.to_bits(dtype))),
        }
    }
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
    if let Some(out) = given.out
        && fold.is_position()
        && !can_cast(out.dtype(), DType::Int64, Casting::Safe)
    {
        let (from, to) = (out.dtype(), DType::Int64);
        return Err(Error::CannotCast { from, to, casting: Casting::Safe, ufunc: None });
    }
    let initial = given.initial.bits(accumulator)?;
    let masked;
    let a = match given.mask {
        Some(mask) => {
            masked = masked_out(fold, a, mask, accumulator, given.initial)?;
            &masked
        }
        None => a,
    };
    let result = fold_axes(fold, a, accumulator, given, plain_finish(fold, accumulator)?)?;
    match initial {
        Some(initial) => with_initial(fold, &result, Operand::Typed(accumulator, initial), given.out),
        None => Ok(result),
    }
}

/// The elements, with those that do not take part replaced by what changes nothing.
fn masked_out(fold: &'static Fold, a: &Array, mask: &Array, accumulator: DType, initial: Initial<'_>) -> Result<Array> {
    check_mask(a, mask)?;
    let has_identity = compiled(fold, accumulator)?.identity.is_some() && !matches!(initial, Initial::First);
    let neutral = match (has_identity, initial.bits(accumulator)?) {
        (true, _) => Scalar::Int(i128::from(matches!(fold.name, "prod" | "all"))).to_bits(accumulator),
        (false, Some(initial)) => initial,
        (false, None) => {
            return Err(Error::Value(format!(
                "reduction operation '{}' does not have an identity, so to use a where mask one has to specify 'initial'",
                fold.ufunc
            )));
        }
    };
    let wide = a.to_dtype(accumulator)?;
    let neutral = Operand::Typed(accumulator, neutral);
    Ok(call(row("where"), &[mask.into(), (&wide).into(), neutral], Options::default())?.remove(0))
}

/// A mask says something about the elements that there are: it makes no more of them.
fn check_mask(a: &Array, mask: &Array) -> Result<()> {
    if mask.ndim() > a.ndim() {
        return Err(Error::Value("input operand has more dimensions than allowed by the axis remapping".into()));
    }
    let shape = broadcast_shapes(&[a.shape(), mask.shape()])?;
    if *shape == *a.shape() {
        return Ok(());
    }
    Err(Error::OutputBroadcast { output: a.shape().to_vec(), shape: shape.to_vec() })
}

fn with_initial(fold: &'static Fold, result: &Array, initial: Operand<'_>, out: Option<&Array>) -> Result<Array> {
    // An output of a narrower dtype holds the result already, as the caller asked for it.
    let casting = Casting::Unsafe;
    let out = [out];
    Ok(call(row(fold.ufunc), &[initial, result.into()], Options { out: &out, casting, ..Options::default() })?
        .remove(0))
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
        Some([0 | -1]) if a.ndim() == 0 => Dims::new(),
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
    let needs_one = compiled.identity.is_none() || matches!(given.initial, Initial::First);
    if nothing && !output.layout().is_empty() && needs_one {
        if let Some(initial) = given.initial.bits(gives)? {
            output.assign_operand(Operand::Typed(gives, initial), None)?;
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
    check_mask(a, mask)?;
    let mask = mask.broadcast_to(a.shape())?;
    let sum = Reduction { axes: given.axes, keep: given.keep, dtype: Some(DType::Int64), ..Reduction::default() };
    Ok(Count::Each(reduce("sum", &mask, sum)?))
}

/// Arithmetic mean.
///
/// # Errors
/// As [`reduce`].
pub fn mean(a: &Array, given: Reduction<'_>) -> Result<Array> {
    check_axes(a, given)?;
    let gives = given.dtype.unwrap_or_else(|| inexact(a.dtype()));
    scaled_sum(a, given, gives, 0.0, Root::No)
}

/// Means count along axes, of which a number has none.
fn check_axes(a: &Array, given: Reduction<'_>) -> Result<()> {
    given.axes.map_or(Ok(()), |axes| normalize_axes(axes, a.ndim()).map(drop))
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
            masked = masked_out(named("sum"), a, mask, wide(gives), Initial::Identity)?;
            &masked
        }
        None => a,
    };
    let plain = Reduction { mask: None, initial: Initial::Identity, ..given };
    match count {
        Count::Same(count) if inexact(gives) == gives => {
            let ty = compiled.state[0];
            let divisor = Scalar::Float((count - correction).max(0.0)).to_bits(ty.dtype()).0[0];
            let finish = finish(&compiled.state, vec![Parameter { ty, bits: divisor }], |state, scalars| {
                let scaled = state.iter().map(|&register| register / scalars[0]);
                let rooted = scaled.map(|value| if root == Root::Square { value.sqrt() } else { value });
                rooted.map(|value| value.round_to(gives.component())).collect()
            });
            fold_into(&compiled, a, &axes, plain, gives, finish)
        }
        count => {
            // Sums of integers are rounded towards zero only once they are divided.
            let sum = reduce("sum", a, Reduction { dtype: Some(wide(gives)), out: None, ..plain })?;
            let one = |name: &str, left: Operand<'_>, right: Operand<'_>| {
                Ok::<_, Error>(call(row(name), &[left, right], Options::default())?.remove(0))
            };
            let scaled = match count {
                Count::Same(count) => {
                    let divisor = Scalar::Float((count - correction).max(0.0)).to_bits(DType::Float64);
                    one("divide", (&sum).into(), Operand::Typed(DType::Float64, divisor))?
                }
                Count::Each(count) => {
                    let divisor = one("subtract", (&count).into(), correction.into())?;
                    let divisor = one("maximum", (&divisor).into(), 0.0.into())?;
                    one("divide", (&sum).into(), (&divisor).into())?
                }
            };
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
    check_axes(a, given)?;
    let dtype = given.dtype.unwrap_or_else(|| inexact(a.dtype()));
    let gives = given.dtype.unwrap_or_else(|| dtype.component());
    let centred = Reduction {
        axes: given.axes,
        dtype: Some(wide(dtype)),
        keep: KeepAxes::Yes,
        mask: given.mask,
        ..Reduction::default()
    };
    let mean = mean(a, centred)?;
    // The difference from an integer mean, or of complex numbers from a real one, keeps what they have.
    let whole = inexact(dtype) != dtype || a.dtype().is_complex() && !dtype.is_complex();
    let values = if whole { a.clone() } else { a.to_dtype(wide(dtype))? };
    let difference = call(row("subtract"), &[(&values).into(), (&mean).into()], Options::default())?.remove(0);
    let squares = squared_size(&difference)?;
    let root = if what == Spread::Deviation { Root::Square } else { Root::No };
    scaled_sum(&squares, given, gives, ddof, root)
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

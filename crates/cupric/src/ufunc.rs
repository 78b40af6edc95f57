//! Calling ufuncs: promotion, broadcasting, outputs, and what an output may share with an input.

use crate::array::Array;
use cupric_core::{
    Bits, Casting, DType, Dims, Error, Layout, Order, Result, Scalar, Strides, Typed, Weak, broadcast_shapes,
    byte_count, can_cast, cast_bits,
};
use cupric_ir::{Body, Input, MapStep, Operand as Elements, Resolved, Step, Ufunc, ufunc};
use cupric_runtime::{Device, Storage};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::{cell::RefCell, sync::Arc};

/// What a ufunc takes.
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    /// An array.
    Array(&'a Array),
    /// A Python number, which takes the dtype of the arrays beside it.
    Number(Scalar),
    /// A number with a dtype of its own, as NumPy's scalars have.
    Typed(DType, Bits),
}

impl Operand<'_> {
    fn typed(&self) -> Typed {
        match self {
            Operand::Array(array) => Typed::Strong(array.dtype()),
            Operand::Number(number) => number.typed(),
            Operand::Typed(dtype, _) => Typed::Strong(*dtype),
        }
    }

    fn shape(&self) -> &[usize] {
        match self {
            Operand::Array(array) => array.shape(),
            _ => &[],
        }
    }
}

impl<'a> From<&'a Array> for Operand<'a> {
    fn from(array: &'a Array) -> Self {
        Operand::Array(array)
    }
}

impl From<f64> for Operand<'_> {
    fn from(value: f64) -> Self {
        Operand::Number(Scalar::Float(value))
    }
}

impl From<i64> for Operand<'_> {
    fn from(value: i64) -> Self {
        Operand::Number(Scalar::Int(i128::from(value)))
    }
}

/// What a caller may ask of a ufunc beside its inputs.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Where the results go.
    pub out: &'a [Option<&'a Array>],
    /// Where results are computed; elsewhere the output keeps what it has.
    pub mask: Option<&'a Array>,
    /// The dtype to compute in.
    pub dtype: Option<DType>,
    /// Which conversions are allowed.
    pub casting: Casting,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { out: &[], mask: None, dtype: None, casting: Casting::SameKind }
    }
}

/// The results of a ufunc.
pub type Results = SmallVec<[Array; 2]>;

type Plans = FxHashMap<(usize, u64), Arc<Plan>>;

struct Plan {
    body: Arc<Body>,
}

thread_local! {
    static PLANS: RefCell<Plans> = RefCell::default();
}

fn code(typed: Typed) -> u64 {
    match typed {
        Typed::Strong(dtype) => dtype as u64,
        Typed::Weak(Weak::Int) => 16,
        Typed::Weak(Weak::Float) => 17,
        Typed::Weak(Weak::Complex) => 18,
    }
}

/// The compiled loop for these inputs, made once a thread.
fn plan(row: &'static Ufunc, typed: &[Typed], dtype: Option<DType>) -> Result<Arc<Plan>> {
    let first = dtype.map_or(31, |dtype| dtype as u64);
    let types = typed.iter().fold(first, |word, &typed| word << 5 | code(typed));
    let key = (std::ptr::from_ref(row).addr(), types);
    if let Some(plan) = PLANS.with_borrow(|plans| plans.get(&key).cloned()) {
        return Ok(plan);
    }
    let resolved: Resolved = row.resolve(typed, dtype)?;
    let plan = Arc::new(Plan { body: Arc::new(resolved.compile()) });
    PLANS.with_borrow_mut(|plans| plans.insert(key, plan.clone()));
    Ok(plan)
}

/// The row of this name.
///
/// # Panics
/// When there is none: names are those of the table.
#[must_use]
pub fn row(name: &str) -> &'static Ufunc {
    ufunc(name).expect("a name of the table")
}

/// Calls a ufunc.
///
/// # Errors
/// When no loop takes the dtypes, the shapes do not fit, a conversion is not allowed, or an output is read-only.
///
/// ```
/// # fn main() -> cupric::Result<()> {
/// use cupric::ufunc::{Options, call, row};
/// let a = cupric::arange(3, cupric::DType::Int64)?;
/// let sum = call(row("add"), &[(&a).into(), 0.5.into()], Options::default())?;
/// assert_eq!(sum[0].dtype(), cupric::DType::Float64);
/// # Ok(())
/// # }
/// ```
pub fn call(row: &'static Ufunc, inputs: &[Operand<'_>], options: Options<'_>) -> Result<Results> {
    let typed: SmallVec<[Typed; 3]> = inputs.iter().map(Operand::typed).collect();
    let plan = plan(row, &typed, options.dtype)?;
    let body = &plan.body;
    check_inputs(row, inputs, body, options)?;
    if let Some(shorter) = shortcut(row, inputs, body) {
        let dtype = Some(body.takes[0]);
        return call(shorter, &inputs[..1], Options { dtype, ..options });
    }
    let shape = iteration_shape(inputs, options)?;
    let device = device_of(inputs, options)?;
    let outputs = outputs(row, &device, inputs, options, body, &shape)?;
    if outputs.len() > 1 && any_overlap(&outputs) {
        return run_apart(body, inputs, outputs, options.mask, shape);
    }
    run(body, inputs, &outputs, options.mask, shape)?;
    Ok(outputs)
}

/// Whether results overlap; those in the very same places do not, since the later one takes each of them.
fn any_overlap(outputs: &[Array]) -> bool {
    let same = |one: &Array, other: &Array| one.operand() == other.operand();
    let clash = |one: &Array, other: &Array| !same(one, other) && one.overlaps(other);
    outputs.iter().enumerate().any(|(index, one)| outputs[..index].iter().any(|other| clash(one, other)))
}

/// Results whose places overlap: made in memory of their own, then written one after the other, the first one last.
fn run_apart(
    body: &Arc<Body>,
    inputs: &[Operand<'_>],
    outputs: Results,
    mask: Option<&Array>,
    shape: Dims,
) -> Result<Results> {
    let fresh = |output: &Array| output.empty_like(output.dtype(), Order::RowMajor);
    let apart = outputs.iter().map(fresh).collect::<Result<Results>>()?;
    run(body, inputs, &apart, mask, shape)?;
    for (output, made) in outputs.iter().zip(&apart).rev() {
        output.assign_operand(Operand::Array(made), mask)?;
    }
    Ok(outputs)
}

fn check_inputs(row: &Ufunc, inputs: &[Operand<'_>], body: &Body, options: Options<'_>) -> Result<()> {
    let signed = body.gives[0].kind() == cupric_core::Kind::Signed;
    if row.name == "power" && signed && inputs.get(1).is_some_and(is_negative) {
        return Err(Error::Value("Integers to negative integer powers are not allowed.".into()));
    }
    // Promotion alone does nothing that these two forbid.
    if options.dtype.is_none() && matches!(options.casting, Casting::SameKind | Casting::Unsafe) {
        return Ok(());
    }
    for (operand, (input, &to)) in inputs.iter().zip(&body.takes).enumerate() {
        if let Typed::Strong(from) = input.typed()
            && !can_cast(from, to, options.casting)
        {
            let ufunc = row.name.to_owned();
            return Err(Error::CannotCastInput { ufunc, operand, from, to, casting: options.casting });
        }
    }
    Ok(())
}

/// The ufunc that a power by a number is, where NumPy takes that one.
fn shortcut(row: &Ufunc, inputs: &[Operand<'_>], body: &Body) -> Option<&'static Ufunc> {
    let exact = matches!(body.gives[0], DType::Float32 | DType::Float64 | DType::BFloat16);
    if row.name != "power" || !exact {
        return None;
    }
    match inputs[1] {
        Operand::Number(Scalar::Float(0.5)) => Some(self::row("sqrt")),
        Operand::Number(Scalar::Float(2.0) | Scalar::Int(2)) => Some(self::row("square")),
        _ => None,
    }
}

/// Whether this is a number below zero; arrays are not looked at.
fn is_negative(operand: &Operand<'_>) -> bool {
    let value = match operand {
        Operand::Array(_) => return false,
        Operand::Number(value) => *value,
        Operand::Typed(dtype, bits) => Scalar::from_bits(*dtype, *bits),
    };
    matches!(value, Scalar::Int(value) if value < 0)
}

fn iteration_shape(inputs: &[Operand<'_>], options: Options<'_>) -> Result<Dims> {
    let mut shapes: SmallVec<[&[usize]; 4]> = inputs.iter().map(Operand::shape).collect();
    let first = shapes[0];
    if options.mask.is_none()
        && options.out.is_empty()
        && shapes.iter().all(|&shape| shape == first || shape.is_empty())
    {
        return Ok(shapes.into_iter().max_by_key(|shape| shape.len()).unwrap_or(&[]).into());
    }
    shapes.extend(options.mask.map(Array::shape));
    // A larger output repeats the inputs.
    shapes.extend(options.out.iter().flatten().map(|out| out.shape()));
    broadcast_shapes(&shapes)
}

fn device_of(inputs: &[Operand<'_>], options: Options<'_>) -> Result<Arc<Device>> {
    let arrays = inputs.iter().filter_map(|input| match input {
        Operand::Array(array) => Some(*array),
        _ => None,
    });
    match arrays.chain(options.out.iter().copied().flatten()).next() {
        Some(array) => Ok(array.device().clone()),
        None => crate::current_device(),
    }
}

fn outputs(
    row: &Ufunc,
    device: &Arc<Device>,
    inputs: &[Operand<'_>],
    options: Options<'_>,
    body: &Body,
    shape: &[usize],
) -> Result<Results> {
    let mut outputs = Results::new();
    for (index, &dtype) in body.gives.iter().enumerate() {
        let Some(Some(out)) = options.out.get(index) else {
            byte_count(shape, dtype.size())?;
            outputs.push(Array::packed(device, dtype, kept_order(inputs, shape, dtype.size()))?);
            continue;
        };
        out.writable("output array")?;
        if out.shape() != shape {
            return Err(Error::OutputBroadcast { output: out.shape().to_vec(), shape: shape.to_vec() });
        }
        if !can_cast(dtype, out.dtype(), options.casting) {
            let ufunc = Some(row.name.to_owned());
            return Err(Error::CannotCast { from: dtype, to: out.dtype(), casting: options.casting, ufunc });
        }
        outputs.push((*out).clone());
    }
    Ok(outputs)
}

/// The packed layout whose axes are ordered as the inputs' are, row-major where they do not say. It is an input's own layout
/// where that has it.
fn kept_order(inputs: &[Operand<'_>], shape: &[usize], item: usize) -> Arc<Layout> {
    let arrays = || {
        inputs.iter().filter_map(|input| match input {
            Operand::Array(array) if array.ndim() > 0 => Some(*array),
            _ => None,
        })
    };
    if arrays().all(|array| array.shape() == shape && array.is_row_major()) {
        let same = arrays().find(|array| array.layout().is_fresh_row_major(item));
        return same.map_or_else(|| Layout::row_major(shape, item).into(), |array| array.shared_layout().clone());
    }
    let over = |array: &Array| match array.shape() == shape {
        true => Some(array.layout().strides.clone()),
        false => array.layout().broadcast_to(shape).ok().map(|layout| layout.strides),
    };
    let strides: SmallVec<[Strides; 3]> = arrays().filter_map(over).collect();
    let mut layout = Layout::row_major(shape, item);
    let follows = |strides: &Strides| strides.windows(2).all(|pair| pair[0].unsigned_abs() >= pair[1].unsigned_abs());
    if strides.iter().all(follows) {
        return layout.into();
    }
    let axes = order_axes(shape, &strides);
    let mut step = item as isize;
    for &axis in axes.iter().rev() {
        layout.strides[axis] = step;
        step *= shape[axis].max(1) as isize;
    }
    layout.into()
}

/// Axes from the outermost to the innermost; a zero stride has no say, nor has an axis of length 1.
pub(crate) fn order_axes(shape: &[usize], strides: &[Strides]) -> Dims {
    let mut inner = Dims::new();
    for axis in (0..shape.len()).rev() {
        let mut place = inner.len();
        for (index, &other) in inner.iter().enumerate().rev() {
            let says = |s: &&Strides| shape[axis] != 1 && shape[other] != 1 && s[axis] != 0 && s[other] != 0;
            let mut votes = strides.iter().filter(says).peekable();
            if votes.peek().is_none() {
                continue;
            }
            if votes.any(|s| s[other].unsigned_abs() <= s[axis].unsigned_abs()) {
                break;
            }
            place = index;
        }
        inner.insert(place, axis);
    }
    inner.reverse();
    inner
}

fn run(body: &Arc<Body>, inputs: &[Operand<'_>], outputs: &[Array], mask: Option<&Array>, shape: Dims) -> Result<()> {
    if shape.contains(&0) {
        return Ok(());
    }
    let mut kept: SmallVec<[Array; 2]> = SmallVec::new();
    let mut step = MapStep {
        body: body.clone(),
        inputs: SmallVec::new(),
        outputs: outputs.iter().map(Array::operand).collect(),
        mask: None,
        shape,
    };
    let mut reads: SmallVec<[Arc<Storage>; 4]> = SmallVec::new();
    for (input, &dtype) in inputs.iter().zip(&body.takes) {
        let input = match input {
            Operand::Array(array) => Input::Array(read(array, outputs, &step.shape, &mut kept, &mut reads)?),
            Operand::Number(number) => Input::Scalar { dtype, bits: number_bits(*number, dtype)? },
            Operand::Typed(from, bits) => Input::Scalar { dtype, bits: cast_bits(*from, dtype, *bits) },
        };
        step.inputs.push(input);
    }
    if let Some(mask) = mask {
        let mask = mask.to_dtype(DType::Bool)?;
        step.mask = Some(read(&mask, outputs, &step.shape, &mut kept, &mut reads)?);
    }
    let reads: SmallVec<[&Arc<Storage>; 4]> = reads.iter().collect();
    let writes: SmallVec<[&Arc<Storage>; 2]> = outputs.iter().map(Array::storage).collect();
    outputs[0].enqueue(Step::Map(step), &reads, &writes)
}

/// An integer must fit its dtype; other numbers are rounded.
fn number_bits(number: Scalar, dtype: DType) -> Result<Bits> {
    match number {
        Scalar::Int(_) => number.to_bits_checked(dtype),
        _ => Ok(number.to_bits(dtype)),
    }
}

/// An input as an operand; a copy of it where an output would overwrite elements that are still to be read.
fn read(
    array: &Array,
    outputs: &[Array],
    shape: &[usize],
    kept: &mut SmallVec<[Array; 2]>,
    reads: &mut SmallVec<[Arc<Storage>; 4]>,
) -> Result<Elements> {
    let operand = array.operand_over(shape)?;
    let same_places = |out: &Array| {
        Arc::ptr_eq(out.storage(), array.storage()) && out.dtype() == array.dtype() && *out.layout() == *operand.layout
    };
    let overwritten = outputs.iter().any(|out| !same_places(out) && out.overlaps(array));
    if !overwritten {
        reads.push(array.storage().clone());
        return Ok(operand);
    }
    let copy = array.copy(Order::Keep)?;
    let operand = copy.operand_over(shape)?;
    reads.push(copy.storage().clone());
    kept.push(copy);
    Ok(operand)
}

/// Runs a loop that makes elements of nothing but numbers and their position.
pub(crate) fn generate(body: &Arc<Body>, numbers: &[(DType, Bits)], output: &Array) -> Result<()> {
    let inputs: SmallVec<[Operand<'_>; 3]> = numbers.iter().map(|&(dtype, bits)| Operand::Typed(dtype, bits)).collect();
    run(body, &inputs, std::slice::from_ref(output), None, output.layout().shape.clone())
}

impl Array {
    /// Sets every element to one value, converted as NumPy does it without asking.
    ///
    /// # Errors
    /// When the array is read-only.
    pub fn fill(&self, value: Scalar) -> Result<()> {
        self.assign_operand(Operand::Typed(self.dtype(), value.to_bits(self.dtype())), None)
    }

    /// Copies the elements of another array, repeated and converted as needed; the two may share memory.
    ///
    /// # Errors
    /// When the array is read-only or the shapes do not fit.
    pub fn assign(&self, from: &Array) -> Result<()> {
        self.assign_operand(Operand::Array(from), None)
    }

    /// Sets the elements where a mask is true.
    ///
    /// # Errors
    /// When the array is read-only or the shapes do not fit.
    pub fn assign_operand(&self, from: Operand<'_>, mask: Option<&Array>) -> Result<()> {
        self.writable("assignment destination")?;
        let given = from.shape();
        let extra = given.len().saturating_sub(self.ndim());
        let squeezed;
        let from = match from {
            // Leading axes of length 1 may go.
            Operand::Array(array) if extra > 0 && given[..extra].iter().all(|&size| size == 1) => {
                squeezed = array.reshaped(&given[extra..])?;
                Operand::Array(&squeezed)
            }
            other => other,
        };
        let fits = broadcast_shapes(&[from.shape(), self.shape()]).is_ok_and(|shape| *shape == *self.shape());
        if !fits {
            return Err(Error::AssignBroadcast { from: given.to_vec(), into: self.shape().to_vec() });
        }
        let typed = match from.typed() {
            Typed::Weak(_) => Typed::Strong(self.dtype()),
            strong => strong,
        };
        let plan = plan(row("copy"), &[typed], None)?;
        run(&plan.body, &[from], std::slice::from_ref(self), mask, self.layout().shape.clone())
    }
}

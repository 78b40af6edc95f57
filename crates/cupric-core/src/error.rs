//! Every failure, with its data and NumPy's words.

use std::fmt::Display;

use crate::dtype::DType;
use crate::promote::Casting;
use crate::shape::{Dims, Strides};

/// The result of what can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The Python exception that an [`Error`] becomes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Exception {
    /// Python's `ValueError`.
    ValueError,
    /// Python's `TypeError`.
    TypeError,
    /// Python's `IndexError`.
    IndexError,
    /// Python's `OverflowError`.
    OverflowError,
    /// `numpy.exceptions.AxisError`.
    AxisError,
    /// Python's `MemoryError`: of the host.
    MemoryError,
    /// The device's memory is used up; a `MemoryError` too.
    OutOfMemory,
    /// `numpy.linalg.LinAlgError`.
    LinAlgError,
    /// Python's `RuntimeError`.
    RuntimeError,
    /// Python's `NotImplementedError`.
    NotImplementedError,
    /// Python's `ZeroDivisionError`.
    ZeroDivisionError,
    /// `CUDARuntimeError` with its status.
    CudaRuntime(i32),
    /// `CUDADriverError` with its status.
    CudaDriver(i32),
    /// A kernel's source did not compile.
    CompileException,
    /// `numpy._core._exceptions.UFuncTypeError`, a `TypeError`.
    UFuncTypeError,
    /// Python's `ImportError`: a library is missing.
    ImportError,
    /// Python's `BufferError`.
    BufferError,
    /// Python's `AttributeError`.
    AttributeError,
    /// Python's `OSError`.
    OSError,
}

/// What went wrong.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field is what its message says it is")]
pub enum Error {
    /// Operands of an elementwise operation do not fit each other.
    #[error("operands could not be broadcast together with shapes {}", tuples(.shapes))]
    Broadcast { shapes: Vec<Dims> },
    /// An output is smaller than the operation's shape.
    #[error("non-broadcastable output operand with shape {} doesn't match the broadcast shape {}", tuple(.output), tuple(.shape))]
    OutputBroadcast { output: Vec<usize>, shape: Vec<usize> },
    /// `broadcast_to` cannot reach the requested shape.
    #[error("operands could not be broadcast together with remapped shapes [original->remapped]: {}  and requested shape {}", tuple(.shape), tuple(.requested))]
    BroadcastTo { shape: Vec<usize>, requested: Vec<usize> },
    /// A value does not fit the selection that it is assigned to.
    #[error("could not broadcast input array from shape {} into shape {}", tuple(.from), tuple(.into))]
    AssignBroadcast { from: Vec<usize>, into: Vec<usize> },
    /// A value does not fit a selection by index arrays.
    #[error("shape mismatch: value array of shape {} could not be broadcast to indexing result of shape {}", tuple(.from), tuple(.into))]
    SelectionBroadcast { from: Vec<usize>, into: Vec<usize> },
    /// Index arrays do not fit each other.
    #[error("shape mismatch: indexing arrays could not be broadcast together with shapes {}", tuples(.shapes))]
    IndexBroadcast { shapes: Vec<Dims> },
    /// More indices than axes.
    #[error("too many indices for array: array is {ndim}-dimensional, but {given} were indexed")]
    TooManyIndices { ndim: usize, given: usize },
    /// An index outside of its axis.
    #[error("index {index} is out of bounds for axis {axis} with size {size}")]
    IndexOutOfBounds { index: isize, axis: usize, size: usize },
    /// A mask of another shape than the axes that it selects from.
    #[error(
        "boolean index did not match indexed array along axis {axis}; size of axis is {size} but size of corresponding boolean axis is {given}"
    )]
    MaskMismatch { axis: usize, size: usize, given: usize },
    /// More than one `...` in an index.
    #[error("an index can only have a single ellipsis ('...')")]
    SeveralEllipses,
    /// A slice with step zero.
    #[error("slice step cannot be zero")]
    ZeroStep,
    /// No such axis.
    #[error("{}axis {axis} is out of bounds for array of dimension {ndim}", prefix(.argument))]
    AxisOutOfBounds { axis: isize, ndim: usize, argument: Option<&'static str> },
    /// An axis given twice.
    #[error("duplicate value in 'axis'")]
    DuplicateAxis,
    /// An axis given twice to a transpose.
    #[error("repeated axis in transpose")]
    RepeatedAxisInTranspose,
    /// A transpose with another number of axes.
    #[error("axes don't match array")]
    AxesDoNotMatch,
    /// More dimensions than an array may have.
    #[error("maximum supported dimension for an ndarray is currently 64, found {found}")]
    TooManyDimensions { found: usize },
    /// An index that makes more dimensions than an array may have.
    #[error("number of dimensions must be within [0, 64], indexing result would have {found}")]
    TooManyResultDimensions { found: usize },
    /// A shape with another number of elements.
    #[error("cannot reshape array of size {len} into shape {}", reshape_target(.shape))]
    Reshape { len: usize, shape: Strides },
    /// A conversion that the casting rule forbids; in an operation's output when `ufunc` names it.
    #[error("{}", cast_message(*.from, *.to, *.casting, .ufunc.as_deref()))]
    CannotCast { from: DType, to: DType, casting: Casting, ufunc: Option<String> },
    /// A conversion of an operation's input that the casting rule forbids.
    #[error(
        "Cannot cast ufunc '{ufunc}' input {operand} from dtype('{from}') to dtype('{to}') with casting rule '{casting}'"
    )]
    CannotCastInput { ufunc: String, operand: usize, from: DType, to: DType, casting: Casting },
    /// A casting rule of another name.
    #[error("casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got '{given}')")]
    UnknownCasting { given: String },
    /// An operation without a loop for these dtypes.
    #[error(
        "ufunc '{ufunc}' not supported for the input types, and the inputs could not be safely coerced to any supported types according to the casting rule ''safe''"
    )]
    NoLoop { ufunc: String, types: Vec<DType> },
    /// A Python integer that the dtype cannot hold.
    #[error("Python integer {value} out of bounds for {dtype}")]
    IntegerOutOfBounds { value: i128, dtype: DType },
    /// An array with more bytes than an address has room for.
    #[error("array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.")]
    TooBig { shape: Dims, item: usize },
    /// The device's memory is used up.
    #[error(
        "out of memory: {requested} bytes asked; {free} of {total} bytes free, {cached} cached{}{}",
        limit_text(*.limit),
        holders_text(.holders)
    )]
    OutOfMemory { requested: usize, free: usize, total: usize, cached: usize, limit: Option<usize>, holders: String },
    /// The host's memory is used up.
    #[error("Unable to allocate {requested} bytes of host memory")]
    HostMemory { requested: usize },
    /// Operands of a matrix product do not fit each other.
    #[error(
        "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) (size {right} is different from {left})"
    )]
    MatmulMismatch { left: usize, right: usize },
    /// Operands of `dot`, `inner` or `tensordot` do not fit each other.
    #[error("shapes {} and {} not aligned: {} (dim {axis_left}) != {} (dim {axis_right})", tuple(.left), tuple(.right), .left[*.axis_left], .right[*.axis_right])]
    NotAligned { left: Vec<usize>, right: Vec<usize>, axis_left: usize, axis_right: usize },
    /// Parts of a concatenation differ along another axis.
    #[error(
        "all the input array dimensions except for the concatenation axis must match exactly, but along dimension {axis}, the array at index 0 has size {first} and the array at index {index} has size {size}"
    )]
    ConcatenateMismatch { axis: usize, first: usize, index: usize, size: usize },
    /// Parts of a concatenation differ in their number of dimensions.
    #[error(
        "all the input arrays must have same number of dimensions, but the array at index 0 has {first} dimension(s) and the array at index {index} has {ndim} dimension(s)"
    )]
    ConcatenateDimensions { first: usize, index: usize, ndim: usize },
    /// A reduction without an identity, of nothing.
    #[error("zero-size array to reduction operation {operation} which has no identity")]
    ReductionOfEmpty { operation: String },
    /// `argmax` or `argmin` of nothing.
    #[error("attempt to get {operation} of an empty sequence")]
    EmptySequence { operation: String },
    /// An array that may not be written; `role` is "assignment destination" or "output array".
    #[error("{role} is read-only")]
    ReadOnly { role: &'static str },
    /// A library that was not found.
    #[error("{name} was not found; looked for {}. {help}", .looked.join(", "))]
    Library { name: String, looked: Vec<String>, help: String },
    /// A library call that failed.
    #[error("{library}: {call} failed with {name} ({code})")]
    LibraryCall { library: String, call: String, code: i32, name: String },
    /// A call of the CUDA driver that failed.
    #[error("{name}: {message} ({call})")]
    Driver { call: String, code: i32, name: String, message: String },
    /// A failure in the terms of the CUDA runtime.
    #[error("{name}: {message}")]
    CudaRuntime { code: i32, name: String, message: String },
    /// A kernel's source that did not compile.
    #[error("{log}")]
    Compile { log: String, source_text: String },
    /// Linear algebra that has no answer: a singular matrix, no convergence.
    #[error("{0}")]
    LinearAlgebra(String),
    /// What Cupric does not do.
    #[error("{what} is not supported")]
    Unsupported { what: String },
    /// A failure found when queued work ran.
    #[error("{cause} (found while running {operation})")]
    Deferred { operation: String, cause: Box<Error> },
    /// A failure with the place in the caller's program where the operation was asked for.
    #[error("{cause} (asked for at {place})")]
    Placed { place: String, cause: Box<Error> },
    /// A function that the caller handed over failed; whoever called it keeps its own exception.
    #[error("a function that was called failed")]
    Callback,
    /// A panic inside of Cupric: a bug.
    #[error("Cupric panicked, which is a bug: {text}")]
    Panic { text: String },
    /// Any other `ValueError`.
    #[error("{0}")]
    Value(String),
    /// Any other `TypeError`.
    #[error("{0}")]
    Type(String),
    /// Any other `IndexError`.
    #[error("{0}")]
    Index(String),
    /// Any other `RuntimeError`.
    #[error("{0}")]
    Runtime(String),
    /// Any other `OverflowError`.
    #[error("{0}")]
    Overflow(String),
    /// Any `ZeroDivisionError`.
    #[error("{0}")]
    ZeroDivision(String),
    /// Any `BufferError`.
    #[error("{0}")]
    Buffer(String),
    /// Any `AttributeError`.
    #[error("{0}")]
    Attribute(String),
    /// A failure of the operating system.
    #[error("{0}")]
    Os(String),
}

impl Error {
    /// The Python exception to raise.
    pub fn exception(&self) -> Exception {
        match self {
            Self::Broadcast { .. }
            | Self::OutputBroadcast { .. }
            | Self::BroadcastTo { .. }
            | Self::AssignBroadcast { .. }
            | Self::SelectionBroadcast { .. }
            | Self::ZeroStep
            | Self::DuplicateAxis
            | Self::RepeatedAxisInTranspose
            | Self::AxesDoNotMatch
            | Self::TooManyDimensions { .. }
            | Self::Reshape { .. }
            | Self::UnknownCasting { .. }
            | Self::TooBig { .. }
            | Self::MatmulMismatch { .. }
            | Self::NotAligned { .. }
            | Self::ConcatenateMismatch { .. }
            | Self::ConcatenateDimensions { .. }
            | Self::ReductionOfEmpty { .. }
            | Self::EmptySequence { .. }
            | Self::ReadOnly { .. }
            | Self::Value(_) => Exception::ValueError,
            Self::IndexBroadcast { .. }
            | Self::TooManyIndices { .. }
            | Self::IndexOutOfBounds { .. }
            | Self::MaskMismatch { .. }
            | Self::SeveralEllipses
            | Self::TooManyResultDimensions { .. }
            | Self::Index(_) => Exception::IndexError,
            Self::AxisOutOfBounds { .. } => Exception::AxisError,
            Self::CannotCast { ufunc: Some(_), .. } | Self::CannotCastInput { .. } => Exception::UFuncTypeError,
            Self::CannotCast { ufunc: None, .. } | Self::NoLoop { .. } | Self::Type(_) => Exception::TypeError,
            Self::IntegerOutOfBounds { .. } | Self::Overflow(_) => Exception::OverflowError,
            Self::OutOfMemory { .. } => Exception::OutOfMemory,
            Self::HostMemory { .. } => Exception::MemoryError,
            Self::Library { .. } => Exception::ImportError,
            Self::LibraryCall { .. } | Self::Panic { .. } | Self::Callback | Self::Runtime(_) => {
                Exception::RuntimeError
            }
            Self::Driver { code, .. } => Exception::CudaDriver(*code),
            Self::CudaRuntime { code, .. } => Exception::CudaRuntime(*code),
            Self::Compile { .. } => Exception::CompileException,
            Self::LinearAlgebra(_) => Exception::LinAlgError,
            Self::Unsupported { .. } => Exception::NotImplementedError,
            Self::Deferred { cause, .. } | Self::Placed { cause, .. } => cause.exception(),
            Self::ZeroDivision(_) => Exception::ZeroDivisionError,
            Self::Buffer(_) => Exception::BufferError,
            Self::Attribute(_) => Exception::AttributeError,
            Self::Os(_) => Exception::OSError,
        }
    }
}

/// A shape as NumPy prints it in messages: `(2,3)`, `(4,)`, `()`.
fn tuple(shape: &[usize]) -> String {
    parenthesised(shape)
}

fn parenthesised<T: Display>(items: &[T]) -> String {
    let inner = items.iter().map(T::to_string).collect::<Vec<_>>().join(",");
    if items.len() == 1 { format!("({inner},)") } else { format!("({inner})") }
}

/// Several shapes, each followed by a space, as NumPy does.
fn tuples(shapes: &[Dims]) -> String {
    shapes.iter().map(|shape| tuple(shape) + " ").collect()
}

fn reshape_target(shape: &[isize]) -> String {
    let word = |&size: &isize| if size < 0 { "newaxis".to_owned() } else { size.to_string() };
    parenthesised(&shape.iter().map(word).collect::<Vec<_>>())
}

fn prefix(argument: &Option<&'static str>) -> String {
    argument.map_or_else(String::new, |argument| format!("{argument}: "))
}

fn cast_message(from: DType, to: DType, casting: Casting, ufunc: Option<&str>) -> String {
    match ufunc {
        Some(name) => format!(
            "Cannot cast ufunc '{name}' output from dtype('{from}') to dtype('{to}') with casting rule '{casting}'"
        ),
        None => {
            format!("Cannot cast array data from dtype('{from}') to dtype('{to}') according to the rule '{casting}'")
        }
    }
}

fn limit_text(limit: Option<usize>) -> String {
    limit.map_or_else(String::new, |limit| format!(", limit {limit}"))
}

fn holders_text(holders: &str) -> String {
    if holders.is_empty() { String::new() } else { format!("; largest holders: {holders}") }
}

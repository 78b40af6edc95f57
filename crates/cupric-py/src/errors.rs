//! The one door between Python and Rust: errors become exceptions here, and panics are caught.

use crate::gate;
use cupric::{Error, Exception};
use pyo3::{exceptions, ffi, prelude::*, types::PyString};
use std::{
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Runs what was called from Python.
pub(crate) fn enter<T>(py: Python<'_>, call: impl FnOnce() -> cupric::Result<T>) -> PyResult<T> {
    let before = ATTACHED.replace(true);
    let outcome = guarded(call);
    ATTACHED.set(before);
    outcome.map_err(|error| raise(py, &error))
}

/// The same for calls that may wait, copy, compile or compute: other Python threads run meanwhile.
pub(crate) fn enter_waiting<T: Send>(py: Python<'_>, call: impl FnOnce() -> cupric::Result<T> + Send) -> PyResult<T> {
    let before = ATTACHED.replace(false);
    let outcome = py.detach(|| {
        let _pass = gate::pass();
        guarded(call)
    });
    ATTACHED.set(before);
    outcome.map_err(|error| raise(py, &error))
}

thread_local! {
    // Whether the thread holds the interpreter's lock, as far as calls through this door go.
    static ATTACHED: Cell<bool> = const { Cell::new(false) };
}

/// Lets go of the interpreter's lock for the length of a call, if the thread is here with it.
pub(crate) fn outside(call: &mut dyn FnMut()) {
    if !ATTACHED.replace(false) {
        return call();
    }
    // SAFETY: the thread came through `enter`, which has the interpreter's lock.
    let state = unsafe { ffi::PyEval_SaveThread() };
    // The pass is the last to go: what the call has locked is not to be seen by a fork.
    let _back = Back { state, _pass: gate::pass() };
    call();
}

/// Takes the interpreter's lock again, also when a panic goes by.
struct Back {
    state: *mut ffi::PyThreadState,
    _pass: gate::Pass,
}

impl Drop for Back {
    fn drop(&mut self) {
        // SAFETY: this is the state that was saved, on the same thread.
        unsafe { ffi::PyEval_RestoreThread(self.state) };
        ATTACHED.set(true);
    }
}

fn guarded<T>(call: impl FnOnce() -> cupric::Result<T>) -> cupric::Result<T> {
    // What a panic may leave half done is behind locks that are taken again whole.
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| cause.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(Error::Panic { text })
    })
}

thread_local! {
    static KEPT: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Keeps an exception of a user's function until the call that led to it ends.
pub(crate) fn keep(exception: PyErr) -> Error {
    KEPT.set(Some(exception));
    Error::Callback
}

/// The exception for an error.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    if *error == Error::Callback
        && let Some(kept) = KEPT.take()
    {
        return kept;
    }
    let text = error.to_string();
    let named = |module: &str, name: &str| from_module(py, module, name, &text, None);
    let numbered = |name: &str, code: i32| from_module(py, "cupric._exceptions", name, &text, Some(code));
    match error.exception() {
        Exception::ValueError => exceptions::PyValueError::new_err(text),
        Exception::TypeError => exceptions::PyTypeError::new_err(text),
        Exception::IndexError => exceptions::PyIndexError::new_err(text),
        Exception::OverflowError => exceptions::PyOverflowError::new_err(text),
        Exception::MemoryError => exceptions::PyMemoryError::new_err(text),
        Exception::RuntimeError => exceptions::PyRuntimeError::new_err(text),
        Exception::NotImplementedError => exceptions::PyNotImplementedError::new_err(text),
        Exception::ZeroDivisionError => exceptions::PyZeroDivisionError::new_err(text),
        Exception::ImportError => exceptions::PyImportError::new_err(text),
        Exception::BufferError => exceptions::PyBufferError::new_err(text),
        Exception::AttributeError => exceptions::PyAttributeError::new_err(text),
        Exception::OSError => exceptions::PyOSError::new_err(text),
        Exception::AxisError => axis_error(py, error),
        Exception::LinAlgError => named("numpy.linalg", "LinAlgError"),
        Exception::UFuncTypeError => named("cupric._exceptions", "UFuncTypeError"),
        Exception::OutOfMemory => named("cupric._exceptions", "OutOfMemoryError"),
        Exception::CompileException => named("cupric._exceptions", "CompileException"),
        Exception::CudaRuntime(code) => numbered("CUDARuntimeError", code),
        Exception::CudaDriver(code) => numbered("CUDADriverError", code),
    }
}

/// NumPy's own exception, with its attributes where the error has the numbers.
fn axis_error(py: Python<'_>, error: &Error) -> PyErr {
    let class = py.import("numpy.exceptions").and_then(|module| module.getattr("AxisError"));
    let made = class.and_then(|class| match error {
        Error::AxisOutOfBounds { axis, ndim, argument } => class.call1((*axis, *ndim, *argument)),
        other => class.call1((other.to_string(),)),
    });
    made.map_or_else(|failure| failure, PyErr::from_value)
}

fn from_module(py: Python<'_>, module: &str, name: &str, text: &str, code: Option<i32>) -> PyErr {
    let made = py.import(module).and_then(|module| module.getattr(name)).and_then(|class| match code {
        Some(code) => class.call1((code, text)),
        None => class.call1((PyString::new(py, text),)),
    });
    made.map_or_else(|failure| failure, PyErr::from_value)
}

/// What a call over this many bytes may take at most before other Python threads are let in.
const BRIEF: usize = 1 << 16;

/// The same for calls that compute at once over so many bytes: letting go of the interpreter only pays for long ones.
pub(crate) fn enter_sized<T: Send>(
    py: Python<'_>,
    bytes: usize,
    call: impl FnOnce() -> cupric::Result<T> + Send,
) -> PyResult<T> {
    if bytes > BRIEF { enter_waiting(py, call) } else { enter(py, call) }
}

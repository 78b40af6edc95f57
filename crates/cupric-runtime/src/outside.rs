//! Long work on behalf of a caller whose interpreter has a lock of its own.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

type Outside = fn(&mut dyn FnMut());

static OUTSIDE: OnceLock<Outside> = OnceLock::new();

/// Makes known how to let go of the interpreter's lock, if the thread holds it, for the length of a call. Called once, by whoever
/// knows the interpreter.
pub fn set_outside(outside: fn(&mut dyn FnMut())) {
    // A second one changes nothing: there is one interpreter.
    let _ = OUTSIDE.set(outside);
}

/// Runs what may take long; other threads of the interpreter go on meanwhile.
pub(crate) fn outside<T>(call: impl FnOnce() -> T) -> T {
    let Some(outside) = OUTSIDE.get() else { return call() };
    let (mut call, mut result) = (Some(call), None);
    outside(&mut || result = call.take().map(|call| call()));
    result.expect("the call is made once")
}

/// Locks what another thread may hold for long, or while it needs the interpreter.
pub(crate) fn lock_outside(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    match mutex.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => outside(|| mutex.lock().unwrap_or_else(PoisonError::into_inner)),
    }
}

/// Held while queued steps are being handed to a stream, so that they arrive in order.
pub(crate) type Handing = Arc<Mutex<()>>;

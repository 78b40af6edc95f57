//! Keeps forks apart from calls that run without the interpreter's lock: a child inherits every lock as it is, and none of the
//! threads that would open it.

use std::{
    cell::Cell,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

// Forks concern the whole process. Numbers alone: a lock of the gate's own could be inherited closed.
static CLOSED: AtomicBool = AtomicBool::new(false);
static INSIDE: AtomicUsize = AtomicUsize::new(0);

const PATIENCE: Duration = Duration::from_micros(50);

thread_local! {
    // How many calls this thread is in, the closing of the gate included.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// A call that has passed; it must end before a fork.
pub(crate) struct Pass;

/// Waits while another thread forks.
pub(crate) fn pass() -> Pass {
    let depth = DEPTH.replace(DEPTH.get() + 1);
    if depth == 0 {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        while CLOSED.load(Ordering::SeqCst) {
            INSIDE.fetch_sub(1, Ordering::SeqCst);
            wait_while(|| CLOSED.load(Ordering::SeqCst));
            INSIDE.fetch_add(1, Ordering::SeqCst);
        }
    }
    Pass
}

impl Drop for Pass {
    fn drop(&mut self) {
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth);
        if depth == 0 {
            INSIDE.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Lets no call of another thread pass, and waits for those that have.
pub(crate) fn close() {
    wait_while(|| CLOSED.swap(true, Ordering::SeqCst));
    let mine = usize::from(DEPTH.get() > 0);
    wait_while(|| INSIDE.load(Ordering::SeqCst) > mine);
    DEPTH.set(DEPTH.get() + 1);
}

/// Opens the gate that this thread has closed.
pub(crate) fn open() {
    DEPTH.set(DEPTH.get().saturating_sub(1));
    CLOSED.store(false, Ordering::SeqCst);
}

/// Opens the gate in a child, where no other thread is.
pub(crate) fn open_in_child() {
    open();
    INSIDE.store(usize::from(DEPTH.get() > 0), Ordering::SeqCst);
}

fn wait_while(condition: impl Fn() -> bool) {
    while condition() {
        std::thread::sleep(PATIENCE);
    }
}

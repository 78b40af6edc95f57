//! The threads that share large operations.

use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};
use std::{
    ops::Range,
    ptr,
    sync::{
        Once,
        atomic::{AtomicPtr, AtomicU64, Ordering},
    },
};

/// Work of fewer elements is not worth waking a thread.
const WORTHWHILE: usize = 1 << 16;

// How often the process, or one that it came from, has forked: a child has no threads but its own.
static FORKS: AtomicU64 = AtomicU64::new(0);

extern "C" fn after_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

struct Pool {
    forks: u64,
    pool: Option<ThreadPool>,
}

/// A pool of threads, made at the first use and again after a fork.
pub(crate) struct Threads {
    wanted: usize,
    // Never freed: threads of another process cannot be joined, and there is one pool a process.
    pool: AtomicPtr<Pool>,
}

impl Threads {
    /// So many threads; 0 stands for one a core.
    pub(crate) fn new(wanted: usize) -> Threads {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: the handler only counts.
            unsafe { libc::pthread_atfork(None, None, Some(after_fork)) };
        });
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Threads { wanted: if wanted == 0 { cores() } else { wanted }, pool: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The number of threads.
    pub(crate) fn count(&self) -> usize {
        self.wanted
    }

    /// Does tasks `0 .. tasks`, which have `elements` elements in all: `act` is given stretches of them.
    pub(crate) fn share(&self, tasks: usize, elements: usize, act: impl Fn(Range<usize>) + Sync) {
        let pool = if self.wanted > 1 && tasks > 1 && elements > WORTHWHILE { self.pool() } else { None };
        let Some(pool) = pool else { return act(0..tasks) };
        // Some more parts than threads, so that one that is late does not hold up the others.
        let parts = (self.wanted * 8).min(tasks).min(elements.div_ceil(WORTHWHILE / 4));
        pool.install(|| {
            (0..parts).into_par_iter().for_each(|part| act(part * tasks / parts..(part + 1) * tasks / parts));
        });
    }

    /// Runs `act` on the pool, or here if there is none.
    pub(crate) fn run<R: Send>(&self, act: impl FnOnce() -> R + Send) -> R {
        match self.pool().filter(|_| self.wanted > 1) {
            Some(pool) => pool.install(act),
            None => act(),
        }
    }

    fn pool(&self) -> Option<&ThreadPool> {
        let forks = FORKS.load(Ordering::Relaxed);
        let known = self.pool.load(Ordering::Acquire);
        // SAFETY: pools are never freed.
        if let Some(pool) = unsafe { known.as_ref() }
            && pool.forks == forks
        {
            return pool.pool.as_ref();
        }
        let name = |index| format!("cupric-cpu-{index}");
        let pool = ThreadPoolBuilder::new().num_threads(self.wanted).thread_name(name).build().ok();
        let made = Box::into_raw(Box::new(Pool { forks, pool }));
        let kept = match self.pool.compare_exchange(known, made, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => made,
            // Another thread was faster. Its pool serves; this one ends with its box.
            Err(other) => {
                // SAFETY: nobody else has seen this box.
                drop(unsafe { Box::from_raw(made) });
                other
            }
        };
        // SAFETY: pools are never freed.
        unsafe { kept.as_ref() }.and_then(|pool| pool.pool.as_ref())
    }
}

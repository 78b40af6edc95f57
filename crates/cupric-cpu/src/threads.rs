//! The threads that share large operations.

use crate::crew::Crew;
use std::{
    ops::Range,
    ptr,
    sync::{
        Once,
        atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering},
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
    crew: &'static Crew,
}

/// A crew of threads, made at the first use and again after a fork.
pub(crate) struct Threads {
    wanted: usize,
    // Never freed: threads of another process cannot be joined, and there is one crew a process.
    pool: AtomicPtr<Pool>,
}

impl Threads {
    /// So many threads, but no more than four a core; 0 stands for one a core.
    pub(crate) fn new(wanted: usize) -> Threads {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: the handler only counts.
            unsafe { libc::pthread_atfork(None, None, Some(after_fork)) };
        });
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let wanted = if wanted == 0 { cores } else { wanted.min(4 * cores) };
        Threads { wanted, pool: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The number of threads.
    pub(crate) fn count(&self) -> usize {
        self.wanted
    }

    /// Does tasks `0 .. tasks`, which have `elements` elements in all: `act` is given stretches of them.
    pub(crate) fn share(&self, tasks: usize, elements: usize, act: impl Fn(Range<usize>) + Sync) {
        if self.wanted < 2 || tasks < 2 || elements <= WORTHWHILE {
            return act(0..tasks);
        }
        // Some more parts than threads, so that one that is late does not hold up the others.
        let parts = (self.wanted * 8).min(tasks).min(elements.div_ceil(WORTHWHILE / 4));
        let next = AtomicUsize::new(0);
        self.crew().run(&|| {
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= parts {
                    return;
                }
                act(part * tasks / parts..(part + 1) * tasks / parts);
            }
        });
    }

    fn crew(&self) -> &'static Crew {
        let forks = FORKS.load(Ordering::Relaxed);
        let known = self.pool.load(Ordering::Acquire);
        // SAFETY: pools are never freed.
        if let Some(pool) = unsafe { known.as_ref() }
            && pool.forks == forks
        {
            return pool.crew;
        }
        let crew = Crew::new(self.wanted - 1);
        let made = Box::into_raw(Box::new(Pool { forks, crew }));
        // Should another thread have been faster, this crew sleeps for ever: a rare loss, and a small one.
        match self.pool.compare_exchange(known, made, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => crew,
            // SAFETY: pools are never freed, and the other thread's is there.
            Err(other) => unsafe { (*other).crew },
        }
    }
}

//! Threads that help whoever has a job: the caller works too, and waits only for those who have joined it.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// How long a thread looks for what it waits for before it sleeps: waking it takes longer than a small operation.
const AWAKE: Duration = Duration::from_micros(40);

type Work<'a> = dyn Fn() + Sync + 'a;

/// Threads without work, and the job that they may join.
pub(crate) struct Crew {
    state: Mutex<State>,
    posted: Condvar,
    left: Condvar,
    // How often a job was posted; read without the lock.
    posts: AtomicU64,
    // Helpers at work; it changes under the lock.
    working: AtomicUsize,
}

#[derive(Default)]
struct State {
    job: Option<&'static Work<'static>>,
    asleep: usize,
    panic: Option<Box<dyn Any + Send>>,
}

impl Crew {
    /// A crew of so many helpers; fewer if the system gives no more.
    pub(crate) fn new(helpers: usize) -> &'static Crew {
        // Never freed: helpers may look at it at any time.
        let crew: &'static Crew = Box::leak(Box::new(Crew {
            state: Mutex::default(),
            posted: Condvar::new(),
            left: Condvar::new(),
            posts: AtomicU64::new(0),
            working: AtomicUsize::new(0),
        }));
        for index in 0..helpers {
            let thread = std::thread::Builder::new().name(format!("cupric-cpu-{index}"));
            if thread.spawn(move || crew.help()).is_err() {
                break;
            }
        }
        crew
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` here and on every helper that comes in time; each call of it takes what is left to do. A crew that is busy
    /// with another caller's job leaves this one to its caller.
    pub(crate) fn run(&self, work: &Work<'_>) {
        let Some(job) = self.post(work) else { return work() };
        work();
        drop(job);
    }

    fn post(&self, work: &Work<'_>) -> Option<Posted<'_>> {
        let mut state = self.state();
        // Helpers may still be at work on a job that its caller has taken back.
        if state.job.is_some() || self.working.load(Ordering::Acquire) > 0 {
            return None;
        }
        // SAFETY: `Posted` takes the job back, and waits for all that have joined it, before the borrow ends.
        state.job = Some(unsafe { std::mem::transmute::<&Work<'_>, &'static Work<'static>>(work) });
        self.posts.fetch_add(1, Ordering::Release);
        if state.asleep > 0 {
            self.posted.notify_all();
        }
        Some(Posted(self))
    }

    /// What a helper does as long as the process lives.
    fn help(&self) {
        let mut seen = 0;
        loop {
            self.look_out(seen);
            let mut state = self.state();
            while self.posts.load(Ordering::Acquire) == seen {
                state.asleep += 1;
                state = self.posted.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.asleep -= 1;
            }
            seen = self.posts.load(Ordering::Acquire);
            let Some(work) = state.job else { continue };
            self.working.fetch_add(1, Ordering::Relaxed);
            drop(state);
            let outcome = catch_unwind(AssertUnwindSafe(work));
            let mut state = self.state();
            if let Err(panic) = outcome {
                state.panic = Some(panic);
            }
            if self.working.fetch_sub(1, Ordering::Release) == 1 {
                self.left.notify_all();
            }
        }
    }

    /// Waits a little for the next job.
    fn look_out(&self, seen: u64) {
        look_out(|| self.posts.load(Ordering::Relaxed) != seen);
    }
}

/// Waits for something that will soon be so, but not for long.
fn look_out(so: impl Fn() -> bool) {
    let start = Instant::now();
    while !so() && start.elapsed() < AWAKE {
        std::hint::spin_loop();
    }
}

/// A job that helpers may join until this is dropped.
struct Posted<'a>(&'a Crew);

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        self.0.state().job = None;
        let idle = || self.0.working.load(Ordering::Acquire) == 0;
        look_out(idle);
        let mut state = self.0.state();
        while !idle() {
            state = self.0.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let panic = state.panic.take();
        drop(state);
        if let Some(panic) = panic
            && !std::thread::panicking()
        {
            resume_unwind(panic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Crew;
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::atomic::{AtomicUsize, Ordering},
    };

    fn tasks(crew: &Crew, count: usize, act: impl Fn(usize) + Sync) {
        let next = AtomicUsize::new(0);
        crew.run(&|| {
            loop {
                let task = next.fetch_add(1, Ordering::Relaxed);
                if task >= count {
                    return;
                }
                act(task);
            }
        });
    }

    #[test]
    fn every_task_is_done_once_though_several_callers_want_the_crew() {
        let crew = Crew::new(3);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 0..300 {
                        let done: Vec<AtomicUsize> = (0..round).map(|_| AtomicUsize::new(0)).collect();
                        tasks(crew, round, |task| {
                            done[task].fetch_add(1, Ordering::Relaxed);
                        });
                        assert!(done.iter().all(|count| count.load(Ordering::Relaxed) == 1));
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_crew_goes_on() {
        let crew = Crew::new(1);
        for _ in 0..50 {
            let outcome = catch_unwind(AssertUnwindSafe(|| tasks(crew, 100, |task| assert_ne!(task, 70))));
            assert!(outcome.is_err());
        }
        tasks(crew, 100, |_| {});
    }
}

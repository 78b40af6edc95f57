//! Two threads that compile in the background, started when there is work and gone when there is none.

use crate::lock;
use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::Duration,
};

// Two compile 1.7 times as fast as one; more would take the cores from those who wait.
const MOST_THREADS: usize = 2;
const PATIENCE: Duration = Duration::from_secs(5);

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub(crate) struct Workers {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<(u128, Job)>,
    threads: usize,
    idle: usize,
    // What runs now, so that it is not queued again.
    running: Vec<u128>,
    finished: bool,
}

impl Workers {
    /// Runs a job some time, unless one of the same name waits or runs already.
    pub(crate) fn run(&self, name: u128, job: impl FnOnce() + Send + 'static) {
        let mut state = lock(&self.shared.state);
        let known = state.running.contains(&name) || state.jobs.iter().any(|(other, _)| *other == name);
        if known || state.finished {
            return;
        }
        state.jobs.push_back((name, Box::new(job)));
        if state.idle == 0 && state.threads < MOST_THREADS {
            let shared = self.shared.clone();
            let thread = std::thread::Builder::new().name("cupric-compile".to_owned()).spawn(move || work(&shared));
            // Without a thread the kernel is compiled when somebody requires it.
            state.threads += usize::from(thread.is_ok());
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Drops the jobs that wait, takes no more, and waits for those that run.
    pub(crate) fn finish(&self) {
        let mut state = lock(&self.shared.state);
        state.finished = true;
        state.jobs.clear();
        self.shared.changed.notify_all();
        while !state.running.is_empty() {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn work(shared: &Shared) {
    let mut state = lock(&shared.state);
    loop {
        if let Some((name, job)) = state.jobs.pop_front() {
            state.running.push(name);
            drop(state);
            // A panic must not leave the name behind, on which `finish` waits.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
            state = lock(&shared.state);
            state.running.retain(|running| *running != name);
            shared.changed.notify_all();
            continue;
        }
        if state.finished {
            break;
        }
        state.idle += 1;
        let (woken, waited) = shared.changed.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner);
        state = woken;
        state.idle -= 1;
        if waited.timed_out() && state.jobs.is_empty() {
            break;
        }
    }
    state.threads -= 1;
}

//! A thread that launches what has waited in a queue for a while, so that the device is not idle while the caller is.

use crate::{device::Device, lock};
use std::{
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{JoinHandle, Thread},
    time::{Duration, Instant},
};

/// How long a call may wait for the next one before its work is launched.
const PATIENCE: Duration = Duration::from_micros(100);

/// How long the thread looks again and again before it sleeps until it is woken.
const ATTENTION: Duration = Duration::from_millis(5);

#[derive(Default)]
pub(crate) struct Flusher {
    signs: Arc<Signs>,
    thread: Mutex<Option<Running>>,
}

#[derive(Default)]
struct Signs {
    // Whether the thread is there and looking; calls need not wake it then.
    looking: AtomicBool,
    // Counts the looks. A call notes the round it came in, which costs less than to read the clock.
    round: AtomicU64,
}

struct Running {
    handle: JoinHandle<()>,
    stop: Arc<AtomicBool>,
}

impl Flusher {
    /// The number of the look that comes next.
    pub fn round(&self) -> u64 {
        self.signs.round.load(Ordering::Relaxed)
    }

    /// Makes sure that somebody will look at the queues soon.
    pub fn wake(&self, device: &Arc<Device>) {
        if self.signs.looking.load(Ordering::Relaxed) {
            return;
        }
        self.signs.looking.store(true, Ordering::SeqCst);
        let mut thread = lock(&self.thread);
        match &*thread {
            Some(running) if !running.handle.is_finished() => running.handle.thread().unpark(),
            _ => {
                *thread = start(device, &self.signs);
                self.signs.looking.store(thread.is_some(), Ordering::SeqCst);
            }
        }
    }

    /// Wakes the thread if there is one. Unlike `wake` this may come from a thread that is ending.
    pub fn nudge(&self) {
        if let Some(running) = &*lock(&self.thread) {
            self.signs.looking.store(true, Ordering::SeqCst);
            running.handle.thread().unpark();
        }
    }

    /// Ends the thread.
    pub fn stop(&self) {
        let running = lock(&self.thread).take();
        if let Some(Running { handle, stop }) = running {
            stop.store(true, Ordering::SeqCst);
            let thread: &Thread = handle.thread();
            thread.unpark();
            // The thread only fails if a backend panicked in it, which its own report has told.
            drop(handle.join());
        }
        self.signs.looking.store(false, Ordering::SeqCst);
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        if let Some(running) = lock(&self.thread).take() {
            running.stop.store(true, Ordering::SeqCst);
            running.handle.thread().unpark();
        }
    }
}

/// Without a thread (the system refuses one) work is launched by looks and full queues alone.
fn start(device: &Arc<Device>, signs: &Arc<Signs>) -> Option<Running> {
    let stop = Arc::new(AtomicBool::new(false));
    let (device, signs, told) = (Arc::downgrade(device), signs.clone(), stop.clone());
    let body = move || watch(&device, &signs, &told);
    let handle = std::thread::Builder::new().name("cupric-flusher".into()).spawn(body).ok()?;
    Some(Running { handle, stop })
}

/// Says at the thread's end, a panic's included, that nobody looks any more.
struct Gone<'a>(&'a Signs);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        self.0.looking.store(false, Ordering::SeqCst);
    }
}

fn watch(device: &Weak<Device>, signs: &Signs, stop: &AtomicBool) {
    let _gone = Gone(signs);
    let mut active = Instant::now();
    while !stop.load(Ordering::SeqCst) {
        std::thread::sleep(PATIENCE);
        let Some(owner) = device.upgrade() else { return };
        // What came in an earlier round has waited for a whole one.
        let round = signs.round.fetch_add(1, Ordering::Relaxed);
        owner.flush_older(round);
        owner.tidy();
        if owner.has_more_to_do() {
            active = Instant::now();
        }
        drop(owner);
        if active.elapsed() > ATTENTION {
            signs.looking.store(false, Ordering::SeqCst);
            // A call that came just before has seen the thread looking.
            let missed = || device.upgrade().is_some_and(|device| device.has_more_to_do());
            if !missed() {
                std::thread::park();
            }
            signs.looking.store(true, Ordering::SeqCst);
            active = Instant::now();
        }
    }
}

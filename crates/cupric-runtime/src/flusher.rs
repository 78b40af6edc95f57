//! A thread that launches what has waited in a queue for a while, so that the device is not idle while the caller is.

use crate::{device::Device, lock};
use std::{
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, Ordering},
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
    // Whether the thread is there and looking; calls need not wake it then.
    looking: Arc<AtomicBool>,
    thread: Mutex<Option<Running>>,
}

struct Running {
    handle: JoinHandle<()>,
    stop: Arc<AtomicBool>,
}

impl Flusher {
    /// Makes sure that somebody will look at the queues soon.
    pub fn wake(&self, device: &Arc<Device>) {
        if self.looking.load(Ordering::Relaxed) {
            return;
        }
        self.looking.store(true, Ordering::SeqCst);
        let mut thread = lock(&self.thread);
        match &*thread {
            Some(running) if !running.handle.is_finished() => running.handle.thread().unpark(),
            _ => *thread = start(device, &self.looking),
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
        self.looking.store(false, Ordering::SeqCst);
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
fn start(device: &Arc<Device>, looking: &Arc<AtomicBool>) -> Option<Running> {
    let stop = Arc::new(AtomicBool::new(false));
    let (device, looking, told) = (Arc::downgrade(device), looking.clone(), stop.clone());
    let body = move || watch(&device, &looking, &told);
    let handle = std::thread::Builder::new().name("cupric-flusher".into()).spawn(body).ok()?;
    Some(Running { handle, stop })
}

fn watch(device: &Weak<Device>, looking: &AtomicBool, stop: &AtomicBool) {
    let mut active = Instant::now();
    while !stop.load(Ordering::SeqCst) {
        std::thread::sleep(PATIENCE);
        let Some(device) = device.upgrade() else { return };
        let now = Instant::now();
        if device.flush_older(now.checked_sub(PATIENCE).unwrap_or(now)).is_some() {
            active = now;
        }
        drop(device);
        if now.duration_since(active) > ATTENTION {
            looking.store(false, Ordering::SeqCst);
            std::thread::park();
            active = Instant::now();
        }
    }
}

//! Events, reused where nobody takes the time with them: most live from one wait to the next.

use crate::{
    driver::{Event, EventFlags, Progress},
    error::Result,
    gpu::Gpu,
    lock,
};
use rustc_hash::FxHashSet;
use std::sync::{Arc, Mutex};

const MOST_IDLE: usize = 256;

pub(crate) struct Events {
    gpu: Arc<Gpu>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    idle: Vec<Event>,
    // Those in use that come back to `idle`.
    lent: FxHashSet<usize>,
}

impl Events {
    pub(crate) fn new(gpu: Arc<Gpu>) -> Events {
        Events { gpu, state: Mutex::default() }
    }

    pub(crate) fn take(&self, flags: EventFlags) -> Result<Event> {
        let driver = self.gpu.enter()?;
        if flags != EventFlags::DISABLE_TIMING {
            return driver.create_event(flags);
        }
        let idle = lock(&self.state).idle.pop();
        let event = match idle {
            // A new event counts as passed; one whose last mark is still ahead would not.
            Some(event) if driver.query_event(event) == Ok(Progress::Done) => event,
            Some(event) => {
                lock(&self.state).idle.insert(0, event);
                driver.create_event(flags)?
            }
            None => driver.create_event(flags)?,
        };
        lock(&self.state).lent.insert(event.raw());
        Ok(event)
    }

    pub(crate) fn give(&self, event: Event) {
        let mut state = lock(&self.state);
        if state.lent.remove(&event.raw()) && state.idle.len() < MOST_IDLE {
            return state.idle.push(event);
        }
        drop(state);
        destroy(&self.gpu, event);
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        for event in std::mem::take(&mut lock(&self.state).idle) {
            destroy(&self.gpu, event);
        }
    }
}

fn destroy(gpu: &Gpu, event: Event) {
    // SAFETY: its owner has given it up; waits that were queued on it keep what they need. A failure means that the driver
    // is gone, and the event with it.
    let _ = gpu.enter().and_then(|driver| unsafe { driver.destroy_event(event) });
}

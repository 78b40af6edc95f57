//! Where new arrays take their memory from.

use crate::{lock, pool::Pool};
use cupric_core::Result;
use std::{
    any::Any,
    cell::RefCell,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

/// Somebody else's memory: its address, and what keeps it.
pub type ForeignMemory = (u64, Box<dyn Any + Send + Sync>);

/// Where new arrays take their memory from.
#[derive(Clone, Default)]
pub enum Allocator {
    /// The device's own pool.
    #[default]
    Device,
    /// This pool, for arrays on its device.
    Pool(Arc<Pool>),
    /// A function of the number of bytes, called whenever an array is made.
    Function(Arc<dyn Fn(usize) -> Result<ForeignMemory> + Send + Sync>),
}

// Whether anybody has ever chosen an allocator: as long as nobody has, making an array looks no further.
static CHOSEN: AtomicBool = AtomicBool::new(false);
static COMMON: Mutex<Allocator> = Mutex::new(Allocator::Device);

thread_local! {
    static OWN: RefCell<Option<Allocator>> = const { RefCell::new(None) };
}

/// Sets where the new arrays of all threads take memory from; gives what was set before.
pub fn set_allocator(allocator: Allocator) -> Allocator {
    CHOSEN.store(true, Ordering::Relaxed);
    std::mem::replace(&mut *lock(&COMMON), allocator)
}

/// Sets where this thread's new arrays take memory from, whatever is set for all threads; gives what was set before.
pub fn use_allocator(allocator: Option<Allocator>) -> Option<Allocator> {
    CHOSEN.store(true, Ordering::Relaxed);
    OWN.replace(allocator)
}

/// Where this thread's new arrays take memory from now.
#[must_use]
pub fn current_allocator() -> Allocator {
    if !CHOSEN.load(Ordering::Relaxed) {
        return Allocator::Device;
    }
    OWN.with_borrow(Option::clone).unwrap_or_else(|| lock(&COMMON).clone())
}

//! A process that forks: nobody may be holding a lock meanwhile, since only the forking thread goes on in the child.

use crate::{
    device::{Device, Lanes},
    flusher, lock,
    outside::Handing,
    pool,
    registry::open_devices,
};
use std::{
    cell::RefCell,
    sync::{Arc, MutexGuard},
};

/// A device that nobody else can change. Its locks are let go in the order of the fields.
struct Still {
    _pools: Vec<MutexGuard<'static, pool::State>>,
    _queues: MutexGuard<'static, Lanes>,
    _flusher: MutexGuard<'static, Option<flusher::Running>>,
    _handing: Vec<MutexGuard<'static, ()>>,
}

thread_local! {
    static STILL: RefCell<Vec<Still>> = const { RefCell::new(Vec::new()) };
}

/// Launches what is queued and ends background threads, and then keeps all devices as they are until the fork is over. To be
/// called by the thread that forks, which must call one of the two below afterwards.
pub fn before_fork() {
    let devices = open_devices();
    devices.iter().for_each(|device| device.pause());
    STILL.set(devices.into_iter().map(Still::of).collect());
}

/// In the parent, after a fork.
pub fn after_fork_in_parent() {
    drop(STILL.take());
}

/// In the child, after a fork.
pub fn after_fork_in_child() {
    drop(STILL.take());
    open_devices().iter().for_each(|device| device.flusher.forget());
}

impl Still {
    fn of(device: Arc<Device>) -> Still {
        // A few words a fork: the locks' owners must outlive the guards, and devices live as long as the process anyway.
        let device: &'static Arc<Device> = Box::leak(Box::new(device));
        let handings: Vec<Handing> = lock(&device.queues).values().map(|lane| lane.handing.clone()).collect();
        let handings: &'static [Handing] = handings.leak();
        let pools: Vec<_> = lock(&device.pools).iter().filter_map(std::sync::Weak::upgrade).collect();
        let pools: &'static [_] = pools.leak();
        Still {
            _handing: handings.iter().map(|handing| lock(handing)).collect(),
            _flusher: device.flusher.hold(),
            _queues: lock(&device.queues),
            _pools: pools.iter().map(|pool: &Arc<pool::Pool>| pool.hold()).collect(),
        }
    }
}

//! Devices, memory, streams and the queue: when and where what was asked for is computed.
//!
//! An operation is a [`cupric_ir::Step`]. [`Device::enqueue`] checks nothing and computes nothing: it appends the step to its
//! stream's queue. A look ([`Device::download`], [`Storage::settle`], [`Device::synchronize`]) launches what it needs.

mod backend;
mod config;
mod device;
mod flusher;
mod pool;
mod queue;
mod registry;
mod storage;
mod stream;

pub use self::{
    backend::{Backend, Blocking, DeviceKind, RawEvent, RawStream, Timing, Waiting},
    config::{Config, DeviceChoice, Running, parse_device},
    device::{Allocator, Device, ForeignMemory, set_allocator, set_running},
    pool::{Pool, Reservation, rounded},
    registry::{Provider, current_device, default_kind, device, device_count, install, open_devices, use_device},
    storage::Storage,
    stream::{Event, Stream, StreamId, current_stream, use_stream},
};

/// Locks a mutex; a panic elsewhere does not spread, since every state is kept whole.
pub(crate) fn lock<T: ?Sized>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

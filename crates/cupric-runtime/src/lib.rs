//! Devices, memory, streams and the queue: when and where what was asked for is computed.
//!
//! An operation is a [`cupric_ir::Step`]. [`Device::enqueue`] checks nothing and computes nothing: it appends the step to its
//! stream's queue. A look ([`Device::download`], [`Storage::settle`], [`Device::synchronize`]) launches what it needs.

mod allocator;
mod backend;
mod capture;
mod config;
mod device;
mod enqueue;
mod failures;
mod flusher;
mod host;
mod launch;
mod order;
mod outside;
mod parting;
mod places;
mod pool;
mod queue;
mod registry;
mod storage;
mod stream;
mod transfer;

pub use self::{
    allocator::{Allocator, ForeignMemory, current_allocator, set_allocator, use_allocator},
    backend::{Backend, Blocking, DeviceKind, RawEvent, RawStream, Recording, Ticket, Timing, Waiting},
    capture::Graph,
    config::{Config, DeviceChoice, Running, parse_device},
    device::{Device, set_running},
    host::{HostBlock, HostPool},
    outside::set_outside,
    places::set_place_source,
    pool::{Pool, Reservation, rounded},
    registry::{Provider, current_device, default_kind, device, device_count, install, open_devices, use_device},
    storage::Storage,
    stream::{Event, Stream, StreamId, current_stream, use_stream},
};

/// Locks a mutex; a panic elsewhere does not spread, since every state is kept whole.
pub(crate) fn lock<T: ?Sized>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

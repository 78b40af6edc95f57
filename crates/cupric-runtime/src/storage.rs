//! A piece of a device's memory, with what is queued and running on it.

use crate::{
    backend::{DeviceKind, Ticket},
    device::Device,
    lock,
    pool::{Block, Reservation},
    stream::{StreamId, with_current_stream},
};
use cupric_core::{Error, Result};
use cupric_ir::StorageId;
use smallvec::SmallVec;
use std::{
    any::Any,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// What keeps the memory.
enum Owner {
    /// A pool's promise; the block is taken when something is written.
    Pool(Reservation),
    /// Somebody else, who is told by dropping this.
    Foreign(Option<Box<dyn Any + Send + Sync>>),
}

/// What is known of the work on a storage.
#[derive(Default)]
pub(crate) struct Work {
    /// Where the memory is, once there is any.
    pub address: Option<u64>,
    /// The pool's block, and the stream that it was taken for.
    pub block: Option<(Block, StreamId)>,
    /// The stream that last wrote.
    pub writer: Option<StreamId>,
    /// The streams that have waited for that write, and those that read since.
    pub readers: SmallVec<[StreamId; 2]>,
    /// Queues, by stream and generation, that hold steps on this storage.
    pub pending: SmallVec<[(StreamId, u64); 1]>,
    /// Why there are no values.
    pub failure: Option<Box<Error>>,
    /// Launches that made the values and may yet turn out to have failed.
    pub tickets: SmallVec<[Ticket; 1]>,
}

impl Work {
    /// Notes that a stream reads; gives the stream that it must wait for.
    pub fn note_read(&mut self, stream: StreamId) -> Option<StreamId> {
        if self.writer == Some(stream) || self.readers.contains(&stream) {
            return None;
        }
        self.readers.push(stream);
        self.writer
    }

    /// Notes that a stream writes; gives the streams that it must wait for.
    pub fn note_write(&mut self, stream: StreamId) -> SmallVec<[StreamId; 2]> {
        let others = self.readers.iter().copied().chain(self.writer).filter(|&other| other != stream).collect();
        self.writer = Some(stream);
        self.readers.clear();
        others
    }

    /// The streams that have been given work on it.
    pub fn users(&self) -> SmallVec<[StreamId; 2]> {
        self.readers.iter().copied().chain(self.writer).collect()
    }

    /// The other stream whose queue holds a step on this storage.
    pub fn pending_elsewhere(&self, stream: StreamId) -> Option<StreamId> {
        self.pending.iter().map(|&(other, _)| other).find(|&other| other != stream)
    }
}

/// A reference-counted piece of a device's memory.
pub struct Storage {
    id: StorageId,
    bytes: usize,
    device: Arc<Device>,
    shared: AtomicBool,
    owner: Owner,
    pub(crate) work: Mutex<Work>,
}

fn next_id() -> StorageId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    StorageId(NEXT.fetch_add(1, Ordering::Relaxed))
}

impl Storage {
    pub(crate) fn reserved(device: Arc<Device>, bytes: usize, reservation: Reservation) -> Arc<Storage> {
        let owner = Owner::Pool(reservation);
        let work = Mutex::default();
        Arc::new(Storage { id: next_id(), bytes, device, shared: AtomicBool::new(false), owner, work })
    }

    /// Memory that somebody else owns; `owner` is dropped when the last array over it is gone. Shared for ever.
    #[must_use]
    pub fn foreign(device: Arc<Device>, address: u64, bytes: usize, owner: Box<dyn Any + Send + Sync>) -> Arc<Storage> {
        // Whoever made it has been waited for on the current stream.
        let writer = Some(with_current_stream(&device, |stream| stream.id()));
        let work = Mutex::new(Work { address: Some(address), writer, ..Work::default() });
        // Somebody has to let go of it when the device is done with it.
        if device.kind() != DeviceKind::Cpu {
            device.flusher.wake(&device);
        }
        let owner = Owner::Foreign(Some(owner));
        Arc::new(Storage { id: next_id(), bytes, device, shared: AtomicBool::new(true), owner, work })
    }

    /// Its name.
    #[must_use]
    pub const fn id(&self) -> StorageId {
        self.id
    }

    /// Its size.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where it lies.
    #[must_use]
    pub const fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Whether its address is known outside, so that work on it may never wait in a queue.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.shared.load(Ordering::Relaxed)
    }

    /// The address, if it is known outside.
    #[must_use]
    pub fn shared_address(&self) -> Option<u64> {
        if self.is_shared() { lock(&self.work).address } else { None }
    }

    /// The address, taking memory for use on a stream if there is none yet. The pool is asked without holding the lock, since it
    /// may wait.
    pub(crate) fn materialise(&self, stream: StreamId) -> Result<u64> {
        if let Some(address) = lock(&self.work).address {
            return Ok(address);
        }
        let Owner::Pool(reservation) = &self.owner else { return Ok(0) };
        let block = self.device.take_block(reservation.pool(), reservation.size(), stream)?;
        let mut work = lock(&self.work);
        if let Some(first) = work.address {
            // Another thread was faster.
            reservation.pool().give(block, stream);
            return Ok(first);
        }
        work.address = Some(block.address);
        work.block = Some((block, stream));
        Ok(block.address)
    }

    /// Launches all queued work on this storage, and tells why it has no values if it has none.
    ///
    /// # Errors
    /// When an operation that should have written it failed.
    pub fn settle(self: &Arc<Storage>) -> Result<()> {
        // Another thread may be launching, and what it launches is not done before its `pending` is gone.
        loop {
            let pending = lock(&self.work).pending.first().copied();
            let Some((stream, _)) = pending else { break };
            self.device.flush_stream(stream);
        }
        self.device.known_failure(self).map_or(Ok(()), Err)
    }

    /// Makes the address known outside: from now on all work on this storage is launched at its call.
    ///
    /// # Errors
    /// When an operation that should have written it failed, or there is no memory left.
    pub fn share(self: &Arc<Storage>) -> Result<u64> {
        self.shared.store(true, Ordering::Relaxed);
        self.settle()?;
        let stream = with_current_stream(&self.device, |stream| stream.id());
        let address = self.materialise(stream)?;
        // Fresh memory may have been used by earlier work of this stream, for which whoever comes next waits.
        let mut work = lock(&self.work);
        if work.users().is_empty() {
            work.writer = Some(stream);
        }
        Ok(address)
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        let work = self.work.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        let users = work.users();
        match &mut self.owner {
            Owner::Pool(reservation) => {
                let Some((block, home)) = work.block else { return };
                self.device.return_block(reservation.pool(), block, home, &users);
            }
            Owner::Foreign(owner) => {
                // The host's work is done when its calls return.
                if let Some(owner) = owner.take()
                    && self.device.kind() != DeviceKind::Cpu
                {
                    self.device.part(owner, &users);
                }
            }
        }
    }
}

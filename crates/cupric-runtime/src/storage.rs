//! A piece of a device's memory, with what is queued and running on it.

use crate::{device::Device, lock, pool::Reservation, stream::StreamId};
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
    #[expect(dead_code, reason = "held only to be dropped")]
    Foreign(Box<dyn Any + Send + Sync>),
}

/// What is known of the work on a storage.
#[derive(Default)]
pub(crate) struct Work {
    /// Where the memory is, once there is any.
    pub address: Option<u64>,
    /// The stream that last wrote.
    pub writer: Option<StreamId>,
    /// The streams that have waited for that write, and those that read since.
    pub readers: SmallVec<[StreamId; 2]>,
    /// Queues, by stream and generation, that hold steps on this storage.
    pub pending: SmallVec<[(StreamId, u64); 2]>,
    /// Why there are no values.
    pub failure: Option<Error>,
}

/// A reference-counted piece of a device's memory.
pub struct Storage {
    id: StorageId,
    bytes: usize,
    device: Arc<Device>,
    home: StreamId,
    shared: AtomicBool,
    owner: Owner,
    pub(crate) work: Mutex<Work>,
}

fn next_id() -> StorageId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    StorageId(NEXT.fetch_add(1, Ordering::Relaxed))
}

impl Storage {
    pub(crate) fn reserved(
        device: Arc<Device>,
        bytes: usize,
        reservation: Reservation,
        home: StreamId,
    ) -> Arc<Storage> {
        let owner = Owner::Pool(reservation);
        let work = Mutex::default();
        Arc::new(Storage { id: next_id(), bytes, device, home, shared: AtomicBool::new(false), owner, work })
    }

    /// Memory that somebody else owns; `owner` is dropped when the last array over it is gone. Shared for ever.
    #[must_use]
    pub fn foreign(device: Arc<Device>, address: u64, bytes: usize, owner: Box<dyn Any + Send + Sync>) -> Arc<Storage> {
        let home = device.null_stream().id();
        let work = Mutex::new(Work { address: Some(address), ..Work::default() });
        let owner = Owner::Foreign(owner);
        Arc::new(Storage { id: next_id(), bytes, device, home, shared: AtomicBool::new(true), owner, work })
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

    /// The address, taking memory if there is none yet.
    pub(crate) fn materialise(&self) -> Result<u64> {
        let mut work = lock(&self.work);
        if let Some(address) = work.address {
            return Ok(address);
        }
        let Owner::Pool(reservation) = &self.owner else { return Ok(0) };
        let address = reservation.pool().take(reservation.size(), self.home)?;
        work.address = Some(address);
        Ok(address)
    }

    /// Launches all queued work on this storage, and tells why it has no values if it has none.
    ///
    /// # Errors
    /// When an operation that should have written it failed.
    pub fn settle(self: &Arc<Storage>) -> Result<()> {
        let pending: SmallVec<[(StreamId, u64); 2]> = lock(&self.work).pending.clone();
        for (stream, _) in pending {
            self.device.flush_stream(stream);
        }
        lock(&self.work).failure.clone().map_or(Ok(()), Err)
    }

    /// Makes the address known outside: from now on all work on this storage is launched at its call.
    ///
    /// # Errors
    /// When an operation that should have written it failed, or there is no memory left.
    pub fn share(self: &Arc<Storage>) -> Result<u64> {
        self.shared.store(true, Ordering::Relaxed);
        self.settle()?;
        self.materialise()
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        let work = self.work.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (Owner::Pool(reservation), Some(address)) = (&self.owner, work.address) else { return };
        let others = work.readers.iter().copied().chain(work.writer).filter(|&stream| stream != self.home);
        for stream in others {
            self.device.order_after(self.home, stream);
        }
        reservation.pool().give(address, reservation.size(), self.home);
    }
}

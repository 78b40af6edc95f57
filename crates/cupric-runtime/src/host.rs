//! Host memory that a device copies from and to at full speed, kept for reuse.

use crate::{backend::Backend, device::Device, lock, pool::rounded};
use cupric_core::{Error, Result};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex};

/// Host memory for fast copies. Taking it from the system is slow, so what is given back is kept.
pub struct HostPool {
    backend: Arc<dyn Backend>,
    idle: Mutex<FxHashMap<usize, Vec<u64>>>,
}

impl HostPool {
    /// A pool of memory for copies from and to a device.
    #[must_use]
    pub fn new(device: &Device) -> Arc<HostPool> {
        Arc::new(HostPool { backend: device.pool().backend().clone(), idle: Mutex::default() })
    }

    /// A block of at least this many bytes.
    ///
    /// # Errors
    /// `HostMemory` when there is no more, even after the idle blocks have been given back.
    pub fn take(self: &Arc<HostPool>, bytes: usize) -> Result<HostBlock> {
        let size = rounded(bytes);
        let address = match self.idle(size) {
            Some(address) => address,
            None => self.allocate(size)?,
        };
        Ok(HostBlock { pool: self.clone(), address, size })
    }

    fn idle(&self, size: usize) -> Option<u64> {
        lock(&self.idle).get_mut(&size)?.pop()
    }

    fn allocate(&self, size: usize) -> Result<u64> {
        if size == 0 {
            return Ok(0);
        }
        let allocate = || self.backend.allocate_host(size);
        allocate().or_else(|_| {
            self.free_all();
            allocate().map_err(|error| match error {
                Error::OutOfMemory { .. } => Error::HostMemory { requested: size },
                other => other,
            })
        })
    }

    /// Gives idle blocks back to the system.
    pub fn free_all(&self) {
        let idle = std::mem::take(&mut *lock(&self.idle));
        for (size, addresses) in idle {
            addresses.into_iter().for_each(|address| self.backend.release_host(address, size));
        }
    }

    /// How many blocks are idle.
    #[must_use]
    pub fn free_blocks(&self) -> usize {
        lock(&self.idle).values().map(Vec::len).sum()
    }
}

impl Drop for HostPool {
    fn drop(&mut self) {
        self.free_all();
    }
}

/// A block of a pool, to which it goes back when dropped.
pub struct HostBlock {
    pool: Arc<HostPool>,
    address: u64,
    size: usize,
}

impl HostBlock {
    /// Where it lies; 0 for an empty one.
    #[must_use]
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// Its size, which is that asked for, rounded up.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }
}

impl Drop for HostBlock {
    fn drop(&mut self) {
        if self.size > 0 {
            lock(&self.pool.idle).entry(self.size).or_default().push(self.address);
        }
    }
}

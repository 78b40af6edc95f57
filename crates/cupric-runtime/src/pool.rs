//! A caching memory pool whose blocks are reused in the order of the stream that they belong to.

use crate::{backend::Backend, lock, stream::StreamId};
use cupric_core::{Error, Result};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex};

/// The bytes that a request takes from a pool: at most an eighth more, so that near sizes share blocks.
#[must_use]
pub fn rounded(bytes: usize) -> usize {
    if bytes == 0 {
        return 0;
    }
    let step = (bytes.next_power_of_two() / 16).max(512);
    bytes.div_ceil(step) * step
}

/// Memory of one device, kept for reuse.
pub struct Pool {
    backend: Arc<dyn Backend>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    // What is promised to arrays, whether they have a block yet or not.
    reserved: usize,
    // What the device has given: blocks of arrays, and the cached ones.
    taken: usize,
    cached: usize,
    blocks: FxHashMap<(StreamId, usize), Vec<u64>>,
    limit: Option<usize>,
}

impl Pool {
    /// A pool over a device's memory.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>) -> Arc<Pool> {
        Arc::new(Pool { backend, state: Mutex::default() })
    }

    /// Promises memory, without taking it yet.
    ///
    /// # Errors
    /// When the limit, or the device's whole memory, would be passed.
    pub fn reserve(self: &Arc<Pool>, bytes: usize) -> Result<Reservation> {
        let size = rounded(bytes);
        let mut state = lock(&self.state);
        let bound = match state.limit {
            Some(limit) => limit,
            // The device is asked only about requests that could fail.
            None if size < 1 << 28 && state.reserved < 1 << 30 => usize::MAX,
            None => self.backend.memory()?.1,
        };
        if size > bound || state.reserved > bound - size {
            let error = self.out_of_memory(&state, bytes);
            return Err(error);
        }
        state.reserved += size;
        Ok(Reservation { pool: self.clone(), size })
    }

    fn out_of_memory(&self, state: &State, requested: usize) -> Error {
        let (free, total) = self.backend.memory().unwrap_or_default();
        Error::OutOfMemory { requested, free, total, cached: state.cached, limit: state.limit, holders: String::new() }
    }

    /// A block for a reservation, for use on a stream.
    ///
    /// # Errors
    /// When the device has no more, even after the cache has been given back.
    pub(crate) fn take(&self, size: usize, stream: StreamId) -> Result<u64> {
        if size == 0 {
            return Ok(0);
        }
        if let Some(address) = self.cached(size, stream) {
            return Ok(address);
        }
        let address = self.backend.allocate(size).or_else(|_| {
            self.free_all();
            self.backend.allocate(size).map_err(|error| match error {
                Error::OutOfMemory { .. } => self.out_of_memory(&lock(&self.state), size),
                other => other,
            })
        })?;
        lock(&self.state).taken += size;
        Ok(address)
    }

    fn cached(&self, size: usize, stream: StreamId) -> Option<u64> {
        let mut state = lock(&self.state);
        let address = state.blocks.get_mut(&(stream, size))?.pop()?;
        state.cached -= size;
        Some(address)
    }

    /// Takes a block back, to be used by the stream next.
    pub(crate) fn give(&self, address: u64, size: usize, stream: StreamId) {
        if size == 0 {
            return;
        }
        let mut state = lock(&self.state);
        state.cached += size;
        state.blocks.entry((stream, size)).or_default().push(address);
    }

    /// Gives all cached blocks back to the device.
    pub fn free_all(&self) {
        let blocks = {
            let mut state = lock(&self.state);
            state.taken -= state.cached;
            state.cached = 0;
            std::mem::take(&mut state.blocks)
        };
        for ((_, size), addresses) in blocks {
            for address in addresses {
                self.backend.release(address, size);
            }
        }
    }

    /// Bytes that arrays hold.
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        lock(&self.state).reserved
    }

    /// Bytes that are cached.
    #[must_use]
    pub fn free_bytes(&self) -> usize {
        lock(&self.state).cached
    }

    /// Bytes that arrays hold, and cached ones.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        let state = lock(&self.state);
        state.reserved + state.cached
    }

    /// How many blocks are cached.
    #[must_use]
    pub fn free_blocks(&self) -> usize {
        lock(&self.state).blocks.values().map(Vec::len).sum()
    }

    /// The most bytes that arrays may hold.
    #[must_use]
    pub fn limit(&self) -> Option<usize> {
        lock(&self.state).limit
    }

    /// Sets the most bytes that arrays may hold; `None` for no limit but the device's memory.
    pub fn set_limit(&self, limit: Option<usize>) {
        lock(&self.state).limit = limit;
    }

    /// The device that the memory belongs to.
    #[must_use]
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.free_all();
    }
}

/// Memory promised to an array; given up when it is dropped.
pub struct Reservation {
    pool: Arc<Pool>,
    size: usize,
}

impl Reservation {
    /// Bytes that are promised.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The pool that promised them.
    #[must_use]
    pub const fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        lock(&self.pool.state).reserved -= self.size;
    }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn sizes_are_rounded_by_an_eighth_at_most() {
        assert_eq!((rounded(0), rounded(1), rounded(512), rounded(513)), (0, 512, 512, 1024));
        for bytes in (1..200).map(|k| k * 123_457) {
            let size = rounded(bytes);
            assert!(size >= bytes && size - bytes <= bytes / 8 + 512, "{bytes} -> {size}");
            assert_eq!(rounded(size), size);
        }
    }
}

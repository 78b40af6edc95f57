//! A caching memory pool whose blocks are reused in the order of the stream that they belong to.

use crate::{backend::Backend, lock, stream::StreamId};
use cupric_core::{Error, Result};
use rustc_hash::FxHashMap;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// The bytes that a request takes from a pool: at most an eighth more, so that near sizes share blocks.
#[must_use]
pub fn rounded(bytes: usize) -> usize {
    if bytes == 0 {
        return 0;
    }
    let above = bytes.checked_next_power_of_two().unwrap_or(1 << (usize::BITS - 1));
    let step = (above / 16).max(512);
    bytes.div_ceil(step).saturating_mul(step)
}

// Arrays of at least this size are named when memory runs out.
const WORTH_NAMING: usize = 1 << 20;

// A cached block serves requests down to four fifths of its size.
const MOST_SPARE: usize = 4;

// A device keeps a 256th of its memory, or a sixteenth of what is free.
const HEADROOM: usize = 256;

/// A piece of a pool's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Block {
    pub address: u64,
    pub size: usize,
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
    // What the device has given: blocks in use, and the cached ones.
    taken: usize,
    cached: usize,
    blocks: FxHashMap<StreamId, BTreeMap<usize, Vec<u64>>>,
    limit: Option<usize>,
    // What there was for this pool when the device was last asked.
    room: usize,
    // How many arrays there are of each size worth naming.
    large: BTreeMap<usize, usize>,
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
    /// When the limit, or the device's free memory, would be passed.
    pub fn reserve(self: &Arc<Pool>, bytes: usize) -> Result<Reservation> {
        let size = rounded(bytes);
        let mut state = lock(&self.state);
        let wanted = state.reserved.saturating_add(size);
        // The device is asked only about requests that could fail.
        if size >= 1 << 28 || wanted > state.room - state.room / 8 {
            // The device needs some for itself: kernels that are loaded later, say.
            let (free, total) = self.backend.memory()?;
            state.room = free - (total / HEADROOM).min(free / 16) + state.taken;
        }
        if wanted > state.room.min(state.limit.unwrap_or(usize::MAX)) {
            return Err(self.out_of_memory(&state, bytes));
        }
        state.reserved = wanted;
        if size >= WORTH_NAMING {
            *state.large.entry(size).or_default() += 1;
        }
        Ok(Reservation { pool: self.clone(), size })
    }

    fn out_of_memory(&self, state: &State, requested: usize) -> Error {
        let (free, total) = self.backend.memory().unwrap_or_default();
        let (cached, limit) = (state.cached, state.limit);
        let largest = state.large.iter().rev().take(3).map(|(size, count)| format!("{count} of {size} bytes"));
        let holders = largest.collect::<Vec<_>>().join(", ");
        Error::OutOfMemory { requested, free, total, cached, limit, holders }
    }

    /// A cached block of a stream that is not much too large.
    pub(crate) fn cached(&self, size: usize, stream: StreamId) -> Option<Block> {
        if size == 0 {
            return Some(Block { address: 0, size: 0 });
        }
        let mut state = lock(&self.state);
        let blocks = state.blocks.get_mut(&stream)?;
        let (&size, addresses) = blocks.range_mut(size..=size + size / MOST_SPARE).next()?;
        let address = addresses.pop();
        if addresses.is_empty() {
            blocks.remove(&size);
        }
        let address = address?;
        state.cached -= size;
        Some(Block { address, size })
    }

    /// The streams that have a cached block of about this size.
    pub(crate) fn streams_with(&self, size: usize) -> Vec<StreamId> {
        let fits = |blocks: &BTreeMap<usize, Vec<u64>>| blocks.range(size..=size + size / MOST_SPARE).next().is_some();
        lock(&self.state).blocks.iter().filter(|(_, blocks)| fits(blocks)).map(|(&stream, _)| stream).collect()
    }

    /// A new block from the device.
    ///
    /// # Errors
    /// When the device has no more, even after the cache has been given back.
    pub(crate) fn allocate(&self, size: usize) -> Result<Block> {
        let passes_limit = |state: &State| state.limit.is_some_and(|limit| state.taken + size > limit);
        if passes_limit(&lock(&self.state)) {
            self.free_all();
        }
        let address = self.backend.allocate(size).or_else(|_| {
            self.free_all();
            self.backend.allocate(size).map_err(|error| match error {
                Error::OutOfMemory { .. } => self.out_of_memory(&lock(&self.state), size),
                other => other,
            })
        })?;
        lock(&self.state).taken += size;
        Ok(Block { address, size })
    }

    /// Takes a block back, to be used by the stream next.
    pub(crate) fn give(&self, block: Block, stream: StreamId) {
        if block.size == 0 {
            return;
        }
        let mut state = lock(&self.state);
        state.cached += block.size;
        state.blocks.entry(stream).or_default().entry(block.size).or_default().push(block.address);
    }

    /// Gives the cached blocks of one stream to another.
    pub(crate) fn move_blocks(&self, from: StreamId, to: StreamId) {
        let mut state = lock(&self.state);
        let Some(blocks) = state.blocks.remove(&from) else { return };
        let target = state.blocks.entry(to).or_default();
        for (size, addresses) in blocks {
            target.entry(size).or_default().extend(addresses);
        }
    }

    /// Gives all cached blocks back to the device.
    pub fn free_all(&self) {
        let blocks = {
            let mut state = lock(&self.state);
            state.taken -= state.cached;
            state.cached = 0;
            std::mem::take(&mut state.blocks)
        };
        for (size, addresses) in blocks.into_values().flatten() {
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
        lock(&self.state).blocks.values().flat_map(BTreeMap::values).map(Vec::len).sum()
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
        let mut state = lock(&self.pool.state);
        state.reserved -= self.size;
        if self.size >= WORTH_NAMING
            && let Some(count) = state.large.get_mut(&self.size)
        {
            *count -= 1;
            if *count == 0 {
                state.large.remove(&self.size);
            }
        }
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

//! Memory of the host.

use cupric_core::{Error, Result};
use std::alloc::{Layout, alloc, dealloc};

const ALIGN: usize = 256;
const HUGE: usize = 2 << 20;
// From here on whole huge pages are taken: fresh small pages cost as much as the work that is done in them.
const LARGE: usize = 1 << 20;

fn layout(bytes: usize) -> Option<Layout> {
    let (size, align) =
        if bytes >= LARGE { (bytes.checked_next_multiple_of(HUGE)?, HUGE) } else { (bytes.max(1), ALIGN) };
    Layout::from_size_align(size, align).ok()
}

/// Takes memory.
pub(crate) fn allocate(bytes: usize) -> Result<u64> {
    let fail = || {
        let (free, total) = amounts().unwrap_or((0, 0));
        Error::OutOfMemory { requested: bytes, free, total, cached: 0, limit: None, holders: String::new() }
    };
    let layout = layout(bytes).ok_or_else(fail)?;
    // SAFETY: the layout has at least one byte.
    let address = unsafe { alloc(layout) };
    if address.is_null() {
        return Err(fail());
    }
    if layout.align() == HUGE {
        // SAFETY: these whole pages belong to the new block; the call is advice.
        unsafe { libc::madvise(address.cast(), layout.size(), libc::MADV_HUGEPAGE) };
    }
    Ok(address.expose_provenance() as u64)
}

/// Gives memory back that [`allocate`] gave for as many bytes.
pub(crate) fn release(address: u64, bytes: usize) {
    if let Some(layout) = layout(bytes) {
        // SAFETY: the caller gives back what it was given, and the layout follows from the bytes alone.
        unsafe { dealloc(std::ptr::with_exposed_provenance_mut(address as usize), layout) };
    }
}

/// Free and total bytes of the host.
pub(crate) fn amounts() -> Result<(usize, usize)> {
    let text =
        std::fs::read_to_string("/proc/meminfo").map_err(|error| Error::Os(format!("/proc/meminfo: {error}")))?;
    let amount = |name: &str| -> Option<usize> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.split_whitespace().next()?.parse::<usize>().ok()? * 1024)
    };
    match (amount("MemAvailable:"), amount("MemTotal:")) {
        (Some(free), Some(total)) => Ok((free, total)),
        _ => Err(Error::Os("/proc/meminfo tells no amounts".into())),
    }
}

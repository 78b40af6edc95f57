//! Working memory of a thread, kept from one operation to the next.

use std::cell::RefCell;

/// As much as a vector register or a cache line.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line(#[expect(dead_code, reason = "only its room is used")] [u8; 64]);

/// More lines than these are not kept.
const MOST: usize = (16 << 20) / 64;

thread_local! {
    static FREE: RefCell<Vec<Vec<Line>>> = const { RefCell::new(Vec::new()) };
}

/// Aligned memory that goes back to its thread when dropped.
pub(crate) struct Scratch {
    lines: Vec<Line>,
}

impl Scratch {
    /// At least `bytes` bytes; what they hold is left from earlier uses.
    pub(crate) fn new(bytes: usize) -> Scratch {
        let mut lines = FREE.with_borrow_mut(Vec::pop).unwrap_or_default();
        let wanted = bytes.div_ceil(64);
        if lines.len() < wanted {
            lines.resize(wanted, Line([0; 64]));
        }
        Scratch { lines }
    }

    /// Where it begins; the memory stays in place as long as this value lives.
    pub(crate) fn base(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        if lines.len() > MOST {
            return;
        }
        // The thread may be ending.
        let _ = FREE.try_with(|free| free.borrow_mut().push(lines));
    }
}

//! What a device is given: kernels, launches, programs.

use crate::{hash, prelude};
use smallvec::SmallVec;
use std::sync::Arc;

/// The words of the buffer that [`Argument::Failure`] names, all ones in word 0 while nothing has failed.
pub const FAILURE_WORDS: usize = 65;

/// What a launch may pass to a kernel.
pub(crate) const MOST_PARAMETER_BYTES: usize = 4096;

/// What stands in a kernel's text where its name goes.
const NAME: &str = "@name";

/// A kernel's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// A hash of the text, the same in every process.
    pub key: u128,
    /// The name of its entry.
    pub name: String,
    /// CUDA C++ that needs no header.
    pub source: String,
}

impl Kernel {
    /// A kernel from what stands below the prelude; its entry is called `@name` there.
    pub(crate) fn new(kind: &str, headline: &str, body: &str) -> Kernel {
        let text = format!("{}\n{body}", prelude::needed(body));
        let key = hash::text(&format!("{kind}\n{text}"));
        let name = format!("{kind}_{:016x}", (key >> 64) as u64);
        let source = format!("// {headline}   key {key:032x}\n{}", text.replace(NAME, &name));
        Kernel { key, name, source }
    }
}

/// One argument of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// The address of a read of the operation.
    Read {
        /// Which, in the order of `Op::reads`.
        index: usize,
        /// Bytes to add.
        offset: usize,
    },
    /// The address of a write of the operation.
    Write {
        /// Which, in the order of `Op::writes`.
        index: usize,
        /// Bytes to add.
        offset: usize,
    },
    /// An address in the program's workspace.
    Workspace {
        /// Bytes from its start.
        offset: usize,
    },
    /// A value, as its bytes.
    Bits(SmallVec<[u8; 16]>),
    /// The address of a buffer of [`FAILURE_WORDS`] 64-bit words; see [`decode_failure`].
    Failure,
}

impl Argument {
    /// Its bytes as a kernel's parameter, at most.
    fn bytes(&self) -> usize {
        match self {
            Argument::Bits(bytes) => bytes.len().next_multiple_of(8),
            _ => 8,
        }
    }
}

/// One launch of a kernel.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared: u32,
    /// The kernel's arguments.
    pub arguments: Vec<Argument>,
}

impl Launch {
    /// Whether its arguments fit what a kernel may be passed.
    pub(crate) fn fits(&self) -> bool {
        self.arguments.iter().map(Argument::bytes).sum::<usize>() <= MOST_PARAMETER_BYTES
    }
}

/// Launches, in order, that do an operation.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The launches.
    pub launches: Vec<Launch>,
    /// Bytes of scratch memory, aligned to 256 bytes.
    pub workspace: usize,
}

/// An index that lay outside of its axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Which of the operation's indices.
    pub axis: usize,
    /// The index.
    pub index: i64,
    /// The length of the axis.
    pub length: u64,
}

/// Reads what kernels have left in a failure buffer.
#[must_use]
pub fn decode_failure(words: &[u64; FAILURE_WORDS]) -> Option<Failure> {
    let most = (1_i64 << 57) - 1;
    (words[0] != u64::MAX).then(|| {
        let axis = (words[0] >> 58) as usize;
        Failure { axis, index: (words[0] & ((1 << 58) - 1)) as i64 - most, length: words[1 + axis] }
    })
}

/// What a planner has to know about a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeviceLimits {
    /// How many multiprocessors it has.
    pub sm_count: u32,
    /// Counts and byte spans from here on take 64-bit indices; at most 2^31.
    pub index_limit: u64,
}

impl Default for DeviceLimits {
    fn default() -> Self {
        DeviceLimits { sm_count: 132, index_limit: 1 << 31 }
    }
}

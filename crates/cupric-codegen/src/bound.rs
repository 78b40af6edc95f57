//! Operands of launches: elements in a read, a write or the workspace.

use crate::{
    kernel::{Argument, Launch},
    planner::Planner,
    prelude::Width,
};
use cupric_core::{DType, Layout};
use cupric_ir::{Op, Operand, Parameter, StorageId};
use smallvec::SmallVec;

/// An operation and the planner that plans it.
pub(crate) struct Scope<'a> {
    pub planner: &'a Planner,
    reads: SmallVec<[&'a Operand; 8]>,
    writes: SmallVec<[&'a Operand; 4]>,
    addresses: &'a [u64],
    widths: Widths,
}

/// Which widths of indices kernels are made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Widths {
    /// The least that will do.
    Fitting,
    /// 64 bits, so that one kernel serves operands of any size.
    Wide,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(planner: &'a Planner, op: &'a Op, addresses: &'a [u64]) -> Scope<'a> {
        Scope { planner, reads: op.reads(), writes: op.writes(), addresses, widths: Widths::Fitting }
    }

    /// The same with 64-bit indices everywhere.
    pub(crate) fn wide(&self) -> Scope<'a> {
        let (reads, writes) = (self.reads.clone(), self.writes.clone());
        Scope { planner: self.planner, reads, writes, addresses: self.addresses, widths: Widths::Wide }
    }

    /// A read of the operation.
    pub(crate) fn read(&self, index: usize) -> Bound {
        self.bound(Base::Read(index), self.reads[index], index)
    }

    /// A write of the operation.
    pub(crate) fn write(&self, index: usize) -> Bound {
        self.bound(Base::Write(index), self.writes[index], self.reads.len() + index)
    }

    fn bound(&self, base: Base, operand: &Operand, position: usize) -> Bound {
        Bound {
            base,
            storage: Some(operand.storage),
            dtype: operand.dtype,
            layout: Layout::clone(&operand.layout),
            address: self.addresses.get(position).copied().unwrap_or(0),
        }
    }

    /// How wide indices have to be for a count of threads or elements and these byte spans.
    pub(crate) fn width(&self, count: usize, spans: impl IntoIterator<Item = usize>) -> Width {
        let limit = self.planner.limits().index_limit.min(1 << 31);
        let fits = |value: usize| (value as u64) < limit;
        let narrow = self.widths == Widths::Fitting && fits(count) && spans.into_iter().all(fits);
        if narrow { Width::Narrow } else { Width::Wide }
    }
}

/// What an operand's address counts from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Base {
    Read(usize),
    Write(usize),
    Workspace,
}

/// Elements that a launch takes or makes.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub base: Base,
    pub storage: Option<StorageId>,
    pub dtype: DType,
    pub layout: Layout,
    pub address: u64,
}

impl Bound {
    /// Packed elements in the workspace.
    pub(crate) fn scratch(dtype: DType, offset: usize, shape: &[usize]) -> Bound {
        let layout = Layout { offset, ..Layout::row_major(shape, dtype.size()) };
        Bound { base: Base::Workspace, storage: None, dtype, layout, address: 0 }
    }

    /// The argument that names the first element.
    pub(crate) fn argument(&self) -> Argument {
        let offset = self.layout.offset;
        match self.base {
            Base::Read(index) => Argument::Read { index, offset },
            Base::Write(index) => Argument::Write { index, offset },
            Base::Workspace => Argument::Workspace { offset },
        }
    }

    /// Bytes of one element.
    pub(crate) fn item(&self) -> usize {
        self.dtype.size()
    }

    /// Whether the first element's address is a multiple of a power of two.
    pub(crate) fn starts_at_multiple_of(&self, align: usize) -> bool {
        (self.address as usize).wrapping_add(self.layout.offset).is_multiple_of(align)
    }

    /// Whether all elements can be loaded whole.
    pub(crate) fn is_aligned(&self) -> bool {
        let item = self.item();
        self.starts_at_multiple_of(item) && self.layout.strides.iter().all(|stride| stride.unsigned_abs() % item == 0)
    }

    /// The bytes that steps along all axes reach, whatever their signs.
    pub(crate) fn span(&self) -> usize {
        let reach = |(&size, stride): (&usize, &isize)| size.saturating_sub(1).saturating_mul(stride.unsigned_abs());
        self.layout.shape.iter().zip(&self.layout.strides).map(reach).fold(self.item(), usize::saturating_add)
    }

    /// The same elements, moved and copied as bits.
    pub(crate) fn raw(mut self) -> Bound {
        self.dtype = raw_dtype(self.item());
        self
    }

    /// Whether a launch that writes one may touch bytes of the other.
    pub(crate) fn shares(&self, other: &Bound) -> bool {
        match (self.storage, other.storage) {
            (Some(mine), Some(theirs)) => mine == theirs,
            (None, None) => true,
            _ => false,
        }
    }
}

/// The dtype in which elements of a size are copied as they are.
pub(crate) const fn raw_dtype(item: usize) -> DType {
    match item {
        1 => DType::UInt8,
        2 => DType::UInt16,
        4 => DType::UInt32,
        8 => DType::UInt64,
        _ => DType::Complex128,
    }
}

/// The bytes of a scalar.
pub(crate) fn scalar(parameter: &Parameter) -> Argument {
    Argument::Bits(SmallVec::from_slice(&parameter.bits.to_le_bytes()[..parameter.ty.size()]))
}

/// A launch of as many blocks of `threads` threads as `units` need that each take `per_block`.
pub(crate) fn launch(
    kernel: std::sync::Arc<crate::kernel::Kernel>,
    blocks: usize,
    threads: u32,
    arguments: Vec<Argument>,
) -> Launch {
    Launch { kernel, grid: [blocks as u32, 1, 1], block: [threads, 1, 1], shared: 0, arguments }
}

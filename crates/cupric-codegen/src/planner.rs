//! The door: an operation in, a program out.

use crate::{
    bound::Scope,
    gather, hash,
    hash::StructuralKey,
    kernel::{DeviceLimits, Kernel, Launch, Program},
    map, matmul, packed, random, reduce, scan, scatter, select, sort,
};
use cupric_core::{Error, Result};
use cupric_ir::Op;
use rustc_hash::FxHashMap;
use std::{
    hash::Hash,
    sync::{Arc, PoisonError, RwLock},
};

/// Plans operations for one kind of device, and keeps the text of kernels that it has spelled.
#[derive(Debug, Default)]
pub struct Planner {
    limits: DeviceLimits,
    kernels: RwLock<FxHashMap<StructuralKey, Arc<Kernel>>>,
}

impl Planner {
    /// A planner that has spelled nothing.
    #[must_use]
    pub fn new(limits: DeviceLimits) -> Planner {
        Planner { limits, kernels: RwLock::default() }
    }

    /// What it plans for.
    #[must_use]
    pub const fn limits(&self) -> DeviceLimits {
        self.limits
    }

    /// The launches that do an operation. `addresses` are those of its reads and then of its writes, for their alignment
    /// alone; missing ones count as aligned to 256 bytes. The workspace does not depend on them.
    ///
    /// # Errors
    /// When there is no kernel for the operation.
    pub fn plan(&self, op: &Op, addresses: &[u64]) -> Result<Program> {
        let scope = Scope::new(self, op, addresses);
        let program = match op {
            Op::Map(map) => map::plan(&scope, map),
            Op::Reduce(op) => reduce::plan(&scope, op),
            Op::Scan(op) => scan::plan(&scope, op),
            Op::Sort(op) => sort::plan(&scope, op),
            Op::Select(op) => select::plan(&scope, op),
            Op::Gather(op) => gather::plan(&scope, op),
            Op::Scatter(op) => scatter::plan(&scope, op),
            Op::MatMul(op) => matmul::plan(&scope, op),
            Op::Random(op) => random::plan(&scope, op),
        }?;
        if !program.launches.iter().all(Launch::fits) {
            let what = format!("{} of so many operands with so many axes", op.name());
            return Err(Error::Unsupported { what });
        }
        Ok(program)
    }

    /// The launches that do an operation with kernels that [`pack_kernels`](crate::pack_kernels) lists, whatever its program
    /// and layouts are. It takes more time and workspace than [`Planner::plan`]. There is no program for more than 32 axes or 8 indices.
    #[must_use]
    pub fn plan_packed(&self, op: &Op, addresses: &[u64]) -> Option<Program> {
        packed::plan(&Scope::new(self, op, addresses), op)
    }

    /// The kernel of a structure, spelled if it is new.
    pub(crate) fn kernel(&self, structure: impl Hash, spell: impl FnOnce() -> Kernel) -> Arc<Kernel> {
        let key = hash::structure(structure);
        if let Some(kernel) = self.kernels.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return kernel.clone();
        }
        let kernel = Arc::new(spell());
        self.kernels.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(kernel).clone()
    }

    /// Every kernel that has been spelled, in the order of their keys.
    #[must_use]
    pub fn spelled(&self) -> Vec<Arc<Kernel>> {
        let kernels = self.kernels.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Arc<Kernel>> = kernels.values().cloned().collect();
        all.sort_by_key(|kernel| kernel.key);
        all.dedup_by_key(|kernel| kernel.key);
        all
    }
}

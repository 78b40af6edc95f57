//! Matrix products through cuBLAS, opened at the first one.

use crate::{
    cublas::{Cublas, Handle, Workspace},
    driver::{DevicePtr, Stream},
    error::Result,
    gpu::Gpu,
    installation::library_search,
    lock,
    product::Product,
};
use cupric_core::{Layout, Typed};
use cupric_ir::{Input, MapStep, MatMul, Op, Operand, Step, StorageId, alone, ufunc};
use std::sync::{Arc, Mutex, OnceLock};

/// What cuBLAS asks for on the largest devices; a fixed size keeps its choices fixed.
const WORKSPACE: usize = 32 << 20;

pub(crate) struct Blas {
    gpu: Arc<Gpu>,
    library: OnceLock<Option<Cublas>>,
    handle: Mutex<Option<Handle>>,
}

impl Blas {
    pub(crate) fn new(gpu: Arc<Gpu>) -> Blas {
        Blas { gpu, library: OnceLock::new(), handle: Mutex::new(None) }
    }

    /// The plan of a product that the library computes here; `None` leaves it to our own kernels.
    pub(crate) fn plan(&self, op: &MatMul) -> Option<Product> {
        let product = Product::plan(op)?;
        self.library().map(|_| product)
    }

    /// Bytes of scratch memory for a plan.
    pub(crate) const fn workspace(product: &Product) -> usize {
        WORKSPACE + product.scratch()
    }

    fn library(&self) -> Option<&Cublas> {
        let open = || -> Result<Cublas> { Cublas::open(&library_search(), self.gpu.enter()?.version()? / 1000) };
        self.library.get_or_init(|| open().ok()).as_ref()
    }

    /// Queues the calls of a plan whose operands are packed already. The workspace is that of [`Blas::workspace`].
    pub(crate) fn run(&self, stream: Stream, product: &Product, bases: [u64; 3], workspace: u64) -> Result<()> {
        let Some(library) = self.library() else { return Ok(()) };
        self.gpu.enter()?;
        let mut handle = lock(&self.handle);
        let handle = match &mut *handle {
            Some(handle) => &*handle,
            empty => empty.insert(library.create()?),
        };
        let own = DevicePtr(workspace + product.scratch() as u64);
        // SAFETY: the caller lends the workspace to this stream's work until it has ended; the lock keeps others from the
        // handle. The operands are alive as the caller vouches.
        unsafe {
            library.bind(handle, stream, Workspace { pointer: own, bytes: WORKSPACE })?;
            product.calls(bases, workspace).try_for_each(|gemm| library.gemm(handle, &gemm))
        }
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        let handle = lock(&self.handle).take();
        if let (Some(handle), Some(library), Ok(_)) =
            (handle, self.library.get().and_then(Option::as_ref), self.gpu.enter())
        {
            // A library that was shut down already has freed it.
            let _ = library.destroy(handle);
        }
    }
}

/// The operation that copies an operand into a layout of the same (or a repeated) shape.
pub(crate) fn packing(from: &Operand, to: &Layout) -> cupric_core::Result<Op> {
    // Repeated matrices are packed once: the source is read along the packed shape.
    let layout = Layout { shape: to.shape.clone(), ..Layout::clone(&from.layout) };
    let from = Operand { layout: layout.into(), ..from.clone() };
    let row = ufunc("copy").expect("`copy` is a row of the table");
    let body = row.resolve(&[Typed::Strong(from.dtype)], None)?.compile();
    let output = Operand { storage: StorageId(u64::MAX), dtype: from.dtype, layout: to.clone().into() };
    let step = MapStep {
        shape: to.shape.clone(),
        body: Arc::new(body),
        inputs: std::iter::once(Input::Array(from)).collect(),
        outputs: std::iter::once(output).collect(),
        mask: None,
    };
    Ok(alone(&Step::Map(step)))
}

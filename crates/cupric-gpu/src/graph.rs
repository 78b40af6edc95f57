//! Work of a stream, recorded by the driver.

use crate::{
    backend::stream,
    driver::{DevicePtr, Executable, Graph, Stream},
    gpu::Gpu,
};
use cupric_core::Result;
use cupric_runtime::{RawStream, Recording};
use std::sync::Arc;

/// Captured work. Whoever launches it keeps the memory that it uses.
pub(crate) struct CapturedGraph {
    gpu: Arc<Gpu>,
    graph: Graph,
    executable: Executable,
    // Memory of the backend's own that the work uses.
    scratch: Vec<DevicePtr>,
}

impl CapturedGraph {
    /// Ends a stream's capture, which used this scratch memory.
    pub(crate) fn end(gpu: &Arc<Gpu>, from: Stream, scratch: Vec<DevicePtr>) -> Result<CapturedGraph> {
        let driver = gpu.enter()?;
        let graph = driver.end_capture(from)?;
        match driver.instantiate(graph) {
            Ok(executable) => Ok(CapturedGraph { gpu: gpu.clone(), graph, executable, scratch }),
            Err(error) => {
                // SAFETY: nobody else knows the graph.
                let _ = unsafe { driver.destroy_graph(graph) };
                Err(error.into())
            }
        }
    }
}

impl Recording for CapturedGraph {
    fn launch(&self, raw: RawStream) -> Result<()> {
        // SAFETY: whoever holds the recording holds its memory, and orders it with other work.
        Ok(unsafe { self.gpu.enter()?.launch_graph(self.executable, stream(raw)) }?)
    }

    fn upload(&self, raw: RawStream) -> Result<()> {
        Ok(self.gpu.enter()?.upload_graph(self.executable, stream(raw))?)
    }

    fn raw(&self) -> u64 {
        self.graph.raw() as u64
    }
}

impl Drop for CapturedGraph {
    fn drop(&mut self) {
        let Ok(driver) = self.gpu.enter() else { return };
        // SAFETY: both belong to this value; the driver keeps what still runs.
        unsafe {
            let _ = driver.destroy_executable(self.executable);
            let _ = driver.destroy_graph(self.graph);
            // This waits for work that uses it.
            self.scratch.drain(..).for_each(|scratch| drop(driver.free(scratch)));
        }
    }
}

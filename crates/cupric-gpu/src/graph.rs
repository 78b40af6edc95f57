//! Work of a stream, recorded once and launched as often as wanted.

use crate::{
    backend::{GpuBackend, stream},
    driver::{CaptureMode, Executable, Graph},
    gpu::Gpu,
};
use cupric_core::Result;
use cupric_runtime::RawStream;
use std::sync::Arc;

/// Captured work. Whatever memory it uses must stay allocated as long as it is launched.
pub struct CapturedGraph {
    gpu: Arc<Gpu>,
    graph: Graph,
    executable: Executable,
}

impl GpuBackend {
    /// Begins to record a stream's work instead of running it.
    ///
    /// # Errors
    /// When the driver refuses: the null stream cannot be recorded.
    pub fn begin_capture(&self, raw: RawStream, mode: CaptureMode) -> Result<()> {
        Ok(self.gpu().enter()?.begin_capture(stream(raw), mode)?)
    }

    /// Whether a stream's work is being recorded.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn is_capturing(&self, raw: RawStream) -> Result<bool> {
        Ok(self.gpu().enter()?.is_capturing(stream(raw))?)
    }

    /// Ends a recording.
    ///
    /// # Errors
    /// When something in it could not be recorded.
    pub fn end_capture(&self, raw: RawStream) -> Result<CapturedGraph> {
        let driver = self.gpu().enter()?;
        let graph = driver.end_capture(stream(raw))?;
        match driver.instantiate(graph) {
            Ok(executable) => Ok(CapturedGraph { gpu: self.gpu().clone(), graph, executable }),
            Err(error) => {
                // SAFETY: nobody else knows the graph.
                let _ = unsafe { driver.destroy_graph(graph) };
                Err(error.into())
            }
        }
    }
}

impl CapturedGraph {
    /// Launches the recorded work.
    ///
    /// # Safety
    /// The memory that it uses is still allocated, and no other work races for it.
    ///
    /// # Errors
    /// When the driver refuses.
    pub unsafe fn launch(&self, raw: RawStream) -> Result<()> {
        // SAFETY: the caller vouches for the memory.
        Ok(unsafe { self.gpu.enter()?.launch_graph(self.executable, stream(raw)) }?)
    }

    /// Loads it onto the device ahead of its first launch.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn upload(&self, raw: RawStream) -> Result<()> {
        Ok(self.gpu.enter()?.upload_graph(self.executable, stream(raw))?)
    }

    /// The driver's handle.
    #[must_use]
    pub const fn raw(&self) -> Graph {
        self.graph
    }
}

impl Drop for CapturedGraph {
    fn drop(&mut self) {
        let Ok(driver) = self.gpu.enter() else { return };
        // SAFETY: both belong to this value; the driver keeps what still runs.
        unsafe {
            let _ = driver.destroy_executable(self.executable);
            let _ = driver.destroy_graph(self.graph);
        }
    }
}

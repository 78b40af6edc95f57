//! The kernel compiler, opened at its first use.

use crate::{
    error::Result,
    gpu::Gpu,
    installation::library_search,
    nvrtc::{Arch, Nvrtc, Request},
};
use std::sync::OnceLock;

/// Turns the text of built-in kernels into binaries.
pub(crate) trait Compile: Send + Sync {
    /// The compiler's version.
    fn version(&self) -> Result<(i32, i32)>;
    /// The binary of a text.
    fn compile(&self, name: &str, source: &str) -> Result<Vec<u8>>;
}

/// NVRTC for one device.
pub(crate) struct Compiler {
    arch: u32,
    // The newest CUDA whose binaries the driver loads.
    major: i32,
    nvrtc: OnceLock<Result<Nvrtc>>,
}

impl Compiler {
    pub(crate) fn new(gpu: &Gpu) -> Result<Compiler> {
        let major = gpu.enter()?.version()? / 1000;
        Ok(Compiler { arch: gpu.arch(), major, nvrtc: OnceLock::new() })
    }

    pub(crate) fn nvrtc(&self) -> Result<&Nvrtc> {
        self.nvrtc.get_or_init(|| Nvrtc::open_at_most(&library_search(), self.major)).as_ref().map_err(Clone::clone)
    }
}

impl Compile for Compiler {
    fn version(&self) -> Result<(i32, i32)> {
        Ok(self.nvrtc()?.version())
    }

    fn compile(&self, name: &str, source: &str) -> Result<Vec<u8>> {
        compile_builtin(self.nvrtc()?, Arch::Sm(self.arch), name, source)
    }
}

/// Compiles text that was generated here: no header, no contraction.
pub(crate) fn compile_builtin(nvrtc: &Nvrtc, arch: Arch, name: &str, source: &str) -> Result<Vec<u8>> {
    let options = ["-std=c++17", "-default-device", "-minimal", "-fmad=false"].map(str::to_owned);
    let name = format!("{name}.cu");
    let request = Request { source, name: &name, arch, options: &options, name_expressions: &[], headers: &[] };
    Ok(nvrtc.compile(&request)?.bytes)
}

//! Which backends there are. The only place that names them.

use cupric_core::{Error, Result};
use cupric_runtime::{Backend, Config, DeviceKind, Provider};
use std::sync::Once;

struct Backends;

impl Provider for Backends {
    fn count(&self, kind: DeviceKind) -> usize {
        match kind {
            DeviceKind::Cpu => usize::from(cfg!(feature = "cpu")),
            #[cfg(feature = "gpu")]
            DeviceKind::Cuda => cupric_gpu::device_count(),
            _ => 0,
        }
    }

    fn open(&self, kind: DeviceKind, ordinal: usize) -> Result<Box<dyn Backend>> {
        match kind {
            #[cfg(feature = "cpu")]
            DeviceKind::Cpu if ordinal == 0 => Ok(Box::new(cupric_cpu::Cpu::new(Config::get().threads.unwrap_or(0)))),
            #[cfg(feature = "gpu")]
            DeviceKind::Cuda => cupric_gpu::open(ordinal),
            _ => Err(Error::Runtime(format!("there is no device {kind}:{ordinal}"))),
        }
    }
}

/// Makes the backends known. Called by whatever needs a device first; further calls do nothing.
pub(crate) fn ensure() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| cupric_runtime::install(&Backends));
}

/// Folders in which libraries are looked for beside the system's: Python's `sys.path`, say.
#[cfg(any(feature = "cpu", feature = "gpu"))]
pub fn set_library_search(folders: &[std::path::PathBuf]) {
    #[cfg(feature = "gpu")]
    cupric_gpu::set_library_search(folders.to_vec());
    #[cfg(feature = "cpu")]
    cupric_cpu::set_library_search(folders.to_vec());
}

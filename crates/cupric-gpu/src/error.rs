//! What can go wrong below the executor: libraries, the driver, the kernel compiler.

/// The result of a call into a driver or a library.
pub type Result<T> = std::result::Result<T, GpuError>;

const OUT_OF_MEMORY: i32 = 2;
const DEINITIALIZED: i32 = 4;

/// Why a GPU, a library or a kernel cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// A shared library is not installed, or none of the files found could be opened.
    #[error("{name} was not found. Looked for: {}. {help}", looked.join("; "))]
    Library {
        /// The library, as a user calls it.
        name: String,
        /// Each place that was tried, in order.
        looked: Vec<String>,
        /// How to mend it.
        help: String,
    },
    /// A library was opened but lacks a function.
    #[error("{library} has no function {symbol}: it is too old or damaged; install a newer one")]
    Symbol {
        /// The library and its path.
        library: String,
        /// The missing function.
        symbol: String,
    },
    /// A call was made and refused.
    #[error("{call} failed: {message} ({name}, code {code})")]
    Driver {
        /// The function that was called.
        call: &'static str,
        /// Its status.
        code: i32,
        /// The status, by name.
        name: String,
        /// What the status means.
        message: String,
    },
    /// A kernel's text was refused by the compiler.
    #[error("the kernel does not compile:\n{log}")]
    Compile {
        /// What the compiler said.
        log: String,
        /// The text that was compiled.
        r#source: String,
    },
    /// What was asked for cannot be done here.
    #[error("{0}")]
    Unsupported(String),
}

impl From<GpuError> for cupric_core::Error {
    fn from(error: GpuError) -> Self {
        let out_of_memory = error.is_out_of_memory();
        match error {
            // What is free and cached is known to the pool that asked.
            GpuError::Driver { .. } if out_of_memory => {
                Self::OutOfMemory { requested: 0, free: 0, total: 0, cached: 0, limit: None, holders: String::new() }
            }
            GpuError::Driver { call, code, name, .. } if !is_of_driver(call) => {
                let library = if call.starts_with("nvrtc") { "NVRTC" } else { "cuBLAS" };
                Self::LibraryCall { library: library.to_owned(), call: call.to_owned(), code, name }
            }
            GpuError::Driver { call, code, name, message } => {
                Self::Driver { call: call.to_owned(), code, name, message }
            }
            GpuError::Library { name, looked, help } => Self::Library { name, looked, help },
            GpuError::Compile { log, r#source } => Self::Compile { log, source_text: r#source },
            other @ (GpuError::Symbol { .. } | GpuError::Unsupported(_)) => Self::Runtime(other.to_string()),
        }
    }
}

fn is_of_driver(call: &str) -> bool {
    call.starts_with("cu") && !call.starts_with("cublas")
}

impl GpuError {
    /// Whether device memory ran out.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Self::Driver { call, code: OUT_OF_MEMORY, .. } if is_of_driver(call))
    }

    /// The same failure, saying what was asked for.
    #[must_use]
    pub fn about(mut self, what: &str) -> GpuError {
        if let Self::Driver { message, .. } = &mut self {
            message.push_str(&format!(": {what}"));
        }
        self
    }

    /// Whether the driver has shut down already, as happens while a process exits.
    pub fn is_driver_gone(&self) -> bool {
        matches!(self, Self::Driver { code: DEINITIALIZED, .. })
    }
}

#[cfg(test)]
mod tests {
    use super::GpuError;
    use cupric_core::{Error, Exception};

    fn refused(call: &'static str, code: i32) -> Error {
        GpuError::Driver { call, code, name: "NAME".to_owned(), message: "words".to_owned() }.into()
    }

    #[test]
    fn refusals_become_the_exception_of_whoever_refused() {
        assert_eq!(refused("cuMemAlloc_v2", 2).exception(), Exception::OutOfMemory);
        assert_eq!(refused("cuLaunchKernel", 700).exception(), Exception::CudaDriver(700));
        assert_eq!(refused("cublasGemmEx", 2).exception(), Exception::RuntimeError);
        assert!(matches!(refused("nvrtcCompileProgram", 5), Error::LibraryCall { library, .. } if library == "NVRTC"));
    }
}

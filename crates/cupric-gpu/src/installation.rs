//! What this process knows of its installation: where libraries and the pack lie, and the driver, opened once.

use crate::{
    backend::GpuBackend,
    driver::{CudaDriver, Driver},
    error::Result,
    lock,
};
use cupric_runtime::Backend;
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock},
};

static SEARCH: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static PACK_FOLDER: Mutex<Option<PathBuf>> = Mutex::new(None);
static DRIVER: OnceLock<Result<Arc<CudaDriver>>> = OnceLock::new();

/// Folders that may hold pip wheels with libraries: Python's `sys.path`. To be called before a device is opened.
pub fn set_library_search(folders: Vec<PathBuf>) {
    *lock(&SEARCH) = folders;
}

/// The folder that holds the packs, `sm_90.pack` say. To be called before a device is opened; `CUPRIC_PACK` overrides it.
pub fn set_pack_folder(folder: PathBuf) {
    *lock(&PACK_FOLDER) = Some(folder);
}

pub(crate) fn library_search() -> Vec<PathBuf> {
    lock(&SEARCH).clone()
}

/// Where the pack of an architecture may be.
pub(crate) fn pack_file(arch: u32) -> Option<PathBuf> {
    let named = std::env::var_os("CUPRIC_PACK").filter(|value| !value.is_empty()).map(PathBuf::from);
    let file = format!("sm_{arch}.pack");
    match named {
        Some(path) if path.is_dir() => Some(path.join(file)),
        Some(path) => Some(path),
        None => lock(&PACK_FOLDER).as_ref().map(|folder| folder.join(file)),
    }
}

fn driver() -> Result<Arc<CudaDriver>> {
    DRIVER.get_or_init(|| CudaDriver::open(&library_search()).map(Arc::new)).clone()
}

/// How many GPUs there are; 0 where there is no driver.
#[must_use]
pub fn device_count() -> usize {
    driver().and_then(|driver| driver.device_count()).unwrap_or(0)
}

/// The version of CUDA that the driver serves, 1000 * major + 10 * minor.
///
/// # Errors
/// When there is no driver.
pub fn driver_version() -> cupric_core::Result<i32> {
    Ok(driver()?.version()?)
}

/// Opens a GPU.
///
/// # Errors
/// When there is none of this number, or its driver cannot be used.
pub fn open(ordinal: usize) -> cupric_core::Result<Box<dyn Backend>> {
    Ok(Box::new(GpuBackend::open(driver()?, ordinal)?))
}

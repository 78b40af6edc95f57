//! What the driver of a GPU is asked by number.

use crate::{device::PyDevice, errors::enter_waiting, kernels::gpu};
use cupric_gpu::{Attribute, Device, MemoryKind};
use pyo3::prelude::*;

/// One number about a device, by CUDA's numbering.
#[pyfunction]
fn device_attribute(py: Python<'_>, device: &PyDevice, attribute: i32) -> PyResult<i32> {
    enter_waiting(py, || gpu(&device.0)?.attribute(Attribute(attribute)))
}

/// One of a device's limits, by CUDA's numbering.
#[pyfunction]
fn device_limit(py: Python<'_>, device: &PyDevice, limit: i32) -> PyResult<usize> {
    enter_waiting(py, || Ok(gpu(&device.0)?.driver()?.limit(limit)?))
}

/// Sets one of a device's limits.
#[pyfunction]
fn set_device_limit(py: Python<'_>, device: &PyDevice, limit: i32, value: usize) -> PyResult<()> {
    enter_waiting(py, || Ok(gpu(&device.0)?.driver()?.set_limit(limit, value)?))
}

/// Whether a device reaches another one's memory.
#[pyfunction]
fn can_access_peer(py: Python<'_>, device: &PyDevice, peer: usize) -> PyResult<bool> {
    enter_waiting(py, || {
        let driver = gpu(&device.0)?.driver()?;
        let ours: Device = driver.device(device.0.backend().ordinal())?;
        Ok(driver.can_access_peer(ours, driver.device(peer)?)?)
    })
}

/// What an address points to, by the runtime's numbers for kinds of memory, and the device that it belongs to (-1: none).
#[pyfunction]
fn pointer_kind(py: Python<'_>, device: &PyDevice, address: u64) -> PyResult<(i32, i32)> {
    enter_waiting(py, || {
        let info = gpu(&device.0)?.driver()?.pointer_info(address)?;
        let kind = match info.kind {
            MemoryKind::Unregistered => 0,
            MemoryKind::Host => 1,
            MemoryKind::Device => 2,
            MemoryKind::Managed => 3,
        };
        Ok((kind, info.device.map_or(-1, |device| device.0)))
    })
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(device_attribute, module)?)?;
    module.add_function(wrap_pyfunction!(device_limit, module)?)?;
    module.add_function(wrap_pyfunction!(set_device_limit, module)?)?;
    module.add_function(wrap_pyfunction!(can_access_peer, module)?)?;
    module.add_function(wrap_pyfunction!(pointer_kind, module)?)
}

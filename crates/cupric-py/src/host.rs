//! Host memory that a device copies from and to at full speed, and views of it with the buffer protocol.

use crate::{
    device::PyDevice,
    errors::{enter, enter_waiting},
};
use cupric::runtime::{HostBlock, HostPool};
use pyo3::{exceptions::PyBufferError, ffi, intern, prelude::*};
use std::{
    ffi::{c_int, c_void},
    sync::Arc,
};

/// A pool of host memory.
#[pyclass(name = "HostPool", module = "cupric._core", frozen)]
pub(crate) struct PyHostPool(Arc<HostPool>);

#[pymethods]
impl PyHostPool {
    #[new]
    fn new(device: &PyDevice) -> PyHostPool {
        PyHostPool(HostPool::new(&device.0))
    }

    fn take(&self, py: Python<'_>, bytes: usize) -> PyResult<PyHostBlock> {
        enter_waiting(py, || self.0.take(bytes)).map(PyHostBlock)
    }

    fn free_all(&self, py: Python<'_>) -> PyResult<()> {
        enter_waiting(py, || {
            self.0.free_all();
            Ok(())
        })
    }

    fn free_blocks(&self, py: Python<'_>) -> PyResult<usize> {
        enter(py, || Ok(self.0.free_blocks()))
    }
}

/// A block of host memory, which goes back to its pool at the end.
#[pyclass(name = "HostBlock", module = "cupric._core", frozen)]
pub(crate) struct PyHostBlock(HostBlock);

#[pymethods]
impl PyHostBlock {
    #[getter]
    fn address(&self) -> u64 {
        self.0.address()
    }
}

/// Bytes of host memory, which `mem` keeps: an object with the attributes `ptr` and `size`.
#[pyclass(name = "HostView", module = "cupric._core", frozen, subclass)]
pub(crate) struct PyHostView {
    mem: Py<PyAny>,
    address: u64,
    bytes: usize,
}

#[pymethods]
impl PyHostView {
    #[new]
    fn new(mem: &Bound<'_, PyAny>, offset: isize) -> PyResult<PyHostView> {
        let py = mem.py();
        let base: u64 = mem.getattr(intern!(py, "ptr"))?.extract()?;
        let size: usize = mem.getattr(intern!(py, "size"))?.extract()?;
        let bytes = usize::try_from(offset).ok().and_then(|offset| size.checked_sub(offset));
        let bytes = bytes
            .ok_or_else(|| PyBufferError::new_err(format!("offset {offset} lies outside of {size} bytes of memory")))?;
        Ok(PyHostView { mem: mem.clone().unbind(), address: base.wrapping_add_signed(offset as i64), bytes })
    }

    /// What keeps the memory.
    #[getter]
    fn mem(&self, py: Python<'_>) -> Py<PyAny> {
        self.mem.clone_ref(py)
    }

    /// The address.
    #[getter]
    fn ptr(&self) -> u64 {
        self.address
    }

    /// Bytes from here to the end of the memory.
    fn size(&self) -> usize {
        self.bytes
    }

    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        const WRITABLE: c_int = 0;
        let this = slf.get();
        let address = std::ptr::with_exposed_provenance_mut::<c_void>(this.address as usize);
        // SAFETY: Python gives a view to fill in; the memory lives as long as `mem`, which the view keeps by this object.
        let code = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), address, this.bytes as isize, WRITABLE, flags) };
        if code == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyHostPool>()?;
    module.add_class::<PyHostBlock>()?;
    module.add_class::<PyHostView>()
}

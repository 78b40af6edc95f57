//! The generator of random numbers.

use crate::{
    array::PyArray,
    convert::{optional_dtype, shape},
    errors::{enter, enter_sized},
};
use cupric::{
    DType,
    random::{Generator, Numbers},
};
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A stream of random numbers: Philox4x64-10.
#[pyclass(name = "Generator", module = "cupric._core", frozen)]
pub(crate) struct PyGenerator(Mutex<Generator>);

impl PyGenerator {
    fn lock(&self) -> MutexGuard<'_, Generator> {
        // A generator is changed whole or not at all.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw<'py>(
        &self,
        py: Python<'py>,
        size: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
        otherwise: DType,
        numbers: Numbers,
    ) -> PyResult<Bound<'py, PyArray>> {
        let shape = size.filter(|size| !size.is_none()).map_or_else(|| Ok(Default::default()), shape)?;
        let dtype = optional_dtype(dtype)?.unwrap_or(otherwise);
        let bytes = shape.iter().fold(dtype.size(), |bytes, &size| bytes.saturating_mul(size));
        // Memory for the numbers may come from a Python function, which must not be called under the lock.
        let draw = enter(py, || self.lock().draw(numbers, &shape, dtype))?;
        let array = enter_sized(py, bytes, || draw.array())?;
        PyArray::object(py, array)
    }
}

#[pymethods]
impl PyGenerator {
    /// From the 32-bit words of a seed, lowest first.
    #[new]
    fn new(entropy: Vec<u32>) -> PyGenerator {
        PyGenerator(Mutex::new(Generator::new(&entropy)))
    }

    #[pyo3(signature = (size, dtype))]
    fn random<'py>(
        &self,
        py: Python<'py>,
        size: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray>> {
        self.draw(py, size, dtype, DType::Float64, Numbers::Uniform)
    }

    #[pyo3(signature = (size, dtype))]
    fn standard_normal<'py>(
        &self,
        py: Python<'py>,
        size: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray>> {
        self.draw(py, size, dtype, DType::Float64, Numbers::Normal)
    }

    /// `span` integers from `low` on; 0 stands for all that 64 bits hold.
    #[pyo3(signature = (low, span, size, dtype))]
    fn integers<'py>(
        &self,
        py: Python<'py>,
        low: i64,
        span: u64,
        size: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray>> {
        self.draw(py, size, dtype, DType::Int64, Numbers::Integers { low, span })
    }

    /// Raw 64-bit words.
    #[pyo3(signature = (size))]
    fn words<'py>(&self, py: Python<'py>, size: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyArray>> {
        self.draw(py, size, None, DType::UInt64, Numbers::Words)
    }

    /// The key, the blocks used up, and the half words used of the next one.
    #[getter]
    fn state(&self) -> ([u64; 2], [u64; 4], u64) {
        self.lock().state()
    }

    fn set_state(&self, key: [u64; 2], counter: [u64; 4], used: u64) {
        *self.lock() = Generator::from_state(key, counter, used % 8);
    }
}

//! Kernels that a user wrote.

use crate::{
    array::PyArray,
    device::PyDevice,
    errors::{enter, enter_waiting},
};
use cupric::{
    Error,
    runtime::{Storage, current_stream},
};
use cupric_gpu::{
    ArgumentBytes, FunctionAttribute, GpuBackend, KernelArgument, LaunchShape, ModuleSource, UserFunction, UserModule,
};
use pyo3::{
    exceptions::PyAttributeError,
    prelude::*,
    types::{PyBytes, PyComplex},
};
use std::{path::Path, sync::Arc};

/// Loaded code.
#[pyclass(name = "Module", module = "cupric._core", frozen)]
pub(crate) struct PyKernels {
    module: UserModule,
    device: Arc<cupric::runtime::Device>,
}

/// A kernel of a module.
#[pyclass(name = "Kernel", module = "cupric._core", frozen)]
pub(crate) struct PyKernel {
    function: UserFunction,
    device: Arc<cupric::runtime::Device>,
}

/// Names of numbers about a kernel, with CUDA's codes for them.
const ATTRIBUTES: &[(&str, i32)] = &[
    ("max_threads_per_block", 0),
    ("shared_size_bytes", 1),
    ("const_size_bytes", 2),
    ("local_size_bytes", 3),
    ("num_regs", 4),
    ("ptx_version", 5),
    ("binary_version", 6),
    ("cache_mode_ca", 7),
    ("max_dynamic_shared_size_bytes", 8),
    ("preferred_shared_memory_carveout", 9),
];

fn code(name: &str) -> PyResult<FunctionAttribute> {
    let found = ATTRIBUTES.iter().find(|(known, _)| *known == name);
    found.map(|&(_, code)| FunctionAttribute(code)).ok_or_else(|| PyAttributeError::new_err(name.to_owned()))
}

pub(crate) fn gpu(device: &cupric::runtime::Device) -> cupric::Result<&GpuBackend> {
    let missing = || Error::Runtime("kernels written in CUDA C++ need an NVIDIA GPU; this device is the host".into());
    device.backend().as_any().downcast_ref().ok_or_else(missing)
}

/// Compiles CUDA C++ for a device.
#[pyfunction]
fn compile_module(
    py: Python<'_>,
    device: &PyDevice,
    text: &str,
    options: Vec<String>,
    name_expressions: Vec<String>,
) -> PyResult<PyKernels> {
    let source = ModuleSource { text, options: &options, name_expressions: &name_expressions, headers: &[] };
    let module = enter_waiting(py, || gpu(&device.0)?.compile_module(&source))?;
    Ok(PyKernels { module, device: device.0.clone() })
}

/// Loads a file with a cubin, a fatbin or PTX.
#[pyfunction]
fn load_module(py: Python<'_>, device: &PyDevice, path: &str) -> PyResult<PyKernels> {
    let module = enter_waiting(py, || gpu(&device.0)?.load_module_file(Path::new(path)))?;
    Ok(PyKernels { module, device: device.0.clone() })
}

/// The names of the numbers that are known of a kernel.
#[pyfunction]
fn kernel_attributes() -> Vec<&'static str> {
    ATTRIBUTES.iter().map(|&(name, _)| name).collect()
}

#[pymethods]
impl PyKernels {
    fn function(&self, py: Python<'_>, name: &str) -> PyResult<PyKernel> {
        let function = enter_waiting(py, || self.module.function(name))?;
        Ok(PyKernel { function, device: self.device.clone() })
    }

    /// The address and the bytes of a global variable.
    fn get_global(&self, py: Python<'_>, name: &str) -> PyResult<(u64, usize)> {
        enter_waiting(py, || self.module.global(name))
    }
}

/// An argument of a launch.
#[derive(FromPyObject)]
enum Argument<'py> {
    /// An array, whose address is filled in at the launch.
    Array(Bound<'py, PyArray>),
    /// The bytes of a value, and its type's name.
    Bytes(Bound<'py, PyBytes>, String),
    Bool(bool),
    Integer(i128),
    Float(f64),
    Complex(Bound<'py, PyComplex>),
}

impl Argument<'_> {
    fn value(&self) -> KernelArgument<'_> {
        match self {
            Argument::Array(array) => KernelArgument::Address(array.borrow().array.layout().offset as u64),
            Argument::Bytes(bytes, name) => KernelArgument::Bytes(bytes.as_bytes(), name),
            Argument::Bool(value) => KernelArgument::Bool(*value),
            Argument::Integer(value) => KernelArgument::Integer(*value),
            Argument::Float(value) => KernelArgument::Float(*value),
            Argument::Complex(value) => KernelArgument::Complex(value.real(), value.imag()),
        }
    }
}

#[pymethods]
impl PyKernel {
    /// Launches the kernel on the current stream, after all work on the arrays that it is given.
    fn launch(
        &self,
        py: Python<'_>,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        arguments: Vec<Argument<'_>>,
        cooperative: bool,
    ) -> PyResult<()> {
        let stream = current_stream(&self.device);
        let shape = LaunchShape { grid, block, shared_bytes, stream: stream.raw() };
        let values: Vec<KernelArgument<'_>> = arguments.iter().map(Argument::value).collect();
        let mut values = enter(py, || self.function.fit(&values))?;
        // The arrays' storages, by the argument that they are.
        let storages: Vec<(usize, Arc<Storage>)> = arguments
            .iter()
            .enumerate()
            .filter_map(|(index, argument)| match argument {
                Argument::Array(array) => Some((index, array.borrow().array.storage().clone())),
                _ => None,
            })
            .collect();
        enter_waiting(py, || {
            let held: Vec<&Arc<Storage>> = storages.iter().map(|(_, storage)| storage).collect();
            self.device.launch_own(&stream, &held, |addresses| {
                for ((index, _), base) in storages.iter().zip(addresses) {
                    add_base(&mut values[*index], *base);
                }
                let views: Vec<&[u8]> = values.iter().map(|bytes| bytes.as_slice()).collect();
                // SAFETY: whoever writes a kernel vouches for its arguments and for what it touches; arrays are held until
                // the launch is in the stream, and the pool reuses their memory in the order of the stream.
                unsafe {
                    match cooperative {
                        true => self.function.launch_cooperative(&shape, &views),
                        false => self.function.launch(&shape, &views),
                    }
                }
            })
        })
    }

    fn attribute(&self, py: Python<'_>, name: &str) -> PyResult<i32> {
        let code = code(name)?;
        enter_waiting(py, || self.function.attribute(code))
    }

    fn set_attribute(&self, py: Python<'_>, name: &str, value: i32) -> PyResult<()> {
        let code = code(name)?;
        enter_waiting(py, || self.function.set_attribute(code, value))
    }
}

/// Makes an address of a place in a storage.
fn add_base(bytes: &mut ArgumentBytes, base: u64) {
    let offset = bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    *bytes = ArgumentBytes::from_slice(&(base + offset).to_le_bytes());
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyKernels>()?;
    module.add_class::<PyKernel>()?;
    module.add_function(wrap_pyfunction!(compile_module, module)?)?;
    module.add_function(wrap_pyfunction!(load_module, module)?)?;
    module.add_function(wrap_pyfunction!(kernel_attributes, module)?)
}

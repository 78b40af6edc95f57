//! The backend for GPUs: drivers and libraries opened at run time, precompiled kernels, the kernel compiler, the disk cache.

mod arguments;
mod backend;
mod blas;
mod checksum;
mod compiler;
mod cublas;
mod disk_cache;
mod driver;
mod error;
mod events;
mod failures;
mod gpu;
mod graph;
mod installation;
mod kernels;
mod launch;
mod library;
mod make_pack;
mod nvrtc;
mod pack;
mod product;
mod properties;
mod signature;
mod staging;
mod user;
mod workers;

pub use self::{
    arguments::{ArgumentBytes, KernelArgument},
    backend::GpuBackend,
    cublas::{Cublas, Element, Gemm, Handle, Transpose, Workspace},
    disk_cache::DiskCache,
    driver::{
        Attribute, CaptureMode, Context, CudaDriver, Device, DevicePtr, Driver, Event, EventFlags, Executable, Fill,
        Function, FunctionAttribute, Graph, HostFlags, Launch, MemoryInfo, MemoryKind, Module, PointerInfo, Progress,
        Properties, Stream, StreamKind,
    },
    error::{GpuError, Result},
    installation::{device_count, driver_version, open, set_library_search, set_pack_folder},
    library::{Library, Place, Soname, Spec},
    make_pack::{make_pack, pack_content},
    nvrtc::{Arch, Image, Nvrtc, Request},
    pack::{Entry, Pack, PackBuilder},
    properties::{Property, named_properties},
    signature::{KernelParameter, ParameterKind},
    user::{LaunchShape, ModuleSource, UserFunction, UserModule},
};

/// Locks a mutex; a panic elsewhere does not spread, since every state is kept whole.
pub(crate) fn lock<T: ?Sized>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

"""Devices, streams, events and memory, by CuPy's names.

Without a GPU, `Device()` and `Device(0)` stand for the CPU device, streams are ordered queues of work on the host, and events take
real times.
"""

from cupric import _core
from cupric._exceptions import CompileException
from cupric._kernels import RawKernel, RawModule
from cupric.cuda import compiler, device, memory, runtime, stream
from cupric.cuda.device import Device, get_device_id
from cupric.cuda.memory import (
    Memory,
    MemoryPointer,
    MemoryPool,
    PinnedMemory,
    PinnedMemoryPointer,
    PinnedMemoryPool,
    UnownedMemory,
    alloc,
    alloc_pinned_memory,
    get_allocator,
    get_default_memory_pool,
    get_default_pinned_memory_pool,
    set_allocator,
    set_pinned_memory_allocator,
    using_allocator,
)
from cupric.cuda.stream import Event, ExternalStream, Graph, Stream, get_current_stream, get_elapsed_time

__all__ = [
    "CompileException", "Device", "Event", "ExternalStream", "Graph", "Memory", "MemoryPointer", "MemoryPool",
    "PinnedMemory", "PinnedMemoryPointer", "PinnedMemoryPool", "RawKernel", "RawModule", "Stream", "UnownedMemory", "alloc",
    "alloc_pinned_memory", "compiler", "device", "get_allocator", "get_current_stream", "get_default_memory_pool",
    "get_default_pinned_memory_pool", "get_device_id", "get_elapsed_time", "get_local_runtime_version", "is_available",
    "memory", "runtime", "set_allocator", "set_pinned_memory_allocator", "stream", "using_allocator",
]  # fmt: skip


def is_available():
    """Whether there is a GPU."""
    return _core.gpu_count() > 0


def get_local_runtime_version():
    """CUDA's version as the driver tells it; 0 where there is none."""
    return runtime.runtimeGetVersion()

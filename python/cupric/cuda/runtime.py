"""The CUDA runtime's functions, by their names; without a GPU they speak of the host.

Streams, events and memory are named by their handles and addresses here, and live until they are destroyed or freed.
"""

import ctypes
import os
import platform
from types import SimpleNamespace

from cupric import _core
from cupric._exceptions import CUDARuntimeError
from cupric.cuda._numbers import ATTRIBUTES, CONSTANTS
from cupric.cuda.memory import Memory, MemoryPointer, PinnedMemory, UnownedMemory

__all__ = [
    "CUDARuntimeError", "PointerAttributes", "check_status", "deviceCanAccessPeer", "deviceGetAttribute",
    "deviceGetByPCIBusId", "deviceGetLimit", "deviceGetPCIBusId", "deviceSetLimit", "deviceSynchronize", "driverGetVersion",
    "eventCreate", "eventCreateWithFlags", "eventDestroy", "eventElapsedTime", "eventQuery", "eventRecord", "eventSynchronize",
    "free", "freeAsync", "freeHost", "getDevice", "getDeviceCount", "getDeviceProperties", "hostAlloc", "is_hip",
    "launchHostFunc", "malloc", "mallocAsync", "memGetInfo", "memcpy", "memcpyAsync", "memset", "memsetAsync",
    "pointerGetAttributes", "runtimeGetVersion", "setDevice", "streamAddCallback", "streamCreate", "streamCreateWithFlags",
    "streamCreateWithPriority", "streamDestroy", "streamQuery", "streamSynchronize", "streamWaitEvent", *CONSTANTS,
]  # fmt: skip

is_hip = False
globals().update(CONSTANTS)

_NO_DEVICE, _INVALID_VALUE, _INVALID_DEVICE, _INVALID_HANDLE, _NOT_READY = 100, 1, 101, 400, 600

# What was made by the functions below, by handle or address.
_streams, _events, _blocks, _host_blocks = {}, {}, {}, {}


def check_status(status):
    """Raises what a status other than 0 stands for."""
    if status != 0:
        raise CUDARuntimeError(status)


# --- devices


def _device(ordinal):
    """The handle of a device, if there is one of this number."""
    if not 0 <= ordinal < max(getDeviceCount(), 1):
        raise CUDARuntimeError(_INVALID_DEVICE)
    return _core.device(int(ordinal))


def _gpu(handle):
    if handle.kind != "cuda":
        raise CUDARuntimeError(_NO_DEVICE, "cudaErrorNoDevice: the CPU device has no such property")
    return handle


def getDeviceCount():
    """How many GPUs there are."""
    return _core.gpu_count()


def getDevice():
    """The number of the thread's current device."""
    return _core.device().ordinal


def setDevice(device):
    """Makes a device the thread's current one."""
    _device(device).use()


def deviceSynchronize():
    """Waits until all work of the current device is done."""
    _core.device().synchronize()


def memGetInfo():
    """Free and total bytes of the current device."""
    return _core.device().memory()


def driverGetVersion():
    """CUDA's version as the driver tells it; 0 where there is none."""
    return _core.driver_version()


def runtimeGetVersion():
    """The version of CUDA that is used: the driver's, since nothing of the runtime is linked."""
    return _core.driver_version()


def getDeviceProperties(device):
    """A device's properties by the names of `cudaDeviceProp`; of the host where there is no GPU."""
    handle = _device(device)
    found = {name: value.encode() if isinstance(value, str) else value for name, value in handle.properties().items()}
    if found:
        return found
    return {
        "name": (platform.processor() or platform.machine()).encode(),
        "totalGlobalMem": handle.memory()[1],
        "multiProcessorCount": os.cpu_count() or 1,
        "warpSize": 1,
        "major": 0,
        "minor": 0,
    }


def deviceGetAttribute(attrib, device):
    """One number about a GPU, by CUDA's number for it (`cudaDevAttr...`)."""
    return _core.device_attribute(_gpu(_device(device)), int(attrib))


def _attributes(handle):
    """The numbers that are known of a device, by name; none for the host."""
    found = {}
    for name, code in ATTRIBUTES.items() if handle.kind == "cuda" else ():
        try:
            found[name] = _core.device_attribute(handle, code)
        except CUDARuntimeError:
            continue  # An older driver does not know the newest.
    return found


def deviceGetPCIBusId(device):
    """A GPU's place on the PCI bus, `'0000:3B:00.0'` say."""
    of = _gpu(_device(device)).properties()
    return f"{of['pciDomainID']:04X}:{of['pciBusID']:02X}:{of['pciDeviceID']:02X}.0"


def deviceGetByPCIBusId(pciBusId):
    """The number of the GPU at a place on the PCI bus."""
    for device in range(getDeviceCount()):
        if deviceGetPCIBusId(device).lower() == pciBusId.lower():
            return device
    raise CUDARuntimeError(_INVALID_DEVICE if ":" in pciBusId else _INVALID_VALUE)


def deviceCanAccessPeer(device, peerDevice):
    """Whether a device reaches another one's memory, as 0 or 1."""
    handle, _ = _device(device), _device(peerDevice)
    return int(handle.kind == "cuda" and _core.can_access_peer(handle, int(peerDevice)))


def deviceGetLimit(limit):
    """One of the current GPU's limits (`cudaLimit...`), in bytes or calls."""
    return _core.device_limit(_gpu(_core.device()), int(limit))


def deviceSetLimit(limit, value):
    """Sets one of the current GPU's limits; the driver may round it up."""
    _core.set_device_limit(_gpu(_core.device()), int(limit), int(value))


# --- memory


class PointerAttributes(SimpleNamespace):
    """What is known of an address: `device` (-1 if none), `devicePointer`, `hostPointer` and `type` (`memoryType...`)."""


def pointerGetAttributes(ptr):
    """What is known of an address. Without a GPU every address is one of ordinary host memory."""
    handle, ptr = _core.device(), int(ptr)
    kind, device = (
        _core.pointer_kind(handle, ptr) if handle.kind == "cuda" else (CONSTANTS["memoryTypeUnregistered"], -1)
    )
    on_device = kind in (CONSTANTS["memoryTypeDevice"], CONSTANTS["memoryTypeManaged"])
    on_host = kind != CONSTANTS["memoryTypeDevice"]
    pinned = kind == CONSTANTS["memoryTypeHost"]
    return PointerAttributes(
        device=device, devicePointer=ptr if on_device or pinned else 0, hostPointer=ptr if on_host else 0, type=kind
    )


def malloc(size):
    """Takes memory of the current device, from its pool; gives the address."""
    memory = Memory(max(int(size), 1))
    _blocks[memory.ptr] = memory
    return memory.ptr


def free(ptr):
    """Gives memory of `malloc` back; 0 is ignored."""
    if ptr and _blocks.pop(ptr, None) is None:
        raise CUDARuntimeError(_INVALID_VALUE)


def mallocAsync(size, stream):
    """Takes memory for use on a stream."""
    with _on(stream):
        memory = Memory(max(int(size), 1))
    _blocks[memory.ptr] = memory
    return memory.ptr


def freeAsync(ptr, stream):
    """Gives memory back once a stream's work so far is done."""
    free(ptr)


def hostAlloc(size, flags):
    """Takes page-locked host memory; gives the address."""
    memory = PinnedMemory(max(int(size), 1), flags)
    _host_blocks[memory.ptr] = memory
    return memory.ptr


def freeHost(ptr):
    """Gives page-locked memory of `hostAlloc` back; 0 is ignored."""
    if ptr and _host_blocks.pop(ptr, None) is None:
        raise CUDARuntimeError(_INVALID_VALUE)


def _place(ptr, size):
    return MemoryPointer(UnownedMemory(ptr, size, None), 0)


def _on_device(ptr):
    return _core.device().kind != "cuda" or pointerGetAttributes(ptr).type in (2, 3)


def memcpy(dst, src, size, kind):
    """Copies bytes between two addresses, in the order of the current stream; `kind` is one of `memcpy...`."""
    if not 0 <= kind <= 4:
        raise CUDARuntimeError(21, "cudaErrorInvalidMemcpyDirection: invalid copy direction for memcpy")
    if size == 0:
        return
    to, of = kind in (1, 3), kind in (2, 3)
    if kind == CONSTANTS["memcpyDefault"]:
        to, of = _on_device(dst), _on_device(src)
    if not to and not of:
        ctypes.memmove(int(dst), int(src), size)
    elif not of:
        _place(dst, size).copy_from_host(src, size)
    elif not to:
        _place(src, size).copy_to_host(dst, size)
    else:
        _place(dst, size).copy_from_device(_place(src, size), size)


def memcpyAsync(dst, src, size, kind, stream):
    """Copies bytes between two addresses, in a stream's order. A copy from or to the host has ended when this returns."""
    with _on(stream):
        memcpy(dst, src, size, kind)


def memset(ptr, value, size):
    """Sets bytes to a value."""
    _place(ptr, size).memset(value & 255, size)


def memsetAsync(ptr, value, size, stream):
    """Sets bytes to a value, in a stream's order."""
    with _on(stream):
        memset(ptr, value, size)


# --- streams


class _on:
    """Sends the thread's work to a stream, given by its handle, for the length of a with-block."""

    def __init__(self, stream):
        self._stream = _stream(stream)

    def __enter__(self):
        self._before = self._stream.use()

    def __exit__(self, *_):
        self._before.use()


def _stream(ptr):
    device, ptr = _core.device(), int(ptr)
    if ptr in _streams:
        return _streams[ptr]
    null = ptr in (0, CONSTANTS["streamLegacy"])
    return device.null_stream() if null else _core.Stream.external(device, ptr)


def streamCreate():
    """Makes a stream; gives its handle."""
    return streamCreateWithPriority(0, 0)


def streamCreateWithFlags(flags):
    """Makes a stream (`streamNonBlocking`: it runs beside the null stream); gives its handle."""
    return streamCreateWithPriority(flags, 0)


def streamCreateWithPriority(flags, priority):
    """Makes a stream, of which those with lower numbers go first; gives its handle."""
    made = _core.Stream(_core.device(), bool(flags & CONSTANTS["streamNonBlocking"]), priority)
    ptr = made.expose()
    _streams[ptr] = made
    return ptr


def streamDestroy(stream):
    """Ends a stream that was made here, once its work is done."""
    if _streams.pop(stream, None) is None:
        raise CUDARuntimeError(_INVALID_HANDLE)


def streamSynchronize(stream):
    """Waits until the work of a stream, given by its handle, is done."""
    _stream(stream).synchronize()


def streamQuery(stream):
    """0 if the work of a stream is done, else 600."""
    return 0 if _stream(stream).done() else _NOT_READY


def streamWaitEvent(stream, event, flags=0):
    """Makes what is given to a stream from now on wait for an event."""
    _stream(stream).wait_event(_event(event))


def launchHostFunc(stream, callback, arg):
    """Calls a function once a stream's work so far is done; waits for it."""
    _stream(stream).synchronize()
    callback(arg)


def streamAddCallback(stream, callback, arg, flags=0):
    """Calls a function with the stream, a status and an argument once the stream's work so far is done; waits for it."""
    _stream(stream).synchronize()
    callback(stream, 0, arg)


# --- events


def _event(ptr):
    found = _events.get(ptr)
    if found is None:
        raise CUDARuntimeError(_INVALID_HANDLE)
    return found


def eventCreate():
    """Makes an event; gives its handle."""
    return eventCreateWithFlags(0)


def eventCreateWithFlags(flags):
    """Makes an event (`eventBlockingSync`, `eventDisableTiming`); gives its handle."""
    timing = not flags & CONSTANTS["eventDisableTiming"]
    made = _core.Event(_core.device(), timing, bool(flags & CONSTANTS["eventBlockingSync"]))
    _events[made.ptr] = made
    return made.ptr


def eventDestroy(event):
    """Forgets an event."""
    _event(event)
    del _events[event]


def eventRecord(event, stream):
    """Marks the point that a stream's work has come to."""
    _event(event).record(_stream(stream))


def eventSynchronize(event):
    """Waits until the point is passed."""
    _event(event).synchronize()


def eventQuery(event):
    """0 if the point is passed, else 600."""
    return 0 if _event(event).done() else _NOT_READY


def eventElapsedTime(start, end):
    """Milliseconds between two events."""
    return _event(start).elapsed_until(_event(end))

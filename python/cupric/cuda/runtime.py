"""The CUDA runtime's functions that need no handles of their own, by their names; without a GPU they speak of the host."""

import os
import platform

from cupric import _core
from cupric._exceptions import CUDARuntimeError

__all__ = [
    "CUDARuntimeError", "deviceGetAttribute", "deviceSynchronize", "driverGetVersion", "getDevice", "getDeviceCount", "getDeviceProperties", "is_hip", "memGetInfo", "runtimeGetVersion", "setDevice",
    "streamSynchronize",
]  # fmt: skip

is_hip = False

memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice, memcpyDefault = range(5)
streamDefault, streamNonBlocking = 0, 1
eventDefault, eventBlockingSync, eventDisableTiming, eventInterprocess = 0, 1, 2, 4


def getDeviceCount():
    """How many GPUs there are."""
    return _core.gpu_count()


def getDevice():
    """The number of the thread's current device."""
    return _core.device().ordinal


def setDevice(device):
    """Makes a device the thread's current one."""
    _core.device(int(device)).use()


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
    handle = _core.device(int(device))
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
    """A device's property, by the name that `cudaDeviceProp` has for it."""
    return getDeviceProperties(device)[attrib]


def streamSynchronize(stream):
    """Waits until the work of a stream, given by its handle, is done."""
    _core.Stream.external(_core.device(), int(stream)).synchronize()

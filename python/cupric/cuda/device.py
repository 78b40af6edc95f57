"""Devices."""

import threading

from cupric import _core
from cupric.cuda import runtime

__all__ = ["Device", "get_compute_capability", "get_device_id"]


class _Entered(threading.local):
    """The devices that this thread's with-blocks go back to."""

    def __init__(self):
        self.before = []


_entered = _Entered()


class Device:
    """A device: a GPU, or the host where there is none.

    Parameters
    ----------
    device : int or Device, optional
        The thread's current device by default.

    Examples
    --------
    >>> import cupric as cp
    >>> with cp.cuda.Device(0):
    ...     a = cp.zeros(3)
    """

    __slots__ = ("_handle", "id")

    def __init__(self, device=None):
        if device is None:
            self._handle = _core.device()
            self.id = self._handle.ordinal
            return
        self.id = int(device)
        if self.id < 0:
            raise ValueError("Device ID must be non-negative")
        self._handle = None

    @property
    def _core(self):
        if self._handle is None:
            self._handle = runtime._device(self.id)
        return self._handle

    def __int__(self):
        return self.id

    def __eq__(self, other):
        return self.id == other.id if isinstance(other, Device) else NotImplemented

    def __hash__(self):
        return hash(self.id)

    def __lt__(self, other):
        return self.id < other.id

    def __repr__(self):
        return (
            f"<CUDA Device {self.id}>" if self._core.kind == "cuda" else f"<{self._core.kind.upper()} Device {self.id}>"
        )

    def use(self):
        """Makes it the thread's current device."""
        self._core.use()
        return self

    def __enter__(self):
        _entered.before.append(_core.device())
        self._core.use()
        return self

    def __exit__(self, *_):
        _entered.before.pop().use()

    def synchronize(self):
        """Waits until all work of the device is done."""
        self._core.synchronize()

    @property
    def kind(self):
        """`'cpu'` or `'cuda'`."""
        return self._core.kind

    @property
    def mem_info(self):
        """Free and total bytes."""
        return self._core.memory()

    @property
    def attributes(self):
        """The GPU's attributes by their names in CUDA (`MultiProcessorCount`, say); nothing for the host."""
        return runtime._attributes(self._core)

    @property
    def name(self):
        """What the device is called."""
        return runtime.getDeviceProperties(self.id)["name"].decode()

    @property
    def compute_capability(self):
        """The GPU's compute capability as digits, `'90'` say."""
        return get_compute_capability(self)

    @property
    def pci_bus_id(self):
        """The GPU's place on the PCI bus."""
        return runtime.deviceGetPCIBusId(self.id)

    @classmethod
    def from_pci_bus_id(cls, pci_bus_id):
        """The GPU at a place on the PCI bus."""
        return cls(runtime.deviceGetByPCIBusId(pci_bus_id))


def get_compute_capability(device=None):
    """A GPU's compute capability as digits, `'90'` say."""
    of = runtime._gpu((Device() if device is None else device)._core).properties()
    return f"{of['major']}{of['minor']}"


def get_device_id():
    """The number of the thread's current device."""
    return _core.device().ordinal

"""Memory pools, pointers, and where new arrays take their memory from."""

import ctypes
import threading
from contextlib import contextmanager, nullcontext

import numpy as np

from cupric import _core
from cupric._exceptions import OutOfMemoryError

__all__ = [
    "Memory", "MemoryPointer", "MemoryPool", "OutOfMemoryError", "PinnedMemory", "PinnedMemoryPointer",
    "PinnedMemoryPool", "UnownedMemory", "alloc", "alloc_pinned_memory", "get_allocator", "get_default_memory_pool",
    "get_default_pinned_memory_pool", "set_allocator", "set_pinned_memory_allocator", "using_allocator",
]  # fmt: skip


class Memory:
    """A piece of a device's memory.

    Parameters
    ----------
    size : int
        Bytes.
    """

    def __init__(self, size):
        self._array = _core.device().pool().allocate(size)
        self.size = size

    @classmethod
    def _over(cls, array):
        """The memory that an array of bytes shows."""
        made = cls.__new__(cls)
        made._array = array
        made.size = array.size
        return made

    @property
    def ptr(self):
        """The address; work on this memory is launched at its call from now on."""
        return self._array._address()

    @property
    def device_id(self):
        """The number of its device."""
        return self._array._place()[1]

    @property
    def device(self):
        """Its device."""
        return self._array.device


class UnownedMemory(Memory):
    """Memory that somebody else owns.

    Parameters
    ----------
    ptr : int
        The address.
    size : int
        Bytes.
    owner : object
        Kept as long as the memory is used.
    device_id : int
        Not needed: it is the current device.
    """

    def __init__(self, ptr, size, owner, device_id=-1):
        self._array = _core.foreign(int(ptr), int(size), owner)
        self.size = size


class MemoryPointer:
    """A place in a piece of memory.

    Parameters
    ----------
    mem : Memory
    offset : int
        Bytes from its beginning.
    """

    def __init__(self, mem, offset):
        self.mem = mem
        self._offset = offset

    @property
    def ptr(self):
        """The address; work on this memory is launched at its call from now on."""
        return self.mem.ptr + self._offset

    @property
    def device_id(self):
        """The number of the memory's device."""
        return self.mem.device_id

    @property
    def device(self):
        """The memory's device."""
        return self.mem.device

    def __int__(self):
        return self.ptr

    def __add__(self, offset):
        return MemoryPointer(self.mem, self._offset + offset)

    __radd__ = __add__

    def __sub__(self, offset):
        return MemoryPointer(self.mem, self._offset - offset)

    def _bytes(self, size):
        return _core.ndarray((size,), "uint8", self)

    def copy_from_device(self, src, size):
        """Copies bytes from another place on the device."""
        if size:
            self._bytes(size)[...] = src._bytes(size)

    def copy_from_device_async(self, src, size, stream=None):
        """Copies bytes from another place on the device, in a stream's order."""
        with _on(stream):
            self.copy_from_device(src, size)

    def copy_from_host(self, mem, size):
        """Copies bytes from host memory, whose address is a number or a `ctypes` pointer."""
        if size:
            self._bytes(size).set(_host_bytes(mem, size))

    def copy_from_host_async(self, mem, size, stream=None):
        """Copies bytes from host memory, in a stream's order; the memory may be changed as soon as this returns."""
        with _on(stream):
            self.copy_from_host(mem, size)

    def copy_from(self, mem, size):
        """Copies bytes from another place on the device, or from the host."""
        (self.copy_from_device if isinstance(mem, MemoryPointer) else self.copy_from_host)(mem, size)

    def copy_from_async(self, mem, size, stream=None):
        """Copies bytes from another place on the device, or from the host, in a stream's order."""
        with _on(stream):
            self.copy_from(mem, size)

    def copy_to_host(self, mem, size):
        """Copies bytes to host memory, whose address is a number or a `ctypes` pointer."""
        if size:
            self._bytes(size).get(out=_host_bytes(mem, size))

    def copy_to_host_async(self, mem, size, stream=None):
        """Copies bytes to host memory, in a stream's order; they are there when this returns."""
        with _on(stream):
            self.copy_to_host(mem, size)

    def memset(self, value, size):
        """Sets bytes to a value."""
        if size:
            self._bytes(size).fill(value)

    def memset_async(self, value, size, stream=None):
        """Sets bytes to a value, in a stream's order."""
        with _on(stream):
            self.memset(value, size)


def _on(stream):
    return nullcontext() if stream is None else stream


def _host_bytes(mem, size):
    address = mem.value if isinstance(mem, ctypes.c_void_p) else int(mem)
    return np.frombuffer((ctypes.c_ubyte * size).from_address(address), np.uint8)


class MemoryPool:
    """A caching pool of the current device's memory.

    Examples
    --------
    >>> import cupric as cp
    >>> pool = cp.cuda.MemoryPool()
    >>> with cp.cuda.using_allocator(pool.malloc):
    ...     a = cp.zeros(1000)
    >>> pool.used_bytes() >= 8000
    True
    """

    def __init__(self, allocator=None):
        if allocator is not None:
            raise NotImplementedError(
                "a pool over another allocator is not supported: give the allocator to set_allocator"
            )
        self._handle = _core.device().new_pool()

    @classmethod
    def _over(cls, handle):
        made = cls.__new__(cls)
        made._handle = handle
        return made

    def __eq__(self, other):
        return self._handle.same(other._handle) if isinstance(other, MemoryPool) else NotImplemented

    def __hash__(self):
        return hash(self._handle.device.ordinal)

    def malloc(self, size):
        """A pointer to new memory."""
        return MemoryPointer(Memory._over(self._handle.allocate(size)), 0)

    def used_bytes(self):
        """Bytes that arrays hold."""
        return self._handle.used_bytes()

    def free_bytes(self):
        """Bytes that are cached."""
        return self._handle.free_bytes()

    def total_bytes(self):
        """Bytes that arrays hold, and cached ones."""
        return self._handle.total_bytes()

    def n_free_blocks(self):
        """How many blocks are cached."""
        return self._handle.free_blocks()

    def free_all_blocks(self, stream=None):
        """Gives cached memory back to the device."""
        self._handle.free_all()

    def free_all_free(self):
        """Gives cached memory back to the device; the older name."""
        self._handle.free_all()

    def set_limit(self, size=None, fraction=None):
        """Sets the most bytes that arrays may hold, or which part of the device's memory; 0 for no limit."""
        if size is not None and fraction is not None:
            raise ValueError("size and fraction cannot be specified at one time")
        if fraction is not None:
            if not 0 <= fraction <= 1:
                raise ValueError(f"memory limit fraction out of range: {fraction}")
            size = int(fraction * self._handle.device.memory()[1])
        if size is not None and size < 0:
            raise ValueError(f"memory limit size out of range: {size}")
        self._handle.set_limit(size or None)

    def get_limit(self):
        """The most bytes that arrays may hold; 0 for no limit."""
        return self._handle.limit() or 0


class _Chosen(threading.local):
    """The allocators of this thread's with-blocks, the innermost last."""

    def __init__(self):
        self.stack = []


_chosen = _Chosen()
_common = None
_pools = {}


def get_default_memory_pool():
    """The pool of the current device."""
    device = _core.device()
    found = _pools.get(device.ordinal)
    if found is None:
        found = _pools.setdefault(device.ordinal, MemoryPool._over(device.pool()))
    return found


def get_allocator():
    """What gives memory to this thread's new arrays: a function of the number of bytes."""
    allocator = _chosen.stack[-1] if _chosen.stack else _common
    return get_default_memory_pool().malloc if allocator is None else allocator


def _source(allocator):
    """What the core takes for an allocator: a pool's own handle where it is one."""
    pool = getattr(allocator, "__self__", None)
    if isinstance(pool, MemoryPool) and allocator == pool.malloc:
        return pool._handle
    if allocator is not None and not callable(allocator):
        raise TypeError(f"an allocator is a function of the number of bytes, not {type(allocator).__name__}")
    return allocator


def set_allocator(allocator=None):
    """Sets what gives memory to the new arrays of all threads.

    Parameters
    ----------
    allocator : function, optional
        A pool's `malloc`; any function that takes a number of bytes and gives a `MemoryPointer`; or None for the device's own pool.
        A function of yours is called whenever an array is made.

    Raises
    ------
    ValueError
        Within a block of `using_allocator`, which decides for its thread.
    """
    global _common
    if _chosen.stack:
        raise ValueError("set_allocator cannot be called within using_allocator, which decides for this thread")
    _core.set_allocator(_source(allocator))
    _common = allocator


@contextmanager
def using_allocator(allocator=None):
    """Sets what gives memory to this thread's new arrays for the length of a with-block."""
    _core.use_allocator(_source(allocator))
    _chosen.stack.append(allocator)
    try:
        yield
    finally:
        _chosen.stack.pop()
        if _chosen.stack:
            _core.use_allocator(_source(_chosen.stack[-1]))
        else:
            _core.use_common_allocator()


def alloc(size):
    """A pointer to new memory, from this thread's allocator."""
    return get_allocator()(size)


class PinnedMemory:
    """A piece of host memory that a GPU copies from and to at full speed: page-locked memory.

    Parameters
    ----------
    size : int
        Bytes.
    flags : int
        Ignored: the memory is page-locked for every device.
    """

    def __init__(self, size, flags=0):
        self._take(_core.HostPool(_core.device()), size)

    @classmethod
    def _of(cls, pool, size):
        made = cls.__new__(cls)
        made._take(pool, size)
        return made

    def _take(self, pool, size):
        if size < 0:
            raise ValueError(f"memory of {size} bytes was asked for")
        self._block, self.size = pool.take(size), size

    @property
    def ptr(self):
        """The address."""
        return self._block.address

    def __int__(self):
        return self.ptr


class PinnedMemoryPointer(_core.HostView):
    """A place in a piece of page-locked memory; `numpy.frombuffer` makes an array of what lies from there on.

    Parameters
    ----------
    mem : PinnedMemory
    offset : int
        Bytes from its beginning.
    """

    __slots__ = ()

    def __int__(self):
        return self.ptr

    def __add__(self, offset):
        return PinnedMemoryPointer(self.mem, self.ptr - self.mem.ptr + offset)

    __radd__ = __add__

    def __sub__(self, offset):
        return self + -offset


class PinnedMemoryPool:
    """A caching pool of page-locked host memory.

    Examples
    --------
    >>> import numpy as np, cupric as cp
    >>> memory = cp.cuda.PinnedMemoryPool().malloc(24)
    >>> host = np.frombuffer(memory, np.float64)
    >>> cp.arange(3.0).get(out=host).tolist()
    [0.0, 1.0, 2.0]
    """

    def __init__(self, allocator=None):
        if allocator is not None:
            raise NotImplementedError(
                "a pool over another allocator is not supported: give the allocator to set_pinned_memory_allocator"
            )
        self._pool = None

    def _host_pool(self):
        # Not before it is needed: a device is opened for it.
        if self._pool is None:
            self._pool = _core.HostPool(_core.device())
        return self._pool

    def malloc(self, size):
        """A pointer to memory that comes back to this pool when nobody uses it any more."""
        return PinnedMemoryPointer(PinnedMemory._of(self._host_pool(), size), 0)

    def n_free_blocks(self):
        """How many blocks are cached."""
        return 0 if self._pool is None else self._pool.free_blocks()

    def free_all_blocks(self):
        """Gives cached memory back to the system."""
        if self._pool is not None:
            self._pool.free_all()


_pinned = PinnedMemoryPool()


def _unpooled(size):
    return PinnedMemoryPointer(PinnedMemory(size), 0)


class _PinnedAllocator:
    """What gives page-locked memory, in the whole process."""

    current = staticmethod(_pinned.malloc)


def get_default_pinned_memory_pool():
    """The pool of page-locked memory."""
    return _pinned


def set_pinned_memory_allocator(allocator=None):
    """Sets what gives page-locked memory, in all threads.

    Parameters
    ----------
    allocator : function, optional
        A function of the number of bytes that gives a `PinnedMemoryPointer`: a pool's `malloc`, say. None for memory that is taken
        from the system, and given back to it, each time.
    """
    _PinnedAllocator.current = staticmethod(_unpooled if allocator is None else allocator)


def alloc_pinned_memory(size):
    """A pointer to page-locked memory, from the default pool if `set_pinned_memory_allocator` has not said otherwise."""
    return _PinnedAllocator.current(size)

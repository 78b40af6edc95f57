"""What the array object has beside its Rust core: conventions, protocols, and methods that are compositions."""

import pickle

import numpy as np

from cupric import _core, _dispatch, _manipulation, _selection, _statistics
from cupric._core import ndarray
from cupric._creation import arange, array, zeros

__all__ = ["Flags", "flatiter"]


class Flags:
    """How an array lies in memory; also by index: `a.flags["C_CONTIGUOUS"]`."""

    __slots__ = ("_array", "c_contiguous", "f_contiguous", "owndata")

    def __init__(self, a):
        for name, value in (
            ("_array", a),
            ("c_contiguous", a._c_contiguous()),
            ("f_contiguous", a._f_contiguous()),
            ("owndata", a.base is None),
        ):
            object.__setattr__(self, name, value)

    def __setattr__(self, name, value):
        if name != "writeable":
            raise AttributeError(f"attribute {name!r} of 'cupric.ndarray.flags' is not writable")
        self._array._set_writeable(bool(value))

    @property
    def writeable(self):
        """Whether the elements may be written."""
        return self._array._writeable()

    @property
    def fnc(self):
        """Column-major and not row-major."""
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self):
        """Column-major or row-major."""
        return self.f_contiguous or self.c_contiguous

    @property
    def contiguous(self):
        """Row-major."""
        return self.c_contiguous

    @property
    def aligned(self):
        """Always."""
        return True

    def __getitem__(self, name):
        short = {"C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable", "A": "aligned"}
        try:
            return getattr(self, short.get(name, str(name).lower()))
        except AttributeError:
            raise KeyError("Unknown flag") from None

    def __setitem__(self, name, value):
        setattr(self, {"W": "writeable"}.get(name, str(name).lower()), value)

    def __repr__(self):
        names = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE")
        return "\n".join(f"  {name} : {self[name]}" for name in names)


class flatiter:
    """The elements of an array in row-major order: `a.flat`."""

    def __init__(self, a):
        self.base = a

    def __getitem__(self, key):
        return self.base.ravel()[key]

    def __setitem__(self, key, value):
        if self.base.flags.c_contiguous:
            self.base.reshape(-1)[key] = value
            return
        flat = self.base.flatten()
        flat[key] = value
        self.base[...] = flat.reshape(self.base.shape)

    def __iter__(self):
        return iter(self.base.ravel())

    def __len__(self):
        return self.base.size

    def copy(self):
        """The elements in one axis, as an array."""
        return self.base.flatten()


def _flags(self):
    """How the array lies in memory."""
    return Flags(self)


def _flat(self):
    """The elements in row-major order."""
    return flatiter(self)


def _set_flat(self, value):
    _selection.put(self, arange(self.size), value)


def _device(self):
    """The device that the array lies on."""
    from cupric.cuda import Device

    return Device(self._place()[1])


def _data(self):
    """The first element, as a pointer to memory."""
    from cupric.cuda.memory import Memory, MemoryPointer

    memory, offset = self._memory()
    return MemoryPointer(Memory._over(memory), offset)


def _interface(self):
    kind, _ = self._place()
    if kind != "cuda":
        raise AttributeError("arrays on the CPU device have no __cuda_array_interface__")
    from cupric.cuda import get_current_stream

    stream = get_current_stream()
    _core.order_on_current_stream(self)
    return {
        "shape": self.shape,
        "typestr": self.dtype.str,
        "descr": self.dtype.descr,
        "data": (self._address() if self.size else 0, not self._writeable()),
        "strides": None if self._c_contiguous() else self.strides,
        "version": 3,
        "stream": 1 if stream.null else stream.ptr,
    }


def _reduce(self, protocol=None):
    return array, (self.get(order="A"),)


def tolist(self):
    """The elements as nested lists of Python numbers. Waits for them."""
    return self.get().tolist()


def tobytes(self, order="C"):
    """The bytes of the elements. Waits for them."""
    return self.get().tobytes(order)


def tofile(self, fid, sep="", format="%s"):
    """Writes the elements to a file. Waits for them."""
    self.get().tofile(fid, sep, format)


def dump(self, file):
    """Pickles the array to a file."""
    if hasattr(file, "write"):
        pickle.dump(self, file)
        return
    with open(file, "wb") as opened:
        pickle.dump(self, opened)


def dumps(self):
    """Pickles the array to bytes."""
    return pickle.dumps(self)


def clip(self, min=None, max=None, out=None, **kwargs):
    """The elements moved into an interval; see `cupric.clip`."""
    return _selection.clip(self, min, max, out, **kwargs)


def round(self, decimals=0, out=None):
    """The elements rounded to a number of decimals; see `cupric.round`."""
    return _selection.round(self, decimals, out)


def compress(self, condition, axis=None, out=None):
    """The parts along an axis where a condition is true; see `cupric.compress`."""
    return _selection.compress(condition, self, axis, out)


def repeat(self, repeats, axis=None):
    """Each element several times; see `cupric.repeat`."""
    return _manipulation.repeat(self, repeats, axis)


def put(self, indices, values, mode="raise"):
    """Sets the elements at positions in row-major order; see `cupric.put`."""
    _selection.put(self, indices, values, mode)


def trace(self, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """Sum of a diagonal; see `cupric.trace`."""
    return _statistics.trace(self, offset, axis1, axis2, dtype, out)


def ptp(self, axis=None, out=None, keepdims=False):
    """Largest less smallest elements; see `cupric.ptp`."""
    return _statistics.ptp(self, axis, out, keepdims)


def setflags(self, write=None, align=None, uic=None):
    """Lets the elements be written, or not any longer. Only what this took away can be given back."""
    if uic:
        raise ValueError("cannot set WRITEBACKIFCOPY flag to True")
    if write is not None:
        self._set_writeable(bool(write))


def byteswap(self, inplace=False):
    """The elements with their bytes in the opposite order."""
    size = self.dtype.itemsize // (2 if self.dtype.kind == "c" else 1)
    swapped = self.copy()
    if size > 1 and self.size:
        bytes_ = swapped.reshape(-1).view("u1").reshape(-1, size)
        bytes_[...] = bytes_[:, ::-1].copy()
    if not inplace:
        return swapped
    self[...] = swapped
    return self


def resize(self, *new_shape, refcheck=True):
    """Gives the array another shape in place, with zeros for elements that it did not have.

    Views of it keep the elements that they show, so `refcheck` is ignored.
    """
    shape = new_shape[0] if len(new_shape) == 1 else new_shape
    if shape is None or shape == ():
        return
    if self.base is not None or not (self._c_contiguous() or self._f_contiguous()):
        raise ValueError("cannot resize this array: it does not own its data")
    made = zeros(shape, self.dtype)
    count = min(made.size, self.size)
    made.reshape(-1)[:count] = self.ravel("K")[:count]
    self._become(made)


def choose(self, choices, out=None, mode="raise"):
    """For each position the element of the array that it names; see `cupric.choose`."""
    return _selection.choose(self, choices, out, mode)


def _reversed(self):
    """Goes over the first axis, backwards."""
    return iter(self[::-1] if self.ndim else self)


def _setstate(self, state):
    """Takes over a pickled NumPy array's state."""
    host = np.empty(0)
    host.__setstate__(state)
    self._become(array(host))


def to_device(self, device, /, *, stream=None):
    """The array itself: there is no copy between devices behind this name."""
    if str(device) == str(self.device):
        return self
    raise ValueError(f"no copy from {self.device} to {device}: use get() and asarray()")


def _attach():
    for name, getter, setter in (("flags", _flags, None), ("flat", _flat, _set_flat), ("device", _device, None),
                                 ("data", _data, None), ("__cuda_array_interface__", _interface, None)):  # fmt: skip
        setattr(ndarray, name, property(getter, setter, doc=getter.__doc__))
    for method in (tolist, tobytes, tofile, dump, dumps, clip, round, compress, repeat, put, trace, ptp, to_device,
                   setflags, byteswap, resize, choose):  # fmt: skip
        method.__qualname__ = f"ndarray.{method.__name__}"
        setattr(ndarray, method.__name__, method)
    ndarray.__reduce_ex__ = _reduce
    ndarray.__reversed__ = _reversed
    ndarray.__setstate__ = _setstate
    ndarray.__array_ufunc__ = _dispatch.array_ufunc
    ndarray.__array_function__ = _dispatch.array_function
    ndarray.__array_priority__ = 100
    ndarray.__hash__ = None


_attach()

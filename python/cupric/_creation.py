"""Making arrays from anything, and copying them between host and device."""

import operator

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from cupric import _core
from cupric._core import arange, empty, eye, ndarray, ones, zeros

__all__ = [
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "asnumpy", "copy", "diag",
    "diagflat", "empty", "empty_like", "eye", "full", "full_like", "identity", "linspace", "logspace", "meshgrid",
    "ones", "ones_like", "tri", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip


def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None):
    """An array of anything that NumPy makes an array of, of arrays on the device, and of lists of those.

    Parameters
    ----------
    object : array, number, or nested sequence of them
    dtype : data type, optional
    copy : bool or None
        False raises where a copy cannot be avoided, None copies only where one is needed.
    order : {'K', 'C', 'F', 'A'}
    subok : ignored
    ndmin : int
        Axes of length 1 are added in front up to this number.
    like : ignored

    Examples
    --------
    >>> import cupric as cp
    >>> cp.array([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])
    """
    if isinstance(object, ndarray):
        made = _converted(object, dtype, copy, order)
    else:
        made = _from_elsewhere(object, dtype, copy, order)
    if made.ndim < ndmin:
        made = made.reshape((1,) * (ndmin - made.ndim) + made.shape)
    return made


def _converted(a, dtype, copy, order):
    order = "K" if order is None else order
    if copy is False:
        made = a.astype(a.dtype if dtype is None else dtype, order=order, copy=False)
        if made is not a:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return made
    return a.astype(a.dtype if dtype is None else dtype, order=order, copy=bool(copy))


def _from_elsewhere(object, dtype, copy, order):
    if not isinstance(object, (np.ndarray, np.generic, list, tuple, int, float, complex)):
        shared = _shared(object)
        if shared is not None:
            return _converted(shared, dtype, copy, order)
    if copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    order = "K" if order is None else order
    dtype = None if dtype is None else _core.dtype(dtype)
    try:
        host = np.array(object, dtype=dtype, copy=None, order=order)
    except TypeError:
        if not _holds_arrays(object):
            raise
        return _stacked(object, dtype)
    if host.dtype == np.object_:
        raise TypeError(f"Unsupported dtype object: {_why_object(host)}")
    if not host.dtype.isnative:
        host = host.astype(host.dtype.newbyteorder("="))
    return _core.from_host(host)


def _why_object(host):
    """What NumPy found no dtype of numbers for."""
    for value in host.flat:
        if isinstance(value, int):
            if not -(2**63) <= value < 2**64:
                return f"the integer {value} fits neither int64 nor uint64"
        elif not isinstance(value, (float, complex, np.number)):
            return f"{type(value).__name__!r} is no type of numbers"
    return "there is no integer dtype for all of these integers"


def _shared(object):
    """An array over the memory of another library's array on the GPU."""
    if hasattr(object, "__cuda_array_interface__"):
        return _from_interface(object)
    if hasattr(object, "__dlpack_device__") and hasattr(object, "__dlpack__"):
        here = zeros((), bool).__dlpack_device__()
        if here[0] != 1 and object.__dlpack_device__() == here:
            return _core.from_dlpack(object)
    return None


def _from_interface(object):
    given = object.__cuda_array_interface__
    missing = [name for name in ("shape", "typestr", "data", "version") if name not in given]
    if missing:
        raise ValueError(f"__cuda_array_interface__ has no {', '.join(missing)}")
    if given.get("mask") is not None:
        raise NotImplementedError("arrays with a mask are not supported")
    if given.get("stream") is not None:
        _core.order_after_stream(given["stream"])
    dtype, shape = np.dtype(given["typestr"]), tuple(given["shape"])
    if not dtype.isnative:
        raise TypeError(f"Unsupported dtype {dtype.str}: of another byte order")
    address, read_only = given["data"]
    strides = given.get("strides")
    low, high = 0, dtype.itemsize
    for size, stride in zip(shape, strides or (), strict=False):
        low, high = low + min(0, (size - 1) * stride), high + max(0, (size - 1) * stride)
    if strides is None:
        high = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    whole = _core.foreign(address + low, high - low if 0 not in shape else 0, object)
    made = _core.ndarray(shape, dtype, _Bytes(whole, -low), strides)
    return made._read_only() if read_only else made


class _Bytes:
    """Memory with an offset, as `ndarray` takes it."""

    def __init__(self, memory, offset):
        self.mem = self
        self._array = memory
        self._offset = offset


def _holds_arrays(object):
    if isinstance(object, ndarray):
        return True
    return isinstance(object, (list, tuple)) and any(_holds_arrays(item) for item in object)


def _stacked(object, dtype):
    parts = [item if isinstance(item, ndarray) else array(item) for item in _unstacked(object)]
    if len({part.shape for part in parts}) > 1:
        raise ValueError(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape after 1 dimensions."
        )
    return _core.join(parts, 0, dtype, True)


def _unstacked(object):
    return [_stacked(item, None) if _holds_arrays(item) and not isinstance(item, ndarray) else item for item in object]


def asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None, blocking=False):
    """An array of anything; `a` itself where it is one already.

    Parameters
    ----------
    a : array, number, or nested sequence of them
    dtype : data type, optional
    order : {'K', 'C', 'F', 'A'}, optional
    device : str or Device, optional
        The current device, if it is given.
    copy : bool, optional
    like : ignored
    blocking : bool
        A copy from the host is always done when the call returns.

    Examples
    --------
    >>> import cupric as cp
    >>> cp.asarray([1.5, 2.5])
    array([1.5, 2.5])
    """
    if device is not None:
        _core.check_device(device)
    if dtype is None and order is None and copy is None and isinstance(a, ndarray):
        return a
    return array(a, dtype, copy=copy, order="K" if order is None else order)


def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """An array of anything; `a` itself where it is one already."""
    return asarray(a, dtype, order, device=device, copy=copy)


def ascontiguousarray(a, dtype=None, *, like=None):
    """An array of at least one axis, packed in row-major order; `a` itself where it is one already."""
    return array(a, dtype, copy=None, order="C", ndmin=1)


def asfortranarray(a, dtype=None, *, like=None):
    """An array packed in column-major order; `a` itself where it is one already."""
    return array(a, dtype, copy=None, order="F")


def copy(a, order="K", subok=False):
    """A copy of an array."""
    return array(a, copy=True, order=order)


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
    """A NumPy array of anything: arrays on the device are copied to the host.

    Parameters
    ----------
    a : array, number, or nested sequence of them
    stream : cupric.cuda.Stream, optional
    order : {'C', 'F', 'A'}
    out : numpy.ndarray, optional
    blocking : bool
        The call always waits.

    Examples
    --------
    >>> import cupric as cp
    >>> cp.asnumpy(cp.arange(3))
    array([0, 1, 2])
    """
    if isinstance(a, ndarray):
        return a.get(stream=stream, order=order, out=out)
    host = np.asarray(a, order=order)
    if out is None:
        return host
    copy_out(host, out)
    return out


def copy_out(host, out):
    """Copies a host array into another one of the same shape and dtype."""
    if not isinstance(out, np.ndarray):
        raise TypeError("Only numpy.ndarray can be obtained from cupric.ndarray")
    if out.dtype != host.dtype:
        raise TypeError(f"{host.dtype} array cannot be obtained to {out.dtype} array")
    if out.shape != host.shape:
        raise ValueError(f"Shape mismatch. Expected shape: {host.shape}, actual shape: {out.shape}")
    out[...] = host


def checked_host(host, shape, dtype):
    """The host array, packed, if it is one that may be copied into an array of this shape and dtype."""
    if not isinstance(host, np.ndarray):
        raise TypeError("Only numpy.ndarray can be set to cupric.ndarray")
    if host.dtype != dtype:
        raise TypeError(f"{host.dtype} array cannot be set to {dtype} array")
    if host.shape != shape:
        raise ValueError(f"Shape mismatch. Expected shape: {shape}, actual shape: {host.shape}")
    return np.ascontiguousarray(host).reshape(shape)


def _like(prototype, dtype, order, shape, device):
    if device is not None:
        _core.check_device(device)
    order = "K" if order is None else order
    if isinstance(prototype, ndarray):
        return _core.empty_like(prototype, dtype, order, shape)
    host = np.asarray(prototype)
    column = order == "F" or (order in "AK" and host.flags.fnc)
    return empty(host.shape if shape is None else shape, host.dtype if dtype is None else dtype, "F" if column else "C")


def empty_like(prototype, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """A new array like another one, whose elements are whatever the memory holds."""
    return _like(prototype, dtype, order, shape, device)


def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """A new array of zeros like another one."""
    made = _like(a, dtype, order, shape, device)
    made.fill(0)
    return made


def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """A new array of ones like another one."""
    made = _like(a, dtype, order, shape, device)
    made.fill(1)
    return made


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """A new array like another one, filled with one value."""
    made = _like(a, dtype, order, shape, device)
    _core.put_where(made, _value(fill_value), None)
    return made


def _value(value):
    """A value to fill with: a number or an array."""
    return value if isinstance(value, (ndarray, np.generic, int, float, complex)) else array(value)


def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    """A new array filled with one value.

    Parameters
    ----------
    shape : int or tuple of ints
    fill_value : number or array
    dtype : data type, default that of the value
    order : {'C', 'F'}

    Examples
    --------
    >>> import cupric as cp
    >>> cp.full(3, 7)
    array([7, 7, 7])
    """
    value = _value(fill_value)
    if dtype is None:
        dtype = value.dtype if isinstance(value, (ndarray, np.generic)) else np.asarray(value).dtype
    made = empty(shape, dtype, order, device=device, like=like)
    _core.put_where(made, value, None)
    return made


def identity(n, dtype=None, *, like=None):
    """A square array with ones on its main diagonal."""
    return eye(n, dtype=dtype, like=like)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """Evenly spaced numbers over an interval.

    Parameters
    ----------
    start, stop : number or array
    num : int
        How many there are.
    endpoint : bool
        Whether `stop` is the last of them.
    retstep : bool
        Whether to give the step too.
    dtype : data type, optional
    axis : int
        Where the new axis lies in the result, for arrays.

    Examples
    --------
    >>> import cupric as cp
    >>> cp.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    if device is not None:
        _core.check_device(device)
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    gaps = num - 1 if endpoint else num
    if _is_double(start) and _is_double(stop):
        normalize_axis_index(axis, 1, "destination")
        made = _core.linspace(float(start), float(stop), num, bool(endpoint), float if dtype is None else dtype)
        step = (float(stop) - float(start)) / gaps if gaps > 0 else float("nan")
        return (made, step) if retstep else made
    return _linspace_of_arrays(start, stop, num, gaps, endpoint, retstep, dtype, axis)


def _is_double(value):
    """Whether a number is one that NumPy computes with in float64."""
    return isinstance(value, (int, float, np.integer, np.bool_))


def _linspace_of_arrays(start, stop, num, gaps, endpoint, retstep, dtype, axis):
    start, stop = (end * 1.0 if isinstance(end, np.generic) else asarray(end) * 1.0 for end in (start, stop))
    computed = _core.result_type(start, stop, float(num))
    subtract, floor = _core.ufuncs["subtract"], _core.ufuncs["floor"]
    step = subtract(stop, start, dtype=computed) / gaps if gaps > 0 else full(shape_of(start, stop), float("nan"))
    ndim = len(shape_of(start, stop))
    axis = normalize_axis_index(axis, ndim + 1, "destination")
    places = arange(num, dtype=computed).reshape((num,) + (1,) * ndim)
    made = places * (step if gaps > 0 else 0.0) + start
    if endpoint and num > 1:
        made[-1] = stop
    if axis != 0:
        order = list(range(1, made.ndim))
        order.insert(axis, 0)
        made = made.transpose(order)
    if dtype is not None:
        made = floor(made).astype(dtype) if np.dtype(_core.dtype(dtype)).kind in "iu" else made.astype(dtype)
    return (made, step) if retstep else made


def shape_of(*values):
    """The shape that values broadcast to."""
    return np.broadcast_shapes(*(getattr(value, "shape", ()) for value in values))


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Numbers spaced evenly on a logarithmic scale, from `base**start` to `base**stop`."""
    if not np.isscalar(base):
        start, stop, base = (asarray(value) for value in (start, stop, base))
        ndim = max(value.ndim for value in (start, stop, base))
        start, stop, base = (array(value, copy=None, ndmin=ndim) for value in (start, stop, base))
        axis = normalize_axis_index(axis, ndim + 1)
        base = base.reshape((*base.shape[:axis], 1, *base.shape[axis:]))
    exponents = linspace(start, stop, num=num, endpoint=endpoint, axis=axis)
    made = _core.ufuncs["power"](base, exponents)
    return made if dtype is None else made.astype(dtype)


def diag(v, k=0):
    """A diagonal of a matrix, or a matrix with a diagonal.

    Examples
    --------
    >>> import cupric as cp
    >>> cp.diag(cp.array([1, 2]))
    array([[1, 0],
           [0, 2]])
    """
    v = asarray(v)
    if v.ndim == 2:
        return v.diagonal(k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = v.size + abs(k)
    made = zeros((n, n), v.dtype)
    first = k if k >= 0 else -k * n
    made.reshape(-1)[first : first + v.size * (n + 1) : n + 1] = v
    return made


def diagflat(v, k=0):
    """A matrix with the flattened input on a diagonal."""
    return diag(asarray(v).ravel(), k)


def tri(N, M=None, k=0, dtype=float, *, like=None):
    """Ones at and below a diagonal, zeros above it."""
    columns = N if M is None else M
    below = arange(N).reshape(-1, 1) >= arange(-k, columns - k)
    return below.astype(dtype)


def tril(m, k=0):
    """A copy of a matrix with zeros above a diagonal."""
    m = asarray(m)
    return _where(tri(*m.shape[-2:], k=k, dtype=bool), m, zeros(1, m.dtype))


def triu(m, k=0):
    """A copy of a matrix with zeros below a diagonal."""
    m = asarray(m)
    return _where(tri(*m.shape[-2:], k=k - 1, dtype=bool), zeros(1, m.dtype), m)


_where = _core.ufuncs["where"]


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Coordinate matrices from coordinate vectors."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    ndim = len(xi)
    grids = [asarray(x).reshape((1,) * axis + (-1,) + (1,) * (ndim - axis - 1)) for axis, x in enumerate(xi)]
    if indexing == "xy" and ndim > 1:
        grids = [grid.swapaxes(0, 1) for grid in grids]
    if not sparse:
        shape = np.broadcast_shapes(*(grid.shape for grid in grids))
        grids = [grid._broadcast_to(shape) for grid in grids]
    return tuple(grid.copy() if copy else grid for grid in grids)

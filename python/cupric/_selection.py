"""Choosing elements, sorting them, and comparing whole arrays."""

import operator

import numpy as np
from numpy import _NoValue

from cupric import _core
from cupric._core import ndarray
from cupric._creation import arange, array, asarray, zeros
from cupric._manipulation import concatenate, copyto
from cupric._statistics import _array

__all__ = [
    "allclose", "argsort", "argwhere", "around", "array_equal", "array_equiv", "choose", "clip", "compress", "diff", "extract",
    "flatnonzero", "isclose", "nonzero", "place", "put", "put_along_axis", "round", "sort", "take", "take_along_axis",
    "where",
]  # fmt: skip

_ufuncs = _core.ufuncs


def where(condition, x=_NoValue, y=_NoValue, /):
    """Elements of `x` where a condition is true, else of `y`; the positions of true elements if those are not given.

    Examples
    --------
    >>> import cupric as cp
    >>> a = cp.arange(4)
    >>> cp.where(a < 2, a, -1)
    array([ 0,  1, -1, -1])
    """
    if x is _NoValue and y is _NoValue:
        return nonzero(condition)
    if x is _NoValue or y is _NoValue:
        raise ValueError("either both or neither of x and y should be given")
    condition = condition if isinstance(condition, ndarray) else asarray(condition)
    if condition.dtype.char != "?":
        condition = condition != 0
    return _ufuncs["where"](condition, _operand(x), _operand(y))


def _operand(value):
    return asarray(value) if isinstance(value, (list, tuple)) else value


def nonzero(a):
    """For each axis the positions of the elements that are not zero. Waits for their number."""
    return _array(a).nonzero()


def flatnonzero(a):
    """The positions in row-major order of the elements that are not zero. Waits for their number."""
    return _array(a).ravel().nonzero()[0]


def argwhere(a):
    """The positions of the elements that are not zero, one a row. Waits for their number."""
    a = _array(a)
    if a.ndim == 0:
        return zeros((int(bool(a)), 0), "int64")
    return concatenate([axis.reshape(-1, 1) for axis in a.nonzero()], 1)


def clip(a, a_min=_NoValue, a_max=_NoValue, out=None, *, min=_NoValue, max=_NoValue, **kwargs):
    """The elements moved into an interval.

    Parameters
    ----------
    a : array
    a_min, a_max : array or number, optional
        The ends; `min` and `max` are other names.
    out : array, optional

    Examples
    --------
    >>> import cupric as cp
    >>> cp.clip(cp.arange(5), 1, 3)
    array([1, 1, 2, 3, 3])
    """
    if a_min is _NoValue and a_max is _NoValue:
        low, high = (None if end is _NoValue else end for end in (min, max))
    elif a_min is _NoValue or a_max is _NoValue:
        missing = "a_min" if a_min is _NoValue else "a_max"
        raise TypeError(f"clip() missing 1 required positional argument: '{missing}'")
    elif min is not _NoValue or max is not _NoValue:
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    else:
        low, high = a_min, a_max
    a = _array(a)
    low, high = _in_reach(a.dtype, low, high)
    if low is None and high is None:
        return _ufuncs["positive"](a, out=out, **kwargs)
    if low is None:
        return _ufuncs["minimum"](a, _operand(high), out=out, **kwargs)
    if high is None:
        return _ufuncs["maximum"](a, _operand(low), out=out, **kwargs)
    return _ufuncs["clip"](a, _operand(low), _operand(high), out=out, **kwargs)


def _in_reach(dtype, low, high):
    """The ends of an interval, without those that no element can pass."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        low = None if type(low) is int and low < info.min else low
        high = None if type(high) is int and high > info.max else high
    return low, high


def round(a, decimals=0, out=None):
    """The elements rounded to a number of decimals, halves to even."""
    a, decimals = _array(a), operator.index(decimals)
    if a.dtype.kind in "iu" and decimals >= 0:
        return _ufuncs["copy"](a, out=out)
    if a.dtype.kind == "b" and decimals:
        raise TypeError("Truth values cannot be rounded to a number of decimals")
    if a.dtype.kind == "c":
        made = a.copy() if out is None else out
        made.real, made.imag = round(a.real, decimals), round(a.imag, decimals)
        return made
    if decimals == 0:
        return _ufuncs["rint"](a, out=out)
    power = 10.0 ** abs(decimals) if abs(decimals) < 309 else float("inf")
    scaled = _ufuncs["rint"](a * power) / power if decimals > 0 else _ufuncs["rint"](a / power) * power
    if a.dtype.kind != "f":
        scaled = scaled.astype(a.dtype)
    if out is None:
        return scaled
    if out.shape != a.shape:
        raise ValueError("invalid output shape")
    copyto(out, scaled)
    return out


around = round


def take(a, indices, axis=None, out=None, mode="raise"):
    """The elements at positions along an axis, or along all elements.

    Parameters
    ----------
    a : array
    indices : array of ints
    axis : int, optional
    out : array, optional
    mode : {'raise', 'wrap', 'clip'}
        What becomes of positions outside.

    Examples
    --------
    >>> import cupric as cp
    >>> cp.take(cp.arange(0, 50, 10), [1, 3])
    array([10, 30])
    """
    return _array(a).take(indices, axis, out, mode)


def choose(a, choices, out=None, mode="raise"):
    """For each position the element of the array that it names. With `mode="raise"` waits for the positions.

    Parameters
    ----------
    a : array of ints
    choices : sequence of arrays
    out : array, optional
    mode : {'raise', 'wrap', 'clip'}

    Examples
    --------
    >>> import cupric as cp
    >>> cp.choose(cp.array([0, 1, 0]), [cp.array([1, 2, 3]), cp.array([4, 5, 6])])
    array([1, 5, 3])
    """
    choices = [_array(choice) for choice in choices]
    if not choices:
        raise ValueError("0-length sequence.")
    places = _array(a)
    if not _core.can_cast(places.dtype, "int64", "safe"):
        raise TypeError(f"Cannot cast array data from {places.dtype!r} to dtype('int64') according to the rule 'safe'")
    places = _within(places.astype("int64", copy=False), len(choices), mode)
    shape = np.broadcast_shapes(places.shape, *(choice.shape for choice in choices))
    rows = _core.join([choice._broadcast_to(shape) for choice in choices], 0, None, True)
    made = take_along_axis(rows, places._broadcast_to(shape).reshape((1, *shape)), 0).reshape(shape)
    if out is None:
        return made
    if out.shape != shape:
        raise TypeError("choose: invalid shape for output array.")
    copyto(out, made)
    return out


def _within(places, count, mode):
    """Positions below a number."""
    if mode == "wrap":
        return places % count
    if mode == "clip":
        return clip(places, 0, count - 1)
    if mode != "raise":
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')")
    if bool(((places < 0) | (places >= count)).any()):
        raise ValueError("invalid entry in choice array")
    return places


def _along(a, indices, axis):
    """The index that takes `indices` along one axis, and each place's own position along the others."""
    if axis is None:
        return a.ravel(), indices, 0
    return a, indices, np.lib.array_utils.normalize_axis_index(axis, a.ndim)


def _grid(indices, axis):
    shape = indices.shape
    return tuple(
        indices
        if place == axis
        else arange(size).reshape([size if other == place else 1 for other in range(len(shape))])
        for place, size in enumerate(shape)
    )


def _spread(a, indices, axis):
    """Indices with axes of length 1 repeated to those of the array."""
    if indices.ndim != a.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    shape = tuple(
        own if place == axis else np.broadcast_shapes((own,), (size,))[0]
        for place, (own, size) in enumerate(zip(indices.shape, a.shape, strict=True))
    )
    return indices if shape == indices.shape else indices._broadcast_to(shape)


def take_along_axis(arr, indices, axis=-1):
    """For each place along the other axes, the elements at its own positions along one axis."""
    arr, indices, axis = _along(_array(arr), asarray(indices), axis)
    indices = _spread(arr, indices, axis)
    return arr[_grid(indices, axis)]


def put_along_axis(arr, indices, values, axis):
    """For each place along the other axes, sets the elements at its own positions along one axis."""
    arr, indices, axis = _along(_array(arr), asarray(indices), axis)
    indices = _spread(arr, indices, axis)
    arr[_grid(indices, axis)] = values


def put(a, ind, v, mode="raise"):
    """Sets the elements at positions in row-major order; the values are repeated as needed."""
    if not isinstance(a, ndarray):
        raise TypeError(f"argument 1 must be cupric.ndarray, not {type(a)}")
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')")
    ind = _positions(ind)
    v = (v if isinstance(v, ndarray) else array(v, a.dtype)).ravel()
    if v.size == 0:
        return
    if a.size == 0 and ind.size:
        raise IndexError("cannot replace elements of an empty array")
    if mode == "wrap":
        ind = ind % a.size
    elif mode == "clip":
        ind = clip(ind, 0, a.size - 1)
    if ind.size == 0:
        return
    values = v if v.size in (1, ind.size) else v.take(arange(ind.size), mode="wrap")
    if a.flags.c_contiguous:
        a.reshape(-1)[ind] = values
        return
    flat = a.ravel()
    flat[ind] = values
    a[...] = flat.reshape(a.shape)


def _positions(ind):
    """Positions in one axis; what is no array yet becomes integers whatever it holds."""
    if not isinstance(ind, ndarray):
        return array(ind, "int64").ravel()
    if not _core.can_cast(ind.dtype, "int64", "safe"):
        raise TypeError(f"Cannot cast array data from {ind.dtype!r} to dtype('int64') according to the rule 'safe'")
    return ind.ravel().astype("int64", copy=False)


def place(arr, mask, vals):
    """Sets the elements where a mask is true to successive values. Waits for their number."""
    if not isinstance(arr, ndarray):
        raise TypeError(f"place() argument 1 must be cupric.ndarray, not {type(arr).__name__}")
    mask, vals = asarray(mask), vals if isinstance(vals, ndarray) else array(vals, arr.dtype)
    if mask.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    places = flatnonzero(mask)
    if places.size and vals.size == 0:
        raise ValueError("Cannot insert from an empty array!")
    put(arr, places, vals)


def compress(condition, a, axis=None, out=None):
    """The elements, or parts along an axis, where a condition is true. Waits for their number."""
    condition = asarray(condition)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return _array(a).take(condition.nonzero()[0], axis, out)


def extract(condition, arr):
    """The elements where a condition is true. Waits for their number."""
    return _array(arr).ravel().take(flatnonzero(condition))


def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    """The elements sorted along an axis, NaN last.

    Differs from NumPy: always stable, whatever `kind` says.

    Examples
    --------
    >>> import cupric as cp
    >>> cp.sort(cp.array([3, 1, 2]))
    array([1, 2, 3])
    """
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    _core.check_sort_kind(kind, stable)
    return _core.sorted(_array(a), axis)


def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    """The positions that would sort an array along an axis; always stable."""
    return _array(a).argsort(axis, kind, order, stable=stable)


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours along an axis, taken `n` times."""
    a = _array(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    axis = np.lib.array_utils.normalize_axis_index(axis, a.ndim)
    ends = [_end(a, end, axis) for end in (prepend, append)]
    parts = [part for part in (ends[0], a, ends[1]) if part is not None]
    a = concatenate(parts, axis) if len(parts) > 1 else a
    before = (slice(None),) * axis
    subtract = _ufuncs["not_equal"] if a.dtype == bool else _ufuncs["subtract"]
    for _ in range(n):
        a = subtract(a[(*before, slice(1, None))], a[(*before, slice(None, -1))])
    return a


def _end(a, end, axis):
    if end is None:
        return None
    end = asarray(end)
    return end._broadcast_to((*a.shape[:axis], 1, *a.shape[axis + 1 :])) if end.ndim == 0 else end


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Where `|a - b| <= atol + rtol * |b|`."""
    return _core.isclose(_number_or_array(a), _number_or_array(b), float(rtol), float(atol), bool(equal_nan))


def _number_or_array(value):
    return value if isinstance(value, (np.generic, int, float, complex)) else _array(value)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close, as a 0-d array.

    Examples
    --------
    >>> import cupric as cp
    >>> bool(cp.allclose(cp.array([1.0, 2.0]), cp.array([1.0, 2.0 + 1e-9])))
    True
    """
    return isclose(a, b, rtol, atol, equal_nan).all()


def array_equal(a1, a2, equal_nan=False):
    """Whether shapes and elements are equal, as a 0-d array."""
    a1, a2 = _array(a1), _array(a2)
    if a1.shape != a2.shape:
        return array(False)
    same = a1 == a2
    if equal_nan and a1.dtype.kind in "fc" and a2.dtype.kind in "fc":
        same |= _ufuncs["isnan"](a1) & _ufuncs["isnan"](a2)
    return same.all()


def array_equiv(a1, a2):
    """Whether arrays are equal once repeated to a common shape, as a 0-d array."""
    a1, a2 = _array(a1), _array(a2)
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return array(False)
    return (a1 == a2).all()

"""Sums, means, extremes, running sums."""

import numpy as np
from numpy import _NoValue

from cupric import _core
from cupric._core import ndarray
from cupric._creation import asarray, full_like, ones

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "average", "count_nonzero", "cumprod", "cumsum", "max", "mean",
    "min", "prod", "ptp", "std", "sum", "trace", "var",
]  # fmt: skip

_ufuncs = _core.ufuncs


def _array(a):
    """What NumPy's functions take, except for arrays on the host, which nobody copies unasked."""
    if isinstance(a, ndarray):
        return a
    if isinstance(a, np.ndarray) and a.ndim:
        raise TypeError(f"Unsupported type {type(a)}: copy it to the device first, with asarray")
    return asarray(a)


def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=_NoValue):
    """Sum along axes.

    Parameters
    ----------
    a : array
    axis : int or tuple of ints, optional
        All axes by default.
    dtype : data type, optional
        What to add in, and what the result is.
    out : array, optional
    keepdims : bool
        Whether the axes stay, with length 1.
    initial : number, optional
    where : array of bool, optional

    Examples
    --------
    >>> import cupric as cp
    >>> cp.sum(cp.arange(6).reshape(2, 3), axis=0)
    array([3, 5, 7])
    """
    return _array(a).sum(axis, dtype, out, keepdims, initial, where)


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=_NoValue):
    """Product along axes."""
    return _array(a).prod(axis, dtype, out, keepdims, initial, where)


def max(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=_NoValue):
    """Largest elements along axes; NaN where there is one.

    Examples
    --------
    >>> import cupric as cp
    >>> cp.max(cp.array([[1, 5], [3, 2]]), axis=1)
    array([5, 3])
    """
    return _array(a).max(axis, out, keepdims, initial, where)


def min(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=_NoValue):
    """Smallest elements along axes; NaN where there is one."""
    return _array(a).min(axis, out, keepdims, initial, where)


amax = max
amin = min


def ptp(a, axis=None, out=None, keepdims=False):
    """Largest less smallest elements along axes."""
    a = _array(a)
    return _ufuncs["subtract"](a.max(axis, out, keepdims), a.min(axis, keepdims=keepdims), out=out)


def all(a, axis=None, out=None, keepdims=False, *, where=_NoValue):
    """Whether all elements along axes are true."""
    return _array(a).all(axis, out, keepdims, where)


def any(a, axis=None, out=None, keepdims=False, *, where=_NoValue):
    """Whether any element along axes is true."""
    return _array(a).any(axis, out, keepdims, where)


def argmax(a, axis=None, out=None, *, keepdims=False):
    """Positions of the largest elements along an axis, the first of equal ones."""
    return _array(a).argmax(axis, out, keepdims=keepdims)


def argmin(a, axis=None, out=None, *, keepdims=False):
    """Positions of the smallest elements along an axis, the first of equal ones."""
    return _array(a).argmin(axis, out, keepdims=keepdims)


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=_NoValue):
    """Arithmetic mean along axes.

    Examples
    --------
    >>> import cupric as cp
    >>> cp.mean(cp.arange(4))
    array(1.5)
    """
    return _array(a).mean(axis, dtype, out, keepdims, where=where)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=_NoValue, mean=None, correction=None):
    """Standard deviation along axes.

    Parameters
    ----------
    a : array
    axis : int or tuple of ints, optional
    dtype : data type, optional
    out : array, optional
    ddof : int or float
        What is taken from the count that is divided by.
    keepdims : bool
    where : array of bool, optional
    mean : array, optional
        The mean, if it is known: of the shape that it has with `keepdims`.
    correction : int or float, optional
        Another name of `ddof`.
    """
    return _array(a).std(axis, dtype, out, _correction(ddof, correction), keepdims, where=where, mean=mean)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=_NoValue, mean=None, correction=None):
    """Variance along axes; see `std`."""
    return _array(a).var(axis, dtype, out, _correction(ddof, correction), keepdims, where=where, mean=mean)


def about(name, a, mean, axis, dtype, out, ddof, keepdims, where):
    """The variance, or the deviation, from a known mean."""
    mask = ones(a.shape, bool) if where is None else asarray(where, dtype=None if isinstance(where, ndarray) else bool)
    difference = a - mean
    if difference.dtype.kind == "c":
        squares = _ufuncs["square"](difference.real) + _ufuncs["square"](difference.imag)
    else:
        squares = _ufuncs["square"](difference)
    if dtype is None and squares.dtype.kind in "biu":
        dtype = "float64"
    total = squares.sum(axis, dtype, keepdims=keepdims, where=mask)
    count = mask._broadcast_to(a.shape).sum(axis, dtype="float64", keepdims=keepdims)
    made = total / _ufuncs["maximum"](count - ddof, 0)
    made = made if name == "var" else _ufuncs["sqrt"](made)
    if out is None:
        return made.astype(total.dtype, copy=False)
    _ufuncs["copy"](made, out=out, casting="unsafe")
    return out


def _correction(ddof, correction):
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def average(a, axis=None, weights=None, returned=False, *, keepdims=_NoValue):
    """Weighted mean along axes. Waits to see whether the weights add up to zero.

    Parameters
    ----------
    a : array
    axis : int or tuple of ints, optional
    weights : array, optional
        Of the shape of `a`, or of its axes that are averaged over.
    returned : bool
        Whether the sum of the weights is given too.
    keepdims : bool
    """
    a = _array(a)
    if axis is not None:
        axis = np.lib.array_utils.normalize_axis_tuple(axis, a.ndim, argname="axis")
    if weights is None:
        mean_ = a.mean(axis, keepdims=keepdims)
        return (mean_, full_like(mean_, a.size // (mean_.size or 1))) if returned else mean_
    weights = _weights(a, axis, asarray(weights))
    computed = _core.result_type(a, weights, "f8") if a.dtype.kind in "iub" else _core.result_type(a, weights)
    scale = weights.sum(axis, computed, keepdims=keepdims)
    if bool((scale == 0).any()):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    mean_ = _ufuncs["multiply"](a, weights, dtype=computed).sum(axis, keepdims=keepdims) / scale
    if not returned:
        return mean_
    return mean_, scale if scale.shape == mean_.shape else scale._broadcast_to(mean_.shape).copy()


def _weights(a, axis, weights):
    """Weights with an axis for each of the array's."""
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weights.shape != tuple(a.shape[each] for each in axis):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    order = sorted(range(len(axis)), key=axis.__getitem__)
    return weights.transpose(order).reshape([size if each in axis else 1 for each, size in enumerate(a.shape)])


def cumsum(a, axis=None, dtype=None, out=None):
    """Running sums along an axis, or over all elements.

    Examples
    --------
    >>> import cupric as cp
    >>> cp.cumsum(cp.arange(4))
    array([0, 1, 3, 6])
    """
    return _array(a).cumsum(axis, dtype, out)


def cumprod(a, axis=None, dtype=None, out=None):
    """Running products along an axis, or over all elements."""
    return _array(a).cumprod(axis, dtype, out)


def count_nonzero(a, axis=None, *, keepdims=False):
    """How many elements are not zero along axes."""
    return (_array(a) != 0).sum(axis, dtype="int64", keepdims=bool(keepdims))


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """Sum of a diagonal."""
    return _array(a).diagonal(offset, axis1, axis2).sum(-1, dtype, out)

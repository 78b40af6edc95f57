"""Linear algebra: norms so far."""

import numpy as np
from numpy.linalg import LinAlgError

from cupric._core import ufuncs
from cupric._statistics import _array

__all__ = ["LinAlgError", "norm", "vector_norm"]


def norm(x, ord=None, axis=None, keepdims=False):
    """A norm of vectors or matrices.

    Parameters
    ----------
    x : array
    ord : number, inf, -inf, 'fro', optional
        Which norm; the 2-norm of all elements by default.
    axis : int or pair of ints, optional
    keepdims : bool

    Examples
    --------
    >>> import cupric as cp
    >>> cp.linalg.norm(cp.array([3.0, 4.0]))
    array(5.)
    """
    x = _array(x)
    if x.dtype.kind in "biu":
        x = x.astype("float64")
    if axis is None:
        if ord is None or (ord == 2 and x.ndim == 1) or (ord in ("f", "fro") and x.ndim == 2):
            return _keep(_two_norm(x.ravel("K"), None, False), x.ndim if keepdims else 0)
        axis = tuple(range(x.ndim))
    axes = (axis,) if isinstance(axis, (int, np.integer)) else tuple(axis)
    axes = tuple(np.lib.array_utils.normalize_axis_index(each, x.ndim) for each in axes)
    if len(axes) == 1:
        return _vector(x, ord, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix(x, ord, axes, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def _keep(value, ndim):
    return value.reshape((1,) * ndim) if ndim else value


def _two_norm(x, axis, keepdims):
    squares = ufuncs["square"](x.real) + ufuncs["square"](x.imag) if x.dtype.kind == "c" else ufuncs["square"](x)
    return ufuncs["sqrt"](squares.sum(axis, keepdims=keepdims))


def _vector(x, ord, axis, keepdims):
    if ord is None or ord == 2:
        return _two_norm(x, axis, keepdims)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == 0:
        return (x != 0).astype(x.real.dtype).sum(axis, keepdims=keepdims)
    sizes = abs(x)
    if ord == np.inf:
        return sizes.max(axis, keepdims=keepdims)
    if ord == -np.inf:
        return sizes.min(axis, keepdims=keepdims)
    if ord == 1:
        return sizes.sum(axis, keepdims=keepdims)
    return (sizes**ord).sum(axis, keepdims=keepdims) ** (1.0 / ord)


def _matrix(x, ord, axes, keepdims):
    rows, columns = axes
    if rows == columns:
        raise ValueError("Duplicate axes given.")
    if ord in (None, "fro", "f"):
        return _two_norm(x, axes, keepdims)
    summed, picked = {1: (rows, columns), -1: (rows, columns), np.inf: (columns, rows), -np.inf: (columns, rows)}.get(
        ord, (None, None)
    )
    if summed is None:
        raise ValueError("Invalid norm order for matrices.")
    sums = abs(x).sum(summed, keepdims=True)
    found = sums.max(picked, keepdims=True) if ord > 0 else sums.min(picked, keepdims=True)
    return found if keepdims else found.squeeze(axes)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """A norm of vectors, or of all elements."""
    x = _array(x)
    if axis is None:
        return _keep(norm(x.ravel(), ord=ord), x.ndim if keepdims else 0)
    return norm(x, ord=ord, axis=axis, keepdims=keepdims)

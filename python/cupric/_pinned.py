"""NumPy arrays in page-locked memory, from and to which a GPU copies at full speed."""

import numpy as np

__all__ = ["empty_like_pinned", "empty_pinned", "zeros_like_pinned", "zeros_pinned"]


def empty_pinned(shape, dtype=float, order="C"):
    """A NumPy array in page-locked memory, with arbitrary values.

    Examples
    --------
    >>> import cupric as cp
    >>> host = cp.empty_pinned(3)
    >>> cp.arange(3.0).get(out=host).tolist()
    [0.0, 1.0, 2.0]
    """
    from cupric.cuda import alloc_pinned_memory

    shape = (int(shape),) if np.ndim(shape) == 0 else tuple(int(length) for length in shape)
    dtype = np.dtype(dtype)
    if any(length < 0 for length in shape):
        raise ValueError("negative dimensions are not allowed")
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    return np.ndarray(shape, dtype, buffer=alloc_pinned_memory(size), order=order)


def zeros_pinned(shape, dtype=float, order="C"):
    """A NumPy array of zeros in page-locked memory."""
    return _cleared(empty_pinned(shape, dtype, order))


def empty_like_pinned(a, dtype=None, order="K", subok=None, shape=None):
    """A NumPy array in page-locked memory, of the shape, dtype and order of another array, unless others are given."""
    if subok:
        raise TypeError("subok is not supported: the result is a plain NumPy array")
    dtype = a.dtype if dtype is None else dtype
    shape = a.shape if shape is None else shape
    shape = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    if order == "A":
        order = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
    if order != "K" or len(shape) != a.ndim:
        return empty_pinned(shape, dtype, "C" if order == "K" else order)
    # The axis with the longest steps goes first in memory.
    axes = sorted(range(a.ndim), key=lambda axis: -abs(a.strides[axis]))
    made = empty_pinned([shape[axis] for axis in axes], dtype)
    return made.transpose(np.argsort(axes)) if axes else made


def zeros_like_pinned(a, dtype=None, order="K", subok=None, shape=None):
    """A NumPy array of zeros in page-locked memory, of the shape, dtype and order of another array, unless others are given."""
    return _cleared(empty_like_pinned(a, dtype, order, subok, shape))


def _cleared(array):
    array.fill(0)
    return array

"""Arrays as text, by NumPy on the host."""

import numpy as np

from cupric._core import ndarray
from cupric._creation import arange, asnumpy

__all__ = ["array2string", "array_repr", "array_str"]


def array2string(a, *args, **kwargs):
    """An array as text. Waits for its elements."""
    return np.array2string(asnumpy(a), *args, **kwargs)


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """An array as text that makes one like it. Waits for its elements; copies only those that are shown."""
    if not _is_long(arr):
        return np.array_repr(asnumpy(arr), max_line_width, precision, suppress_small)
    with np.printoptions(threshold=0):
        text = np.array_repr(_shown(arr), max_line_width, precision, suppress_small)
    return _with_shape(text, arr.shape, max_line_width)


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """An array's elements as text. Waits for them; copies only those that are shown."""
    if not _is_long(a):
        return np.array_str(asnumpy(a), max_line_width, precision, suppress_small)
    with np.printoptions(threshold=0):
        return np.array_str(_shown(a), max_line_width, precision, suppress_small)


def _is_long(a):
    options = np.get_printoptions()
    return isinstance(a, ndarray) and a.size > options["threshold"] and options["edgeitems"] > 0


def _shown(a):
    """The elements at the ends of each axis, with one more where NumPy writes dots."""
    edge = np.get_printoptions()["edgeitems"]
    places = []
    for axis, size in enumerate(a.shape):
        ends = arange(min(size, 2 * edge + 1))
        ends[edge + 1 :] += size - ends.size
        places.append(ends.reshape((-1,) + (1,) * (a.ndim - axis - 1)))
    return a[tuple(places)].get()


def _with_shape(text, shape, width):
    """The text with the whole array's shape, where NumPy names that of a shortened one."""
    start = text.rfind("shape=(")
    if start < 0:
        return text
    before, after = text[:start].rstrip(), text[start:]
    after = f"shape={shape}" + after[after.index(")") + 1 :]
    last = len(before) - (before.rfind("\n") + 1)
    width = np.get_printoptions()["linewidth"] if width is None else width
    return before + ("\n" + " " * len("array(") if last + len(after) + 1 > width else " ") + after

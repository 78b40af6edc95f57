"""Arrays as text, by NumPy on the host."""

import numpy as np

from cupric._creation import asnumpy

__all__ = ["array2string", "array_repr", "array_str"]


def array2string(a, *args, **kwargs):
    """An array as text. Waits for its elements."""
    return np.array2string(asnumpy(a), *args, **kwargs)


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """An array as text that makes one like it. Waits for its elements."""
    return np.array_repr(asnumpy(arr), max_line_width, precision, suppress_small)


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """An array's elements as text. Waits for them."""
    return np.array_str(asnumpy(a), max_line_width, precision, suppress_small)

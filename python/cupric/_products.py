"""Products of vectors and matrices."""

import numpy as np

from cupric import _core
from cupric._manipulation import copyto
from cupric._statistics import _array

__all__ = ["dot", "inner", "kron", "matmul", "matvec", "outer", "tensordot", "vdot", "vecdot", "vecmat"]


def dot(a, b, out=None):
    """The sum over the last axis of `a` and the last but one of `b`; the plain product with a number.

    Examples
    --------
    >>> import cupric as cp
    >>> cp.dot(cp.arange(3), cp.arange(3))
    array(5)
    """
    return _array(a).dot(b if isinstance(b, (int, float, complex, np.generic)) else _array(b), out)


def matmul(x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, subok=True):
    """The matrix product: matrices in the last two axes, the others broadcast.

    Parameters
    ----------
    x1, x2 : array
        A vector is a row on the left, a column on the right.
    out : array, optional
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
    order : ignored
    dtype : data type, optional
        What to compute in.

    Examples
    --------
    >>> import cupric as cp
    >>> cp.matmul(cp.eye(2), cp.array([1.0, 2.0]))
    array([1., 2.])
    """
    x1, x2 = _array(x1), _array(x2)
    if dtype is not None:
        x1, x2 = (x.astype(dtype, casting=casting, copy=False) for x in (x1, x2))
    made = _core.matmul(x1, x2)
    if out is None:
        return made
    out = out[0] if isinstance(out, tuple) else out
    if out.shape != made.shape:
        raise ValueError(f"output array has shape {out.shape}, the product {made.shape}")
    copyto(out, made, casting)
    return out


def vdot(a, b):
    """The sum of products of all elements, those of `a` conjugated."""
    return _array(a).conj().ravel().dot(_array(b).ravel())


def inner(a, b):
    """The sum of products along both last axes."""
    a, b = _array(a), _array(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(
            f"shapes {_text(a.shape)} and {_text(b.shape)} not aligned: "
            f"{a.shape[-1]} (dim {a.ndim - 1}) != {b.shape[-1]} (dim {b.ndim - 1})"
        )
    return tensordot(a, b, (-1, -1))


def _text(shape):
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def outer(a, b, out=None):
    """Products of all pairs of elements."""
    a, b = _array(a), _array(b)
    return _core.ufuncs["multiply"](a.reshape(-1, 1), b.reshape(1, -1), out=out)


def vecdot(x1, x2, /, *, axis=-1):
    """Sums of products along one axis, the elements of `x1` conjugated."""
    return (_array(x1).conj() * _array(x2)).sum(axis)


def matvec(x1, x2, /):
    """Products of matrices and vectors."""
    x2 = _array(x2)
    return matmul(x1, x2.reshape((*x2.shape, 1))).squeeze(-1)


def vecmat(x1, x2, /):
    """Products of conjugated vectors and matrices."""
    x1 = _array(x1).conj()
    return matmul(x1.reshape((*x1.shape[:-1], 1, x1.shape[-1])), x2).squeeze(-2)


def tensordot(a, b, axes=2):
    """The sum of products along pairs of axes."""
    a, b = _array(a), _array(b)
    if isinstance(axes, (int, np.integer)):
        left, right = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        left, right = ([each] if isinstance(each, (int, np.integer)) else list(each) for each in axes)
    left, right = [axis % a.ndim for axis in left], [axis % b.ndim for axis in right]
    if [a.shape[axis] for axis in left] != [b.shape[axis] for axis in right]:
        raise ValueError("shape-mismatch for sum")
    rows = [axis for axis in range(a.ndim) if axis not in left]
    columns = [axis for axis in range(b.ndim) if axis not in right]
    inner_size = int(np.prod([a.shape[axis] for axis in left], dtype=np.int64))
    shape = [a.shape[axis] for axis in rows] + [b.shape[axis] for axis in columns]
    flat_a = a.transpose(rows + left).reshape(_count(a, rows), inner_size)
    flat_b = b.transpose(right + columns).reshape(inner_size, _count(b, columns))
    return _core.matmul(flat_a, flat_b).reshape(shape)


def _count(a, axes):
    return int(np.prod([a.shape[axis] for axis in axes], dtype=np.int64))


def kron(a, b):
    """The Kronecker product."""
    a, b = _array(a), _array(b)
    ndim = max(a.ndim, b.ndim)
    a, b = (x.reshape((1,) * (ndim - x.ndim) + x.shape) for x in (a, b))
    wide_a = a.reshape([part for size in a.shape for part in (size, 1)])
    wide_b = b.reshape([part for size in b.shape for part in (1, size)])
    return (wide_a * wide_b).reshape([m * n for m, n in zip(a.shape, b.shape, strict=True)])

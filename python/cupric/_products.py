"""Products of vectors and matrices."""

import numpy as np

from cupric import _core
from cupric._core import ndarray
from cupric._creation import asfortranarray
from cupric._exceptions import UFuncTypeError
from cupric._manipulation import copyto, moveaxis
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
    order : {'K', 'C', 'F', 'A'}
    dtype : data type, optional
        What to compute in.

    Examples
    --------
    >>> import cupric as cp
    >>> cp.matmul(cp.eye(2), cp.array([1.0, 2.0]))
    array([1., 2.])
    """
    x1, x2, out = _array(x1), _array(x2), _output(out)
    if order not in ("C", "F", "A", "K", None):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    computed = _core.result_type(x1, x2) if dtype is None else _core.dtype(dtype)
    for place, x in enumerate((x1, x2)):
        if not _core.can_cast(x.dtype, computed, casting):
            raise UFuncTypeError(
                f"Cannot cast ufunc 'matmul' input {place} from {x.dtype!r} to {computed!r} with casting rule '{casting}'"
            )
    made = _core.matmul(*(x.astype(computed, copy=False) for x in (x1, x2)))
    if out is None:
        return asfortranarray(made) if order == "F" and made.ndim else made
    core = (x1.ndim > 1) + (x2.ndim > 1)
    if out.shape[out.ndim - core :] != made.shape[made.ndim - core :] or out.ndim < made.ndim:
        raise ValueError(f"output array has shape {out.shape}, the product {made.shape}")
    if not _core.can_cast(made.dtype, out.dtype, casting):
        raise UFuncTypeError(
            f"Cannot cast ufunc 'matmul' output from {made.dtype!r} to {out.dtype!r} with casting rule '{casting}'"
        )
    copyto(out, made, casting)
    return out


def _output(out):
    """The one output of a ufunc, as it may be given."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
        (out,) = out
    if not isinstance(out, (ndarray, type(None))):
        raise TypeError("return arrays must be of ArrayType")
    return out


def vdot(a, b, /):
    """The sum of products of all elements, those of `a` conjugated."""
    return _array(a).conj().ravel().dot(_array(b).ravel())


def inner(a, b, /):
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
    x1, x2 = _array(x1), _array(x2)
    _need(x1, 0, 1, "vecdot", "(n),(n)->()")
    _need(x2, 1, 1, "vecdot", "(n),(n)->()")
    x1, x2 = (x if axis == -1 else moveaxis(x, axis, -1) for x in (x1, x2))
    if x1.shape[-1] != x2.shape[-1]:
        raise ValueError(
            "vecdot: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n),(n)->() "
            f"(size {x2.shape[-1]} is different from {x1.shape[-1]})"
        )
    products = x1.conj() * x2
    return products.any(-1) if products.dtype.kind == "b" else products.sum(-1, products.dtype)


def _need(x, place, ndim, name, signature):
    if x.ndim < ndim:
        raise ValueError(
            f"{name}: Input operand {place} does not have enough dimensions (has {x.ndim}, gufunc core with signature "
            f"{signature} requires {ndim})"
        )


def matvec(x1, x2, /):
    """Products of matrices and vectors."""
    x1, x2 = _array(x1), _array(x2)
    _need(x1, 0, 2, "matvec", "(m,n),(n)->(m)")
    _need(x2, 1, 1, "matvec", "(m,n),(n)->(m)")
    return matmul(x1, x2.reshape((*x2.shape, 1))).squeeze(-1)


def vecmat(x1, x2, /):
    """Products of conjugated vectors and matrices."""
    x1, x2 = _array(x1).conj(), _array(x2)
    _need(x1, 0, 1, "vecmat", "(n),(n,m)->(m)")
    _need(x2, 1, 2, "vecmat", "(n),(n,m)->(m)")
    return matmul(x1.reshape((*x1.shape[:-1], 1, x1.shape[-1])), x2).squeeze(-2)


def tensordot(a, b, axes=2):
    """The sum of products along pairs of axes."""
    a, b = _array(a), _array(b)
    if isinstance(axes, (int, np.integer)):
        left, right = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        left, right = ([each] if isinstance(each, (int, np.integer)) else list(each) for each in axes)
    if any(not -x.ndim <= axis < x.ndim for x, along in ((a, left), (b, right)) for axis in along):
        raise IndexError(f"axes {axes} are out of range for arrays of {a.ndim} and {b.ndim} dimensions")
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

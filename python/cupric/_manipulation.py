"""Other shapes of the same elements, and arrays joined from others."""

import operator

import numpy as np

from cupric import _core
from cupric._core import ndarray
from cupric._creation import array, asarray
from cupric._statistics import _array

__all__ = [
    "array_split",
    "astype",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_to",
    "column_stack",
    "concat",
    "concatenate",
    "copyto",
    "diagonal",
    "dsplit",
    "dstack",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "hsplit",
    "hstack",
    "matrix_transpose",
    "moveaxis",
    "ndim",
    "permute_dims",
    "ravel",
    "repeat",
    "reshape",
    "roll",
    "rollaxis",
    "rot90",
    "shape",
    "size",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "tile",
    "transpose",
    "unstack",
    "vsplit",
    "vstack",
]  # fmt: skip


def reshape(a, /, shape, order="C", *, copy=None):
    """The elements in another shape: a view where the strides allow it, else a copy.

    Parameters
    ----------
    a : array
    shape : int or tuple of ints
        One size may be -1: what is left.
    order : {'C', 'F', 'A'}
    copy : bool, optional

    Examples
    --------
    >>> import cupric as cp
    >>> cp.reshape(cp.arange(4), (2, -1))
    array([[0, 1],
           [2, 3]])
    """
    return _array(a).reshape(shape, order=order, copy=copy)


def ravel(a, order="C"):
    """The elements in one axis: a view where the strides allow it, else a copy."""
    return _array(a).ravel(order)


def transpose(a, axes=None):
    """The view with the axes in another order, reversed by default."""
    a = _array(a)
    return a.transpose() if axes is None else a.transpose(axes)


permute_dims = transpose


def matrix_transpose(x, /):
    """The view with the last two axes exchanged."""
    return _array(x).mT


def swapaxes(a, axis1, axis2):
    """The view with two axes exchanged."""
    return _array(a).swapaxes(axis1, axis2)


def _axes(axes, ndim, name):
    try:
        axes = (operator.index(axes),)
    except TypeError:
        axes = tuple(axes)
    made = tuple(np.lib.array_utils.normalize_axis_index(axis, ndim, name) for axis in axes)
    if len(set(made)) != len(made):
        raise ValueError(f"repeated axis in `{name}` argument" if name else "repeated axis")
    return made


def moveaxis(a, source, destination):
    """The view with axes moved to other places."""
    a = _array(a)
    source, destination = _axes(source, a.ndim, "source"), _axes(destination, a.ndim, "destination")
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [axis for axis in range(a.ndim) if axis not in source]
    for place, axis in sorted(zip(destination, source, strict=True)):
        order.insert(place, axis)
    return a.transpose(order)


def rollaxis(a, axis, start=0):
    """The view with an axis moved before another one."""
    a = _array(a)
    axis = np.lib.array_utils.normalize_axis_index(axis, a.ndim)
    start = start + a.ndim if start < 0 else start
    if not 0 <= start <= a.ndim:
        raise np.exceptions.AxisError(
            f"'start' arg requires {-a.ndim} <= start < {a.ndim + 1}, but {start} was passed in"
        )
    order = [other for other in range(a.ndim) if other != axis]
    order.insert(start - 1 if axis < start else start, axis)
    return a.transpose(order)


def squeeze(a, axis=None):
    """The view without axes of length 1."""
    return _array(a).squeeze(axis)


def expand_dims(a, axis):
    """The view with new axes of length 1."""
    a = _array(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    axes = _axes(axis, a.ndim + count, None)
    old = iter(a.shape)
    return a.reshape([1 if place in axes else next(old) for place in range(a.ndim + len(axes))])


def diagonal(a, offset=0, axis1=0, axis2=1):
    """A read-only view of a diagonal."""
    return _array(a).diagonal(offset, axis1, axis2)


def broadcast_to(array, shape, subok=False):
    """A read-only view repeated to a larger shape."""
    return _array(array)._broadcast_to(shape)


def broadcast_arrays(*args, subok=False):
    """Views of arrays repeated to their common shape."""
    arrays = [_array(a) for a in args]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    return tuple(a if a.shape == shape else a._broadcast_to(shape) for a in arrays)


def _at_least(arrays, widen):
    made = [widen(_array(a)) for a in arrays]
    return made[0] if len(made) == 1 else tuple(made)


def atleast_1d(*arys):
    """Views with at least one axis."""
    return _at_least(arys, lambda a: a if a.ndim else a.reshape(1))


def atleast_2d(*arys):
    """Views with at least two axes."""
    return _at_least(arys, lambda a: a if a.ndim > 1 else a.reshape(1, -1))


def atleast_3d(*arys):
    """Views with at least three axes."""

    def widen(a):
        return a if a.ndim > 2 else a.reshape((*a.shape, 1)) if a.ndim == 2 else a.reshape(1, -1, 1)

    return _at_least(arys, widen)


def flip(m, axis=None):
    """The view with axes reversed, all of them by default."""
    m = _array(m)
    axes = range(m.ndim) if axis is None else _axes(axis, m.ndim, "axis")
    return m[tuple(slice(None, None, -1) if place in axes else slice(None) for place in range(m.ndim))]


def fliplr(m):
    """The view with the second axis reversed."""
    if _array(m).ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(m, 1)


def flipud(m):
    """The view with the first axis reversed."""
    if _array(m).ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(m, 0)


def rot90(m, k=1, axes=(0, 1)):
    """The view turned by quarters in the plane of two axes."""
    m = _array(m)
    first, second = _axes(axes, m.ndim, "axes")
    k %= 4
    if k == 0:
        return m[...]
    if k == 2:
        return flip(m, (first, second))
    turned = m.swapaxes(first, second)
    return flip(turned, first if k == 1 else second)


def roll(a, shift, axis=None):
    """The elements moved along axes; those that leave come in again at the other end."""
    a = _array(a)
    if axis is None:
        return roll(a.ravel(), shift, 0).reshape(a.shape)
    shift, axis = (value.get() if isinstance(value, ndarray) else value for value in (shift, axis))
    pairs = np.broadcast_arrays(shift, axis)
    if pairs[0].ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    for by, along in zip(pairs[0].ravel().tolist(), pairs[1].ravel().tolist(), strict=True):
        by = int(by)
        along = np.lib.array_utils.normalize_axis_index(along, a.ndim)
        by = by % a.shape[along] if a.shape[along] else 0
        if by:
            before = (slice(None),) * along
            a = concatenate([a[(*before, slice(-by, None))], a[(*before, slice(None, -by))]], along)
    return a.copy()


def repeat(a, repeats, axis=None):
    """Each element several times."""
    a = _array(a)
    if axis is None or a.ndim == 0:
        a, axis = a.ravel(), 0 if axis is None else axis
    if isinstance(axis, (bool, np.bool)):
        raise TypeError("an integer is required for the axis")
    axis = np.lib.array_utils.normalize_axis_index(axis, a.ndim)
    if isinstance(repeats, (list, tuple)):
        # What is no array yet becomes integers whatever it holds.
        repeats = np.array(repeats, np.intp)
    repeats = np.asarray(repeats.get() if isinstance(repeats, ndarray) else repeats)
    if repeats.size == 1:
        count = int(repeats.reshape(()))
        wide = a.reshape((*a.shape[: axis + 1], 1, *a.shape[axis + 1 :]))
        wide = wide._broadcast_to((*a.shape[: axis + 1], count, *a.shape[axis + 1 :]))
        return wide.reshape((*a.shape[:axis], a.shape[axis] * count, *a.shape[axis + 1 :])).copy()
    places = np.repeat(np.arange(a.shape[axis]), repeats)
    return a.take(places, axis)


def tile(A, reps):
    """The array several times along each axis."""
    A = _array(A)
    reps = (reps,) if isinstance(reps, (int, np.integer)) else tuple(reps)
    ndim = max(A.ndim, len(reps))
    shape = (1,) * (ndim - A.ndim) + A.shape
    reps = (1,) * (ndim - len(reps)) + reps
    wide = A.reshape([part for size in shape for part in (1, size)])
    wide = wide._broadcast_to([part for rep, size in zip(reps, shape, strict=True) for part in (rep, size)])
    made = wide.reshape([rep * size for rep, size in zip(reps, shape, strict=True)])
    return made.copy() if made.base is not None else made


def _joined(arrays, axis, out, dtype, casting, new_axis):
    if isinstance(arrays, ndarray):
        arrays = list(arrays)
    if not hasattr(arrays, "__getitem__"):
        raise TypeError('arrays to join must be passed as a "sequence" type such as list or tuple.')
    arrays = [_array(a) for a in arrays]
    if out is not None:
        if dtype is not None:
            raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
        made = _core.join(arrays, axis, None, new_axis)
        if made.shape != out.shape:
            raise ValueError("Output array is the wrong shape")
        copyto(out, made, casting)
        return out
    if dtype is not None:
        for a in arrays:
            if not np.can_cast(a.dtype, dtype, casting):
                raise TypeError(
                    f"Cannot cast array data from {a.dtype!r} to {np.dtype(dtype)!r} according to the rule '{casting}'"
                )
    return _core.join(arrays, axis, dtype, new_axis)


def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Joins arrays along an axis that they have.

    Parameters
    ----------
    arrays : sequence of arrays
    axis : int or None
        None flattens them first.
    out : array, optional
    dtype : data type, optional
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}

    Examples
    --------
    >>> import cupric as cp
    >>> cp.concatenate([cp.arange(2), cp.arange(3)])
    array([0, 1, 0, 1, 2])
    """
    return _joined(arrays, axis, out, dtype, casting, False)


concat = concatenate


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Joins arrays of one shape along a new axis."""
    return _joined(arrays, axis, out, dtype, casting, True)


def unstack(x, /, *, axis=0):
    """Views of an array, one for each place along an axis."""
    return tuple(moveaxis(x, axis, 0))


def _all_at_least(arrays, widen):
    if not hasattr(arrays, "__getitem__"):
        raise TypeError('arrays to stack must be passed as a "sequence" type such as list or tuple.')
    made = widen(*arrays)
    return [made] if isinstance(made, ndarray) else list(made)


def vstack(tup, *, dtype=None, casting="same_kind"):
    """Joins arrays along the first axis, rows on rows."""
    return concatenate(_all_at_least(tup, atleast_2d), 0, dtype=dtype, casting=casting)


def hstack(tup, *, dtype=None, casting="same_kind"):
    """Joins arrays along the second axis, or the only one."""
    arrays = _all_at_least(tup, atleast_1d)
    return concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup):
    """Joins arrays along the third axis."""
    return concatenate(_all_at_least(tup, atleast_3d), 2)


def column_stack(tup):
    """Joins vectors as columns of a matrix."""
    arrays = [_array(a) for a in tup]
    return concatenate([a if a.ndim > 1 else a.reshape(-1, 1) for a in arrays], 1)


def array_split(ary, indices_or_sections, axis=0):
    """Views of parts along an axis; a number of parts need not divide the length."""
    ary = _array(ary)
    size = ary.shape[axis]
    count = _sections(indices_or_sections)
    if count is not None:
        if count <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, extra = divmod(size, count)
        ends = np.cumsum([each + 1] * extra + [each] * (count - extra)).tolist()[:-1]
    else:
        given = indices_or_sections
        ends = np.asarray(given.get() if isinstance(given, ndarray) else given).tolist()
    before = (slice(None),) * (axis % ary.ndim)
    starts = [None, *ends]
    return [ary[(*before, slice(start, end))] for start, end in zip(starts, [*ends, None], strict=True)]


def _sections(given):
    """The number of parts, if that was given."""
    try:
        len(given)
    except TypeError:
        return int(given)
    return None


def _split_along(name, ary, indices_or_sections, axis, ndim):
    ary = _array(ary)
    if ary.ndim < ndim:
        raise ValueError(f"{name} only works on arrays of {ndim} or more dimensions")
    return split(ary, indices_or_sections, axis)


def split(ary, indices_or_sections, axis=0):
    """Views of parts along an axis; a number of parts must divide the length."""
    ary = _array(ary)
    count = _sections(indices_or_sections)
    if count is not None and ary.shape[axis] % count:
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def vsplit(ary, indices_or_sections):
    """Views of parts along the first axis."""
    return _split_along("vsplit", ary, indices_or_sections, 0, 2)


def hsplit(ary, indices_or_sections):
    """Views of parts along the second axis, or the only one."""
    return _split_along("hsplit", ary, indices_or_sections, 1 if _array(ary).ndim > 1 else 0, 1)


def dsplit(ary, indices_or_sections):
    """Views of parts along the third axis."""
    return _split_along("dsplit", ary, indices_or_sections, 2, 3)


def copyto(dst, src, casting="same_kind", where=True):
    """Copies elements into an array, where a mask is true.

    Parameters
    ----------
    dst : array
    src : array or number
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
    where : array of bool or bool
    """
    if not isinstance(dst, ndarray):
        raise TypeError(f"copyto() argument 1 must be cupric.ndarray, not {type(dst).__name__}")
    if type(src) not in _TAKEN_BY:
        src = src if isinstance(src, np.generic) else _array(src)
    if not _may_become(src, dst.dtype, casting):
        given = np.dtype(type(src)) if type(src) in _TAKEN_BY else src.dtype
        what = "array data" if getattr(src, "ndim", 0) else "scalar"
        raise TypeError(f"Cannot cast {what} from {given!r} to {dst.dtype!r} according to the rule '{casting}'")
    _core.put_where(dst, src, None if where is True else _mask(where, dst.shape))


# The kinds of dtypes that take a Python number as it is.
_TAKEN_BY = {int: "iufcV", float: "fcV", complex: "c"}


def _may_become(src, dtype, casting):
    weak = _core.can_cast(dtype, dtype, casting) and dtype.kind in _TAKEN_BY.get(type(src), "")
    return weak or _core.can_cast(np.dtype(type(src)) if type(src) in _TAKEN_BY else src.dtype, dtype, casting)


def _mask(where, shape):
    """Truth values for elements of a shape."""
    if isinstance(where, ndarray) and where.dtype.char != "?":
        raise TypeError(
            f"Cannot cast array data from {where.dtype!r} to {np.dtype('?')!r} according to the rule 'safe'"
        )
    mask = array(where, bool)
    if mask.ndim > len(shape) or any(
        own not in (1, size) for own, size in zip(reversed(mask.shape), reversed(shape), strict=False)
    ):
        raise ValueError(f"could not broadcast where mask from shape {mask.shape} into shape {shape}")
    return mask


def astype(x, dtype, /, *, copy=True, device=None):
    """The elements converted to a dtype."""
    if device is not None:
        _core.check_device(device)
    return x.astype(dtype, copy=copy)


def ndim(a):
    """The number of axes."""
    return a.ndim if hasattr(a, "ndim") else asarray(a).ndim


def shape(a):
    """The length of each axis."""
    return a.shape if hasattr(a, "shape") else asarray(a).shape


def size(a, axis=None):
    """The number of elements, of all or along axes."""
    sizes = shape(a)
    if axis is None:
        return int(np.prod(sizes, dtype=np.int64))
    axes = _axes(axis, len(sizes), None)
    return int(np.prod([sizes[each] for each in axes], dtype=np.int64))

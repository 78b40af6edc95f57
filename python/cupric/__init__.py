# ruff: noqa: F401  -- the names are brought in to be the package's public list
"""NumPy on the GPU and the CPU.

`import cupric as cp` replaces `import numpy as np` or `import cupy as cp`: the same program runs on an NVIDIA GPU and on a machine without one.
"""

import atexit as _atexit
import importlib as _importlib
import os as _os
import sys as _sys

import numpy as _np
from numpy import bool as bool
from numpy import (
    bool_,
    broadcast_shapes,
    byte,
    cdouble,
    complex64,
    complex128,
    complexfloating,
    csingle,
    double,
    dtype,
    e,
    errstate,
    euler_gamma,
    finfo,
    flexible,
    float16,
    float32,
    float64,
    floating,
    format_float_positional,
    format_float_scientific,
    generic,
    get_printoptions,
    geterr,
    half,
    iinfo,
    index_exp,
    inexact,
    inf,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    integer,
    intp,
    isscalar,
    issubdtype,
    iterable,
    long,
    longlong,
    nan,
    ndindex,
    newaxis,
    number,
    pi,
    printoptions,
    s_,
    set_printoptions,
    seterr,
    short,
    signedinteger,
    single,
    typename,
    ubyte,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ulong,
    ulonglong,
    unsignedinteger,
    ushort,
)

from cupric import _core, _methods
from cupric._core import (
    __version__,
    arange,
    empty,
    eye,
    from_dlpack,
    fromDlpack,
    ndarray,
    ones,
    result_type,
    ufunc,
    zeros,
)
from cupric._creation import (
    array,
    asanyarray,
    asarray,
    ascontiguousarray,
    asfortranarray,
    asnumpy,
    copy,
    diag,
    diagflat,
    empty_like,
    full,
    full_like,
    identity,
    linspace,
    logspace,
    meshgrid,
    ones_like,
    tri,
    tril,
    triu,
    zeros_like,
)
from cupric._dtypes import can_cast, iscomplexobj, isrealobj, mintypecode, promote_types
from cupric._files import fromfile, genfromtxt, load, loadtxt, save, savetxt, savez, savez_compressed
from cupric._manipulation import (
    array_split,
    astype,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_arrays,
    broadcast_to,
    column_stack,
    concat,
    concatenate,
    copyto,
    diagonal,
    dsplit,
    dstack,
    expand_dims,
    flip,
    fliplr,
    flipud,
    hsplit,
    hstack,
    matrix_transpose,
    moveaxis,
    ndim,
    permute_dims,
    ravel,
    repeat,
    reshape,
    roll,
    rollaxis,
    rot90,
    shape,
    size,
    split,
    squeeze,
    stack,
    swapaxes,
    tile,
    transpose,
    unstack,
    vsplit,
    vstack,
)
from cupric._methods import flatiter
from cupric._printing import array2string, array_repr, array_str
from cupric._products import dot, inner, kron, matmul, matvec, outer, tensordot, vdot, vecdot, vecmat
from cupric._running import config, eager
from cupric._selection import (
    allclose,
    argsort,
    argwhere,
    around,
    array_equal,
    array_equiv,
    choose,
    clip,
    compress,
    diff,
    extract,
    flatnonzero,
    isclose,
    nonzero,
    place,
    put,
    put_along_axis,
    round,
    sort,
    take,
    take_along_axis,
    where,
)
from cupric._statistics import (
    all,
    amax,
    amin,
    any,
    argmax,
    argmin,
    average,
    count_nonzero,
    cumprod,
    cumsum,
    max,
    mean,
    min,
    prod,
    ptp,
    std,
    sum,
    trace,
    var,
)

_UFUNCS = {name: row for name, row in _core.ufuncs.items() if name not in ("clip", "copy", "where")}
_ALIASES = {
    "abs": "absolute", "bitwise_invert": "invert", "bitwise_left_shift": "left_shift", "bitwise_not": "invert",
    "bitwise_right_shift": "right_shift", "conj": "conjugate", "mod": "remainder", "pow": "power",
    "true_divide": "divide", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh",
    "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh",
}  # fmt: skip
globals().update(_UFUNCS)
globals().update({alias: _UFUNCS[name] for alias, name in _ALIASES.items() if name in _UFUNCS})

# Brought in when they are first asked for: importing Cupric is to cost little more than importing NumPy.
_LAZY_MODULES = ("cuda", "fft", "linalg", "profiler", "random", "scipy", "testing")
_LAZY_NAMES = {
    "RawKernel": "_kernels", "RawModule": "_kernels", "empty_like_pinned": "_pinned", "empty_pinned": "_pinned",
    "get_default_memory_pool": "cuda", "get_default_pinned_memory_pool": "cuda", "is_available": "cuda",
    "zeros_like_pinned": "_pinned", "zeros_pinned": "_pinned",
}  # fmt: skip


def __getattr__(name):
    if name in _LAZY_MODULES:
        try:
            return _importlib.import_module(f"cupric.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != f"cupric.{name}":
                raise
    elif name in _LAZY_NAMES:
        return getattr(_importlib.import_module(f"cupric.{_LAZY_NAMES[name]}"), name)
    elif name == "bfloat16":
        return _importlib.import_module("ml_dtypes").bfloat16
    raise AttributeError(f"module 'cupric' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LAZY_NAMES, "cuda", "linalg", "profiler", "random", "testing"})


def get_array_module(*args):
    """This module if an argument is an array on a device, else NumPy.

    Examples
    --------
    >>> import numpy as np, cupric as cp
    >>> cp.get_array_module(np.arange(3)) is np
    True
    """
    return _sys.modules[__name__] if _any_of(args) else _np


def _any_of(args):
    return next((True for arg in args if isinstance(arg, ndarray)), False)


def may_share_memory(a, b, /, max_work=None):
    """Whether the bytes that two arrays span overlap."""
    return isinstance(a, ndarray) and isinstance(b, ndarray) and a._overlaps(b, False)


def shares_memory(a, b, /, max_work=None):
    """Whether two arrays have bytes in common."""
    return isinstance(a, ndarray) and isinstance(b, ndarray) and a._overlaps(b, True)


def _prepare():
    here = _os.path.dirname(__file__)
    _core.set_library_search([folder for folder in _sys.path if folder], _os.path.join(here, "pack"))
    # A child has no thread but the one that forked: none may be in the middle of something then.
    _os.register_at_fork(
        before=_core.before_fork, after_in_parent=_core.after_fork, after_in_child=_core.after_fork_in_child
    )
    _atexit.register(_core.finish)


_prepare()

__all__ = sorted(
    {name for name in globals() if not name.startswith("_")}
    | {"cuda", "linalg", "profiler", "random", "testing"}
    | {*_LAZY_NAMES}
)

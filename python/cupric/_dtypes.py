"""Questions about dtypes: NumPy's own answers, and those for bfloat16."""

import numpy as np

from cupric import _core
from cupric._core import ndarray

__all__ = ["can_cast", "iscomplexobj", "isrealobj", "mintypecode", "promote_types"]


def _is_bfloat16(dtype):
    """Whether an object names the dtype that NumPy does not know by itself."""
    if isinstance(dtype, str):
        return dtype in ("bfloat16", "bf16")
    return getattr(dtype, "name", getattr(dtype, "__name__", None)) == "bfloat16"


def can_cast(from_, to, casting="safe"):
    """Whether a dtype, or that of an array, may become another under a casting rule."""
    from_ = from_.dtype if isinstance(from_, ndarray) else from_
    if _is_bfloat16(from_) or _is_bfloat16(to):
        return _core.can_cast(from_, to, casting)
    return np.can_cast(from_, to, casting)


def promote_types(type1, type2):
    """The smallest dtype that both may become."""
    if _is_bfloat16(type1) or _is_bfloat16(type2):
        return _core.result_type(_core.dtype(type1), _core.dtype(type2))
    return np.promote_types(type1, type2)


def iscomplexobj(x):
    """Whether an array, or a number, is of a complex dtype."""
    return x.dtype.kind == "c" if isinstance(x, ndarray) else np.iscomplexobj(x)


def isrealobj(x):
    """Whether an array, or a number, is of no complex dtype."""
    return not iscomplexobj(x)


def mintypecode(typechars, typeset="GDFgdf", default="d"):
    """The character of the smallest dtype of a set that all types may become."""
    return np.mintypecode([a.dtype.char if isinstance(a, ndarray) else a for a in typechars], typeset, default)

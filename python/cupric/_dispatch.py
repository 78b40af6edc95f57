"""NumPy's own functions, given arrays on the device: the function of the same name here does the work."""

import importlib
import sys

import numpy as np

from cupric._core import ndarray

# What a ufunc's method is here.
_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any",
}  # fmt: skip
_SCANS = {"add": "cumsum", "multiply": "cumprod"}


def array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """`numpy.sin(a)`, `numpy.add.reduce(a)`, `numpy.float32(2) * a`."""
    cupric = sys.modules["cupric"]
    name = ufunc.__name__
    for given in (*inputs, *_outputs(kwargs)):
        if isinstance(given, np.ndarray) and given.ndim:
            raise TypeError(f"Unsupported type {type(given)}")
    if method == "__call__":
        ours = getattr(cupric, name, None)
        if ours is None or not callable(ours):
            return NotImplemented
        _unwrap(kwargs)
        return ours(*inputs, **kwargs)
    if method == "reduce" and name in _REDUCTIONS:
        _unwrap(kwargs)
        return getattr(cupric, _REDUCTIONS[name])(inputs[0], **{"axis": 0, **kwargs})
    if method == "accumulate" and name in _SCANS:
        _unwrap(kwargs)
        return getattr(cupric, _SCANS[name])(inputs[0], **{"axis": 0, **kwargs})
    if method == "outer":
        first, second = inputs
        return array_ufunc(self, ufunc, "__call__", first.reshape(first.shape + (1,) * second.ndim), second, **kwargs)
    return NotImplemented


def _outputs(kwargs):
    out = kwargs.get("out", ())
    return out if isinstance(out, tuple) else (out,)


def _unwrap(kwargs):
    out = kwargs.get("out")
    if isinstance(out, tuple) and len(out) == 1:
        kwargs["out"] = out[0]


def array_function(self, func, types, args, kwargs):
    """`numpy.concatenate([a, b])`, `numpy.linalg.norm(a)`."""
    if not all(issubclass(kind, (ndarray, np.ndarray)) for kind in types):
        return NotImplemented
    ours = _counterpart(func)
    if ours is None or ours is func:
        return NotImplemented
    given = {name: value for name, value in kwargs.items() if value is not np._NoValue}
    return ours(*args, **given)


def _counterpart(func):
    module = getattr(func, "__module__", None) or ""
    if module != "numpy" and not module.startswith("numpy."):
        return None
    here = sys.modules["cupric"]
    for part in module.split(".")[1:]:
        if part.startswith("_"):
            break
        try:
            here = importlib.import_module(f"{here.__name__}.{part}")
        except ImportError:
            return None
    return getattr(here, func.__name__, None)

"""When operations run."""

from contextlib import contextmanager
from types import SimpleNamespace

from cupric import _core

__all__ = ["config", "eager"]


@contextmanager
def eager(on=True):
    """Runs each operation of this thread at its call, for the length of a with-block; the results are the same.

    Parameters
    ----------
    on : bool
        False lets operations wait in their queue, which is the default unless `CUPRIC_EAGER` is set.

    Examples
    --------
    >>> import cupric as cp
    >>> with cp.eager():
    ...     a = cp.arange(3) + 1
    """
    before = _core.set_running("eager" if on else "deferred")
    try:
        yield
    finally:
        _core.set_running(before)


class _Config(SimpleNamespace):
    """The settings that the process began with, from the environment; see the README for their names there."""

    def __setattr__(self, name, value):
        raise AttributeError(f"settings are read once: set CUPRIC_{name.upper()} before the program starts")


config = _Config(**_core.settings())

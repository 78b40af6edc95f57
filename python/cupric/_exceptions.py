"""Exceptions beside those of Python and NumPy."""

from numpy._core._exceptions import UFuncTypeError as _UFuncTypeError

__all__ = ["CUDADriverError", "CUDARuntimeError", "CompileException", "OutOfMemoryError", "UFuncTypeError"]


class UFuncTypeError(_UFuncTypeError):
    """A ufunc that cannot take or give a dtype; NumPy's own class, with the whole message in hand."""

    def __init__(self, message):
        super().__init__(None)
        self.message = message

    def __str__(self):
        return self.message


class OutOfMemoryError(MemoryError):
    """The device's memory, or the limit of a pool, is used up."""


class CUDARuntimeError(RuntimeError):
    """A failure in the terms of the CUDA runtime; `status` is its number."""

    def __init__(self, status, message=None):
        super().__init__(_described(status) if message is None else message)
        self.status = status

    def __reduce__(self):
        return type(self), (self.status, str(self))


class CUDADriverError(CUDARuntimeError):
    """A failure of the CUDA driver; `status` is its number.

    Nothing of the CUDA runtime is used, so what it would report is told by the driver: hence the base class.
    """


def _described(status):
    from cupric.cuda._numbers import STATUS

    name, meaning = STATUS.get(status, (f"CUDA error {status}", "unknown error"))
    return f"{name}: {meaning}"


class CompileException(Exception):
    """A kernel's source that did not compile; the text is the compiler's own."""

    def __init__(self, message, source="", name="", options=(), backend="nvrtc"):
        super().__init__(message)
        self._msg = message
        self.source = source
        self.name = name
        self.options = options
        self.backend = backend

    def get_message(self):
        """The compiler's message."""
        return self._msg

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
        super().__init__(message if message is not None else f"CUDA error {status}")
        self.status = status


class CUDADriverError(RuntimeError):
    """A failure of the CUDA driver; `status` is its number."""

    def __init__(self, status, message=None):
        super().__init__(message if message is not None else f"CUDA driver error {status}")
        self.status = status


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

"""What can go wrong when a kernel is compiled."""

from cupric._exceptions import CompileException

__all__ = ["CompileException"]

"""Kernels that users write in CUDA C++."""

import functools

import numpy as np

from cupric import _core

__all__ = ["RawKernel", "RawModule"]

_NO_GPU = (
    "kernels of your own need a GPU: the CPU device cannot run them yet. Built-in functions work on both; "
    "see cupric.cuda.is_available()."
)


def _gpu():
    """The current device, if it is one that runs kernels."""
    handle = _core.device()
    if handle.kind != "cuda":
        raise RuntimeError(_NO_GPU)
    return handle


class RawModule:
    """CUDA C++ text, or compiled code, with kernels in it.

    Parameters
    ----------
    code : str, optional
        CUDA C++ text.
    path : str, optional
        A file with a cubin, a fatbin or PTX.
    options : tuple of str
        For the compiler.
    backend : 'nvrtc'
    translate_cucomplex : ignored
    enable_cooperative_groups : bool
        Whether kernels are launched so that blocks may wait for each other.
    name_expressions : sequence of str, optional
        Instances of templates that `get_function` will be asked for.
    jitify : ignored
    """

    def __init__(
        self, *, code=None, path=None, options=(), backend="nvrtc", translate_cucomplex=False,
        enable_cooperative_groups=False, name_expressions=None, jitify=False,
    ):  # fmt: skip
        if (code is None) == (path is None):
            raise TypeError("Exactly one of `code` and `path` must be given.")
        if backend not in ("auto", "nvrtc"):
            raise ValueError(f"backend {backend!r} is not supported: kernels are compiled by NVRTC")
        if name_expressions is not None and code is None:
            raise ValueError("need CUDA C++ code for the requested kernels")
        self.code, self.file_path, self.options, self.backend = code, path, tuple(options), backend
        self.enable_cooperative_groups = bool(enable_cooperative_groups)
        self.name_expressions = None if name_expressions is None else list(name_expressions)
        self._modules = {}

    def compile(self, log_stream=None):
        """Compiles the text, unless that has been done."""
        self._module()

    @property
    def module(self):
        """The loaded code on the current device."""
        return self._module()

    def _module(self):
        device = _gpu()
        found = self._modules.get(device.ordinal)
        if found is None:
            if self.code is not None:
                found = _core.compile_module(device, self.code, self.options, self.name_expressions or [])
            else:
                found = _core.load_module(device, str(self.file_path))
            self._modules[device.ordinal] = found
        return found

    def get_function(self, name):
        """The kernel of this name, or of this expression."""
        return RawKernel._of(self, name)

    def get_global(self, name):
        """A pointer to a global variable."""
        from cupric.cuda.memory import MemoryPointer, UnownedMemory

        address, size = self._module().get_global(name)
        return MemoryPointer(UnownedMemory(address, size, self), 0)


class RawKernel:
    """A kernel written in CUDA C++.

    Parameters
    ----------
    code : str
        CUDA C++ text.
    name : str
        The kernel's name in it.
    options : tuple of str
        For the compiler.
    backend : 'nvrtc'
    translate_cucomplex : ignored
    enable_cooperative_groups : bool
        Whether the kernel is launched so that blocks may wait for each other.
    jitify : ignored

    On the CPU device a kernel can be made but not run.
    """

    def __init__(
        self, code, name, options=(), backend="nvrtc", *, translate_cucomplex=False, enable_cooperative_groups=False,
        jitify=False,
    ):  # fmt: skip
        expressions = [name] if "<" in name else None
        self._source = RawModule(
            code=code, options=options, backend=backend, enable_cooperative_groups=enable_cooperative_groups,
            name_expressions=expressions,
        )  # fmt: skip
        self.name = name
        self._shared, self._functions = None, {}

    @classmethod
    def _of(cls, module, name):
        made = cls.__new__(cls)
        made._source, made.name, made._shared, made._functions = module, name, None, {}
        made._function()
        return made

    @property
    def code(self):
        """The text."""
        return self._source.code

    @property
    def options(self):
        """The compiler's options."""
        return self._source.options

    @property
    def backend(self):
        """The compiler."""
        return self._source.backend

    @property
    def file_path(self):
        """The file that the code came from, if any."""
        return self._source.file_path

    @property
    def kernel(self):
        """The loaded kernel on the current device."""
        return self._function()

    def compile(self, log_stream=None):
        """Compiles the text, unless that has been done."""
        self._function()

    def _function(self):
        device = _gpu().ordinal
        function = self._functions.get(device)
        if function is None:
            function = self._source._module().function(self.name)
            if self._shared is not None:
                function.set_attribute("max_dynamic_shared_size_bytes", self._shared)
            self._functions[device] = function
        return function

    @property
    def attributes(self):
        """Numbers about the kernel by name."""
        return {name: self._function().attribute(name) for name in _core.kernel_attributes()}

    @property
    def max_dynamic_shared_size_bytes(self):
        """The most dynamic shared memory that a block may ask for."""
        return self._function().attribute("max_dynamic_shared_size_bytes")

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, value):
        self._shared, self._functions = int(value), {}

    @property
    def num_regs(self):
        """How many registers a thread takes."""
        return self._function().attribute("num_regs")

    def __call__(self, grid, block, args, *, shared_mem=0):
        """Launches the kernel.

        Parameters
        ----------
        grid : tuple of ints
            Blocks along up to three axes.
        block : tuple of ints
            Threads of a block along up to three axes.
        args : tuple
            Arrays and pointers, whose addresses are passed; None for a null pointer; NumPy scalars and 0-d NumPy arrays
            (structures too), which must have the parameter's size; and Python numbers, which take the parameter's width. An
            integer is converted where the parameter is a floating-point number. Where nobody tells the parameters, as for a
            binary with a driver older than CUDA 12.4, Python numbers are passed as 64-bit ones.
        shared_mem : int
            Bytes of dynamic shared memory of a block.
        """
        function = self._function()
        arguments = [_argument(value) for value in args]
        function.launch(_three(grid), _three(block), int(shared_mem), arguments, self._source.enable_cooperative_groups)


def _three(sizes):
    sizes = (sizes,) if isinstance(sizes, (int, np.integer)) else tuple(int(size) for size in sizes)
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"a grid or a block has one to three sizes, not {len(sizes)}")
    return sizes + (1,) * (3 - len(sizes))


@functools.singledispatch
def _argument(value):
    """A kernel's argument as the launch takes it: an array, a plain number, or the bytes of a value and its type's name."""
    if hasattr(value, "ptr"):
        return np.uint64(value.ptr).tobytes(), type(value).__name__
    raise TypeError(f"Unsupported type {type(value)}")


@_argument.register
def _(value: _core.ndarray | bool | int | float | complex):
    return value


@_argument.register
def _(value: None):
    return bytes(8), "None"


@_argument.register
def _(value: np.generic):
    return value.tobytes(), f"numpy.{type(value).__name__}"


@_argument.register
def _(value: np.ndarray):
    if value.ndim:
        raise TypeError(
            f"a NumPy array of shape {value.shape} lies on the host, where a kernel cannot reach it: pass cupric.asarray(...). "
            "A structure is passed by value as a NumPy scalar or a 0-d array."
        )
    return value.tobytes(), f"a NumPy array of {value.dtype}"

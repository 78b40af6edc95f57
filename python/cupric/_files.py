"""Arrays in files, by NumPy on the host."""

from collections.abc import Mapping

import numpy as np

from cupric import _core
from cupric._creation import array, asnumpy

__all__ = ["fromfile", "genfromtxt", "load", "loadtxt", "save", "savetxt", "savez", "savez_compressed"]


def save(file, arr, allow_pickle=True):
    """Writes an array to a `.npy` file."""
    np.save(file, asnumpy(arr), allow_pickle=allow_pickle)


def savez(file, *args, allow_pickle=True, **kwds):
    """Writes arrays to a `.npz` file."""
    np.savez(file, *map(asnumpy, args), allow_pickle=allow_pickle, **{name: asnumpy(a) for name, a in kwds.items()})


def savez_compressed(file, *args, allow_pickle=True, **kwds):
    """Writes arrays to a compressed `.npz` file."""
    np.savez_compressed(
        file, *map(asnumpy, args), allow_pickle=allow_pickle, **{name: asnumpy(a) for name, a in kwds.items()}
    )


def load(file, mmap_mode=None, allow_pickle=False, fix_imports=True, encoding="ASCII", *, max_header_size=10000):
    """Reads a `.npy` file as an array, or a `.npz` file as a mapping whose arrays are read when they are asked for.

    Two bytes without a dtype, which is how NumPy writes bfloat16, are read as bfloat16.
    """
    found = np.load(
        file,
        mmap_mode=mmap_mode,
        allow_pickle=bool(allow_pickle),
        fix_imports=fix_imports,
        encoding=encoding,
        max_header_size=max_header_size,
    )
    return NpzFile(found) if isinstance(found, np.lib.npyio.NpzFile) else _read(found)


def _read(host):
    return array(host.view(_core.dtype("bfloat16")) if host.dtype == np.dtype("V2") else host)


class NpzFile(Mapping):
    """The arrays of a `.npz` file by name."""

    def __init__(self, file):
        self.npz_file = file
        self.files = file.files

    def __getitem__(self, name):
        return _read(self.npz_file[name])

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self.files)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the file."""
        self.npz_file.close()


def savetxt(fname, X, *args, **kwargs):
    """Writes an array to a text file."""
    np.savetxt(fname, asnumpy(X), *args, **kwargs)


def loadtxt(*args, **kwargs):
    """Reads an array from a text file."""
    return array(np.loadtxt(*args, **kwargs))


def genfromtxt(*args, **kwargs):
    """Reads an array from a text file with missing values."""
    return array(np.genfromtxt(*args, **kwargs))


def fromfile(*args, **kwargs):
    """Reads an array from a file of raw bytes."""
    return array(np.fromfile(*args, **kwargs))

"""The generator and its distributions."""

import secrets

import numpy as np

from cupric import _core
from cupric._core import ndarray, ufuncs
from cupric._creation import asarray
from cupric._manipulation import copyto

__all__ = ["Generator", "Philox", "default_rng"]


def entropy_words(seed):
    """The 32-bit words of a seed, lowest first, as `numpy.random.SeedSequence` takes them."""
    if seed is None:
        seed = secrets.randbits(128)
    if isinstance(seed, np.random.SeedSequence):
        return [int(word) for word in _sequence_words(seed)]
    if isinstance(seed, (int, np.integer)):
        seed = int(seed)
        if seed < 0:
            raise ValueError("expected non-negative integer")
        words = [seed & 0xFFFFFFFF]
        while seed := seed >> 32:
            words.append(seed & 0xFFFFFFFF)
        return words
    if isinstance(seed, ndarray):
        seed = seed.get()
    if not isinstance(seed, (list, tuple, range, np.ndarray)):
        raise TypeError(f"SeedSequence expects int or sequence of ints for entropy not {seed!r}")
    for part in seed:
        if part is None or isinstance(part, (float, np.inexact)):
            raise TypeError("seed must be integer")
    return [word for part in seed for word in entropy_words(part)]


def _sequence_words(sequence):
    words = entropy_words(sequence.entropy)
    if sequence.spawn_key:
        words += [0] * (4 - len(words))
        words += [word for part in sequence.spawn_key for word in entropy_words(part)]
    return words


class Philox:
    """The bit generator: Philox4x64-10.

    Parameters
    ----------
    seed : int, sequence of ints, or None
        None takes entropy from the operating system.
    """

    def __init__(self, seed=None):
        self._core = _core.Generator(entropy_words(seed))

    @property
    def state(self):
        """The state, in NumPy's form."""
        key, counter, used = self._core.state
        blocks = sum(word << (64 * place) for place, word in enumerate(counter))
        buffer = _core.Generator([0])
        buffer.set_state(key, counter, 0)
        words = buffer.words(4).get()
        begun = (blocks + bool(used)) % (1 << 256)
        return {
            "bit_generator": "Philox",
            "state": {"counter": _words(begun), "key": np.array(key, np.uint64)},
            "buffer": words,
            "buffer_pos": (used + 1) // 2 if used else 4,
            "has_uint32": used % 2,
            "uinteger": int(words[used // 2] >> np.uint64(32)) if used % 2 else 0,
        }

    @state.setter
    def state(self, value):
        if value["bit_generator"] != "Philox":
            raise ValueError("state must be for a Philox PRNG")
        counter = sum(int(word) << (64 * place) for place, word in enumerate(value["state"]["counter"]))
        used = 2 * int(value["buffer_pos"]) - int(value["has_uint32"])
        if used < 8:
            counter = (counter - 1) % (1 << 256)
        key = [int(word) for word in value["state"]["key"]]
        self._core.set_state(key, [int(word) for word in _words(counter)], used % 8)

    def random_raw(self, size=None):
        """Raw 64-bit words."""
        return self._core.words(size)

    def __reduce__(self):
        return _philox_of, (self.state,)


def _words(value):
    return np.array([(value >> (64 * place)) & 0xFFFFFFFFFFFFFFFF for place in range(4)], np.uint64)


def _philox_of(state):
    made = Philox(0)
    made.state = state
    return made


class Generator:
    """Random numbers of many distributions.

    Parameters
    ----------
    bit_generator : Philox

    Examples
    --------
    >>> import cupric as cp
    >>> cp.random.default_rng(5).random(3).shape
    (3,)
    """

    def __init__(self, bit_generator):
        self.bit_generator = bit_generator
        self._core = bit_generator._core

    def __reduce__(self):
        return Generator, (self.bit_generator,)

    def __repr__(self):
        return "Generator(Philox)"

    def random(self, size=None, dtype="float64", out=None):
        """Uniform numbers in [0, 1).

        Parameters
        ----------
        size : int or tuple of ints, optional
            A single number, as a 0-d array, by default.
        dtype : float64 or float32
        out : array, optional
        """
        return _into(out, self._core.random(_size(size, out), dtype))

    def standard_normal(self, size=None, dtype="float64", out=None):
        """Normal numbers with mean 0 and deviation 1."""
        return _into(out, self._core.standard_normal(_size(size, out), dtype))

    def standard_exponential(self, size=None, dtype="float64", method="zig", out=None):
        """Exponential numbers with mean 1."""
        return _into(out, -ufuncs["log1p"](-self._core.random(_size(size, out), dtype)))

    def exponential(self, scale=1.0, size=None):
        """Exponential numbers with a mean."""
        return self.standard_exponential(_shape(size, scale)) * scale

    def uniform(self, low=0.0, high=1.0, size=None, dtype="float64"):
        """Uniform numbers in [low, high)."""
        return self._core.random(_shape(size, low, high), dtype) * (high - low) + low

    def normal(self, loc=0.0, scale=1.0, size=None, dtype="float64"):
        """Normal numbers with a mean and a deviation."""
        if not isinstance(scale, ndarray) and np.any(np.asarray(scale) < 0):
            raise ValueError("scale < 0")
        return self._core.standard_normal(_shape(size, loc, scale), dtype) * scale + loc

    def integers(self, low, high=None, size=None, dtype="int64", endpoint=False):
        """Integers from `low` to `high`, without it unless `endpoint`; from 0 to `low` if there is no `high`."""
        low, high = (0, low) if high is None else (low, high)
        dtype = _core.dtype(dtype)
        if any(np.ndim(bound) for bound in (low, high)):
            return self._integers_between(low, high, size, dtype, endpoint)
        low, high = int(low), int(high) + bool(endpoint)
        info = _bounds(dtype)
        if low < info[0]:
            raise ValueError(f"low is out of bounds for {dtype.name}")
        if high - 1 > info[1]:
            raise ValueError(f"high is out of bounds for {dtype.name}")
        if low >= high:
            raise ValueError("low > high" if endpoint else "low >= high")
        signed = low - (1 << 64) if low >= 1 << 63 else low
        return self._core.integers(signed, (high - low) % (1 << 64), size, dtype)

    def _integers_between(self, low, high, size, dtype, endpoint):
        """Integers between bounds of their own, which are looked at. Waits for the draws too."""
        low, high = (np.asarray(bound.get() if isinstance(bound, ndarray) else bound) for bound in (low, high))
        if low.dtype.kind not in "iub" or high.dtype.kind not in "iub":
            raise TypeError("bounds of integers must be integers")
        low, high = low.astype(object), np.asarray(high.astype(object) + bool(endpoint), object)
        info = _bounds(dtype)
        if np.any(low < info[0]):
            raise ValueError(f"low is out of bounds for {dtype.name}")
        if np.any(high - 1 > info[1]):
            raise ValueError(f"high is out of bounds for {dtype.name}")
        if np.any(low >= high):
            raise ValueError("low > high" if endpoint else "low >= high")
        shape = np.broadcast_shapes(low.shape, high.shape) if size is None else size
        first = asarray(np.asarray(low % (1 << 64), np.uint64))
        # A span of 2**64 is written as 0: every word is good then.
        span = asarray(np.asarray((high - low) % (1 << 64), np.uint64))
        words = self._core.words(shape)
        if np.broadcast_shapes(words.shape, first.shape, span.shape) != words.shape:
            raise ValueError(f"Output size {words.shape} is not compatible with broadcast dimensions of inputs.")
        # Words below the remainder of 2**64 would make some integers likelier than others: those are drawn again.
        least = ufuncs["remainder"](ufuncs["subtract"](np.uint64(0), span), span)
        while bool((unfit := words < least).any()):
            words = ufuncs["where"](unfit, self._core.words(words.shape), words)
        offset = ufuncs["where"](span == 0, words, words % span)
        return (offset + first).astype(dtype)

    def permutation(self, x, axis=0):
        """The elements along an axis in a random order; of the integers below `x` if it is a number."""
        if isinstance(x, (int, np.integer)):
            return self._core.words(int(x)).argsort()
        x = asarray(x)
        return x.take(self._core.words(x.shape[axis]).argsort(), axis)

    def shuffle(self, x, axis=0):
        """Puts the elements along an axis into a random order, in place."""
        if isinstance(x, list):
            x[:] = [x[place] for place in self.permutation(len(x)).get()]
            return
        if not isinstance(x, ndarray):
            raise TypeError(f"x must be a cupric.ndarray or a list, not {type(x)}")
        if x.ndim == 0:
            raise TypeError("x must have at least one axis")
        x[...] = self.permutation(x, axis)

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        """Random elements of an array, or of the integers below a number.

        Parameters
        ----------
        a : array or int
        size : int or tuple of ints, optional
        replace : bool
            Whether an element may come more than once.
        p : array, optional
            How likely each element is.
        axis : int
        shuffle : ignored
        """
        whole = isinstance(a, (int, np.integer))
        a = int(a) if whole else asarray(a)
        count = a if whole else a.shape[axis]
        if count <= 0 and np.prod(size or 1) > 0:
            raise ValueError("a must be a positive integer unless no samples are taken")
        places = self._places(count, size, replace, p)
        return places if whole else a.take(places, axis)

    def _places(self, count, size, replace, p):
        shape = () if size is None else size
        shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        wanted = int(np.prod(shape, dtype=np.int64))
        if not replace and wanted > count:
            raise ValueError("Cannot take a larger sample than population when replace is False")
        if p is None:
            if replace:
                return self.integers(count, size=shape)
            return self._core.words(count).argsort()[:wanted].reshape(shape)
        p = asarray(p, dtype="float64")
        if p.shape != (count,):
            raise ValueError("a and p must have same size")
        if replace:
            steps = p.cumsum()
            drawn = self._core.random(wanted, "float64") * steps[-1]
            # The number of steps at or below each draw: one row a draw.
            below = (steps.reshape(1, -1) <= drawn.reshape(-1, 1)).sum(1)
            return below.reshape(shape)
        # The largest of exponential waiting times, weighted, come without repetition in the right proportions.
        waits = self.standard_exponential(count) / p
        return waits.argsort()[:wanted].reshape(shape)

    def bytes(self, length):
        """Random bytes."""
        return self._core.words((length + 7) // 8).get().tobytes()[:length]


def _bounds(dtype):
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind not in "iu":
        raise TypeError(f"Unsupported dtype {dtype!r} for integers")
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def _size(size, out):
    if out is None:
        return size
    if not isinstance(out, ndarray):
        raise ValueError(f"Supplied output must be a cupric.ndarray, not {type(out)}")
    if size is not None and (tuple(size) if np.iterable(size) else (size,)) != out.shape:
        raise ValueError("size must match out.shape when used together")
    return out.shape


def _into(out, made):
    if out is None:
        return made
    if out.dtype != made.dtype:
        raise TypeError(f"Supplied output array has the wrong type. Expected {made.dtype}, got {out.dtype}")
    copyto(out, made)
    return out


def _shape(size, *parameters):
    """The shape of the result: that which is asked for, or that of the parameters."""
    if size is not None:
        return size
    shapes = [parameter.shape if hasattr(parameter, "shape") else np.shape(parameter) for parameter in parameters]
    return np.broadcast_shapes(*shapes)


def default_rng(seed=None):
    """A generator of random numbers.

    Parameters
    ----------
    seed : int, sequence of ints, Generator, or None
        None takes entropy from the operating system.

    Examples
    --------
    >>> import cupric as cp
    >>> a, b = cp.random.default_rng(5).random(2), cp.random.default_rng(5).random(2)
    >>> bool((a == b).all())
    True
    """
    if isinstance(seed, Generator):
        return seed
    return Generator(seed if isinstance(seed, Philox) else Philox(seed))

"""The functions of NumPy's older interface, over one generator of the process, and `RandomState`."""

from cupric.random._generator import Generator, Philox

__all__ = [
    "RandomState", "bytes", "choice", "exponential", "get_random_state", "normal", "permutation", "rand", "randint",
    "randn", "random", "random_integers", "random_sample", "ranf", "sample", "seed", "set_random_state", "shuffle",
    "standard_exponential", "standard_normal", "uniform",
]  # fmt: skip


class RandomState:
    """Random numbers by the names of NumPy's older interface; the numbers are those of `Generator`.

    Parameters
    ----------
    seed : int, sequence of ints, or None
    """

    def __init__(self, seed=None):
        self.seed(seed)

    def seed(self, seed=None):
        """Starts again from a seed."""
        self._generator = Generator(Philox(seed))

    def get_state(self):
        """The generator's state."""
        return self._generator.bit_generator.state

    def set_state(self, state):
        """Goes back to a state."""
        self._generator.bit_generator.state = state

    def rand(self, *size, dtype=float):
        """Uniform numbers in [0, 1), of the shape given as arguments."""
        return self._generator.random(size, dtype)

    def randn(self, *size, dtype=float):
        """Standard normal numbers, of the shape given as arguments."""
        return self._generator.standard_normal(size, dtype)

    def random_sample(self, size=None, dtype=float):
        """Uniform numbers in [0, 1)."""
        return self._generator.random(size, dtype)

    random = random_sample

    def randint(self, low, high=None, size=None, dtype=int):
        """Integers from `low` to `high`, without it; from 0 to `low` if there is no `high`."""
        return self._generator.integers(low, high, size, dtype)

    def random_integers(self, low, high=None, size=None):
        """Integers from `low` to `high`, with it; from 1 to `low` if there is no `high`."""
        low, high = (1, low) if high is None else (low, high)
        return self._generator.integers(low, high, size, endpoint=True)

    def uniform(self, low=0.0, high=1.0, size=None, dtype=float):
        """Uniform numbers in [low, high)."""
        return self._generator.uniform(low, high, size, dtype)

    def normal(self, loc=0.0, scale=1.0, size=None, dtype=float):
        """Normal numbers with a mean and a deviation."""
        return self._generator.normal(loc, scale, size, dtype)

    def standard_normal(self, size=None, dtype=float):
        """Standard normal numbers."""
        return self._generator.standard_normal(size, dtype)

    def standard_exponential(self, size=None, dtype=float):
        """Exponential numbers with mean 1."""
        return self._generator.standard_exponential(size, dtype)

    def exponential(self, scale=1.0, size=None, dtype=float):
        """Exponential numbers with a mean."""
        return self._generator.exponential(scale, size).astype(dtype, copy=False)

    def permutation(self, a):
        """The elements along the first axis in a random order; of the integers below `a` if it is a number."""
        return self._generator.permutation(a)

    def shuffle(self, a):
        """Puts the elements along the first axis into a random order, in place."""
        self._generator.shuffle(a)

    def choice(self, a, size=None, replace=True, p=None):
        """Random elements of an array, or of the integers below a number."""
        return self._generator.choice(a, size, replace, p)

    def bytes(self, length):
        """Random bytes."""
        return self._generator.bytes(length)


_state = None


def get_random_state():
    """The process's own `RandomState`."""
    global _state
    if _state is None:
        _state = RandomState()
    return _state


def set_random_state(rs):
    """Sets the process's own `RandomState`."""
    global _state
    if not isinstance(rs, RandomState):
        raise TypeError(f"Random state must be an instance of RandomState. Actual: {type(rs)}")
    _state = rs


def seed(seed=None):
    """Starts the process's own random numbers again from a seed."""
    get_random_state().seed(seed)


def rand(*size, dtype=float):
    """Uniform numbers in [0, 1), of the shape given as arguments.

    Examples
    --------
    >>> import cupric as cp
    >>> cp.random.rand(2, 3).shape
    (2, 3)
    """
    return get_random_state().rand(*size, dtype=dtype)


def randn(*size, dtype=float):
    """Standard normal numbers, of the shape given as arguments."""
    return get_random_state().randn(*size, dtype=dtype)


def random_sample(size=None, dtype=float):
    """Uniform numbers in [0, 1)."""
    return get_random_state().random_sample(size, dtype)


random = ranf = sample = random_sample


def randint(low, high=None, size=None, dtype=int):
    """Integers from `low` to `high`, without it; from 0 to `low` if there is no `high`."""
    return get_random_state().randint(low, high, size, dtype)


def random_integers(low, high=None, size=None):
    """Integers from `low` to `high`, with it; from 1 to `low` if there is no `high`."""
    return get_random_state().random_integers(low, high, size)


def uniform(low=0.0, high=1.0, size=None, dtype=float):
    """Uniform numbers in [low, high)."""
    return get_random_state().uniform(low, high, size, dtype)


def normal(loc=0.0, scale=1.0, size=None, dtype=float):
    """Normal numbers with a mean and a deviation."""
    return get_random_state().normal(loc, scale, size, dtype)


def standard_normal(size=None, dtype=float):
    """Standard normal numbers."""
    return get_random_state().standard_normal(size, dtype)


def standard_exponential(size=None, dtype=float):
    """Exponential numbers with mean 1."""
    return get_random_state().standard_exponential(size, dtype)


def exponential(scale=1.0, size=None, dtype=float):
    """Exponential numbers with a mean."""
    return get_random_state().exponential(scale, size, dtype)


def permutation(a):
    """The elements along the first axis in a random order; of the integers below `a` if it is a number."""
    return get_random_state().permutation(a)


def shuffle(a):
    """Puts the elements along the first axis into a random order, in place."""
    get_random_state().shuffle(a)


def choice(a, size=None, replace=True, p=None):
    """Random elements of an array, or of the integers below a number."""
    return get_random_state().choice(a, size, replace, p)


def bytes(length):
    """Random bytes."""
    return get_random_state().bytes(length)

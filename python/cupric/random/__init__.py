"""Random numbers: one generator, Philox4x64-10, the same numbers on every device.

`default_rng(seed).random()` equals NumPy's `Generator(Philox(seed)).random()` bit for bit.
"""

from cupric.random._generator import Generator, Philox, default_rng
from cupric.random._legacy import (
    RandomState,
    bytes,
    choice,
    exponential,
    get_random_state,
    normal,
    permutation,
    rand,
    randint,
    randn,
    random,
    random_integers,
    random_sample,
    ranf,
    sample,
    seed,
    set_random_state,
    shuffle,
    standard_exponential,
    standard_normal,
    uniform,
)

__all__ = [
    "Generator", "Philox", "RandomState", "bytes", "choice", "default_rng", "exponential", "get_random_state",
    "normal", "permutation", "rand", "randint", "randn", "random", "random_integers", "random_sample", "ranf",
    "sample", "seed", "set_random_state", "shuffle", "standard_exponential", "standard_normal", "uniform",
]  # fmt: skip

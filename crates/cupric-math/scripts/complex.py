"""Prints tests/complex128.txt: python scripts/complex.py > tests/complex128.txt (needs NumPy).

A line is `name re im [re im] re im`, the last two the result.
"""

import itertools
import random
import warnings

import numpy as np

warnings.simplefilter("ignore")
random.seed(3)
EDGES = [0.0, -0.0, 1.0, -2.5, float("inf"), float("-inf"), float("nan")]
UNARY = ["sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh"]


def ordinary(count, size):
    return [complex(random.uniform(-size, size), random.uniform(-size, size)) for _ in range(count)]


def line(name, *values):
    print(name, *[repr(float(part)) for value in values for part in (value.real, value.imag)])


def main():
    edges = [complex(re, im) for re, im in itertools.product(EDGES, EDGES)]
    far = [709.9 + 0.5j, -800 + 1j, 3 + 709.9j, 25 - 3j, -30 + 2j, 1e300 + 1e300j, 1e-310 - 2e-310j, 1e-200 + 1e200j, 0.6 + 0.8j, 1 + 1e-9j]
    for name in UNARY:
        for z in edges + ordinary(40, 3) + ordinary(20, 40) + (far if name != "tan" else []):
            line(name, z, getattr(np, name)(np.complex128(z)))
    for a, b in [*itertools.product(edges[::3], edges[::2]), *zip(ordinary(60, 5), ordinary(60, 5))]:
        a, b = np.complex128(a), np.complex128(b)
        line("mul", a, b, a * b)
        line("div", a, b, a / b)
    powers = [0, 1, 2, 3, -1, -4, 17, 0.5, 2.5 + 1j, -1j]
    for a, b in [*itertools.product(ordinary(12, 2) + [0j, 1 + 0j], powers), *zip(ordinary(40, 5), ordinary(40, 5))]:
        a, b = np.complex128(a), np.complex128(b)
        line("pow", a, b, np.power(a, b))


if __name__ == "__main__":
    main()

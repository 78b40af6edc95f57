"""Prints tests/oracle64.txt: python scripts/oracle.py > tests/oracle64.txt (needs mpmath).

A line is `name x [y] value error`: bits in hexadecimal, where `value` is the correctly rounded result and `error` is how far the
true result lies above it, in thousandths of a unit in the last place.
"""

import math
import random
import struct

import mpmath
from mpmath import mp, mpf

mp.prec = 2400
random.seed(20)


def bits(value):
    return f"{struct.unpack('<Q', struct.pack('<d', value))[0]:x}"


def from_bits(word):
    return struct.unpack("<d", struct.pack("<Q", word & (2**64 - 1)))[0]


def nearest(exact):
    """The float64 nearest to an mpf, subnormals and overflow included."""
    if exact == 0:
        return 0.0
    sign, exp = -1 if exact < 0 else 1, int(exact.exp)
    top = int(exact.man).bit_length() + exp
    unit = max(top - 53, -1074)
    scaled = mpf(exact) * mpf(2) ** -unit
    whole = int(mpmath.nint(scaled))
    try:
        return math.copysign(math.ldexp(float(whole), unit), sign)
    except OverflowError:
        return sign * math.inf


def line(name, args, exact):
    value = nearest(exact)
    if math.isinf(value):
        rest = 0
    else:
        rest = int(mpmath.nint((exact - mpf(value)) / mpf(math.ulp(value)) * 1000))
    print(name, *[bits(x) for x in args], bits(value), rest)


def anywhere(low, high):
    """Any binary exponent between the two, any sign."""
    return math.ldexp(random.uniform(1, 2), random.randint(low, high)) * random.choice([-1, 1])


def near(values, count=3):
    """Neighbours of a few numbers."""
    return [from_bits(struct.unpack("<Q", struct.pack("<d", v))[0] + d) for v in values for d in range(-count, count + 1)]


def uniform(low, high, count):
    return [random.uniform(low, high) for _ in range(count)]


TINY = [5e-324, 1e-320, 2.2250738585072014e-308, 1e-300, 1e-17, 1e-9, 3e-8, 1e-4]
SIGNED_TINY = TINY + [-x for x in TINY]


def turning_points():
    """Float64 numbers near multiples of pi/2, the hardest known one among them."""
    hard = [math.ldexp(6381956970095103, 797), 5.319372648326541e255, 1e22, 1.7976931348623157e308, 2.0**1000]
    ks = [1, 2, 3, 4, 5, 7, 11, 100, 355, 1001, 10**5 + 1, 10**7, 10**9, 3 * 10**9, 10**12, 10**15]
    return near([float(mpf(k) * mp.pi / 2) for k in ks], 1) + hard + [-x for x in hard]


def arguments():
    exp = SIGNED_TINY + uniform(-745, 710, 150) + uniform(-1, 1, 150) + near([709.78, -745.1, -708.4, 0.34657, -0.34657, 1.0])
    log = TINY + [abs(anywhere(-1070, 1020)) for _ in range(150)] + uniform(0.5, 2, 150) + near([1.0, 0.70710678, 1.41421356, 2.0])
    plus = [x for x in SIGNED_TINY + log + uniform(-1, 1, 200) + near([-0.5, -0.2929, 0.4142, -0.999999]) if x > -1]
    trig = SIGNED_TINY + turning_points() + uniform(-8, 8, 200) + [anywhere(-30, 1023) for _ in range(150)] + uniform(-1e6, 1e6, 60)
    hyper = SIGNED_TINY + uniform(-710, 710, 80) + uniform(-3, 3, 250) + near([710.4, 0.34657, 0.1733, 22.0])
    plain = SIGNED_TINY + [anywhere(-60, 60) for _ in range(150)] + uniform(-3, 3, 200) + near([1.0, -1.0])
    unit = SIGNED_TINY + uniform(-1, 1, 250) + near([0.5, -0.5, 0.70710678, 0.99999]) + [1 - 2.0**-e for e in range(1, 53, 3)]
    above = [1 + 2.0**-e for e in range(0, 53, 3)] + uniform(1, 4, 150) + [abs(anywhere(1, 1023)) for _ in range(100)]
    everywhere = plain + [anywhere(-1070, 1020) for _ in range(150)] + near([2.0**30, 0.5, 0.70710678])
    return {
        "asinh": everywhere, "acosh": above, "atanh": unit, "asin": unit, "acos": unit, "cbrt": everywhere,
        "exp": exp, "exp2": [x * 1.44 for x in exp], "expm1": exp, "log": log, "log2": log, "log10": log, "log1p": plus,
        "sin": trig, "cos": trig, "tan": trig, "sinh": hyper, "cosh": hyper, "tanh": hyper, "atan": plain,
    }  # fmt: skip


FUNCTIONS = {
    "exp": mpmath.exp, "exp2": lambda x: mpf(2) ** x, "expm1": mpmath.expm1, "log": mpmath.log,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2), "log10": lambda x: mpmath.log(x) / mpmath.log(10), "log1p": mpmath.log1p,
    "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan, "sinh": mpmath.sinh, "cosh": mpmath.cosh, "tanh": mpmath.tanh,
    "atan": mpmath.atan, "asin": mpmath.asin, "acos": mpmath.acos, "asinh": mpmath.asinh, "acosh": mpmath.acosh,
    "atanh": mpmath.atanh, "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
}  # fmt: skip


def pairs():
    pow_pairs = [(abs(anywhere(-40, 40)), random.uniform(-30, 30)) for _ in range(150)]
    pow_pairs += [(random.uniform(0.9, 1.1), random.uniform(-7000, 7000)) for _ in range(150)]
    pow_pairs += [(1 + random.uniform(-1, 1) * 2.0**-e, random.uniform(-700, 700) * 2.0**e) for e in range(4, 50) for _ in range(3)]
    pow_pairs += [(abs(anywhere(-1073, 1023)), random.uniform(-1, 1)) for _ in range(100)]
    pow_pairs += [(2.0, 1023.5), (2.0, -1074.0), (2.0, -1060.3), (10.0, 308.0), (10.0, -320.0), (3.0, 2.0), (5e-324, 0.5)]
    pow_pairs = [(x, y) for x, y in pow_pairs if abs(y * math.log2(x)) < 1074]
    plane = [(anywhere(-20, 20), anywhere(-20, 20)) for _ in range(150)]
    plane += [(anywhere(-1000, 1000), anywhere(-1000, 1000)) for _ in range(60)]
    plane += [(x := anywhere(-500, 500), x * random.uniform(0.5, 2)) for _ in range(150)]
    plane += [(3e-320, 4e-320), (1.5e308, 2e307), (1e-300, -1e-308), (1e-308, 1.0), (4.0, 3.0), (1.0, -1e-20)]
    return pow_pairs, plane


def main():
    for name, xs in arguments().items():
        for x in xs:
            line(name, [x], FUNCTIONS[name](mpf(x)))
    pow_pairs, plane = pairs()
    for x, y in pow_pairs:
        line("pow", [x, y], mpmath.exp(mpf(y) * mpmath.log(mpf(x))))
    for x, y in plane:
        line("hypot", [x, y], mpmath.sqrt(mpf(x) ** 2 + mpf(y) ** 2))
        line("atan2", [x, y], mpmath.atan2(mpf(x), mpf(y)))


if __name__ == "__main__":
    main()

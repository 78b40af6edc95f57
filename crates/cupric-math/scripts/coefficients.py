"""Prints src/coefficients.rs: python scripts/coefficients.py > src/coefficients.rs (needs mpmath)."""

import struct

from mpmath import atan, cos, expm1, floor, fsum, ldexp, log, log1p, lu_solve, matrix, mp, mpf, pi, sin, sqrt

mp.prec = 1400


def to32(value):
    """Rounds to float32 (float64 first: no constant here lies on a tie)."""
    return mpf(struct.unpack("f", struct.pack("f", float(value)))[0])


def to64(value):
    return mpf(float(value))


def cut(value, bits):
    """Keeps the leading bits of a number in [1/2, 1)."""
    return floor(ldexp(value, bits)) / ldexp(mpf(1), bits)


def fit(g, count, low, high, rounding):
    """Least squares on Chebyshev nodes: near-minimax. Each coefficient is rounded before the later ones are fitted."""
    low, high, points, fixed = mpf(low), mpf(high), 6 * count, []
    nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * points)) for i in range(points)]
    values = [g(node) for node in nodes]
    moments = [fsum(node**k for node in nodes) for k in range(2 * count)]
    targets = [fsum(value * node**k for value, node in zip(values, nodes)) for k in range(count)]
    for done in range(count):
        free = range(done, count)
        left = matrix([[moments[i + j] for j in free] for i in free])
        right = [targets[i] - fsum(c * moments[i + j] for j, c in enumerate(fixed)) for i in free]
        fixed.append(rounding(lu_solve(left, matrix(right))[0]))
    return fixed


def words(value, rounding, count):
    parts = []
    for _ in range(count):
        parts.append(rounding(value - fsum(parts)))
    return parts


def number(value):
    text = repr(float(value))
    return text if "e" not in text or "." in text.split("e")[0] else text.replace("e", ".0e")


def array(values):
    return "[" + ", ".join(number(v) for v in values) + "]"


def odd_tail(f):
    return lambda z: (f(sqrt(z)) / sqrt(z) - 1) / z


def fields(rounding, bits, hi_bits, counts):
    ln2, e2, e10 = log(2), 1 / log(2), 1 / log(10)
    ln2_hi, lg2_hi = cut(ln2, hi_bits), cut(log(2) / log(10) * 2, hi_bits) / 2
    third = words(mpf(2) / 3, rounding, 2)
    tiny = mpf(10) ** -40
    quarter = mpf("0.81") ** 2
    s_high = (sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)
    atanh_tail = lambda z: ((log1p(sqrt(z)) - log1p(-sqrt(z))) / sqrt(z) - 2 - z * fsum(third)) / z**2
    yield "ln2", [ln2_hi, *words(ln2 - ln2_hi, rounding, 2)]
    yield "log10_2", [lg2_hi, *words(log(2) / log(10) - lg2_hi, rounding, 2)]
    yield "log2_e", words(e2, rounding, 2)
    yield "log10_e", words(e10, rounding, 2)
    yield "half_pi", words(pi / 2, rounding, 3)
    yield "two_thirds", third
    yield "exp", fit(lambda r: (expm1(r) - r) / r**2, counts["exp"], "-0.3476", "0.3476", rounding)
    yield "exp2", fit(lambda r: expm1(r * ln2) / r, counts["exp2"], "-0.5001", "0.5001", rounding)
    yield "log", fit(lambda f: (log1p(f) - f + f * f / 2) / f**3, counts["log"], "-0.2930", "0.41422", rounding) if counts["log"] else []
    yield "atanh", fit(atanh_tail, counts["atanh"], tiny, s_high**2 * mpf("1.001"), rounding)
    yield "sin", fit(odd_tail(sin), counts["sin"], tiny, quarter, rounding)
    yield "cos", fit(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, counts["cos"], tiny, quarter, rounding)
    yield "atan", fit(odd_tail(atan), counts["atan"], tiny, 1, rounding)


DOCS = {
    "ln2": "ln 2 in three words, the first short enough that its product with an exponent is exact.",
    "log10_2": "The same for log10 2.",
    "log2_e": "1 / ln 2 in two words.",
    "log10_e": "1 / ln 10 in two words.",
    "half_pi": "pi / 2 in three words.",
    "two_thirds": "2/3 in two words.",
    "exp": "`(e^r - 1 - r) / r^2` for `|r| <= ln 2 / 2`.",
    "exp2": "`(2^r - 1) / r` for `|r| <= 1/2`.",
    "log": "`(log(1 + f) - f + f^2/2) / f^3` for `1 + f` between the square roots of 1/2 and 2 (float32 only).",
    "atanh": "`(2 atanh(s) - 2 s - 2/3 s^3) / s^5` in `s^2`, for the same range and `s = f / (2 + f)`.",
    "sin": "`(sin(r) - r) / r^3` in `r^2`, for `|r|` up to a little over pi/4.",
    "cos": "`(cos(r) - 1 + r^2/2) / r^4` in `r^2`, for the same range.",
    "atan": "`(atan(t) - t) / t^3` in `t^2`, for `|t| <= 1`.",
}

SCALARS = {
    "bits": ("u32", "Bits of a number.", 32, 64),
    "mantissa": ("u32", "Stored bits of the significand.", 23, 52),
    "bias": ("i64", "Added to an exponent where it is stored.", 127, 1023),
    "magic": ("f64", "Added and subtracted, it rounds to an integer, which then stands in the low bits.", 1.5 * 2.0**23, 1.5 * 2.0**52),
    "exp_low": ("f64", "Below this, exp is zero.", -104, -746),
    "exp_high": ("f64", "Above this, exp, sinh and cosh are infinite; up to it, a quarter of exp is finite.", 89.5, 710.5),
    "expm1_low": ("f64", "Below this, expm1 is -1.", -20, -40),
    "tanh_high": ("f64", "Above this, tanh is 1.", 10, 20),
    "tiny": ("f64", "Below this, sinh, tanh and expm1 equal their argument.", 2.0**-26, 2.0**-55),
    "normal": ("f64", "The smallest normal number.", 2.0**-126, 2.0**-1022),
    "trig_limit": ("f64", "Up to this, three words of pi/2 suffice to reduce an argument.", 2.0**17, 2.0**29),
    "sqrt_large": ("f64", "Above this, the length of a vector may be infinite.", 2.0**125, 2.0**1021),
    "exp_plain": ("f64", "Up to this, exp is finite.", 88, 709),
    "far": ("f64", "Squares of numbers between this and its inverse neither overflow nor lose bits.", 2.0**50, 2.0**450),
}

COUNTS32 = dict(exp=6, exp2=7, log=9, atanh=4, sin=4, cos=4, atan=12)
COUNTS64 = dict(exp=11, exp2=12, log=0, atanh=8, sin=7, cos=7, atan=23)


def main():
    widths = {"F32": list(fields(to32, 24, 14, COUNTS32)), "F64": list(fields(to64, 53, 40, COUNTS64))}
    sizes = {name: len(values) for name, values in widths["F32"]}
    print("//! Constants and near-minimax polynomials, lowest power first; written by `scripts/coefficients.py`.\n")
    print('#![expect(clippy::approx_constant, reason = "written by a script that knows more digits")]\n')
    print("/// The constants of one width of number.\npub(crate) struct Constants {")
    for name, (kind, doc, *_) in SCALARS.items():
        print(f"    /// {doc}\n    pub {name}: {kind},")
    for name, size in sizes.items():
        kind = f"[f64; {size}]" if len(dict(widths["F64"])[name]) == size and name not in COUNTS32 else "&'static [f64]"
        print(f"    /// {DOCS[name]}\n    pub {name}: {kind},")
    print("}\n")
    for at, (width, values) in enumerate(widths.items()):
        print(f"pub(crate) const {width}: Constants = Constants {{")
        for name, (kind, _, *both) in SCALARS.items():
            print(f"    {name}: {number(both[at]) if kind == 'f64' else both[at]},")
        for name, items in values:
            print(f"    {name}: {'&' if name in COUNTS32 else ''}{array(items)},")
        print("};\n")
    bits = 1280
    digits = int(floor(ldexp(2 / pi, bits)))
    table = [0, 0] + [(digits >> (bits - 32 * (i + 1))) & 0xFFFFFFFF for i in range(bits // 32)]
    print(f"/// 2/pi in binary, after two words of zeros.\npub(crate) static TWO_OVER_PI: [u32; {len(table)}] = [")
    for i in range(0, len(table), 8):
        print("    " + ", ".join(f"0x{w:08x}" for w in table[i : i + 8]) + ",")
    print("];")


if __name__ == "__main__":

    main()

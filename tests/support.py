"""NumPy as the oracle: hostile values, hostile layouts, and one body run with both libraries.

A test's body takes the array module first. `same_as_numpy` runs it with NumPy and with Cupric, and compares shape, dtype, every bit
(NaN equals NaN), or the type of the exception.
"""

import enum
import functools
import inspect
import itertools
import warnings
from dataclasses import dataclass

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)

BOOL = [np.dtype(bool)]
SIGNED = [np.dtype(f"i{size}") for size in (1, 2, 4, 8)]
UNSIGNED = [np.dtype(f"u{size}") for size in (1, 2, 4, 8)]
INTEGER = SIGNED + UNSIGNED
NUMPY_FLOAT = [np.dtype(f"f{size}") for size in (2, 4, 8)]
FLOAT = [NUMPY_FLOAT[0], BFLOAT16, *NUMPY_FLOAT[1:]]
COMPLEX = [np.dtype("c8"), np.dtype("c16")]
REAL = INTEGER + FLOAT
ALL = BOOL + REAL + COMPLEX
# Where NumPy computes in the dtype itself.
NUMPY = [dtype for dtype in ALL if dtype != BFLOAT16]

# One of each class, for `make test`.
_FEW = {np.dtype(code) for code in ("?", "i1", "i8", "u2", "u8", "f2", "f4", "f8", "c8", "c16")} | {BFLOAT16}


def chosen(dtypes, full):
    """The dtypes of a sweep: all of them, or one of each class."""
    return [dtype for dtype in dtypes if full or dtype in _FEW] or list(dtypes)


def name_of(dtype):
    """A dtype as part of a test's name."""
    return np.dtype(dtype).name


# --- values


def component(dtype):
    """The real dtype of a complex dtype's parts."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def is_float(dtype):
    """Whether a dtype is a real floating-point type, bfloat16 included."""
    return dtype.kind == "f" or dtype == BFLOAT16


def limits(dtype):
    """`finfo` or `iinfo`, of bfloat16 too."""
    return ml_dtypes.finfo(dtype) if is_float(dtype) else np.iinfo(dtype)


def hostile(dtype):
    """Every value of a dtype that has ever broken something, and some plain ones."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([True, False, True, True, False])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = {
            info.min,
            info.min + 1,
            info.max,
            info.max - 1,
            info.max // 2 + 1,
            0,
            1,
            2,
            3,
            5,
            7,
            8,
            31,
            33,
            63,
            100,
        }
        if dtype.kind == "i":
            values |= {-1, -2, -3, -7, -8, -100}
        return np.array(sorted(values), dtype)
    if dtype.kind == "c":
        parts = hostile_parts(component(dtype))
        pairs = [complex(real, imaginary) for real, imaginary in itertools.product(parts, parts)]
        return np.array(pairs, dtype)
    return hostile_float(dtype)


def hostile_float(dtype):
    info = limits(dtype)
    big, small = float(info.max), float(info.tiny)
    ends = [big, -big, small, -small, float(info.smallest_subnormal), -float(info.smallest_subnormal), float(info.eps)]
    plain = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, -0.5, -1.0, -1.5, -2.5, 0.1, -0.3, 7.25, -33.0, 100.3, 1e4, -9.75]
    huge = [value for value in (3e9, -3e9, 1e19, -1e19, 1e300) if value < big]
    values = [np.nan, np.inf, -np.inf, 0.0, -0.0, *ends, *plain, *huge]
    with np.errstate(all="ignore"):
        return np.array(values, np.float64).astype(dtype)


def hostile_parts(dtype):
    return [0.0, -0.0, 1.0, -2.5, 0.1, np.inf, -np.inf, np.nan, float(limits(dtype).tiny)]


def mild(dtype, count=48, seed=7):
    """Finite values of middling size: what sums and products can be told apart by."""
    dtype = np.dtype(dtype)
    random = np.random.default_rng(seed)
    if dtype.kind == "b":
        return random.random(count) < 0.6
    if dtype.kind in "iu":
        return random.integers(0 if dtype.kind == "u" else -9, 10, count).astype(dtype)
    values = random.standard_normal(count)
    if dtype.kind == "c":
        values = values + 1j * random.standard_normal(count)
    return values.astype(dtype)


def cycled(values, count, turn=0):
    """`count` values, each as often as the others, in a shuffled order that depends on `turn`."""
    order = np.random.default_rng(turn).permutation(len(values))
    return values[order[np.arange(count) % len(values)]]


# --- layouts


@dataclass(frozen=True)
class Layout:
    """A base array's shape, and the view of it that is tested. Views are made by the library under test."""

    name: str
    base: tuple
    view: callable
    writable: bool = True

    def build(self, xp, values):
        """The view over an array of the values, in module `xp`."""
        base = values.reshape(self.base)
        return self.view(xp, xp.array(base))


def _unaligned(xp, base):
    size = base.dtype.itemsize
    raw = xp.zeros(base.size * size + size, dtype=np.uint8)
    offset = 1 if size > 1 else 0
    view = raw[offset : offset + base.size * size].view(base.dtype)
    view[...] = base
    return view


CONTIGUOUS = Layout("contiguous", (6, 8), lambda xp, a: a)
FORTRAN = Layout("fortran", (8, 6), lambda xp, a: a.T)
REVERSED = Layout("reversed", (6, 8), lambda xp, a: a[::-1, ::-1])
EVERY_SECOND = Layout("every_second", (12, 16), lambda xp, a: a[1::2, ::2])
BROADCAST = Layout("broadcast", (1, 48), lambda xp, a: xp.broadcast_to(a, (3, 48)), writable=False)
TRANSPOSED = Layout("transposed", (3, 4, 4), lambda xp, a: a.transpose(2, 0, 1))
OFFSET = Layout("offset", (5, 11), lambda xp, a: a[1:4, 2:9])
ZERO_D = Layout("zero_d", (48,), lambda xp, a: a[17:18].reshape(()))
EMPTY = Layout("empty", (0, 5), lambda xp, a: a)
UNALIGNED = Layout("unaligned", (48,), _unaligned)
ONE = Layout("one", (1, 1), lambda xp, a: a)

EVERY = [CONTIGUOUS, FORTRAN, REVERSED, EVERY_SECOND, BROADCAST, TRANSPOSED, OFFSET, ZERO_D, EMPTY, UNALIGNED, ONE]
FEW = [CONTIGUOUS, EVERY_SECOND, TRANSPOSED, EMPTY]
# Those with at least one axis and one element.
FILLED = [layout for layout in EVERY if layout not in (ZERO_D, EMPTY)]
WITH_AXES = [layout for layout in EVERY if layout is not ZERO_D]


# --- answers


@dataclass(frozen=True)
class Raised:
    """That a body raised."""

    error: Exception

    def same_kind(self, other):
        """Whether the same `except` clauses catch both."""
        kinds = [np.exceptions.AxisError, np.linalg.LinAlgError, TypeError, IndexError, ValueError, OverflowError]
        kinds += [ZeroDivisionError, AttributeError, MemoryError, BufferError, NotImplementedError]
        return all(isinstance(self.error, kind) == isinstance(other.error, kind) for kind in kinds)


def answer_of(body, *args, **kwargs):
    """What a body gives, or that it raised."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return body(*args, **kwargs)
        except Exception as error:
            return Raised(error)


def to_host(value):
    """A Cupric array as a NumPy array; all else as it is."""
    return value.get() if hasattr(value, "get") and hasattr(value, "dtype") else value


def assert_same(got, want, ulp=0, note=""):
    """Compares two answers: containers item by item, arrays bit by bit or within `ulp` units in the last place."""
    if isinstance(want, Raised):
        assert not isinstance(want.error, NameError), f"{note}: the test itself is wrong: {want.error!r}"
        assert isinstance(got, Raised), f"{note}: NumPy raised {want.error!r}, Cupric gave {got!r}"
        assert got.same_kind(want), f"{note}: NumPy raised {want.error!r}, Cupric raised {got.error!r}"
        return
    if isinstance(got, Raised):
        raise AssertionError(f"{note}: Cupric raised {got.error!r}, NumPy gave {want!r}") from got.error
    if isinstance(want, tuple | list) and not isinstance(got, np.ndarray) and isinstance(got, tuple | list):
        assert len(got) == len(want), f"{note}: {len(got)} results instead of {len(want)}"
        for index, (one, other) in enumerate(zip(got, want, strict=True)):
            assert_same(one, other, ulp, f"{note}[{index}]")
        return
    if isinstance(want, str | bytes | type(None)) or not hasattr(want, "dtype"):
        assert got == want, f"{note}: {got!r} instead of {want!r}"
        return
    assert_same_array(to_host(got), np.asarray(want), ulp, note)


def assert_same_array(got, want, ulp=0, note=""):
    """Compares two arrays on the host."""
    assert hasattr(got, "dtype"), f"{note}: {got!r} is no array; {want!r} expected"
    got = np.asarray(got)
    if got.dtype == BFLOAT16 and want.dtype.kind == "f":
        with np.errstate(all="ignore"):
            want = want.astype(BFLOAT16)
    assert got.dtype == want.dtype, f"{note}: dtype {got.dtype} instead of {want.dtype}"
    assert got.shape == want.shape, f"{note}: shape {got.shape} instead of {want.shape}"
    wrong = differing(got, want, ulp)
    if wrong.any():
        first = tuple(int(index[0]) for index in np.nonzero(np.atleast_1d(wrong)))
        one, other = np.atleast_1d(got)[first], np.atleast_1d(want)[first]
        raise AssertionError(
            f"{note}: {int(wrong.sum())} of {wrong.size} differ, at {first}: {one!r} instead of {other!r}"
        )


def differing(got, want, ulp):
    """Where two arrays of one dtype differ."""
    if got.dtype.kind == "c":
        part = component(got.dtype)
        halves = [np.ascontiguousarray(a).view(part).reshape(*a.shape, 2) for a in (got, want)]
        return differing(*halves, ulp).any(axis=-1)
    if not is_float(got.dtype):
        return got != want
    return steps_apart(got, want) > ulp


def steps_apart(got, want):
    """How many representable numbers lie between, with -0 and +0 one apart, NaN beside NaN, and a NaN far from all else."""
    one, other = ordered(got), ordered(want)
    apart = np.where(one > other, one - other, other - one)
    with np.errstate(all="ignore"):
        nan, other_nan = np.isnan(got), np.isnan(want)
    apart = np.where(nan | other_nan, np.uint64(2**62), apart)
    return np.where(nan & other_nan, np.uint64(0), apart)


def ordered(values):
    """Floats as unsigned integers in the same order, -0 just below +0."""
    bits = np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}").astype(np.uint64).reshape(values.shape)
    sign = np.uint64(1 << (8 * values.dtype.itemsize - 1))
    return np.where(bits & sign != 0, sign - (bits & (sign - np.uint64(1))) - np.uint64(1), sign + bits)


def close_to_exact(got, exact, bound, note=""):
    """Checks a result against one of higher precision: the error in units of the result's last place."""
    got = np.asarray(to_host(got))
    dtype = got.dtype
    with np.errstate(all="ignore"):
        rounded = exact.astype(dtype)
        nan, want_nan = np.isnan(got), np.isnan(rounded)
        assert (nan == want_nan).all(), f"{note}: NaN in other places"
        # Where the exact value rounds to an infinity, its neighbour, the largest finite number, is one step off.
        far = steps_apart(got, rounded) > np.uint64(int(bound) + 1)
        spacing = np.spacing(np.abs(rounded.astype(np.float64 if dtype.itemsize < 8 else dtype))).astype(np.longdouble)
        if dtype.itemsize < 8:
            info = limits(dtype)
            floor = np.longdouble(float(info.smallest_subnormal))
            scale = np.exp2(np.floor(np.log2(np.abs(rounded.astype(np.longdouble)))))
            spacing = np.maximum(scale * np.longdouble(float(info.eps)), floor)
        error = np.abs(got.astype(np.longdouble) - exact.astype(np.longdouble)) / spacing
    finite = np.isfinite(rounded) & np.isfinite(got) & (rounded != 0)
    bad = (far & ~nan & ~((rounded == 0) & (got == 0))) | (finite & (error > bound))
    if bad.any():
        index = np.nonzero(bad.ravel())[0][0]
        raise AssertionError(
            f"{note}: {int(bad.sum())} of {bad.size} are off by more than {bound} ulp, at {index}: "
            f"{got.ravel()[index]!r} instead of {exact.ravel()[index]!r}"
        )


# --- one body, two libraries


@dataclass(frozen=True)
class Sweep:
    """What a body is run over."""

    dtypes: tuple
    layouts: tuple


def oracle_values(values):
    """What NumPy is given in place of the values: bfloat16 is computed in float32."""
    return values.astype(np.float32) if values.dtype == BFLOAT16 else values


def same_as_numpy(dtypes=(), layouts=(CONTIGUOUS,), values=hostile, ulp=0):
    """Runs `body(xp, a, ...)` with NumPy and with Cupric and compares the answers.

    Without `dtypes` the body gets no array. Further arguments come from `pytest.mark.parametrize` or fixtures. What NumPy
    computes in float32 for bfloat16 is rounded before it is compared.
    """

    def decorate(body):
        def once(dtype=None, **given):
            import cupric as cp

            if not dtypes:
                given = given if dtype is None else {"dtype": dtype, **given}
                assert_same(answer_of(body, cp, **given), answer_of(body, np, **given), ulp, body.__name__)
                return
            for layout in layouts:
                data = cycled(values(dtype), int(np.prod(layout.base)))
                got = answer_of(lambda: body(cp, layout.build(cp, data), **given))
                want = answer_of(lambda: body(np, layout.build(np, oracle_values(data)), **given))
                assert_same(got, want, ulp, f"{body.__name__} {np.dtype(dtype).name} {layout.name}")

        taken = list(inspect.signature(body).parameters.values())[2 if dtypes else 1 :]
        if dtypes:
            taken = [inspect.Parameter("dtype", inspect.Parameter.POSITIONAL_OR_KEYWORD), *taken]
            once.sweep = Sweep(tuple(dtypes), tuple(layouts))
        # A mistake in how a body is called would make both libraries raise, and pass.
        assert all(parameter.default is inspect.Parameter.empty for parameter in taken), body.__name__
        run = functools.wraps(body)(once)
        del run.__wrapped__
        run.__signature__ = inspect.Signature(taken)
        return run

    return decorate


# --- small programs


class Number(enum.IntEnum):
    """An integer that is not quite Python's own."""

    ONE = 1


class Fraction(float):
    """A float that is not quite Python's own."""


def outcome(xp, program):
    """The value of an expression over small arrays of module `xp`, or what a few statements leave in `r`.

    It is looked at, so that what only values can tell is found here.
    """
    space = {
        "xp": xp,
        "np": np,
        "Number": Number,
        "Fraction": Fraction,
        "a": xp.arange(6.0).reshape(2, 3),
        "b": xp.arange(6),
        "c": xp.ones((2, 3), "D"),
        "s": xp.array(2.0),
        "t": xp.array([True, False]),
        "u": xp.arange(4, dtype="u1"),
        "z": xp.zeros((0, 3)),
    }
    if "r=" not in program and "r[" not in program:
        return looked_at(eval(program, space))
    exec(program, space)
    return looked_at(space["r"])


def looked_at(value):
    """A value with its arrays on the host."""
    if isinstance(value, tuple | list):
        return type(value)(looked_at(item) for item in value)
    return to_host(value)

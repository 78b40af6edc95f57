"""Every ufunc over every dtype, layout and hostile value, and the arguments that all ufuncs take."""

import operator

import numpy as np
import pytest

import cupric as cp
import support
from support import (
    ALL,
    BFLOAT16,
    EVERY,
    NUMPY,
    REAL,
    answer_of,
    assert_same,
    close_to_exact,
    cycled,
    hostile,
    outcome,
    same_as_numpy,
)

UFUNCS = sorted(
    {value.__name__ for value in vars(cp).values() if isinstance(value, cp.ufunc)}
    & {name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}
)
UNARY = [name for name in UFUNCS if getattr(np, name).nin == 1]
BINARY = [name for name in UFUNCS if getattr(np, name).nin == 2]

# IEEE 754 does not say how these round; everything else must have NumPy's very bits.
ELEMENTARY = set(
    [
        "exp",
        "expm1",
        "exp2",
        "log",
        "log1p",
        "log2",
        "log10",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "arcsin",
        "arccos",
        "arctan",
        "arcsinh",
        "arccosh",
        "arctanh",
        "cbrt",
        "arctan2",
        "hypot",
        "float_power",
        "logaddexp",
        "logaddexp2",
        "deg2rad",
        "rad2deg",
        "degrees",
        "radians",
        "power",
    ]
)
# NumPy's own complex products and quotients use fma where the processor has it; the rest is defined through such functions.
LOOSE_COMPLEX = ELEMENTARY | {
    "multiply",
    "divide",
    "true_divide",
    "reciprocal",
    "square",
    "absolute",
    "sqrt",
    "abs",
    "sign",
}


# NumPy has complex loops for these; we have none yet, and say so. The list only shrinks.
NO_COMPLEX_LOOPS = set(
    ["expm1", "exp2", "log1p", "log2", "log10", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"]
)


def bound_of(dtype):
    """How far a result of an elementary function may be from the exact one, in units of the last place."""
    return 0.6 if dtype.itemsize == 2 else 1.5


def test_the_ufuncs_are_those_that_numpy_has():
    must = "add subtract multiply divide floor_divide remainder fmod divmod power negative positive absolute sign rint floor ceil trunc"
    must += " sqrt square reciprocal conjugate maximum minimum fmax fmin exp log sin cos tan arctan2 hypot equal less isnan isinf isfinite"
    must += " signbit bitwise_and bitwise_or bitwise_xor invert left_shift right_shift logical_and logical_or logical_xor logical_not"
    assert set(must.split()) <= set(UFUNCS)
    for name in UFUNCS:
        ours, theirs = getattr(cp, name), getattr(np, name)
        assert (ours.nin, ours.nout, ours.nargs) == (theirs.nin, theirs.nout, theirs.nargs), name


# Which of two zeros is the larger one is nobody's promise: NumPy's answer depends on the processor and on strides.
EXTREMES = {"maximum", "minimum", "fmax", "fmin"}


def without_signs_of_zeros(answer):
    """The answer with +0 in place of -0."""
    if isinstance(answer, support.Raised) or answer.dtype.kind in "biu":
        return answer
    return support.to_host(answer) + np.zeros((), support.to_host(answer).dtype)


def has_negative_powers(inputs):
    """Whether NumPy would refuse to raise integers to these powers; only their values tell."""
    arrays = [np.asarray(array) for array in inputs]
    whole = all(array.dtype.kind in "biu" for array in arrays)
    return whole and isinstance(inputs[1], np.ndarray) and (arrays[1].astype("f8") < 0).any()


def check(name, arrays, note):
    """Compares one call of a ufunc: `arrays` gives its inputs in a module."""
    ours, theirs = answer_of(lambda: getattr(cp, name)(*arrays(cp))), answer_of(lambda: getattr(np, name)(*arrays(np)))
    inputs = [np.asarray(array) for array in arrays(np)]
    if name in NO_COMPLEX_LOOPS and inputs[0].dtype.kind == "c":
        assert isinstance(ours, support.Raised) and isinstance(ours.error, TypeError), f"{note}: take it off the list"
        return
    if name == "power" and has_negative_powers(arrays(np)):
        return
    if name in EXTREMES:
        ours, theirs = without_signs_of_zeros(ours), without_signs_of_zeros(theirs)
    complex_inputs = any(array.dtype.kind == "c" for array in inputs)
    if isinstance(theirs, support.Raised) or isinstance(ours, support.Raised) or theirs.__class__ is tuple:
        assert_same(ours, theirs, note=note)
    elif complex_inputs and name in LOOSE_COMPLEX and theirs.dtype.kind in "cf":
        assert_close_complex(name, ours, theirs, inputs, note)
    elif name in ELEMENTARY and theirs.dtype.kind == "f":
        assert_close_real(name, ours, theirs, inputs, note)
    else:
        assert_same(ours, theirs, note=note)


def assert_close_real(name, ours, theirs, inputs, note):
    got = ours.get()
    want_dtype = BFLOAT16 if got.dtype == BFLOAT16 else theirs.dtype
    assert got.dtype == want_dtype and got.shape == theirs.shape, f"{note}: {got.dtype} {got.shape}"
    wide = [
        array.astype(want_dtype if want_dtype != BFLOAT16 else np.float32).astype(np.longdouble) for array in inputs
    ]
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(*wide)
        # Of infinities and NaNs NumPy is the judge: it takes `x ** 0.5` for a square root.
        finite = np.isfinite(sum(np.broadcast_arrays(*(array * 0 for array in wide))))
        exact = np.where(finite, exact, theirs)
    close_to_exact(got, exact, bound_of(got.dtype), note)


def assert_close_complex(name, ours, theirs, inputs, note):
    got = ours.get()
    assert got.dtype == theirs.dtype and got.shape == theirs.shape, f"{note}: {got.dtype} {got.shape}"
    finite = np.isfinite(theirs) & np.isfinite(got)
    size = np.finfo(theirs.dtype)
    with np.errstate(all="ignore"):
        error = np.abs(got.astype(np.clongdouble) - theirs.astype(np.clongdouble))
        # A power multiplies the error of a logarithm by the exponent.
        units = 400 if name == "power" else 8
        bad = finite & (error > units * size.eps * np.abs(theirs.astype(np.clongdouble)) + 8 * size.smallest_subnormal)
    assert not bad.any(), f"{note}: {got[bad][:3]} instead of {theirs[bad][:3]}"
    lost = np.isfinite(theirs) & ~np.isfinite(got)
    if name == "power":  # of NaNs in one part there is no convention
        lost &= np.isfinite(sum(np.broadcast_arrays(*(array * 0.0 for array in inputs))))
    assert not lost.any(), f"{note}: {got[lost][:3]} instead of {theirs[lost][:3]}"


@pytest.mark.parametrize("name", UNARY)
def test_unary_over_all_dtypes_and_layouts(name, full):
    for dtype in support.chosen(ALL, full):
        for layout in EVERY:
            data = cycled(hostile(dtype), int(np.prod(layout.base)))
            arrays = lambda xp: [layout.build(xp, data if xp is cp else support.oracle_values(data))]
            check(name, arrays, f"{name} {support.name_of(dtype)} {layout.name}")
        data = hostile(dtype)
        check(
            name,
            lambda xp: [xp.array(data if xp is cp else support.oracle_values(data))],
            f"{name} {support.name_of(dtype)}",
        )


@pytest.mark.parametrize("name", BINARY)
def test_binary_over_all_pairs_of_values(name, full):
    for dtype in support.chosen(ALL, full):
        data = hostile(dtype)[:40]

        def arrays(xp):
            values = xp.array(data if xp is cp else support.oracle_values(data))
            return [values[:, None], values]

        check(name, arrays, f"{name} {support.name_of(dtype)}")


@pytest.mark.parametrize("name", BINARY)
def test_binary_over_all_layouts(name, full):
    for dtype in (
        support.chosen(ALL, full) if full else [np.dtype("f4"), np.dtype("i2"), np.dtype("u8"), np.dtype("c16")]
    ):
        for layout in EVERY:
            left, right = (cycled(hostile(dtype), int(np.prod(layout.base)), turn) for turn in (1, 2))
            pick = lambda xp, data: layout.build(xp, data if xp is cp else support.oracle_values(data))
            check(name, lambda xp: [pick(xp, left), pick(xp, right)], f"{name} {support.name_of(dtype)} {layout.name}")


@pytest.mark.parametrize("name", BINARY)
def test_binary_over_pairs_of_dtypes(name, full):
    dtypes = support.chosen(NUMPY, full)
    for one in dtypes:
        for other in dtypes:
            if one != other:
                left, right = hostile(one)[:24], cycled(hostile(other), 16)
                check(name, lambda xp: [xp.array(left)[:, None], xp.array(right)], f"{name} {one} {other}")


@pytest.mark.parametrize(
    "scalar", [0, 1, 2, -1, 3, 255, 300, 2**40, 2**63, 2.5, -0.0, float("nan"), float("inf"), True, 1j], ids=repr
)
@pytest.mark.parametrize(
    "name",
    ["add", "multiply", "subtract", "divide", "floor_divide", "maximum", "less", "equal", "bitwise_and", "hypot"],
)
def test_python_scalars_take_the_arrays_dtype(name, scalar, full):
    for dtype in support.chosen(ALL, full):
        data = hostile(dtype)[:30]
        pick = lambda xp: xp.array(data if xp is cp else support.oracle_values(data))
        check(name, lambda xp: [pick(xp), scalar], f"{name} {support.name_of(dtype)} with {scalar}")
        check(name, lambda xp: [scalar, pick(xp)], f"{name} {scalar} with {support.name_of(dtype)}")


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, 0.5, 2.0, -0.5], ids=repr)
def test_powers_of_a_python_scalar(exponent, full):
    for dtype in support.chosen(REAL, full):
        data = hostile(dtype)[:30]
        pick = lambda xp: xp.array(data if xp is cp else support.oracle_values(data))
        check("power", lambda xp: [pick(xp), exponent], f"{support.name_of(dtype)} ** {exponent}")


@pytest.mark.parametrize(
    "scalar", [np.float64(2.5), np.int8(3), np.uint64(7), np.float32(0.1), np.complex64(1j), np.bool_(True)], ids=repr
)
def test_numpy_scalars_keep_their_own_dtype(scalar):
    for dtype in support.chosen(NUMPY, False):
        data = hostile(dtype)[:30]
        check("add", lambda xp: [xp.array(data), scalar], f"{dtype} + {scalar!r}")
        check("multiply", lambda xp: [scalar, xp.array(data)], f"{scalar!r} * {dtype}")


OPERATORS = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and_",
    "or_",
    "xor",
    "lshift",
    "rshift",
    "lt",
    "le",
    "eq",
    "ne",
    "gt",
    "ge",
]


@pytest.mark.parametrize("name", OPERATORS)
@same_as_numpy(dtypes=[np.dtype("i4"), np.dtype("?"), np.dtype("u1")])
def test_operators(xp, a, name):
    act = getattr(operator, name)
    b = xp.abs(a[::-1] % 5) if a.dtype != bool else a[::-1]
    return act(a, b), act(a, 2), act(1, b)


@same_as_numpy(dtypes=REAL, layouts=EVERY)
def test_unary_operators(xp, a):
    return -a, +a, abs(a)


@same_as_numpy(dtypes=[np.dtype("i4"), np.dtype("f4")], layouts=EVERY)
def test_divmod(xp, a):
    return divmod(a, 3), xp.divmod(a, a[::-1] if a.ndim == 1 else a)


IN_PLACE = [
    "iadd",
    "isub",
    "imul",
    "itruediv",
    "ifloordiv",
    "imod",
    "ipow",
    "iand",
    "ior",
    "ixor",
    "ilshift",
    "irshift",
]


@pytest.mark.parametrize("name", IN_PLACE)
@same_as_numpy(
    dtypes=NUMPY,
    layouts=[support.CONTIGUOUS, support.EVERY_SECOND, support.ZERO_D, support.UNALIGNED],
    values=lambda d: abs(support.mild(d)),
)
def test_in_place_operators(xp, a, name):
    if name == "ipow" and a.dtype.kind in "fc":
        return None
    getattr(operator, name)(a, 2)
    getattr(operator, name)(a, xp.ones((), a.dtype))
    return a


@same_as_numpy(dtypes=ALL, layouts=[layout for layout in EVERY if layout.writable])
def test_out_receives_the_result(xp, a):
    out = xp.zeros(a.shape, a.dtype)
    given = xp.add(a, a, out=out)
    assert given is out
    reversed_out = xp.zeros(a.shape, a.dtype)[::-1] if a.ndim else xp.zeros((), a.dtype)
    xp.add(a, a, out=(reversed_out,))
    return out, reversed_out


@pytest.mark.parametrize("target", ["?", "i1", "i4", "u8", "f2", "f4", "f8", "c8"])
@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
@same_as_numpy()
def test_casting_of_out(xp, target, casting):
    a = xp.arange(-3, 5, dtype="i4")
    out = xp.zeros(8, target)
    xp.add(a, a, out=out, casting=casting)
    return out


@pytest.mark.parametrize("dtype_given", ["?", "i1", "i8", "f4", "f8", "c16"])
@pytest.mark.parametrize("casting", ["no", "safe", "same_kind", "unsafe"])
@pytest.mark.parametrize("source", ["u1", "i4", "f4", "f8"])
@same_as_numpy()
def test_dtype_says_in_what_to_compute(xp, source, dtype_given, casting):
    a = xp.array([0, 1, 2, 3, 100], source)
    return xp.multiply(a, a, dtype=dtype_given, casting=casting)


@same_as_numpy(
    dtypes=ALL,
    layouts=[support.CONTIGUOUS, support.FORTRAN, support.EVERY_SECOND, support.UNALIGNED],
    values=support.mild,
)
def test_where_leaves_the_other_elements_as_they_are(xp, a):
    mask = xp.arange(a.size).reshape(a.shape) % 3 == 0
    out = xp.full(a.shape, 7).astype(a.dtype)
    xp.add(a, a, out=out, where=mask)
    row = xp.full(a.shape, 9).astype(a.dtype)
    xp.add(a, a, out=row, where=mask[:1])
    return out, row


@same_as_numpy()
def test_where_false_writes_nothing(xp):
    out = xp.array([0.1, 0.2, 0.3])
    xp.multiply(xp.array([1, 2, 3], "f4"), 2, out=out, where=xp.array([True, False, False]))
    xp.multiply(xp.array([1, 2, 3], "f4"), 2, out=out, where=False)
    return out


@pytest.mark.parametrize("shape", [(2,), (4, 3), (1, 3), (3, 3, 3), ()])
@same_as_numpy()
def test_out_of_another_shape(xp, shape):
    out = xp.zeros(shape)
    xp.add(xp.ones((3,)), 1, out=out)
    return out


@pytest.mark.parametrize("shift", [1, 2, 7])
@pytest.mark.parametrize("forward", [True, False])
@same_as_numpy()
def test_out_overlapping_an_input(xp, shift, forward):
    a = xp.arange(20.0)
    low, high = a[:-shift], a[shift:]
    xp.add(low, high, out=high if forward else low)
    b = xp.arange(12.0)
    xp.multiply(b, b[::-1], out=b if forward else b[::-1])
    c = xp.arange(16.0).reshape(4, 4)
    xp.subtract(c, c.T, out=c if forward else c.T)
    return a, b, c


@same_as_numpy()
def test_two_results_into_two_outs(xp):
    quotient, remainder = xp.zeros(5, "i8"), xp.zeros(5, "i8")
    given = xp.divmod(xp.arange(-2, 3), 2, out=(quotient, remainder))
    assert given[0] is quotient and given[1] is remainder
    return quotient, remainder, xp.divmod(xp.arange(-2, 3), 2, out=(None, remainder))


SHAPES = [
    ((3,), (3, 1)),
    ((), (2, 3)),
    ((1,), (4,)),
    ((0,), (1,)),
    ((2, 1, 3), (4, 1)),
    ((3,), (2,)),
    ((0,), (2,)),
    ((2, 3), (3, 2)),
    ((1, 0), (3, 1)),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@same_as_numpy()
def test_broadcasting(xp, shapes):
    left, right = (xp.arange(int(np.prod(shape))).reshape(shape) for shape in shapes)
    return left + right, left < right


@same_as_numpy()
def test_operands_that_are_numbers(xp):
    a = xp.arange(3)
    return xp.add(a, 2.5), xp.add(1, 2), xp.sqrt(4), xp.maximum(1, np.float32(2.5)), xp.add(a, True)


@pytest.mark.parametrize("order", ["C", "F", "K", "A"])
@same_as_numpy()
def test_order_of_the_result(xp, order):
    a = xp.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1)
    b = xp.add(a, 1, order=order)
    return b, np.array(b.strides)


@same_as_numpy(dtypes=[np.dtype("f4"), np.dtype("i4")], layouts=EVERY)
def test_the_result_keeps_the_order_of_its_inputs(xp, a):
    result = a + a
    return result, np.array(result.strides) if a.size > 1 else None


@pytest.mark.parametrize("limits", [(0, 3), (None, 2), (1, None), (2.5, 3.5), (3, 1), (float("nan"), 1)], ids=str)
@same_as_numpy(dtypes=[dtype for dtype in REAL if dtype != BFLOAT16], layouts=EVERY)
def test_clip(xp, a, limits):
    return xp.clip(a, *limits), a.clip(*limits)


@same_as_numpy(dtypes=ALL, layouts=EVERY)
def test_where_with_three_arguments(xp, a):
    mask = a == a
    return xp.where(mask, a, a), xp.where(a.astype(bool), a, xp.zeros((), a.dtype)), xp.where(a.astype(bool), a, 0)


@same_as_numpy(dtypes=ALL, layouts=EVERY)
def test_real_imag_conj_angle_parts(xp, a):
    if a.dtype.kind not in "c":
        return a.real, xp.conjugate(a)
    return a.real, a.imag, xp.conj(a), a.conj()


@pytest.mark.parametrize("source", NUMPY, ids=support.name_of)
def test_astype_between_all_dtypes(source, full):
    for target in support.chosen(NUMPY, full):
        data = hostile(source) if target.kind in "bfc" or source.kind in "biu" else support.mild(source)
        for layout in (support.CONTIGUOUS, support.EVERY_SECOND, support.UNALIGNED, support.ZERO_D):
            values = cycled(data, int(np.prod(layout.base)))
            ours, theirs = (answer_of(lambda: layout.build(xp, values).astype(target)) for xp in (cp, np))
            assert_same(ours, theirs, note=f"{source} to {target} {layout.name}")


@pytest.mark.parametrize("target", ["f4", "f8", "f2", "i4", "?", "c8"])
def test_bfloat16_converts_through_float32(target):
    values = hostile(BFLOAT16) if target not in ("i4",) else support.mild(BFLOAT16)
    with np.errstate(all="ignore"):
        assert_same(cp.array(values).astype(target), values.astype("f4").astype(target))
        back = hostile(np.dtype("f4"))
        assert_same(cp.array(back).astype(BFLOAT16), back.astype(BFLOAT16))


def test_bfloat16_promotes_as_float16_does():
    a = cp.ones(2, BFLOAT16)
    assert (a + 1).dtype == BFLOAT16 and (a + 2.5).dtype == BFLOAT16
    assert (a + cp.ones(2, "f2")).dtype == np.float32
    assert (a + cp.ones(2, "i1")).dtype == BFLOAT16
    assert (a + cp.ones(2, "f4")).dtype == np.float32
    assert (a + cp.ones(2, "f8")).dtype == np.float64


def test_a_chain_of_exact_operations_has_numpys_bits(full):
    for dtype in (np.dtype("f2"), np.dtype("f4"), np.dtype("f8"), np.dtype("i4"), np.dtype("u1")):
        data = cycled(hostile(dtype), 5000)

        def chain(xp):
            a = xp.array(data)
            b = a[::-1]
            return xp.maximum(a * 3 + b, a - b) * 2 - xp.where(a < b, a, b)

        assert_same(answer_of(chain, cp), answer_of(chain, np), note=str(dtype))


CASTING_AND_DTYPE_ARE_CHECKED_FOR_INPUTS = [
    "xp.equal(a,1,dtype=bool)", "xp.equal(a,1,dtype='f8')", "xp.equal(a,1,dtype='?')", "xp.isnan(a,dtype=bool)", "xp.isnan(a,dtype='f8')",
    "xp.isnan(a,dtype='f4')", "xp.isnan(b,dtype=bool)", "xp.logical_and(a,1,dtype=bool)", "xp.logical_and(a,1,dtype='f8')",
    "xp.logical_not(a,dtype='i4')", "xp.logical_not(a,dtype=bool)", "xp.isfinite(b,dtype=bool,casting='unsafe')", "xp.add(a,1,casting='no')",
    "xp.add(b,1,casting='no')", "xp.add(b,1.5,casting='no')", "xp.add(b,1.5,casting='equiv')", "xp.add(b,1.5,casting='safe')",
    "xp.add(b,a.ravel(),casting='no')", "xp.add(b,a.ravel(),casting='safe')", "xp.add(u,b[:4],casting='safe')", "xp.add(u,b[:4],casting='equiv')",
    "xp.sqrt(b,casting='no')", "xp.sqrt(b,casting='safe')", "xp.divide(b,2,casting='no')", "xp.divide(b,b,casting='no')",
    "xp.add(u,xp.float32(1),casting='no')", "xp.add(t,1,casting='no')", "xp.equal(b,a.ravel(),casting='no')", "xp.add(a,True,casting='no')",
    "xp.add(a,1j,casting='no')", "xp.add(1,2,casting='no')", "xp.add(1,2.5,casting='no')", "xp.add(a,1,casting='foo')", "xp.add(a,1,casting=None)",
    "xp.add(a,1,casting=1)",
]  # fmt: skip


@pytest.mark.parametrize("program", CASTING_AND_DTYPE_ARE_CHECKED_FOR_INPUTS)
@same_as_numpy()
def test_casting_and_dtype_are_checked_for_inputs(xp, program):
    return outcome(xp, program)


WHERE_TAKES_TRUTH_VALUES = [
    "xp.add(a,1,where=a)", "xp.add(a,1,where=1)", 'xp.add(a,1,where="a")', "r=xp.zeros((2,3));xp.add(a,1,out=r,where=None)",
    "r=xp.zeros((2,3));xp.add(a,1,out=r,where=[True,False,True])", "r=xp.zeros((2,3));xp.add(a,1,out=r,where=[1,0,1])",
    "r=xp.zeros((2,3));xp.add(a,1,out=r,where=b)",
]  # fmt: skip


@pytest.mark.parametrize("program", WHERE_TAKES_TRUTH_VALUES)
@same_as_numpy()
def test_where_takes_truth_values(xp, program):
    return outcome(xp, program)


SUBCLASSES_OF_PYTHON_NUMBERS_HAVE_A_DTYPE = [
    "b==Number.ONE", "b+Number.ONE", "u+Number.ONE", "Number.ONE-u", "a*Fraction(2)", "xp.ones(2,'f4')*Fraction(2)", "xp.add(u,Number.ONE)",
    "xp.where(t,Number.ONE,u[:2])", "xp.where(t,Fraction(2),xp.ones(2,'f4'))", "xp.clip(b,Number.ONE,3)", "xp.full(3,Number.ONE)",
    "xp.full(3,Fraction(2),'f4')", "r=xp.zeros(3);r[:]=Number.ONE", "r=xp.zeros(3,'u1');r.fill(Number.ONE)", "b[Number.ONE]",
    "xp.zeros(Number.ONE)", "xp.sum(a,axis=Number.ONE)", "b**Number.ONE", "xp.result_type(u,Number.ONE)",
]  # fmt: skip


@pytest.mark.parametrize("program", SUBCLASSES_OF_PYTHON_NUMBERS_HAVE_A_DTYPE)
@same_as_numpy()
def test_subclasses_of_python_numbers_have_a_dtype(xp, program):
    return outcome(xp, program)


NOTHING_EQUALS_WHAT_IS_NO_NUMBER = [
    "None in a", '"a" in a', "object() in a", "a==None", "a!=None", "None==a", 'a=="a"', '"a"!=a', 'a==b"x"', "a==object()", "a!={}", "a==slice(1)",
    "a==...", "a==np.datetime64(1,'D')", "s==None", "z!=None", "xp.array([True])==None", "a<None",
]  # fmt: skip


@pytest.mark.parametrize("program", NOTHING_EQUALS_WHAT_IS_NO_NUMBER)
@same_as_numpy()
def test_nothing_equals_what_is_no_number(xp, program):
    return outcome(xp, program)


@pytest.mark.parametrize("given", [[0, 1, 2], (1,), [], range(3)], ids=repr)
def test_lists_are_no_operands_of_comparisons_either(given):
    a = cp.arange(3)
    for compare in (lambda: a == given, lambda: a != given, lambda: given == a, lambda: given in a):
        with pytest.raises(TypeError, match="make an array of it first"):
            compare()


ROUNDING_TO_DECIMALS = [
    "xp.around(a,1.5)", 'xp.around(a,"a")', "xp.around(a,None)", "xp.around(a,np.int64(1))", "xp.around(a,True)", "xp.around(b,-1)",
    "xp.around(b,-1,out=xp.zeros(6))", "xp.around(b,1)", "xp.around(b,1,out=xp.zeros(6,'i1'))", "xp.around(b,1,out=xp.zeros(6,'f4'))",
    "xp.around(u*10,-1)", "xp.around(a*1.2345,400)", "xp.around(a*1.2345,-400)", "xp.around(a*1.2345,308)", "xp.around(a*1.2345,25)",
    "xp.around(a*1e300,10)", "xp.around((a*1.2345).astype('e'),2)", "xp.around((a*1.2345).astype('f'),3)", "xp.around((a*12345.6).astype('f'),-3)",
    "xp.around(a*12345.6,-3)", "xp.around(t,1)", "xp.around(t,-1)", "xp.around(c*1.26,1)", "xp.around(c*1.26,1,out=xp.zeros((2,3)))",
    "xp.around(a,1,out=xp.zeros((2,3),'i4'))", "xp.around(a,1,out=xp.zeros((3,2)))", "xp.around(a,0,out=xp.zeros((2,3),'f4'))",
    "xp.around(b*11,-1)", "xp.around(b*5,-1)", "xp.around(b*5,-2)", "xp.around(b*5,-20)", "a.round(1.5)", "a.round(decimals=1)",
    "xp.round(2.567,1)", "xp.round(25,-1)", "xp.around(xp.array([-2**63,2**63-1]),-1)", "xp.around(xp.array([2**53+1]),-1)",
    "xp.around(xp.array([126],'i1'),-1)",
]  # fmt: skip


@pytest.mark.parametrize("program", ROUNDING_TO_DECIMALS)
@same_as_numpy()
def test_rounding_to_decimals(xp, program):
    return outcome(xp, program)


WHERE = [
    "xp.where(a>2,a)", "xp.where(a>2)", 'xp.where(a>2,"a",1)', "xp.where(a,a,0)", "xp.where([True,False],1,2)", "xp.where(t,u[:2],1.5)",
    "xp.where(t,xp.float32(1),2)", "xp.where(t,1,2.5)", "xp.where(t,True,2)", "xp.where(t,2**40,1.0)", "xp.where(condition=a>2,x=1,y=2)",
]  # fmt: skip


@pytest.mark.parametrize("program", WHERE)
@same_as_numpy()
def test_where(xp, program):
    return outcome(xp, program)


CLIP_ENDS = [
    "xp.clip(a,1)", "xp.clip(a,1,None)", "xp.clip(a,None,2)", "xp.clip(a)", "xp.clip(a,None,None)", "xp.clip(a,1,2,None)",
    "xp.clip(a,a_min=1,a_max=2)", "xp.clip(a,a_min=1)", "xp.clip(a,min=1)", "xp.clip(a,min=1,max=2)", "xp.clip(a,min=1,a_max=2)",
    "xp.clip(a,1,2,min=1)", 'xp.clip(a,"a",2)', "xp.clip(a,1j,2)", "xp.clip(b,1j,2)", "xp.clip(b,1.5,2)", "xp.clip(a,np.nan,2)",
    "xp.clip(a,1,xp.array([1,2,3]))", "xp.clip(a,1,2,xp.zeros((2,3)))", "xp.clip(a,1,2,out=xp.zeros((2,3),'i4'))", "xp.clip(u,-1,2)",
    "xp.clip(u,1,300)", "xp.clip(u,300,400)", "xp.clip(u,-5,-1)", "xp.clip(u,np.int64(-1),2)", "xp.clip(b,2**100,None)", "xp.clip(t,0,1)",
    "a.clip(1)", "a.clip()", "a.clip(min=1)", "a.clip(1,2)", "a.clip(None,None)",
]  # fmt: skip


@pytest.mark.parametrize("program", CLIP_ENDS)
@same_as_numpy()
def test_clip_takes_two_ends_or_keywords(xp, program):
    return outcome(xp, program)


def test_where_takes_no_none():
    with pytest.raises(TypeError):
        cp.where(cp.arange(3) > 1, None, None)

"""Reductions and scans: values, axes, dtypes, arguments, and the order of combining."""

import numpy as np
import pytest

import cupric as cp
import support
from support import (
    BFLOAT16,
    EVERY,
    FILLED,
    FLOAT,
    INTEGER,
    NUMPY,
    assert_same,
    cycled,
    hostile,
    mild,
    outcome,
    same_as_numpy,
)

EXACT = support.BOOL + INTEGER
AXES = [None, 0, -1]


def unsigned_zeros(dtype):
    """Hostile values without -0: which zero is the larger one is nobody's promise."""
    values = hostile(dtype)
    if dtype.kind == "c":
        return values[~np.isnan(values)]
    return values if not support.is_float(dtype) else values[~((values == 0) & np.signbit(values.astype("f8")))]


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all", "argmax", "argmin"])
@pytest.mark.parametrize("axis", AXES, ids=str)
@same_as_numpy(dtypes=EXACT, layouts=EVERY)
def test_reductions_of_integers(xp, a, name, axis):
    if (a.ndim == 0 and axis == 0) or (a.size == 0 and name in ("argmax", "argmin")):
        return None
    return getattr(xp, name)(a, axis=axis), getattr(a, name)(axis=axis)


@pytest.mark.parametrize("name", ["max", "min", "any", "all", "argmax", "argmin"])
@pytest.mark.parametrize("axis", AXES, ids=str)
@same_as_numpy(dtypes=[*FLOAT, *support.COMPLEX], layouts=FILLED, values=unsigned_zeros)
def test_reductions_of_floats_that_do_not_round(xp, a, name, axis):
    return getattr(xp, name)(a, axis=axis)


def assert_near(got, want, dtype, note):
    """Compares float results that were combined in another order."""
    got = got.get()
    assert got.dtype == (want.dtype if dtype != BFLOAT16 else BFLOAT16), f"{note}: {got.dtype}"
    assert got.shape == want.shape, f"{note}: {got.shape} instead of {want.shape}"
    if want.dtype.kind in "iu":
        assert (got == want).all(), note
        return
    bits = support.limits(support.component(np.dtype(dtype)))
    tolerance = 8 * float(bits.eps)
    np.testing.assert_allclose(
        got.astype("c16"), want.astype("c16"), rtol=tolerance, atol=tolerance * 16, equal_nan=True, err_msg=note
    )


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std"])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)], ids=str)
def test_reductions_of_floats(name, axis, full):
    for dtype in support.chosen([*FLOAT, *support.COMPLEX, np.dtype("i4"), np.dtype("?")], full):
        for layout in FILLED:
            if axis == (0, 1) and len(layout.base) < 2:
                continue
            data = cycled(mild(dtype), int(np.prod(layout.base)))
            if name == "prod":
                data = (data * 0.1 + 1).astype(dtype)
            ours = getattr(cp, name)(layout.build(cp, data), axis=axis)
            with np.errstate(all="ignore"):
                theirs = np.asarray(getattr(np, name)(layout.build(np, support.oracle_values(data)), axis=axis))
            given = dtype if theirs.dtype.kind in "fc" and dtype.kind not in "iub" else theirs.dtype
            assert_near(ours, theirs, given, f"{name} {support.name_of(dtype)} {layout.name} {axis}")


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "max", "min", "std", "var", "argmax"])
@same_as_numpy(dtypes=support.NUMPY_FLOAT)
def test_infinities_and_nans(xp, a, name):
    with_infinity = xp.array([1.0, np.inf, 2.0, 3.0]).astype(a.dtype)
    with_nan = xp.array([[1.0, np.nan], [2.0, 3.0]]).astype(a.dtype)
    both = xp.array([np.inf, -np.inf]).astype(a.dtype)
    f = getattr(xp, name)
    return f(with_infinity), f(with_nan, axis=0), f(with_nan), f(both)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "any", "all", "argmax", "argmin", "std"])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)], ids=str)
@pytest.mark.parametrize("axis", [None, 0, 1, -1, 5], ids=str)
@same_as_numpy()
def test_reductions_of_nothing(xp, name, shape, axis):
    return getattr(xp, name)(xp.zeros(shape), axis=axis)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, (0, 2), (2, 1), (0, 1, 2), (), None, 3, -4, (0, 0)], ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", ["sum", "max", "any", "mean"])
@same_as_numpy()
def test_axes_and_keepdims(xp, name, axis, keepdims):
    a = xp.arange(24).reshape(2, 3, 4) % 5
    return getattr(xp, name)(a, axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all"])
@same_as_numpy(
    dtypes=[np.dtype("i4"), np.dtype("f4"), np.dtype("?")],
    layouts=[support.CONTIGUOUS, support.TRANSPOSED],
    values=lambda d: (mild(d) * 2).astype(d) // 1 if d.kind == "f" else mild(d),
)
def test_where_and_initial(xp, a, name):
    f = getattr(xp, name)
    mask = xp.arange(a.size).reshape(a.shape) % 3 != 0
    if name in ("any", "all"):
        return f(a, where=mask), f(a, axis=0, where=mask)
    initial = 1 if a.dtype == bool else 3
    return (
        f(a, axis=0, initial=initial),
        f(a, axis=-1, where=mask, initial=initial),
        f(a, where=mask[:1], initial=initial),
    )


@pytest.mark.parametrize("name", ["mean", "var", "std"])
@same_as_numpy()
def test_means_of_chosen_elements(xp, name):
    a = xp.arange(12.0).reshape(3, 4)
    mask = a % 3 != 0
    return getattr(xp, name)(a[:, :2], axis=0), xp.mean(a, where=mask), xp.mean(a, axis=1, where=mask)


@pytest.mark.parametrize("ddof", [0, 1, 2])
@same_as_numpy(ulp=2)
def test_ddof(xp, ddof):
    a = xp.array([1.0, 2.0, 4.0, 9.0])
    return xp.var(a, ddof=ddof), xp.std(a, ddof=ddof), a.var(ddof=ddof), a.std(ddof=ddof)


@pytest.mark.parametrize("dtype_given", ["i1", "u8", "f4", "f8", "c16"])
@pytest.mark.parametrize("name", ["sum", "prod", "cumsum"])
@same_as_numpy()
def test_dtype_says_in_what_to_accumulate(xp, name, dtype_given):
    return getattr(xp, name)(xp.arange(1, 9, dtype="i2"), dtype=dtype_given)


@same_as_numpy()
def test_out_of_a_reduction(xp):
    a = xp.arange(12).reshape(3, 4)
    out = xp.zeros(4, "i8")
    assert xp.sum(a, axis=0, out=out) is out
    wide = xp.zeros((4,), "f8")
    xp.sum(a, axis=0, out=wide)
    cumulated = xp.zeros((3, 4), "i8")
    xp.cumsum(a, axis=0, out=cumulated)
    return out, wide, cumulated, xp.max(a, axis=1, out=xp.zeros(3, "i8"))


@pytest.mark.parametrize("shape", [(3,), (4, 1), (1, 4), ()], ids=str)
@same_as_numpy()
def test_out_of_another_shape(xp, shape):
    return xp.sum(xp.arange(12).reshape(3, 4), axis=0, out=xp.zeros(shape, "i8"))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("axis", [None, 0, -1], ids=str)
@same_as_numpy(dtypes=EXACT, layouts=support.WITH_AXES)
def test_scans_of_integers(xp, a, name, axis):
    return getattr(xp, name)(a, axis=axis), getattr(a, name)(axis=axis)


@pytest.mark.parametrize("length", [1, 2, 127, 128, 129, 1023, 1024, 1025, 5000, 70001])
@same_as_numpy()
def test_scans_and_sums_at_the_edges_of_chunks(xp, length):
    a = (xp.arange(length) * 7919 % 1013 - 500).astype("i8")
    rows = xp.arange(3 * length).reshape(3, length) % 17
    exact = a.astype("f8")  # sums of small integers do not round
    return (
        xp.cumsum(a), xp.sum(a), xp.sum(rows, axis=1), xp.sum(rows, axis=0), xp.cumsum(rows, axis=1), xp.max(a), xp.argmin(a),
        xp.sum(exact), xp.cumsum(exact), xp.sum(rows.T.astype("f4"), axis=0), xp.cumsum(rows.T, axis=0),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [*FLOAT, *support.COMPLEX], ids=support.name_of)
def test_scans_of_floats(dtype):
    data = cycled(mild(dtype), 3000)
    ours = cp.cumsum(cp.array(data)).get()
    wide = np.cumsum(data.astype("c16"))
    assert ours.dtype == dtype
    bits = support.limits(support.component(np.dtype(dtype)))
    assert np.abs(ours.astype("c16") - wide).max() <= 64 * float(bits.eps) * max(1, np.abs(wide).max())


@pytest.mark.parametrize("dtype", [np.dtype("f4"), np.dtype("f8"), np.dtype("c8"), np.dtype("f2")], ids=str)
@pytest.mark.parametrize("length", [100, 1024, 5000, 100_003])
def test_the_order_of_combining_depends_on_the_length_alone(dtype, length):
    data = cycled(mild(dtype, 997), length)
    spread = cp.zeros(2 * length, dtype)
    spread[::2] = cp.array(data)
    matrix = cp.zeros((3, length), dtype)
    matrix[1] = cp.array(data)
    columns = cp.zeros((length, 3), dtype)
    columns[:, 2] = cp.array(data)
    plain = cp.array(data).sum()
    alike = [
        spread[::2].sum(), matrix.sum(axis=1)[1], columns.sum(axis=0)[2], columns[:, 2].sum(), (cp.array(data) * 1).sum(),
        cp.array(data[::-1].copy())[::-1].sum(),
    ]  # fmt: skip
    for index, other in enumerate(alike):
        assert_same(other, plain.get(), note=f"way {index}")


def test_a_large_float32_sum_is_as_accurate_as_pairwise():
    data = np.random.default_rng(0).random(1_000_003, dtype="f4")
    exact = data.sum(dtype="f8")
    assert abs(float(cp.array(data).sum()) - exact) / exact < 1e-6
    assert float(cp.ones(1 << 25, "f4").sum()) == 1 << 25


def test_half_precision_means_do_not_overflow():
    assert float(cp.full(70000, 2, "f2").mean()) == 2
    assert float(cp.full(70000, 2, "f2").var()) == 0


@same_as_numpy(dtypes=NUMPY, layouts=EVERY)
def test_count_nonzero(xp, a):
    return xp.count_nonzero(a), xp.count_nonzero(a, axis=-1) if a.ndim else None


def test_a_reduction_gives_a_zero_dimensional_array():
    total = cp.arange(5).sum()
    assert isinstance(total, cp.ndarray) and total.shape == () and int(total) == 10


@same_as_numpy()
def test_first_extreme_wins(xp):
    a = xp.array([3, 1, 3, 1])
    b = xp.array([1.0, np.nan, 3.0, np.nan])
    ties = xp.zeros((2, 3000))
    return (
        xp.argmax(a),
        xp.argmin(a),
        xp.argmax(b),
        xp.argmin(b),
        xp.argmax(ties, axis=1),
        xp.argmax(xp.full(3, -np.inf)),
        xp.argmin(xp.full(3, np.inf)),
    )


@same_as_numpy()
def test_reductions_that_swallow_maps(xp):
    a, b = xp.arange(1000) % 37, xp.arange(1000)[::-1] % 11
    return (
        ((a - b) ** 2).sum(),
        (a > b).any(),
        (a * 2 + b).max(),
        (a.reshape(10, 100) * 3).sum(axis=0),
        xp.abs(a - b).reshape(100, 10).min(axis=1),
    )


WHERE_TAKES_TRUTH_VALUES_OF_THE_ARRAYS_SHAPE = [
    "xp.sum(a,where=None)", "xp.sum(a,where=1)", "xp.sum(a,where=[True,False,True])", "xp.sum(a,where=[1,0,1])", "xp.sum(a,where=a)",
    "xp.sum(a,where=xp.ones((5,2,3),bool))", "xp.sum(a,where=xp.ones((1,2,3),bool))", "xp.sum(a,where=xp.ones((2,1),bool))",
    "xp.sum(a,where=xp.ones((2,2),bool))", "xp.sum(xp.ones((1,3)),where=xp.ones((2,3),bool))", "xp.mean(a,where=xp.ones((1,2,3),bool))",
    "xp.mean(xp.ones((1,3)),where=xp.ones((2,3),bool))", "xp.mean(a,where=1)", "xp.sum(s,where=xp.ones(3,bool))", "xp.max(a,where=a>0)",
    "xp.max(a,where=True)", "a.sum(where=False)", "a.any(where=t.reshape(2,1))",
]  # fmt: skip


@pytest.mark.parametrize("program", WHERE_TAKES_TRUTH_VALUES_OF_THE_ARRAYS_SHAPE)
@same_as_numpy()
def test_where_takes_truth_values_of_the_arrays_shape(xp, program):
    return outcome(xp, program)


INITIAL_MUST_FIT_THE_DTYPE = [
    "xp.sum(a,initial=1j)", "xp.sum(b,initial=1.5)", "xp.sum(b,initial=1.9999)", "xp.sum(b,initial=1j)", "xp.sum(u,initial=300)",
    "xp.sum(u,dtype='u1',initial=300)", "xp.sum(u,dtype='u1',initial=1.5)", "xp.sum(u,dtype='u1',initial=-1)",
    "xp.sum(u,dtype='u1',initial=np.int64(300))", "xp.sum(b,initial=float('nan'))", "xp.sum(b,initial=np.float64(1.5))", "xp.sum(b,initial=2**63)",
    "xp.sum(b,initial=2**64)", "xp.sum(a,initial=2**64)", "xp.sum(a,initial=10**400)", "xp.sum(b,dtype='f4',initial=10**39)",
    "xp.sum(a,initial=[1])", "xp.sum(a,initial=xp.array([1]))", "xp.sum(a,initial=xp.array(1))", "xp.sum(a,initial=np.float32(1))",
    "xp.sum(a,initial=True)", "xp.sum(t,initial=5)", "xp.prod(c,initial=1j)", "xp.max(b,initial=2.5)", "xp.max(b,initial=np.float64(7.5))",
    "xp.max(a,initial=1j)", "xp.max(u,initial=300)", "xp.max(u,initial=-1)", "xp.max(xp.zeros(0),initial=3)",
    "xp.sum(a,initial=2,out=xp.zeros((),'i4'))",
]  # fmt: skip


@pytest.mark.parametrize("program", INITIAL_MUST_FIT_THE_DTYPE)
@same_as_numpy()
def test_initial_must_fit_the_dtype(xp, program):
    return outcome(xp, program)


INITIAL_NONE_LEAVES_A_REDUCTION_WITHOUT_IDENTITY = [
    "xp.sum(b,initial=None)", "xp.sum(xp.zeros(0),initial=None)", "xp.sum(z,axis=0,initial=None)", "xp.sum(z,axis=1,initial=None)",
    "xp.prod(xp.zeros(0),initial=None)", "xp.max(xp.zeros(0),initial=None)", "xp.sum(b,where=b>2,initial=None)", "xp.zeros(0).sum(initial=None)",
]  # fmt: skip


@pytest.mark.parametrize("program", INITIAL_NONE_LEAVES_A_REDUCTION_WITHOUT_IDENTITY)
@same_as_numpy()
def test_initial_none_leaves_a_reduction_without_identity(xp, program):
    return outcome(xp, program)


AXES_AND_KEEPDIMS_ARE_INTEGERS = [
    "xp.sum(a,axis=True)", "xp.sum(a,axis=False)", "xp.sum(a,axis=[0])", "xp.sum(a,axis=[0,1])", "xp.sum(a,axis=())", "xp.sum(a,axis=1.0)",
    'xp.sum(a,axis="a")', "xp.sum(a,axis=np.int64(1))", "xp.sum(a,axis=np.array(1))", "xp.sum(a,axis=(True,))", "xp.sum(a,axis=2**63)",
    "xp.sum(a,axis=(0,0))", "xp.sum(a,axis=(0,1.0))", "xp.mean(a,axis=[0])", "xp.mean(a,axis=(0,1))", "xp.mean(a,axis=True)",
    "xp.argmax(a,axis=(0,))", "xp.argmax(a,axis=(0,1))", "xp.argmax(a,axis=True)", "xp.argmax(a,axis=[0])", "xp.argmax(a,axis=1.0)",
    "xp.argmax(s,axis=0)", "xp.argmax(s,axis=-1)", "xp.argmax(s,axis=1)", "xp.sum(s,axis=0)", "xp.sum(s,axis=-1)", "xp.sum(s,axis=(0,))",
    "xp.sum(s,axis=())", "xp.sum(s,axis=(0,0))", "xp.sum(s,axis=(0,-1))", "xp.sum(s,axis=1)", "xp.max(s,axis=0)", "xp.any(s,axis=0)",
    "xp.mean(s,axis=0)", "xp.mean(s,axis=-1)", "xp.mean(s,axis=(0,))", "xp.var(s,axis=0)", "xp.std(s,axis=-1)", "xp.cumsum(s,axis=0)",
    "xp.ptp(s,axis=0)", "xp.count_nonzero(s,axis=0)", "xp.count_nonzero(a,axis=[0])", "xp.sum(a,keepdims=1)", "xp.sum(a,keepdims=None)",
    'xp.sum(a,keepdims="a")', "xp.sum(a,keepdims=1.5)", "xp.sum(a,keepdims=2)", "xp.sum(a,keepdims=xp.array([1,2]))", "a.sum(keepdims=None)",
    'xp.mean(a,keepdims="a")', "xp.mean(a,keepdims=None)", 'xp.argmax(a,keepdims="a")', "xp.argmax(a,keepdims=1)", 'xp.any(a,keepdims="a")',
    "xp.cumsum(a,axis=(0,))", "xp.cumsum(a,axis=True)", "xp.cumsum(a,axis=1.0)", "xp.cumsum(a,axis=[0])",
]  # fmt: skip


@pytest.mark.parametrize("program", AXES_AND_KEEPDIMS_ARE_INTEGERS)
@same_as_numpy()
def test_axes_and_keepdims_are_integers(xp, program):
    return outcome(xp, program)


MEANS_AND_DEVIATIONS_IN_ANY_DTYPE = [
    "xp.mean(a,dtype='i4')", "xp.mean(b,dtype='i4')", "xp.mean(b+1,dtype='u1')", "xp.mean(b-7,dtype='i4')", "xp.mean(b,dtype=bool)",
    "xp.mean(a,dtype=bool)", "xp.mean(a,dtype='c16')", "xp.mean(c,dtype='f8')", "xp.mean(c,dtype='i4')", "xp.mean(t,dtype='i4')",
    "xp.var(a,dtype='i4')", "xp.var(b,dtype='i4')", "xp.var(b,dtype=bool)", "xp.var(c,dtype='f8')", "xp.var(a,dtype='c16')", "xp.var(a,dtype='c8')",
    "xp.std(a,dtype='c16')", "xp.std(b,dtype='i4')", "xp.std(c,dtype='f4')", "xp.std(c,dtype='c8')", "xp.var(b,dtype='f2')",
    "xp.mean(b,dtype='f2')", "xp.mean(b,axis=0,dtype='i4',keepdims=True)", "xp.mean(b.reshape(2,3),axis=0,dtype='i4')",
    "xp.var(b.reshape(2,3),axis=0,dtype='i4')", "xp.var(xp.array([1j,3,5,7]),dtype='f8')", "xp.mean(b,dtype='i4',out=xp.zeros(()))",
    "xp.var(b,dtype='i4',where=b>2)", "xp.mean(b,dtype='i4',where=b>2)", "xp.var(b,dtype='i4',ddof=6)", "xp.mean(b*1000,dtype='u1')",
]  # fmt: skip


@pytest.mark.parametrize("program", MEANS_AND_DEVIATIONS_IN_ANY_DTYPE)
@same_as_numpy()
def test_means_and_deviations_in_any_dtype(xp, program):
    return outcome(xp, program)


OUT_OF_REDUCTIONS = [
    "xp.mean(b,out=xp.zeros((),'i4'))", "xp.var(b,out=xp.zeros((),'i4'))", "xp.std(b,out=xp.zeros((),'f4'))", "xp.sum(a,out=xp.zeros((),'i4'))",
    "xp.sum(a,out=xp.zeros((),'f4'))", "xp.sum(c,out=xp.zeros(()))", "xp.sum(b,out=xp.zeros((),'i1'))", "xp.sum(b,out=xp.zeros((),'u1'))",
    "xp.sum(b,out=xp.zeros(()))", "xp.sum(a,dtype='i4',out=xp.zeros((),'f4'))", "xp.sum(b,dtype='f4',out=xp.zeros((),'i4'))",
    "xp.max(a,out=xp.zeros((),'i4'))", "xp.max(b,out=xp.zeros((),'f4'))", "xp.max(a,out=xp.zeros((),'f4'))", "xp.any(a,out=xp.zeros((),'f4'))",
    "xp.any(a,out=xp.zeros((),'i4'))", "xp.all(a,out=xp.zeros(()))", "xp.argmax(a,out=xp.zeros((),'i4'))", "xp.argmax(a,out=xp.zeros((),'f8'))",
    "xp.argmax(a,out=xp.zeros((),'u8'))", "xp.argmax(a,out=(xp.zeros((),'i8'),))", "xp.argmax(a,out=xp.zeros((1,),'i8'))",
    "xp.sum(a,out=(xp.zeros(()),))", "xp.sum(a,out=(xp.zeros(()),xp.zeros(())))", "xp.sum(a,out=())", "xp.sum(a,out=[xp.zeros(())])",
    "xp.sum(a,out=1)", "xp.sum(a,out=xp.zeros(1))", "xp.sum(a,axis=0,out=xp.zeros((1,3)))", "xp.sum(a,axis=0,out=xp.zeros(3,'i4'))",
    "xp.mean(a,axis=0,out=xp.zeros(3,'i4'))", "xp.mean(a,out=(xp.zeros(()),))", "xp.cumsum(a,out=xp.zeros(6,'i4'))",
    "xp.cumsum(a,out=xp.zeros(6,'f4'))", "xp.cumsum(b,out=xp.zeros(6,'i1'))", "xp.cumsum(b,dtype='f4',out=xp.zeros(6,'i4'))",
    "xp.cumsum(a,out=(xp.zeros(6),))", "xp.cumsum(a,out=xp.zeros(5))", "xp.cumsum(a,out=1)", "xp.cumsum(a,out=xp.zeros((2,3)))",
    "xp.ptp(a,out=xp.zeros((),'i4'))", "xp.prod(c,out=xp.zeros(()))", "xp.sum(b,dtype='u1',out=xp.zeros((),'i8'))",
]  # fmt: skip


@pytest.mark.parametrize("program", OUT_OF_REDUCTIONS)
@same_as_numpy()
def test_out_of_reductions(xp, program):
    return outcome(xp, program)


WEIGHTED_MEANS = [
    "xp.average(a,weights=a*0)", "xp.average(a,0,[0,0])", "xp.average(a,0,[1,-1])", "xp.average(a,(0,1),a)", "xp.average(a,(0,1),[1,2])",
    "xp.average(a,(1,0),a.T)", "xp.average(a,(0,),[1,2])", "xp.average(a,1,[1,2,3])", "xp.average(a,1,[1,2])", "xp.average(a,weights=[1,2])",
    "xp.average(a,0,weights=xp.ones((3,2)))", "xp.average(xp.arange(24.).reshape(2,3,4),(0,1),xp.arange(6).reshape(2,3)+1)",
    "xp.average(xp.arange(24.).reshape(2,3,4),(1,0),xp.arange(6).reshape(3,2)+1)",
    "xp.average(xp.arange(24.).reshape(2,3,4),(0,2),xp.arange(8).reshape(2,4)+1,keepdims=True)",
    "xp.average(xp.arange(24.).reshape(2,3,4),(0,1),[1,2])", "xp.average(a,weights=a,returned=True)", "xp.average(a,returned=True)",
    "xp.average(a,0,returned=True)", "xp.average(a,0,weights=[1,2],returned=True)", "xp.average(a,keepdims=True)", 'xp.average(a,weights="a")',
    "xp.average(b)", "xp.average(b,weights=b)", "xp.average(a.astype('f4'),weights=b.reshape(2,3))", "xp.average(a,axis=5)",
    "xp.average(a,axis=5,weights=a)", "xp.average(z)", "xp.average(b,weights=b,returned=True)", "xp.average(t)",
    "xp.average(t,weights=[True,True])", "xp.average(u[:2],weights=xp.array([1,2],'u1'))", "xp.average([1,2],weights=[1,2])",
]  # fmt: skip


@pytest.mark.parametrize("program", WEIGHTED_MEANS)
@same_as_numpy()
def test_weighted_means(xp, program):
    return outcome(xp, program)


RANGES_AND_COUNTS = [
    "xp.ptp(a,out=xp.zeros(3))", "xp.ptp(a,out=xp.zeros((),'i4'))", "xp.ptp(t,out=xp.zeros(()))", "xp.ptp(a,out=5)", "xp.ptp(a,0,xp.zeros(3))",
    "xp.average(a,axis=True)", "xp.average(a,axis=[0])", "xp.count_nonzero(a,keepdims=None)", "xp.average(a,0,[1,2])", "xp.average(a,(0,1),a)",
]  # fmt: skip


@pytest.mark.parametrize("program", RANGES_AND_COUNTS)
@same_as_numpy()
def test_ranges_and_counts(xp, program):
    return outcome(xp, program)

"""Sorting: values, orders, ties, NaN last, every dtype and layout."""

import numpy as np
import pytest

import cupric as cp
import support
from support import EVERY, NUMPY, REAL, hostile, outcome, same_as_numpy

REAL_NUMPY = [dtype for dtype in NUMPY if dtype.kind != "c"]


def distinct_zeros(dtype):
    """Hostile values with one kind of zero: -0 and +0 are ties, whose order depends on where they were."""
    values = hostile(dtype)
    return values[~((values == 0) & np.signbit(values.astype("f8")))] if dtype.kind == "f" else values


@pytest.mark.parametrize("axis", [-1, 0, None])
@same_as_numpy(
    dtypes=REAL,
    layouts=EVERY,
    values=lambda dtype: distinct_zeros(dtype) if dtype != support.BFLOAT16 else support.mild(dtype),
)
def test_sort(xp, a, axis):
    return xp.sort(a, axis=axis)


@pytest.mark.parametrize("axis", [-1, 0, None])
@same_as_numpy(dtypes=REAL, layouts=support.WITH_AXES)
def test_argsort_is_stable(xp, a, axis):
    return xp.argsort(a, axis=axis, kind="stable")


@pytest.mark.parametrize("length", [0, 1, 2, 3, 255, 256, 257, 1023, 1025, 2048, 2049, 10_007, 70_000])
@pytest.mark.parametrize("dtype", ["i8", "f4", "u1", "i2", "f8", "?"])
@same_as_numpy()
def test_lengths_at_the_edges_of_blocks(xp, length, dtype):
    a = (xp.arange(length) * 7919 % 10007 - 5000).astype("i8")
    a = (a % 2 == 0) if dtype == "?" else a.astype("f8").astype(dtype) if dtype[0] == "f" else (a % 200).astype(dtype)
    return xp.sort(a), xp.argsort(a, kind="stable")


@pytest.mark.parametrize("shape", [(3, 0, 4), (2, 0), (1, 5), (700, 3), (3, 700), (5, 6, 7), (2, 1)], ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1])
@same_as_numpy()
def test_axes(xp, shape, axis):
    a = (xp.arange(int(np.prod(shape))) * 37 % 101).reshape(shape)
    return xp.sort(a, axis=axis), xp.argsort(a, axis=axis, kind="stable")


@same_as_numpy()
def test_in_place(xp):
    a = xp.arange(12)[::-1].reshape(3, 4).copy()
    a.sort()
    b = xp.arange(12)[::-1].copy()
    b[::2].sort()
    c = xp.arange(12).reshape(3, 4)[::-1].copy()
    c.sort(axis=0)
    return a, b, c, a.argsort(axis=0)


@same_as_numpy()
def test_complex_order(xp):
    values = [complex(np.nan, 0), 2 + 1j, 2 - 1j, 1 + 5j, complex(1, np.nan), complex(np.nan, np.nan), 0]
    return xp.sort(xp.array(values)), xp.argsort(xp.array(values), kind="stable"), xp.sort(xp.array(values, "c8"))


@pytest.mark.parametrize("axis", [2, -3])
@same_as_numpy()
def test_axis_that_is_not_there(xp, axis):
    return xp.sort(xp.zeros((2, 3)), axis=axis)


@same_as_numpy()
def test_sort_of_a_zero_dimensional_array(xp):
    return xp.sort(xp.array(3))


def test_a_random_million():
    values = np.random.default_rng(3).standard_normal(300_000).astype("f4")
    assert (cp.sort(cp.array(values)).get() == np.sort(values)).all()
    order = cp.argsort(cp.array(values)).get()
    assert (values[order] == np.sort(values)).all()


THE_ORDER_OF_A_NUMBER = [
    "xp.argsort(s)", "xp.argsort(s,axis=0)", "xp.argsort(s,axis=1)", "xp.argsort(s,axis=None)", "xp.sort(s)", "xp.sort(s,axis=None)", "s.sort()",
]  # fmt: skip


@pytest.mark.parametrize("program", THE_ORDER_OF_A_NUMBER)
@same_as_numpy()
def test_the_order_of_a_number(xp, program):
    return outcome(xp, program)


KINDS_OF_SORTING = [
    'xp.sort(a,kind="heap")', 'xp.sort(a,kind="foo")', 'xp.sort(a,kind="")', "xp.sort(a,kind=1)", 'xp.sort(a,kind="q")', 'xp.sort(a,kind="Quick")',
    'xp.sort(a,kind="stable")', 'xp.sort(a,kind="mergesort")', "xp.sort(a,kind=None,stable=True)", 'xp.sort(a,kind="stable",stable=True)',
    'xp.sort(a,kind="quicksort",stable=False)', 'xp.argsort(a,kind="foo")', 'xp.argsort(a,kind="m")', 'xp.argsort(a,kind="heapsort",stable=True)',
    'r=a.copy();r.sort(kind="foo")', "xp.sort(a,order=1)", 'xp.sort(a,order="x")',
]  # fmt: skip


@pytest.mark.parametrize("program", KINDS_OF_SORTING)
@same_as_numpy()
def test_kinds_of_sorting(xp, program):
    return outcome(xp, program)


THE_AXIS_OF_POSITIONS = [
    "xp.argsort(a,axis=True)", "xp.argsort(a)", "a.argsort(0)",
]  # fmt: skip


@pytest.mark.parametrize("program", THE_AXIS_OF_POSITIONS)
@same_as_numpy()
def test_the_axis_of_positions(xp, program):
    return outcome(xp, program)

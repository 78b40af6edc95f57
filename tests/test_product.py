"""matmul and dot: shapes, dtypes, layouts, exactness of integers."""

import itertools

import numpy as np
import pytest

import cupric as cp
import support
from support import ALL, INTEGER, same_as_numpy

SHAPES = [
    ((2, 3), (3, 4)), ((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)),
    ((2, 1, 2, 3), (4, 3, 2)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3), (3, 0)), ((1, 1), (1, 1)), ((33, 65), (65, 17)), ((0,), (0,)),
    ((3,), (2, 3, 4)), ((2, 2, 3), (3,)),
]  # fmt: skip
BAD = [((2, 3), (2, 3)), ((), (3,)), ((3,), (4,)), ((2, 2, 3), (3, 3, 4)), ((3, 2), (3,))]


def filled(xp, shape, dtype="f8"):
    return (xp.arange(int(np.prod(shape))) % 7 - 3).astype(dtype).reshape(shape)


@pytest.mark.parametrize("shapes", SHAPES + BAD, ids=str)
@pytest.mark.parametrize("dtype", ["f8", "i8", "f4", "c16"])
@same_as_numpy()
def test_shapes_of_matmul(xp, shapes, dtype):
    left, right = (filled(xp, shape, dtype) for shape in shapes)  # small integers: no product or sum rounds
    return left @ right, xp.matmul(left, right)


@pytest.mark.parametrize("shapes", SHAPES + BAD, ids=str)
@same_as_numpy()
def test_shapes_of_dot(xp, shapes):
    left, right = (filled(xp, shape) for shape in shapes)
    return xp.dot(left, right), left.dot(right)


@pytest.mark.parametrize("dtype", ALL, ids=support.name_of)
def test_every_dtype(dtype):
    left, right = (filled(np, shape, "i8" if dtype.kind in "iu" else "f8") for shape in ((19, 33), (33, 21)))
    left, right = abs(left).astype(dtype), abs(right).astype(dtype)
    want = (left.astype("f4") @ right.astype("f4")).astype(dtype) if dtype == support.BFLOAT16 else left @ right
    support.assert_same(cp.array(left) @ cp.array(right), want, note=str(dtype))


@pytest.mark.parametrize("one,other", itertools.combinations(["?", "i4", "f4", "f8", "c8", "u8"], 2))
@same_as_numpy()
def test_mixed_dtypes(xp, one, other):
    left, right = abs(filled(xp, (3, 4))).astype(one), abs(filled(xp, (4, 2))).astype(other)
    return left @ right, right.T @ left.T


@same_as_numpy(dtypes=[np.dtype("f4"), np.dtype("f8"), np.dtype("c8"), np.dtype("i4")])
def test_every_layout(xp, a):
    base = filled(xp, (24, 24), a.dtype)
    views = [
        base,
        base.T,
        base[::-1, ::-1],
        base[::2, ::2],
        base[:, :12],
        xp.broadcast_to(base[:1], (24, 24)),
        base[1:, 1:],
        base[::-1].T[::2],
    ]
    return [view @ view.T for view in views]


@pytest.mark.parametrize("dtype,bound", [("f4", 1e-6), ("f8", 1e-15), ("c8", 1e-6), ("c16", 1e-15), ("f2", 2e-3)])
@pytest.mark.parametrize(
    "shapes",
    [
        ((100, 300), (300, 50)),
        ((257, 129), (129, 65)),
        ((7, 64, 64), (7, 64, 64)),
        ((1000,), (1000,)),
        ((1, 5000), (5000, 1)),
    ],
    ids=str,
)
def test_accuracy(dtype, bound, shapes):
    random = np.random.default_rng(1)
    left, right = (
        random.standard_normal(shape) + (1j * random.standard_normal(shape) if dtype[0] == "c" else 0)
        for shape in shapes
    )
    left, right = left.astype(dtype), right.astype(dtype)
    exact = left.astype("c16") @ right.astype("c16")
    got = (cp.array(left) @ cp.array(right)).get()
    size = np.abs(left).astype("f8") @ np.abs(right).astype("f8")
    assert got.dtype == dtype and (np.abs(got - exact) <= bound * 4 * size + bound).all()


@pytest.mark.parametrize("dtype", INTEGER, ids=support.name_of)
def test_integers_wrap(dtype):
    big = np.iinfo(dtype).max
    left, right = np.array([[big, big - 3]], dtype), np.array([[5], [7]], dtype)
    support.assert_same(cp.array(left) @ cp.array(right), left @ right)


@same_as_numpy()
def test_infinities_and_nans(xp):
    a = xp.array([[1.0, np.inf], [np.nan, 2.0]])
    return a @ xp.ones((2, 2)), xp.zeros((2, 2)) @ a


@same_as_numpy()
def test_out(xp):
    a, out = filled(xp, (3, 3)), xp.zeros((3, 3))
    assert xp.matmul(a, a, out=out) is out
    part = xp.zeros((6, 3))
    xp.matmul(a, a, out=part[::2])
    xp.matmul(a, a, out=a)
    return out, part, a


@same_as_numpy()
def test_operator_with_a_number(xp):
    return filled(xp, (3, 3)) @ 2


@same_as_numpy()
def test_in_place_operator(xp):
    a = filled(xp, (3, 3))
    a @= filled(xp, (3, 3))
    return a


@same_as_numpy()
def test_products_of_vectors(xp):
    a, b = xp.arange(3.0), xp.arange(3.0) + 1
    return (
        xp.vdot(a, b),
        xp.inner(a, b),
        xp.outer(a, b),
        xp.dot(a, 2),
        xp.dot(3, b),
        xp.tensordot(filled(xp, (2, 3, 4)), filled(xp, (3, 4, 2))),
    )


def test_two_runs_give_the_same_bits():
    a = cp.array(np.random.default_rng(0).standard_normal((200, 200)).astype("f4"))
    assert ((a @ a).get() == (a @ a).get()).all()

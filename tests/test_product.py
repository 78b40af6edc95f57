"""matmul and dot: shapes, dtypes, layouts, exactness of integers."""

import itertools

import numpy as np
import pytest

import cupric as cp
import support
from support import ALL, INTEGER, outcome, same_as_numpy

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


PRODUCTS_OF_VECTORS_AND_MATRICES = [
    "xp.vecdot(b,b)", "xp.vecdot(u,u)", "xp.vecdot(t,t)", "xp.vecdot(s,s)", "xp.vecdot(a,b[:3])", "xp.vecdot(a,xp.ones(1))",
    "xp.vecdot(a,xp.ones(4))", "xp.vecdot(c*1j,c)", "xp.vecdot(u,b[:4])", "xp.vecdot(a,a,axis=0)", "xp.vecdot(a,a,axis=5)", "xp.vecdot(z,z)",
    "xp.vecdot(a.astype('e'),a.astype('e'))", "xp.vecdot([1,2],[3,4])", "xp.vecdot(2,3)", "xp.matvec(a,b[:3])", "xp.matvec(a,b[:4])",
    "xp.matvec(a,s)", "xp.matvec(s,a)", "xp.matvec(b,b)", "xp.matvec(a,xp.ones((4,3)))", "xp.matvec(a,xp.ones((4,1)))", "xp.matvec(t,t)",
    "xp.matvec(xp.ones((2,2),bool),t)", "xp.matvec(xp.ones((2,2),'u1'),u[:2])", "xp.vecmat(b[:2],a)", "xp.vecmat(b[:3],a)", "xp.vecmat(s,a)",
    "xp.vecmat(a,s)", "xp.vecmat(c[0,:2]*1j,c)", "xp.vecmat(xp.ones((4,2)),a)",
]  # fmt: skip


@pytest.mark.parametrize("program", PRODUCTS_OF_VECTORS_AND_MATRICES)
@same_as_numpy()
def test_products_of_vectors_and_matrices(xp, program):
    return outcome(xp, program)


PRODUCTS_CHECK_THEIR_ARGUMENTS = [
    "xp.matmul(a,b.reshape(3,2),out=xp.zeros((1,2,2)))", "xp.matmul(a,b.reshape(3,2),out=xp.zeros((3,2,2)))",
    "xp.matmul(a,b.reshape(3,2),out=xp.zeros((3,3)))", "xp.matmul(a,b.reshape(3,2),out=xp.zeros((2,2),'i4'))",
    "xp.matmul(a,b.reshape(3,2),out=xp.zeros((2,2),'f4'))", "xp.matmul(a,b.reshape(3,2),out=1)",
    "xp.matmul(a,b.reshape(3,2),out=(xp.zeros((2,2)),))", "xp.matmul(a,b.reshape(3,2),out=[xp.zeros((2,2))])", "xp.matmul(a,b.reshape(3,2),out=())",
    'xp.matmul(a,b.reshape(3,2),casting="no")', "xp.matmul(a,b.reshape(3,2),dtype='i4')", "xp.matmul(a,b.reshape(3,2),dtype='f4')",
    "xp.matmul(a,b.reshape(3,2),dtype='i4',casting='unsafe')", "xp.matmul(a,b.reshape(3,2),dtype='f4',casting='safe')",
    "xp.matmul(a,b.reshape(3,2),order='F').strides", "xp.matmul(a,b.reshape(3,2),order='Z')", "xp.matmul(a,3)", "xp.matmul(a,[1,2,3])", "a@3",
    "3@a", "xp.dot(a,b.reshape(3,2),out=xp.zeros((2,2),'f4'))", "xp.dot(a,b.reshape(3,2),out=xp.zeros((2,2)).T)",
    "xp.dot(a,b.reshape(3,2),out=xp.zeros((3,3)))", "xp.dot(a,b.reshape(3,2),out=1)", "xp.dot(a,b.reshape(3,2),out=(xp.zeros((2,2)),))",
    "xp.dot(a,2)", "xp.dot(2,u)", "a.dot(2)", "xp.dot(a,s)", "xp.dot(a,xp.ones(4))", "xp.tensordot(a,a,1)", "xp.tensordot(a,a,2)",
    "xp.tensordot(a,a,3)", "xp.tensordot(a,a,-1)", "xp.tensordot(a,a,0)", "xp.tensordot(a,a,([0],[5]))", "xp.tensordot(a,a,([0,1],[0]))",
    "xp.tensordot(a,a,([0,0],[0,0]))", 'xp.tensordot(a,a,"a")', "xp.tensordot(a,a,None)", "xp.tensordot(a,a,1.5)", "xp.tensordot(a,a,(0,0))",
    "xp.tensordot(a,a,([0],))", "xp.inner(a,a)", "xp.inner(a,xp.ones(4))", "xp.outer(a,2)", "xp.vdot(a,xp.ones(4))", "xp.vdot(s,s)", "xp.kron(a,2)",
    "xp.matmul(t,t)", "r=xp.arange(9.).reshape(3,3);xp.matmul(r,r,out=r)", "r=xp.arange(9.).reshape(3,3);r@=r",
    "r=xp.arange(9).reshape(3,3);r@=xp.ones((3,3))", "r=xp.ones((2,3));r@=xp.ones((3,2))", "r=xp.ones(3);r@=xp.ones((3,3))",
    "r=xp.ones((3,3));r@=3",
]  # fmt: skip


@pytest.mark.parametrize("program", PRODUCTS_CHECK_THEIR_ARGUMENTS)
@same_as_numpy()
def test_products_check_their_arguments(xp, program):
    return outcome(xp, program)

"""Shapes: views where NumPy gives views, copies where it copies."""

import numpy as np
import pytest

import cupric as cp
from support import ALL, EVERY, outcome, same_as_numpy


@pytest.mark.parametrize(
    "shape", [(24,), (4, 6), (2, -1), (-1,), (3, 2, 4), (1, 24, 1), (5, 5), (-1, -1), (-1, 7), (0, -1)], ids=str
)
@pytest.mark.parametrize("order", ["C", "F", "A"])
@same_as_numpy()
def test_reshape(xp, shape, order):
    a = xp.arange(24).reshape(2, 3, 4)
    return xp.reshape(a, shape, order=order), a.T.reshape(shape, order=order), a[::-1].reshape(shape)


@same_as_numpy(dtypes=ALL, layouts=EVERY)
def test_views_and_copies_of_every_layout(xp, a):
    results = [
        a.reshape(-1),
        a.ravel(),
        a.flatten(),
        a.T,
        xp.squeeze(a),
        a[None],
        xp.ascontiguousarray(a),
        a.copy(order="F"),
        a.ravel(order="F"),
    ]
    if a.ndim >= 2:
        results += [
            xp.swapaxes(a, 0, 1),
            xp.moveaxis(a, 0, -1),
            xp.expand_dims(a, 1),
            xp.concatenate([a, a]),
            xp.stack([a, a], axis=1),
        ]
    return results


@pytest.mark.parametrize("axes", [None, (0, 1, 2), (2, 0, 1), (-1, 0, 1), (0, 0, 1), (0, 1), (0, 1, 3)], ids=str)
@same_as_numpy()
def test_transpose(xp, axes):
    a = xp.arange(24).reshape(2, 3, 4)
    return xp.transpose(a, axes), a.transpose(axes), a.transpose(*axes) if axes else a.transpose()


@pytest.mark.parametrize("axis", [None, 0, 2, -1, (0, 2), 1, (0, 1), 5], ids=str)
@same_as_numpy()
def test_squeeze(xp, axis):
    return xp.squeeze(xp.zeros((1, 3, 1)), axis=axis), xp.squeeze(xp.zeros((1, 0, 1, 7)))


@pytest.mark.parametrize("axis", [0, 1, -1, (0, 2), 3, (0, 0)], ids=str)
@same_as_numpy()
def test_expand_dims(xp, axis):
    return xp.expand_dims(xp.arange(6).reshape(2, 3), axis)


@pytest.mark.parametrize("shape", [(4, 3), (3,), (2, 4, 3), (0, 3), (4, 2), (3, 4), ()], ids=str)
@same_as_numpy()
def test_broadcast_to(xp, shape):
    return xp.broadcast_to(xp.arange(3), shape), xp.broadcast_to(xp.array(5), shape)


def test_a_broadcast_view_is_read_only():
    view = cp.broadcast_to(cp.zeros((3, 1)), (3, 70))
    assert not view.flags.writeable
    with pytest.raises(ValueError):
        view += 1
    with pytest.raises(ValueError):
        view[0] = 1


@same_as_numpy()
def test_broadcast_arrays_and_shapes(xp):
    a, b = xp.broadcast_arrays(xp.arange(3), xp.zeros((2, 1)))
    return a, b, xp.broadcast_shapes((3, 1), (1, 4), (4,))


@pytest.mark.parametrize("axis", [0, 1, -1, None, 2])
@same_as_numpy()
def test_concatenate(xp, axis):
    a, b = xp.arange(6).reshape(2, 3), xp.arange(6.0).reshape(2, 3) * 2
    return (
        xp.concatenate([a, b], axis=axis),
        xp.concatenate((a, b, a), axis=axis),
        xp.concatenate([a, b], axis=axis, dtype="f4"),
    )


@pytest.mark.parametrize("shapes", [[(2, 3), (2, 4)], [(3,), (2, 3)], [], [(0, 3), (2, 3)], [()]], ids=str)
@same_as_numpy()
def test_concatenate_of_different_shapes(xp, shapes):
    return xp.concatenate([xp.ones(shape) for shape in shapes])


@pytest.mark.parametrize("axis", [0, 1, 2, -1, 3])
@same_as_numpy()
def test_stack(xp, axis):
    a = xp.arange(6).reshape(2, 3)
    return xp.stack([a, a + 1, a * 2], axis=axis)


@same_as_numpy()
def test_stacking_by_direction(xp):
    a, b = xp.arange(3), xp.arange(3) + 10
    m = xp.arange(6).reshape(2, 3)
    return (
        xp.vstack([a, b]),
        xp.hstack([a, b]),
        xp.hstack([m, m]),
        xp.dstack([a, b]),
        xp.column_stack([a, b]),
        xp.stack([]),
    )


@pytest.mark.parametrize("parts", [3, [1, 3], [2], [0, 7], 4], ids=str)
@same_as_numpy()
def test_split(xp, parts):
    a = xp.arange(12).reshape(6, 2)
    return xp.split(a, parts), xp.array_split(a, parts)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), 2], ids=str)
@same_as_numpy()
def test_flip(xp, axis):
    return xp.flip(xp.arange(6).reshape(2, 3), axis)


@same_as_numpy()
def test_flip_and_rot(xp):
    a = xp.arange(6).reshape(2, 3)
    return xp.fliplr(a), xp.flipud(a), xp.rot90(a), xp.rot90(a, 2), xp.rot90(a, -1)


@pytest.mark.parametrize("shift", [0, 1, -2, 7, (1, 2)], ids=str)
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)], ids=str)
@same_as_numpy()
def test_roll(xp, shift, axis):
    return xp.roll(xp.arange(12).reshape(3, 4), shift, axis)


@same_as_numpy()
def test_repeat_and_tile(xp):
    a = xp.arange(6).reshape(2, 3)
    return (
        xp.repeat(a, 2),
        xp.repeat(a, 3, axis=1),
        xp.repeat(a, [1, 2], axis=0),
        xp.tile(a, 2),
        xp.tile(a, (2, 1, 2)),
        a.repeat(2, axis=0),
    )


@pytest.mark.parametrize("source", ["i1", "i2", "i4", "i8", "f4", "c8", "?"])
@pytest.mark.parametrize("target", ["i1", "u2", "f4", "u8", "c8", "?"])
@same_as_numpy()
def test_view_as_another_dtype(xp, source, target):
    a = (xp.arange(24).reshape(3, 8) % 2).astype(source)
    return a.view(target) if target != "?" else a.view(target).view("u1"), a[:, ::2].view(target).shape


@same_as_numpy()
def test_flags_after_a_view_of_other_items(xp):
    v = xp.ones((5, 1), "f4").view("i1")
    return v.shape, v.flags.c_contiguous, v.flags.f_contiguous


@same_as_numpy(dtypes=[np.dtype("i4"), np.dtype("c16")], layouts=EVERY)
def test_flags(xp, a):
    return a.flags.c_contiguous, a.flags.f_contiguous, a.flags.writeable, a.size, a.ndim, a.itemsize, a.nbytes, a.shape


@pytest.mark.parametrize("offset", [0, 1, -1, 9])
@same_as_numpy()
def test_diagonal_and_trace(xp, offset):
    a = xp.arange(24).reshape(2, 3, 4)
    return xp.diagonal(a, offset), a.diagonal(offset, 1, 2), xp.trace(a, offset)


@same_as_numpy()
def test_at_least(xp):
    return [f(xp.array(3)) for f in (xp.atleast_1d, xp.atleast_2d, xp.atleast_3d)], xp.atleast_2d(xp.arange(3))


@same_as_numpy()
def test_writes_through_views(xp):
    a = xp.arange(24).reshape(2, 3, 4)
    for view in (
        a.T,
        xp.swapaxes(a, 0, 1),
        xp.moveaxis(a, 0, -1),
        a.reshape(-1),
        a.ravel(),
        xp.squeeze(a[:1]),
        xp.flip(a),
        xp.expand_dims(a, 0),
    ):
        view += 1
    return a


@same_as_numpy()
def test_flatten_copies(xp):
    a = xp.arange(6)
    a.flatten()[...] = 9
    a.reshape(2, 3).T.ravel()[...] = 9
    return a


@same_as_numpy()
def test_resizing_by_shape(xp):
    a = xp.arange(6)
    a.shape = (2, 3)
    return a


@same_as_numpy()
def test_shape_that_does_not_fit(xp):
    return xp.arange(6).reshape(4, 2), xp.arange(6).reshape("a")


@same_as_numpy()
def test_equality_of_arrays(xp):
    a = xp.arange(3)
    return (
        bool(xp.array_equal(a, a)),
        bool(xp.array_equal(a, a + 1)),
        bool(xp.array_equal(a, xp.arange(4))),
        bool(xp.allclose(a, a + 1e-9)),
    )


def test_shares_memory():
    a = cp.arange(10)
    assert cp.shares_memory(a[::2], a[4:]) and cp.may_share_memory(a, a[1:])
    assert not cp.shares_memory(a[::2], a[1::2]) and not cp.shares_memory(a, a.copy())


RAVEL_IN_MEMORY_ORDER = [
    "xp.broadcast_to(xp.arange(3),(2,3)).ravel('K')", "xp.broadcast_to(xp.arange(3),(2,3)).flatten('K')",
    "xp.broadcast_to(xp.arange(6).reshape(3,2).T,(4,2,3)).ravel('K')", "xp.broadcast_to(xp.arange(6).reshape(3,1,2),(3,4,2)).ravel('K')",
    "xp.broadcast_to(xp.arange(6).reshape(3,1,2).T,(2,4,3)).ravel('K')", "xp.broadcast_to(xp.arange(3).reshape(3,1),(3,4)).T.ravel('K')",
    "xp.arange(24).reshape(2,3,4).transpose(2,0,1).ravel('K')", "xp.arange(24).reshape(2,3,4).transpose(1,0,2)[::-1].flatten('K')",
    "xp.arange(24).reshape(2,3,4)[:,::-1].T.flatten('K')",
]  # fmt: skip


@pytest.mark.parametrize("program", RAVEL_IN_MEMORY_ORDER)
@same_as_numpy()
def test_ravel_in_memory_order(xp, program):
    return outcome(xp, program)


COPYTO_CHECKS_CASTING_AND_MASK = [
    "r=xp.zeros(3,'u1');xp.copyto(r,300)", "r=xp.zeros(3,'u1');xp.copyto(r,1.5)", "r=xp.zeros(3,'u1');xp.copyto(r,1.0)",
    "r=xp.zeros(3,'i1');xp.copyto(r,-1)", "r=xp.zeros(3,'u1');xp.copyto(r,-1)", "r=xp.zeros(3,'i1');xp.copyto(r,1j)",
    "r=xp.zeros(3);xp.copyto(r,1j)", "r=xp.zeros(3);xp.copyto(r,1j,casting='unsafe')", "r=xp.zeros(3,'u1');xp.copyto(r,1.5,casting='unsafe')",
    "r=xp.zeros(3,'u1');xp.copyto(r,-1,casting='unsafe')", "r=xp.zeros(3,'u1');xp.copyto(r,300,casting='unsafe')",
    "r=xp.zeros(3,'?');xp.copyto(r,2)", "r=xp.zeros(3,'?');xp.copyto(r,2,casting='unsafe')", "r=xp.zeros(3,'f4');xp.copyto(r,1.5,casting='no')",
    "r=xp.zeros(3,'f4');xp.copyto(r,1,casting='no')", "r=xp.zeros(3,'f4');xp.copyto(r,1,casting='safe')", "r=xp.zeros(3,'f4');xp.copyto(r,2**100)",
    "r=xp.zeros(3,'f4');xp.copyto(r,10**400)", "r=xp.zeros(3,'i4');xp.copyto(r,True,casting='no')", "r=xp.zeros(3,'i4');xp.copyto(r,True)",
    "r=xp.zeros(3,'u1');xp.copyto(r,np.int64(5))", "r=xp.zeros(3,'u1');xp.copyto(r,np.int64(-5))", "r=xp.zeros(3,'u1');xp.copyto(r,np.int64(300))",
    "r=xp.zeros(3,'u1');xp.copyto(r,np.float64(5))", "r=xp.zeros(3,'f4');xp.copyto(r,np.float64(5),casting='safe')",
    "r=xp.zeros(3,'f4');xp.copyto(r,np.complex128(5))", "r=xp.zeros(3);xp.copyto(r,1,casting='foo')",
    "r=xp.zeros(3);xp.copyto(r,1,where=xp.ones(4,bool))", "r=xp.zeros(3);xp.copyto(r,1,where=xp.ones((1,3),bool))",
    "r=xp.zeros(3);xp.copyto(r,1,where=xp.ones((2,3),bool))", "r=xp.zeros(3);xp.copyto(r,1,where=xp.ones(1,bool))",
    "r=xp.zeros(3);xp.copyto(r,1,where=[True,False,True])", "r=xp.zeros(3);xp.copyto(r,1,where=[1,0,1])",
    "r=xp.zeros(3);xp.copyto(r,1,where=xp.ones(3))", "r=xp.zeros(3);xp.copyto(r,1,where=1)", "r=xp.zeros(3);xp.copyto(r,[1,2,3])",
    "r=xp.zeros(3,'u1');xp.copyto(r,[1,2,3])", "r=xp.zeros(3,'u1');xp.copyto(r,[1.5,2,3])", "r=xp.zeros(3,'u1');xp.copyto(r,xp.array(5))",
    "r=xp.zeros(3,'u1');xp.copyto(r,xp.array(5.))", "xp.copyto(5,1)", "xp.copyto([1],1)",
]  # fmt: skip


@pytest.mark.parametrize("program", COPYTO_CHECKS_CASTING_AND_MASK)
@same_as_numpy()
def test_copyto_checks_casting_and_mask(xp, program):
    return outcome(xp, program)


SPLITTING_ROLLING_AND_TRANSPOSING = [
    "xp.vsplit(a,2)", "xp.vsplit(b,2)", "xp.vsplit(s,1)", "xp.hsplit(s,1)", "xp.hsplit(b,2)", "xp.dsplit(a,1)", "xp.dsplit(b,1)",
    "xp.dsplit(xp.ones((2,2,2)),2)", "xp.split(a,2)", "xp.split(a,5)", "xp.split(a,0)", "xp.split(a,-1)", "xp.split(a,[1])", "xp.split(a,[-1])",
    "xp.split(a,2,5)", 'xp.split(a,2,"a")', 'xp.split(a,"a")', "xp.split(a,None)", "xp.split(a,2.0)", "xp.split(a,[])", "xp.split(a,[1.5])",
    "xp.split(a,xp.array([1]))", "xp.split(s,1)", "xp.split(a,True)", "xp.array_split(a,4)", "xp.array_split(a,0)", "xp.array_split(a,-1)",
    "xp.array_split(a,2.0)", 'xp.array_split(a,"a")', "xp.array_split(a,[0,0])", "xp.array_split(s,1)", "xp.array_split(a,2,5)",
    "xp.array_split(a,7,1)", "xp.hsplit(a,2)", "xp.roll(a,1)", "xp.roll(a,1.5)", "xp.roll(a,1.0)", 'xp.roll(a,"a")', "xp.roll(a,None)",
    "xp.roll(a,1,5)", "xp.roll(a,2**70)", "xp.roll(a,(1,2),0)", "xp.roll(a,1,(0,1))", "xp.roll(a,(1,2,3),(0,1))", "xp.roll(a,1,(0,0))",
    "xp.roll(a,(),())", "xp.roll(a,(1,2))", "xp.roll(a,xp.array([1,2]),(0,1))", "xp.roll(a,1,1.5)", "xp.roll(a,1.5,1)", 'xp.roll(a,1,"a")',
    "xp.roll(s,1)", "xp.roll(s,1,0)", "xp.roll(z,1)", "xp.roll(a,[[1,2]],0)", "xp.transpose(a,())", "a.transpose(())", "a.transpose()",
    "a.transpose(None)", "xp.transpose(s,())", "xp.transpose(a,[])", "xp.transpose(a,(0,))", "xp.transpose(a,1)", 'xp.transpose(a,"a")',
]  # fmt: skip


@pytest.mark.parametrize("program", SPLITTING_ROLLING_AND_TRANSPOSING)
@same_as_numpy()
def test_splitting_rolling_and_transposing(xp, program):
    return outcome(xp, program)


AXES_ARE_INTEGERS = [
    "xp.squeeze(xp.ones((1,2)),axis=False)", "xp.squeeze(xp.ones((1,2)),axis=[0])", "xp.squeeze(xp.ones((1,2)),axis=0.0)", "xp.squeeze(s,axis=0)",
    "xp.squeeze(s,axis=())", "xp.squeeze(s,axis=-1)", "xp.size(a,0)", "xp.size(a,-1)", "xp.size(a,5)", "xp.size(a,(0,1))", "xp.size(a,(0,0))",
    "xp.size(a,True)", 'xp.size(a,"a")', "xp.size(a,1.0)", "xp.size(a,[0])", "xp.size(s,0)", "xp.expand_dims(a,True)", "xp.expand_dims(a,[0])",
    "xp.concatenate([a,a],axis=True)", "xp.concatenate([a,a],axis=(0,))", "xp.concatenate([a,a],axis=1.0)", "xp.stack([a,a],axis=True)",
    "xp.stack([a,a],axis=None)", "xp.stack([a,a],axis=5)", "xp.swapaxes(a,True,0)", "xp.flip(a,True)", "xp.flip(a,xp.array(0))",
    "xp.flip(a,np.array(0))", "xp.flip(a,1.5)", "xp.flip(a,[0])", "xp.flip(s)", "xp.flip(s,0)", "xp.moveaxis(a,True,0)", "xp.roll(a,1,True)",
    "xp.repeat(a,2,True)", "xp.repeat(a,2,(0,))", "xp.diff(a,1,True)",
]  # fmt: skip


@pytest.mark.parametrize("program", AXES_ARE_INTEGERS)
@same_as_numpy()
def test_axes_are_integers(xp, program):
    return outcome(xp, program)


NUMBERS_OF_REPETITIONS = [
    "xp.repeat(a,[1.5,2],0)", "xp.repeat(a,[],0)", "xp.repeat(a,xp.array([1.5,2]),0)", "xp.repeat(s,(2,),0)", "xp.repeat(s,2)", "xp.repeat(s,2,1)",
    "xp.repeat(a,2.5)",
]  # fmt: skip


@pytest.mark.parametrize("program", NUMBERS_OF_REPETITIONS)
@same_as_numpy()
def test_numbers_of_repetitions(xp, program):
    return outcome(xp, program)


JOINING_TAKES_SEQUENCES = [
    "xp.stack(x for x in (a,a))", "xp.concatenate(x for x in (a,a))", "xp.vstack(x for x in (a,a))",
]  # fmt: skip


@pytest.mark.parametrize("program", JOINING_TAKES_SEQUENCES)
@same_as_numpy()
def test_joining_takes_sequences(xp, program):
    return outcome(xp, program)

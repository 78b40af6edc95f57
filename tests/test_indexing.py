"""Indexing: views, integers, masks, index arrays, assignment, and what is refused."""

import numpy as np
import pytest

import cupric as cp
import support
from support import ALL, EVERY, assert_same, outcome, same_as_numpy

BASIC = [
    "...", "0", "-1", "1:", ":2", "::2", "::-1", "None", "1:1", "5:1", "-2:", "1, 2", "1, ..., 2", "..., None", "None, 0", ":, 1", "::-2, ::3",
    "0, :, None", "..., 0, 0", ":, :, 1:2", "True", "False", "None, None", "100:", ":-100", "::-3, 1", "1, 2, 3", "..., -1, ::-1",
]  # fmt: skip
ARRAYS = [
    "[0, 1]", "[-1, 0, 0]", "[[0, 1], [1, 0]]", "[0], 1", "[0, 1], [2, 0]", ":, [0, 2]", "[0, 1], :, [1, 2]", ":, [0], [1, 2]", "1, [0, 1]",
    "[0, 1], None", "[[0], [1]], [0, 2, 1]", "..., [3, 1]", "[0], ..., [1]", "1:, [2, 0], ::2", "[]", "[True, False]", ":, [True, False, True]",
    "xp.arange(24).reshape(2, 3, 4) % 3 == 0", "xp.ones((2, 3), bool)", "xp.zeros((2, 3), bool), 1", "[True, True], 1", "xp.array(True)",
    "xp.array(1), 2", "xp.array([1, 0], 'u1')", "xp.array([-1], 'i1'), xp.array([2, 1, 0])", "xp.array([], 'i8'), 0", "0, xp.array([True, False, True])",
]  # fmt: skip
REFUSED = [
    "5", "-3", "0, 0, 0, 0", "[0, 5]", "[0, -9]", "1.5", "'a'", "[0.5]", "[0, 1], [0, 1, 2]", "[True, False, True]", "xp.ones((2, 2), bool)", "..., ...",
    "xp.ones((2, 3, 4, 1), bool)", ":, 9", "::0", "xp.array([1.0])", "1j",
]  # fmt: skip


def cube(xp, dtype="i8"):
    return xp.arange(24).reshape(2, 3, 4).astype(dtype)


def evaluate(xp, a, index):
    return eval(f"a[{index}]", {"a": a, "xp": xp})


@pytest.mark.parametrize("index", BASIC + ARRAYS)
@same_as_numpy()
def test_reading(xp, index):
    a = cube(xp)
    return evaluate(xp, a, index), evaluate(xp, a.transpose(0, 2, 1).transpose(0, 2, 1)[:, ::1], index)


@pytest.mark.parametrize("index", BASIC + ARRAYS)
@same_as_numpy()
def test_writing_a_number(xp, index):
    a = cube(xp)
    exec(f"a[{index}] = -7", {"a": a, "xp": xp})
    return a


@pytest.mark.parametrize("index", BASIC + ARRAYS)
@same_as_numpy()
def test_writing_an_array(xp, index):
    a = cube(xp)
    value = xp.arange(np.size(evaluate(np, cube(np), index))).reshape(evaluate(np, cube(np), index).shape) + 100
    exec(f"a[{index}] = value", {"a": a, "xp": xp, "value": value})
    b = cube(xp).transpose(2, 1, 0).copy().transpose(2, 1, 0)
    exec(
        f"b[{index}] = value[..., :1] if value.ndim and value.shape[-1:] != (0,) else value",
        {"b": b, "xp": xp, "value": value},
    )
    return a, b


@pytest.mark.parametrize("index", BASIC + ARRAYS)
@same_as_numpy()
def test_in_place_through_an_index(xp, index):
    a = cube(xp)
    exec(f"a[{index}] += 5", {"a": a, "xp": xp})
    exec(f"a[{index}] *= 2", {"a": a, "xp": xp})
    return a


@pytest.mark.parametrize("index", REFUSED)
@same_as_numpy()
def test_refused_when_reading(xp, index):
    result = evaluate(xp, cube(xp), index)
    return result if xp is np else result.get()


@pytest.mark.parametrize("index", REFUSED)
@same_as_numpy()
def test_refused_when_writing(xp, index):
    a = cube(xp)
    exec(f"a[{index}] = 1", {"a": a, "xp": xp})
    return a if xp is np else a.get()


@pytest.mark.parametrize("value", ["[1, 2]", "xp.ones((3, 2))", "xp.ones((2, 2, 3, 4))"])
@same_as_numpy()
def test_values_that_do_not_fit(xp, value):
    a = cube(xp, "f8")
    a[...] = eval(value, {"xp": xp})
    return a


@same_as_numpy(dtypes=ALL, layouts=[layout for layout in EVERY if layout not in (support.ZERO_D, support.EMPTY)])
def test_every_dtype_and_layout(xp, a):
    flat = a.reshape(-1)
    index = xp.arange(a.size)[::-1] % a.size
    return a[0], a[..., -1:], a[::-1], flat[index], flat[index % 2 == 0], a[a == a], a[[0, -1]]


@same_as_numpy(dtypes=ALL, layouts=[layout for layout in EVERY if layout.writable], values=support.mild)
def test_writing_every_dtype_and_layout(xp, a):
    a[...] = a[..., ::-1] if a.ndim else a
    if a.ndim and a.size:
        a[0] = 1
        a[..., -1] = a[..., 0]
        a[a == 1] = 0
        a[[0, -1]] = xp.ones((), a.dtype)
    return a


@same_as_numpy()
def test_slices_are_views(xp):
    a = cube(xp)
    for view in (a[1:], a[:, ::-1], a[..., 0], a[None], a.T, a.reshape(6, 4), a[...]):
        view += 1
    return a


@same_as_numpy()
def test_index_arrays_copy(xp):
    a = cube(xp)
    for copy in (a[[0, 1]], a[a > 3], a[xp.array([0])]):
        copy += 1
    return a


@same_as_numpy()
def test_assignment_converts(xp):
    a = xp.zeros(4, "i4")
    a[0] = 2.9
    a[1:3] = xp.array([1.5, -1.5])
    b = xp.zeros(3, "f4")
    b[...] = xp.array([1, 2, 3], "u8")
    b[1] = True
    return a, b


@same_as_numpy()
def test_assignment_of_a_number_that_does_not_fit(xp):
    a = xp.zeros(4, "u1")
    a[0] = 300
    return a


@same_as_numpy()
def test_assignment_of_a_complex_number_to_a_float(xp):
    a = xp.zeros(4)
    a[0] = 1j
    return a


@same_as_numpy()
def test_zero_dimensional_arrays(xp):
    a = xp.array(5.0)
    a[()] = 7
    a[...] += 1
    return a, a[...], a[None], a[xp.array(True)], a[xp.array(False)]


@same_as_numpy()
def test_mask_and_integer_together(xp):
    d, b = xp.zeros((4, 4, 3)), xp.ones((2, 2))
    d[xp.eye(4, dtype=bool), 2] = 7
    b[1, True] = 5
    return d, b, b[xp.array(False)]


@same_as_numpy()
def test_numpy_and_list_indices(xp):
    a = xp.arange(10)
    return a[np.int64(3)], a[np.array([1, 2])], a[[True] * 10], a[np.arange(10) > 4], a[(1,)], a[np.uint8(2) :]


def test_cupric_integers_index_without_a_copy_to_the_host():
    a, index = cp.arange(10) * 3, cp.array(4)
    assert int(a[index]) == 12
    a[index] = 0
    assert int(a.sum()) == 135 - 12


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@same_as_numpy()
def test_take(xp, axis, mode):
    a, index = cube(xp), xp.array([[0, 2], [1, -1]]) if mode != "raise" else xp.array([[0, 1], [1, 0]])
    return xp.take(a, index, axis=axis, mode=mode), a.take(index, axis=axis, mode=mode), xp.take(a, 1, axis=axis)


@same_as_numpy()
def test_take_outside(xp):
    result = xp.take(xp.arange(5), xp.array([0, 5]))
    return result if xp is np else result.get()


@pytest.mark.parametrize("shape", [(0,), (5,), (3, 4), (2, 0, 3), (40, 50)], ids=str)
@same_as_numpy()
def test_nonzero(xp, shape):
    a = xp.arange(int(np.prod(shape))).reshape(shape) % 3
    return xp.nonzero(a), a.nonzero(), xp.flatnonzero(a), xp.argwhere(a)


@pytest.mark.parametrize("length", [1, 31, 32, 1000, 4097, 100_003])
@same_as_numpy()
def test_masks_of_all_lengths(xp, length):
    a = xp.arange(length)
    mask = a * 7919 % 13 < 5
    picked = a[mask]
    a[mask] = picked * 2
    a[~mask] = -1
    return picked, a, a[xp.zeros(length, bool)], a[xp.ones(length, bool)]


def test_iterating_and_unpacking():
    rows = list(cp.arange(6).reshape(2, 3))
    assert len(rows) == 2 and rows[1].tolist() == [3, 4, 5]
    first, second = cp.array([1, 2])
    assert (int(first), int(second)) == (1, 2)
    with pytest.raises(TypeError):
        iter(cp.array(1))
    with pytest.raises(TypeError):
        len(cp.array(1))


def test_strides_are_bytes():
    assert cp.empty((3, 5, 7)).strides == (280, 56, 8)
    assert cp.arange(10)[::-2].strides == (-16,)


def test_where_with_one_argument_is_nonzero():
    assert_same(cp.where(cp.arange(5) > 2), np.where(np.arange(5) > 2))


INDICES_ARE_CHECKED_ALSO_WHERE_NOTHING_IS_SELECTED = [
    "xp.ones((3,0))[[5]]", "xp.ones((3,0))[[-4]]", "xp.ones((3,0))[[2,-3]]", "z[[0]]", "z[:,[5]]", "xp.ones((3,0))[[5],:]",
    "xp.ones((3,0)).take([5],0)", "xp.ones((3,0)).take([5],0,mode='clip')", "xp.ones((3,0)).take([5],1)", "r=xp.ones((3,0));r[[5]]=1",
    "r=xp.ones((0,3));r[:,[5]]=1", "xp.ones((3,0))[[]]", "xp.ones((3,4))[[5],[]]", "xp.ones((3,4,0))[[5],[1]]",
    "xp.ones((3,4))[xp.zeros((0,1),int),[5,6]]",
]  # fmt: skip


@pytest.mark.parametrize("program", INDICES_ARE_CHECKED_ALSO_WHERE_NOTHING_IS_SELECTED)
@same_as_numpy()
def test_indices_are_checked_also_where_nothing_is_selected(xp, program):
    return outcome(xp, program)


PLACING_VALUES = [
    "r=xp.zeros(6);xp.place(r,xp.arange(6)>2,[9,8])", "r=xp.zeros(6);xp.place(r,xp.arange(6)>2,[])", "r=xp.zeros(6);xp.place(r,xp.arange(6)>9,[])",
    "r=xp.zeros(6);xp.place(r,xp.arange(6)>2,9)", "r=xp.zeros(6);xp.place(r,xp.ones(9,bool),[1])", "r=xp.zeros(6);xp.place(r,[True],[1])",
    "r=xp.zeros(6);xp.place(r,xp.arange(6),[1])", "r=xp.zeros(6,'i4');xp.place(r,xp.arange(6)>2,[1.5])",
    "r=xp.zeros(6,'i4');xp.place(r,xp.arange(6)>2,[1j])", "r=xp.zeros(6);xp.place(r,xp.arange(6)>2,1j)",
    'r=xp.zeros(6);xp.place(r,xp.arange(6)>2,"a")', "r=xp.zeros(6);xp.place(r,xp.arange(6)>2,None)", "r=[1,2];xp.place(r,[True,False],[5])",
    "r=5;xp.place(r,[True],[5])", "r=xp.zeros(6);xp.put(r,[0],[1])", "r=xp.zeros(6);xp.put(r,[0,1],[])", "r=xp.zeros(6);xp.put(r,[],[])",
    "r=xp.zeros(6);xp.put(r,[],[1])", "r=xp.zeros(6);xp.put(r,[1.5],1)", "r=xp.zeros(6);xp.put(r,[1.0],1)",
    "r=xp.zeros(6);xp.put(r,xp.array([],'f8'),1)", 'r=xp.zeros(6);xp.put(r,[0],"a")', 'r=xp.zeros(6);xp.put(r,[0],1,"foo")',
    'r=xp.zeros(6);xp.put(r,[10],1,"wrap")', 'r=xp.zeros(6);xp.put(r,[-10],1,"clip")', 'r=xp.zeros(6);xp.put(r,[-10],1,"wrap")',
    'r=xp.zeros(6);xp.put(r,"a",1)', "r=xp.zeros(6);xp.put(r,None,1)", "r=xp.zeros(6);xp.put(r,[True,False],1)", "r=xp.zeros(6);xp.put(r,True,1)",
    "r=xp.zeros(6);xp.put(r,[-1],5)", "r=xp.zeros(6);xp.put(r,[0],1j)", "r=xp.zeros(6,'i4');xp.put(r,[0],1.5)",
    "r=xp.zeros(6,'i4');xp.put(r,[0],[1j])", "r=xp.zeros(6,'u1');xp.put(r,[0],300)", "r=xp.zeros(6,'u1');xp.put(r,[0],[300])",
    "r=xp.zeros(0);xp.put(r,[0],1)", 'r=xp.zeros(0);xp.put(r,[0],1,"wrap")', 'r=xp.zeros(0);xp.put(r,[0],1,"clip")', "r=[1,2];xp.put(r,[0],1)",
    "r=xp.zeros(6);r.put(ind=[0],v=1)", "r=xp.zeros(6);r.put(indices=[0],values=1)",
]  # fmt: skip


@pytest.mark.parametrize("program", PLACING_VALUES)
@same_as_numpy()
def test_placing_values(xp, program):
    return outcome(xp, program)


TAKING_AT_ANYTHING_THAT_IS_A_POSITION = [
    'xp.take(a,[10],mode="wrap")', "xp.take(a,[10],mode=None)", 'xp.take(a,[10],mode="w")', 'xp.take(a,[10],mode="WRAP")',
    'xp.take(a,[10],mode="")', "xp.take(a,True)", "xp.take(a,[True,False])", "xp.take(a,1.5)", "xp.take(a,[])", "xp.take(a,xp.array([],'f8'))",
    "xp.take(a,xp.array([0,1],'u8'))", "xp.take(a,2**63)", "xp.take(a,None)", "xp.take(a,{})", "xp.take(a,slice(1))",
]  # fmt: skip


@pytest.mark.parametrize("program", TAKING_AT_ANYTHING_THAT_IS_A_POSITION)
@same_as_numpy()
def test_taking_at_anything_that_is_a_position(xp, program):
    return outcome(xp, program)


WHAT_IS_ASSIGNED_MUST_FIT = [
    "r=xp.zeros(3);r[0]=[7]", "r=xp.zeros(3);r[0]=[7,8]", "r=xp.zeros(3);r[0]=[[7]]", "r=xp.zeros(3);r[0]=xp.array([7])",
    "r=xp.zeros(());r[()]=[7]", "r=xp.zeros(());r[...]=[7]", "r=xp.zeros(3);r[0:1]=[[7]]", "r=xp.zeros(3);r[0]=[]", "r=xp.zeros(3);r[0]=1j",
    "r=xp.zeros(3);r[:]=[1j,2,3]", "r=xp.zeros(3);r[:]=xp.array([1j,2,3])", "r=xp.zeros(3,'u1');r[:]=[1,2,300]",
    "r=xp.zeros(3,'u1');r[:]=[1.5,2,3]", "r=xp.zeros(3,'u1');r[0]=300", "r=xp.zeros(3,'u1');r[0]=2**100", "r=xp.zeros(3,'f4');r[0]=2**100",
    "r=xp.zeros(3,'i4');r[:]=[1,2,2**40]", 'r=xp.zeros(3);r[:]="a"', 'r=xp.zeros(3);r[:]="1"', "r=xp.zeros(3);r[:]=None",
    "r=xp.zeros(3);r.fill([1])", "r=xp.zeros(3);r.fill([1,2])", "r=xp.zeros(3);r.fill(xp.array(1))", "r=xp.zeros(3);r.fill(xp.array([1]))",
    "r=xp.zeros(3);r.fill(1j)", "r=xp.zeros(3);r.flat[0]=5",
]  # fmt: skip


@pytest.mark.parametrize("program", WHAT_IS_ASSIGNED_MUST_FIT)
@same_as_numpy()
def test_what_is_assigned_must_fit(xp, program):
    return outcome(xp, program)


FORMS_OF_INDICES = [
    "a[range(2)]", "a[(range(2),)]", "a[((0,1),(0,1))]", "a[((0,1),)]", "a[[(0,1)]]", "a[[[]]]", "a[[[],[]]]", "a[[]]", "a[(),]", "a[[None]]",
    'a[["a"]]', "a[[slice(0,1)]]", "a[[2**64]]", "a[2**63]", "a[2**64]", "a[-2**64]", "a[[2**63]]", "a[np.datetime64(1,'D')]", "a[np.array(['a'])]",
    "a[np.array([None])]", "a[xp.array([],'?')]", "b[np.array([],'?')]", "a[[1.5]]", 'a["a"]', "a[{}]", "a[np.float64(1)]",
    "r=xp.zeros((2,3));r[range(2),(0,1)]=5", "r=xp.zeros(3);r[[[]]]=5",
]  # fmt: skip


@pytest.mark.parametrize("program", FORMS_OF_INDICES)
@same_as_numpy()
def test_forms_of_indices(xp, program):
    return outcome(xp, program)


TAKING_INTO_AN_ARRAY = [
    # Into a dtype that does not hold the elements safely: NumPy 2.4 refuses some that 2.5 takes.
    "xp.take(a,[0,1],out=xp.zeros(2,'i4'))",
    "xp.take(a,[0,1],out=xp.zeros(3))", "xp.take(s,[],0)", "xp.take(s,[0],0)", "xp.take(s,[0],1)",
]  # fmt: skip


@pytest.mark.parametrize("program", TAKING_INTO_AN_ARRAY)
@same_as_numpy()
def test_taking_into_an_array(xp, program):
    return outcome(xp, program)


PLACES_ARE_CHECKED_BEFORE_VALUES = [
    "r=xp.zeros(3,int);r[0]=[7]", "r=xp.zeros(3,int);r[0]=xp.array([7])", "r=xp.zeros(3,'D');r[0]=xp.array([7])", "r=xp.zeros(3,'D');r[0]=[7]",
    "r=xp.zeros(3,int);r[0]=[7,8]", "r=xp.zeros(3,int);r[xp.array(1)]=[7]", "r=xp.zeros(3);r[xp.array(1)]=[7]",
    "r=xp.zeros(3);r[xp.array(1)]=xp.array([7])", "r=xp.zeros(3,int);r.fill([1])", "r=xp.zeros(3,int);r[9]=None", "r=xp.zeros(3,'u1');r[9]=300",
    "r=xp.zeros(3);r[0,0]=1j", "r=xp.zeros(3,int);r[:]=[[1],[2]]", "r=xp.zeros(3,int);r[...]=[[[1]]]",
]  # fmt: skip


@pytest.mark.parametrize("program", PLACES_ARE_CHECKED_BEFORE_VALUES)
@same_as_numpy()
def test_places_are_checked_before_values(xp, program):
    return outcome(xp, program)

"""Making arrays: values, dtypes, shapes, orders."""

import numpy as np
import pytest

import cupric as cp
import support
from support import ALL, EVERY, outcome, same_as_numpy

SHAPES = [(), 0, 3, (2, 3), (0, 4), [2, 2], np.int64(4), (np.int32(2), 1)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [None, "f4", "i1", bool, complex, np.uint16], ids=str)
@same_as_numpy()
def test_filled_arrays(xp, shape, dtype):
    given = {} if dtype is None else {"dtype": dtype}
    return (
        xp.zeros(shape, **given),
        xp.ones(shape, **given),
        xp.full(shape, 3, **given),
        xp.empty(shape, **given).shape,
        xp.empty(shape, **given).dtype == np.dtype(dtype or float),
    )


@same_as_numpy(dtypes=ALL, layouts=EVERY)
def test_like(xp, a):
    return (
        xp.zeros_like(a),
        xp.ones_like(a),
        xp.full_like(a, 1),
        np.array(xp.empty_like(a).strides) // a.itemsize if a.size > 1 else None,
    )


@pytest.mark.parametrize("order", ["C", "F", "K", "A"])
@same_as_numpy()
def test_like_with_order_shape_and_dtype(xp, order):
    a = xp.zeros((3, 4, 5)).transpose(1, 0, 2)
    b = xp.zeros_like(a, order=order)
    return (
        np.array(b.strides),
        xp.ones_like(a, dtype="i2"),
        xp.zeros_like(a, shape=(2, 2)),
        xp.full_like(a, 2.5, dtype="f4"),
    )


ARANGE = [
    (5,),
    (0,),
    (-3,),
    (2, 7),
    (7, 2),
    (0, 10, 3),
    (10, 0, -3),
    (0.0, 1.0, 0.1),
    (5.0,),
    (1, 2, 0.25),
    (0, -1, -0.3),
    (2**40, 2**40 + 3),
    (1, 10, 2.5),
]


@pytest.mark.parametrize("arguments", ARANGE, ids=str)
@pytest.mark.parametrize("dtype", [None, "i4", "f4", "f8", "u1", "c8"], ids=str)
@same_as_numpy()
def test_arange(xp, arguments, dtype):
    if (dtype == "u1" and min(arguments) < 0) or (dtype in ("u1", "i4") and max(arguments) > 2**30):
        return None
    return xp.arange(*arguments, dtype=dtype)


@same_as_numpy()
def test_arange_with_step_zero(xp):
    return xp.arange(0, 5, 0)


LINSPACE = [
    (0, 1),
    (0, 1, 5),
    (2, -3, 7),
    (0, 1, 1),
    (0, 1, 0),
    (1.5, 1.5, 4),
    (0, 10, 11),
    (-1e300, 1e300, 3),
    (0, 1, 1001),
]


@pytest.mark.parametrize("arguments", LINSPACE, ids=str)
@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("dtype", [None, "f4", "i8"], ids=str)
@same_as_numpy()
def test_linspace(xp, arguments, endpoint, dtype):
    if dtype == "i8" and abs(arguments[0]) > 1e18:
        return None
    return xp.linspace(*arguments, endpoint=endpoint, dtype=dtype)


@same_as_numpy()
def test_linspace_with_step_and_a_negative_count(xp):
    values, step = xp.linspace(0, 1, 5, retstep=True)
    return values, float(step), xp.linspace(0, 1, -1)


@pytest.mark.parametrize("arguments", [(3,), (2, 4), (4, 2), (3, 3, 1), (3, 3, -2), (3, 4, 9), (0,)], ids=str)
@same_as_numpy()
def test_eye(xp, arguments):
    return xp.eye(*arguments), xp.eye(*arguments, dtype="i4"), xp.identity(arguments[0])


@same_as_numpy(ulp=2)
def test_logspace(xp):
    return xp.logspace(0, 2, 5)


@same_as_numpy()
def test_tri_and_diag(xp):
    a = xp.arange(12).reshape(3, 4)
    return (
        xp.tri(3),
        xp.tri(2, 4, 1),
        xp.diag(xp.array([1, 2, 3])),
        xp.diag(a),
        xp.diag(a, 1),
        xp.diag(xp.array([1, 2]), -1),
        xp.tril(a),
        xp.triu(a, 1),
    )


NESTED = [
    [1, 2, 3], [1, 2.5], [True, False], [1, True], [1 + 2j, 3], 3, 2.5, True, 1j, [], [[]], [[1, 2], [3, 4]], ((1, 2), (3, 4)), range(4), [2**62],
    [2**63], [-(2**63)], [np.float32(1.5), 2], [np.int8(1), np.int8(2)], [[1, 2], (3.5, 4)], [np.arange(3), np.arange(3.0)],
]  # fmt: skip


@pytest.mark.parametrize("value", NESTED, ids=str)
@same_as_numpy()
def test_array_of_python_objects(xp, value):
    return xp.array(value), xp.asarray(value)


@pytest.mark.parametrize("dtype", ["f4", "i8", "?", "c16", "f2"])
@same_as_numpy()
def test_array_with_dtype(xp, dtype):
    return xp.array([0, 1, 2], dtype), xp.asarray(np.arange(3.0), dtype=dtype) if dtype not in (
        "i8",
        "?",
    ) else xp.array([1.5, 0], dtype)


@same_as_numpy()
def test_array_of_arrays(xp):
    a = [[2, xp.sqrt(xp.array(9.0))], [xp.array(4), 5]]
    b = [xp.zeros(3, "i1"), xp.ones(3, "f4")]
    return xp.array(a), xp.array(b), xp.array([b, b]).shape, xp.asarray([xp.arange(2), [5, 6]])


@pytest.mark.parametrize("value", [[[1, 2], [3]], [object()], "text", ["a"], [1, [2]], [None]], ids=str)
def test_what_is_no_number_is_refused(value):
    with pytest.raises((ValueError, TypeError)):
        cp.array(value)


@pytest.mark.parametrize("ndmin", [0, 1, 3])
@same_as_numpy()
def test_ndmin(xp, ndmin):
    return xp.array([1, 2], ndmin=ndmin), xp.array(5, ndmin=ndmin)


def test_array_copies_and_asarray_does_not():
    a = cp.arange(4)
    assert cp.asarray(a) is a
    copy = cp.array(a)
    copy += 1
    assert copy is not a and a.tolist() == [0, 1, 2, 3]
    shared = cp.array(a, copy=None) if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else a
    shared += 1
    assert a.tolist() == [1, 2, 3, 4]
    assert cp.asarray(a, dtype="f4").dtype == np.float32
    assert cp.ascontiguousarray(a[::-1]).flags.c_contiguous and cp.asfortranarray(cp.ones((2, 3))).flags.f_contiguous


def test_array_with_copy_false_refuses_to_copy():
    assert cp.array(cp.arange(3), copy=False).tolist() == [0, 1, 2]
    with pytest.raises(ValueError):
        cp.array([1, 2, 3], copy=False)


@pytest.mark.parametrize("order", ["C", "F", "K", "A"])
@same_as_numpy()
def test_order_of_a_copy(xp, order):
    a = xp.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)
    b, c = a.copy(order=order), xp.array(a, order=order)
    return b, np.array(b.strides), np.array(c.strides), np.array(a.astype("f4", order=order).strides)


@pytest.mark.parametrize("shape", [-1, (2, -1), 1.5, "a", (2.0, 3)], ids=str)
@same_as_numpy()
def test_bad_shapes(xp, shape):
    return xp.zeros(shape)


def test_a_shape_whose_count_overflows():
    for make in (cp.ones, cp.zeros, cp.empty):
        with pytest.raises((ValueError, MemoryError)):
            make((2**32, 2**32 + 1), dtype="u1")


def test_bad_dtypes():
    for bad in ("no_such_dtype", object, "U5", "M8[s]", "V8"):
        with pytest.raises(TypeError):
            cp.zeros(3, dtype=bad)


@pytest.mark.parametrize("value", [-0.0, float("nan"), float("-inf"), 2**53 + 1, True, 1e-310])
@same_as_numpy()
def test_fill_keeps_every_bit(xp, value):
    a = xp.zeros(3)
    a.fill(value)
    return xp.full(3, value), a, xp.signbit(xp.full(3, value, dtype=float))


@same_as_numpy()
def test_fromfunction_like_helpers(xp):
    a, b = xp.meshgrid(xp.arange(3), xp.arange(2))
    c, d = xp.meshgrid(xp.arange(3), xp.arange(2), indexing="ij")
    return a, b, c, d


@same_as_numpy(dtypes=ALL, layouts=support.FILLED)
def test_copy_and_copyto(xp, a):
    target = xp.zeros(a.shape, a.dtype)
    xp.copyto(target, a)
    return a.copy(), xp.copy(a), target


SHAPES_ARE_INTEGERS = [
    "xp.zeros(True)", "xp.zeros((True,2))", "xp.zeros(np.True_)", "xp.zeros({})", "xp.zeros({3})", "xp.zeros({3:2})", "xp.zeros(2**63)",
    "xp.zeros((2**63,))", "xp.zeros(-1)", "xp.zeros((2,-1))", "xp.zeros(2.0)", 'xp.zeros("a")', "xp.zeros(None)", "xp.zeros(xp.array([2,3]))",
    "xp.zeros(np.array([2,3]))", "xp.zeros(xp.array(3))", "xp.zeros(range(3))", "xp.zeros(iter([2,3]))", "xp.zeros([2,3])", "a.reshape({})",
    "a.reshape(True)", "a.reshape(2**63)", "xp.broadcast_to(s,-1)",
]  # fmt: skip


@pytest.mark.parametrize("program", SHAPES_ARE_INTEGERS)
@same_as_numpy()
def test_shapes_are_integers(xp, program):
    return outcome(xp, program)


AN_ARRAY_IS_NO_DTYPE = [
    "xp.zeros(3,xp.ones(2,'f4'))", "xp.zeros(3,np.float32(1))", "a.astype(xp.ones(2,'f4'))", "xp.array([1],xp.ones(2,'f4'))",
]  # fmt: skip


@pytest.mark.parametrize("program", AN_ARRAY_IS_NO_DTYPE)
@same_as_numpy()
def test_an_array_is_no_dtype(xp, program):
    return outcome(xp, program)


ORDER_NONE_IS_THE_DEFAULT = [
    "xp.zeros(3,order=None)", "xp.zeros_like(a.T,order=None).strides", "xp.full((2,3),1,order=None).strides", "xp.array(a.T,order=None).strides",
    "xp.copy(a.T,order=None).strides", "a.T.copy(None).strides", "a.T.ravel(None)", "a.T.flatten(None)", "a.T.astype('f4',order=None).strides",
    "xp.add(a.T,1,order=None).strides", "xp.reshape(a,(3,2),order=None)",
]  # fmt: skip


@pytest.mark.parametrize("program", ORDER_NONE_IS_THE_DEFAULT)
@same_as_numpy()
def test_order_none_is_the_default(xp, program):
    return outcome(xp, program)


RANGES = [
    'xp.arange("a")', "xp.arange()", "xp.arange(-1,-5,-1,dtype='u1')", "xp.arange(-1.5,3,dtype='u1')", "xp.arange(-3,3,dtype='u1')",
    "xp.arange(0,-1,-1,dtype='u1')", "xp.arange(0,-2,-1,dtype='u1')", "xp.arange(0,-3,-0.5,dtype=int)", "xp.arange(0,10,300,dtype='u1')",
    "xp.arange(0,2**63,2**62)", "xp.arange(0,200,100,dtype='u1')", "xp.arange(0,3,0.5,dtype='c16')", "xp.arange(0,3,0.5,dtype=int)",
    "xp.arange(0,300,300,dtype='u1')", "xp.arange(0,300,50,dtype='u1')", "xp.arange(0,600,100,dtype='u1')", "xp.arange(0,600,200,dtype='u1')",
    "xp.arange(0,600,300,dtype='u1')", "xp.arange(0.5,300,299,dtype='u1')", "xp.arange(0.5,5,1,dtype=int)", "xp.arange(1,0,-1,dtype='u1')",
    "xp.arange(1,3,dtype=bool)", "xp.arange(1,stop=5)", "xp.arange(125,128,dtype='i1')", "xp.arange(127,128,dtype='i1')",
    "xp.arange(127,130,dtype='i1')", "xp.arange(2**63,2**63+3)", "xp.arange(2**63,2**63+3,dtype='u8')", "xp.arange(2**63-1,2**63+3,dtype='u8')",
    "xp.arange(2,dtype=bool)", "xp.arange(250,260,dtype='u1')", "xp.arange(255,256,1.5,dtype='u1')", "xp.arange(3,dtype='c8')",
    "xp.arange(3,dtype=bool)", "xp.arange(300,310,dtype='u1')", "xp.arange(5,0,-1,dtype='u1')", "xp.arange(5,dtype='f2')",
    "xp.arange(5,dtype='u1')", "xp.arange(5,dtype=None)", "xp.arange(5,step=0)", "xp.arange(None)", "xp.arange([1])",
    "xp.arange(float('nan'),3,dtype='i4')", "xp.arange(step=2)", "xp.arange(stop=5)", "xp.arange(stop=5,step=2)", "xp.arange(xp.array(3))",
]  # fmt: skip


@pytest.mark.parametrize("program", RANGES)
@same_as_numpy()
def test_ranges(xp, program):
    return outcome(xp, program)


SPACED_NUMBERS = [
    "xp.linspace(np.float32(0),np.float32(1),3)", "xp.linspace(np.int8(0),1,3)", "xp.linspace(xp.zeros(2,'f4'),xp.ones(2,'f4'),3)",
    "xp.linspace(xp.zeros(2),1,3,axis=1)", "xp.linspace(xp.zeros(2),1,3,axis=-1)", "xp.linspace(xp.zeros(2),1,3,axis=2)",
    "xp.linspace(xp.zeros(2),1,3,axis=-3)", "xp.linspace(0,1,3,axis=1)", "xp.linspace(0,1,3,axis=5)", "xp.linspace(0,1,3,axis=-1)",
    'xp.linspace(0,1,3,axis="a")', "xp.linspace(0,1,2.5)", "xp.linspace(0,1,-1)", "xp.linspace(0,1,0)", "xp.linspace(0,1,1)",
    "xp.linspace(0,1j,3)",
    "xp.linspace(0,1,5,dtype='i4')", "xp.linspace(0,1,5,dtype='f4')", "xp.linspace(-1,1,5,dtype='i4')",
    "xp.linspace(xp.zeros(2),1,3,retstep=True)", 'xp.linspace("a",1)', "xp.linspace(None,1)", "xp.linspace([0,1],[2,3],3)",
    "xp.linspace(0,[2,3],3,endpoint=False)", "xp.linspace(0,2**63-1,3,dtype='i8')", "xp.logspace(0,2,3,base=[2,3])",
    "xp.logspace(0,2,3,base=xp.array([2.,3.]))", "xp.logspace(0,2,3,base=xp.array([2.,3.]),axis=-1)",
    "xp.logspace(0,xp.array([1.,2.]),3,base=xp.array([2.,3.]))", "xp.logspace(0,2,3,base=2)", "xp.logspace(0,2,3,dtype='i4')",
    "xp.logspace(0,2,3,base=-1)", "xp.logspace(0,2,3,base=0)", "xp.logspace(0,2,3,base=1j)",
]  # fmt: skip


@pytest.mark.parametrize("program", SPACED_NUMBERS)
@same_as_numpy()
def test_spaced_numbers(xp, program):
    return outcome(xp, program)


DEVICE_AND_LIKE = [
    "xp.ones(3,device=None)", 'xp.ones(3,device="gpu")', 'xp.full(3,1,device="gpu")', 'xp.asarray([1],device="gpu")', "xp.asarray([1],device=5)",
    'xp.linspace(0,1,3,device="gpu")', 'xp.zeros_like(a,device="gpu")',
]  # fmt: skip


@pytest.mark.parametrize("program", DEVICE_AND_LIKE)
@same_as_numpy()
def test_device_and_like(xp, program):
    return outcome(xp, program)


NUMPY_MAKES_ARRAYS_LIKE_OURS = [
    "np.ones(3,like=a)", "np.zeros(3,like=a)", "np.array([1,2],like=a)", "np.asarray([1,2],like=a)", "np.arange(3,like=a)", "np.full(3,2,like=a)",
    "np.eye(3,like=a)", "np.empty(3,like=a).shape", "np.identity(3,like=a)", "np.tri(3,like=a)", "xp.ones(3,like=a)",
]  # fmt: skip


@pytest.mark.parametrize("program", NUMPY_MAKES_ARRAYS_LIKE_OURS)
@same_as_numpy()
def test_numpy_makes_arrays_like_ours(xp, program):
    return outcome(xp, program)


INTEGERS_THAT_STAND_ALONE = [
    "xp.result_type(2**63)", "xp.result_type(-1)", "xp.result_type(2**63,1)", "xp.result_type(2**63,u)", "xp.abs(2**63)", "xp.negative(2**63)",
    "xp.sqrt(2**63)", "xp.sqrt(2**100)", "xp.add(2**63,1)", "xp.array([2**63-1,2**63])",
]  # fmt: skip


@pytest.mark.parametrize("program", INTEGERS_THAT_STAND_ALONE)
@same_as_numpy()
def test_integers_that_stand_alone(xp, program):
    return outcome(xp, program)


QUESTIONS_ABOUT_DTYPES = [
    "xp.iscomplexobj(c)", "xp.isrealobj(c)", "xp.iscomplexobj(a)", "xp.isrealobj(a)", "xp.iscomplexobj(1j)", "xp.isrealobj([1])",
    "xp.mintypecode([a,c])", "xp.mintypecode(['f','d'])", "xp.can_cast('f4','f8')", "xp.can_cast(a,'f4')", "xp.can_cast('S3','f4')",
    "xp.can_cast('f4','f8',casting='foo')", "xp.promote_types('f4','i8')", "xp.promote_types('f4','foo')",
]  # fmt: skip


@pytest.mark.parametrize("program", QUESTIONS_ABOUT_DTYPES)
@same_as_numpy()
def test_questions_about_dtypes(xp, program):
    return outcome(xp, program)


@pytest.mark.parametrize(
    "make,words",
    [
        (lambda: cp.array("abc"), "Unsupported dtype str"),
        (lambda: cp.zeros(3, "S3"), "Unsupported dtype bytes"),
        (lambda: cp.array([2**64]), "the integer 18446744073709551616 fits neither int64 nor uint64"),
        (lambda: cp.array([1, None]), "'NoneType' is no type of numbers"),
        (lambda: cp.zeros(3, "M8[s]"), "Unsupported dtype datetime64"),
    ],
)
def test_what_has_no_dtype_is_named(make, words):
    with pytest.raises(TypeError) as raised:
        make()
    assert words in str(raised.value) and "32" not in str(raised.value).replace(words, "")


SIZES_OF_EYE = [
    "xp.eye(-3)", "xp.eye(3,-1)",
]  # fmt: skip


@pytest.mark.parametrize("program", SIZES_OF_EYE)
@same_as_numpy()
def test_sizes_of_eye(xp, program):
    return outcome(xp, program)


MADE_SOMEWHERE = [
    lambda **device: cp.ones(3, **device), lambda **device: cp.zeros(3, **device), lambda **device: cp.empty(3, **device), lambda **device: cp.arange(3, **device),
    lambda **device: cp.eye(3, **device), lambda **device: cp.full(3, 1, **device), lambda **device: cp.asarray([1], **device), lambda **device: cp.linspace(0, 1, 3, **device),
    lambda **device: cp.zeros_like([1], **device), lambda **device: cp.astype(cp.ones(3), "f4", **device),
]  # fmt: skip


@pytest.mark.parametrize("make", MADE_SOMEWHERE)
def test_the_device_is_the_current_one(make, device):
    current = cp.ones(1).device
    for given in (None, current, device, f"{device}:0"):
        assert make(device=given).device == current
    for given in ("gpu", "", f"{device}:99", 5, "meta"):
        with pytest.raises(ValueError, match=device):
            make(device=given)

"""What other libraries ask of an array: DLPack, interfaces, NumPy's dispatch, pickling, copying."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import cupric as cp
import support
from support import ALL, EVERY, assert_same, cycled, hostile, outcome, same_as_numpy

DLPACK = [dtype for dtype in ALL if dtype != support.BFLOAT16]


@pytest.fixture
def host_memory(device):
    if device == "cuda":
        pytest.skip("NumPy cannot look into device memory")


@pytest.mark.parametrize("dtype", DLPACK, ids=support.name_of)
def test_dlpack_within_cupric(dtype):
    for layout in EVERY:
        if layout is support.UNALIGNED:
            continue
        a = layout.build(cp, cycled(hostile(dtype), int(np.prod(layout.base))))
        if a.flags.writeable:
            assert_same(cp.from_dlpack(a), a.get(), note=layout.name)


@pytest.mark.parametrize("dtype", DLPACK, ids=support.name_of)
def test_dlpack_with_numpy(dtype, host_memory):
    data = cycled(hostile(dtype), 48).reshape(6, 8)
    assert_same(np.from_dlpack(cp.array(data)), data)
    assert_same(np.from_dlpack(cp.array(data)[::2, ::-1].T), data[::2, ::-1].T)
    assert_same(cp.from_dlpack(data), data)
    assert_same(cp.from_dlpack(data[::2, 1:].T), data[::2, 1:].T)


def test_dlpack_shares_memory(host_memory):
    theirs = np.zeros(4)
    ours = cp.from_dlpack(theirs)
    ours += 1
    assert theirs.tolist() == [1] * 4
    back = np.from_dlpack(ours)
    theirs[0] = 5
    assert back[0] == 5 and float(ours[0]) == 5


def test_dlpack_keeps_what_it_needs_alive(host_memory):
    theirs = np.from_dlpack(cp.arange(100_000) + 1)
    other = [cp.zeros(100_000, "i8") for _ in range(5)]
    assert theirs[-1] == 100_000 and len(other) == 5
    ours = cp.from_dlpack(np.arange(50_000.0))
    assert float(ours.sum()) == 50_000 * 49_999 / 2


def test_dlpack_device(device):
    kind, number = cp.zeros(1).__dlpack_device__()
    assert (kind == 2) == (device == "cuda") and number >= 0


def test_dlpack_capsules_can_be_dropped_unused():
    for _ in range(100):
        cp.ones(1000).__dlpack__()
    assert float(cp.ones(10).sum()) == 10


def test_dlpack_refusals(host_memory):
    with pytest.raises((AttributeError, BufferError, TypeError, ValueError)):
        cp.from_dlpack(object())
    read_only = np.arange(3)
    read_only.flags.writeable = False
    try:
        ours = cp.from_dlpack(read_only)
    except (BufferError, TypeError, ValueError):
        return
    with pytest.raises(ValueError):
        ours += 1


def test_dlpack_with_torch():
    torch = pytest.importorskip("torch")
    a = cp.arange(10, dtype="f4")
    t = torch.from_dlpack(a)
    t[0] = 999
    assert float(a[0]) == 999
    a[1] = 555
    assert float(t[1]) == 555
    y = a + 1
    t[2] = 77
    assert float(y[2]) == 3


def test_cuda_array_interface(device):
    if device != "cuda":
        assert not hasattr(cp.zeros(1), "__cuda_array_interface__")
        return
    a = cp.arange(6.0).reshape(2, 3)[:, ::2]
    facts = a.__cuda_array_interface__
    assert facts["shape"] == (2, 2) and facts["typestr"] == "<f8" and facts["strides"] == (24, 16)


@pytest.mark.parametrize("dtype", ALL, ids=support.name_of)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickling(dtype, protocol):
    for layout in EVERY:
        a = layout.build(cp, cycled(hostile(dtype), int(np.prod(layout.base))))
        assert_same(pickle.loads(pickle.dumps(a, protocol)), a.get(), note=layout.name)


def test_pickle_keeps_the_order():
    f = pickle.loads(pickle.dumps(cp.asfortranarray(cp.arange(6).reshape(2, 3))))
    assert f.flags.f_contiguous and f.tolist() == [[0, 1, 2], [3, 4, 5]]
    ufunc = pickle.loads(pickle.dumps(cp.add))
    assert ufunc is cp.add


def test_copying():
    a = cp.arange(4)
    for other in (copy.copy(a), copy.deepcopy(a), a.copy(), copy.deepcopy([a])[0]):
        other += 1
    assert a.tolist() == [0, 1, 2, 3]


def test_numpys_functions_stay_on_the_device():
    a = cp.arange(12.0).reshape(3, 4)
    pairs = [
        (np.sum(a), np.sum(a.get())), (np.sin(a), None), (np.concatenate([a, a]), np.concatenate([a.get()] * 2)), (np.add(a, 1), a.get() + 1),
        (np.add(1, a), 1 + a.get()), (np.mean(a, axis=0), a.get().mean(0)), (np.where(a > 5, a, 0), np.where(a.get() > 5, a.get(), 0)),
        (np.zeros_like(a), np.zeros((3, 4))), (np.maximum(a, 3), np.maximum(a.get(), 3)),
    ]  # fmt: skip
    for ours, theirs in pairs:
        assert isinstance(ours, cp.ndarray)
        if theirs is not None:
            assert_same(ours, theirs)


def test_numpy_arrays_are_no_operands():
    a, host = cp.arange(3), np.arange(3)
    for mixed in (
        lambda: a + host,
        lambda: host + a,
        lambda: cp.add(a, host),
        lambda: np.add(host, a),
        lambda: host * a,
    ):
        with pytest.raises(TypeError):
            mixed()


def test_numpy_scalars_on_the_left():
    a = cp.arange(3, dtype="f4")
    assert_same(np.float64(2) * a, np.float64(2) * np.arange(3, dtype="f4"))
    assert_same(np.int8(2) + a, np.int8(2) + np.arange(3, dtype="f4"))
    assert isinstance(np.float64(2) < a, cp.ndarray)


def test_arrays_are_not_hashable_and_compare_elementwise():
    with pytest.raises(TypeError):
        hash(cp.arange(3))
    assert (cp.arange(3) == cp.arange(3)).tolist() == [True] * 3
    assert not np.any(cp.arange(3) == "x")


def test_dtypes_are_numpys():
    assert cp.float32 is np.float32 and cp.zeros(1).dtype == np.dtype("f8") and isinstance(cp.zeros(1).dtype, np.dtype)
    assert cp.result_type(cp.ones(1, "i4"), 2.5) == np.result_type(np.ones(1, "i4"), 2.5)
    assert cp.pi == np.pi and cp.newaxis is None and np.isnan(cp.nan) and cp.inf == np.inf


def test_weak_references_and_subclass_checks():
    import weakref

    a = cp.arange(3)
    assert weakref.ref(a)() is a and isinstance(a, cp.ndarray) and not isinstance(a, np.ndarray)


def test_files(tmp_path):
    a = cp.arange(6).reshape(2, 3)
    cp.save(tmp_path / "a.npy", a)
    cp.savez(tmp_path / "b.npz", x=a, y=a * 2)
    assert_same(cp.load(tmp_path / "a.npy"), a.get())
    assert_same(cp.load(tmp_path / "b.npz")["y"], a.get() * 2)


def test_files_of_bfloat16(tmp_path):
    a = cp.array([1.5, -2, 3], "bfloat16")
    cp.save(tmp_path / "a.npy", a)
    cp.savez(tmp_path / "a.npz", a=a, allow_pickle=False)
    for got in (cp.load(tmp_path / "a.npy"), cp.load(tmp_path / "a.npz")["a"]):
        assert_same(got, a.get())


def test_pickled_state_of_numpy():
    host = np.arange(6.0).reshape(2, 3)
    a = cp.zeros(1)
    a.__setstate__(host.__reduce__()[2])
    assert_same(a, host)


MEMBERS_OF_ARRAYS = [
    "a.setflags(write=False)", "r=a.copy();r.setflags(write=False);r[0]=1", "r=a.copy();r.setflags(write=False);r.setflags(write=True);r[0]=1",
    "r=a.copy();r.setflags(write=0)", "r=a.copy();r.setflags(align=False)", "r=a.copy();r.setflags(uic=True)",
    "r=a.copy();r.flags.writeable=False;r[0]=1", "r=a.copy();r.flags.writeable=False;r=r.flags.writeable",
    "r=a.copy();r.flags['WRITEABLE']=False;r=r.flags.writeable", "r=a.copy();r.flags.c_contiguous=False", "list(reversed(a))", "list(reversed(s))",
    "a.byteswap()", "a.astype('f4').byteswap()", "a.astype('i2').byteswap()", "u.byteswap()", "c.byteswap()", "c.astype('F').byteswap()",
    "t.byteswap()", "r=a.copy();r.byteswap(inplace=True)", "r=a.copy();r.byteswap(True)", "a.T.byteswap()",
    "r=a.copy();r.resize((3,2),refcheck=False)", "r=a.copy();r.resize((4,2),refcheck=False)", "r=a.copy();r.resize((2,2),refcheck=False)",
    "r=a.copy();r.resize(4,refcheck=False)", "r=a.copy();r.resize(4,2,refcheck=False)", "r=a.copy();r.resize(0,refcheck=False)",
    "r=a.copy();r.resize(-1,refcheck=False)", "r=a.copy();r.resize()", "r=a.copy();r.resize(None)", "r=a.copy();r=r[:1];r.resize(4)",
    "r=a.copy().T;r.resize(4,refcheck=False)", "r=a.copy();r.resize((2,3))", 'r=a.copy();r.resize("a")',
    "xp.array([0,1,0]).choose([[1,2,3],[4,5,6]])", "xp.array([0,1,0]).choose([xp.array([1,2,3]),xp.array([4,5,6])])",
    "xp.array([0,1,5]).choose([[1,2,3],[4,5,6]])", "xp.array([0,1,5]).choose([[1,2,3],[4,5,6]],mode='wrap')",
    "xp.array([0,1,-1]).choose([[1,2,3],[4,5,6]],mode='clip')", "xp.array([0,1,5]).choose([[1,2,3],[4,5,6]],mode='clip')",
    "xp.array([0,1,0]).choose([1,2])", "xp.array([0,1,0]).choose([[1,2,3],4.5])", "xp.array([[0],[1]]).choose([[1,2,3],[4,5,6]])",
    "xp.array([0.5]).choose([1,2])", "xp.array([True,False]).choose([1,2])", "xp.array([0,1,0]).choose(xp.array([[1,2,3],[4,5,6]]))",
    "xp.array([0,1,0]).choose([[1,2,3],[4,5,6]],out=xp.zeros(3,int))", "xp.array([0,1,0]).choose([[1,2,3],[4,5,6]],out=xp.zeros(3))",
    "xp.array([0,1,0]).choose([[1,2,3],[4,5,6]],out=xp.zeros(2,int))", "xp.array([0,1,0]).choose([])", "xp.array(1).choose([[1,2,3],[4,5,6]])",
    "r=a.copy();r.dtype='i8'", "r=a.copy();r.dtype='f4'", "r=a.copy();r.dtype='c16'", "r=a.copy();r.dtype='i3'", "r=a.copy().T;r.dtype='f4'",
    "r=a.copy();r.dtype=None", "r=a.copy();r.dtype=object", "r=a.copy();r.strides=(8,8)", "r=a.copy();r.strides=(8,16)",
    "r=a.copy();r.strides=(24,8)", "r=a.copy();r.strides=(8,)", "r=a.copy();r.strides=(80,80)", "r=a.copy();r.strides=8",
    'r=a.copy();r.strides="a"', "r=a.copy();r.shape=(3,2)", "r=a.copy();r.shape=6", "r=a.copy();r.shape=-1", "r=a.copy();r.shape=5",
    "r=a.copy().T;r.shape=6", "r=a.copy();r.real=5", "r=a.copy();r.imag=5", "r=c.copy();r.imag=5", "r=a.copy();r.size=3", "r=a.copy();r.ndim=1",
    "r=a.copy();r.T=1", "r=a.copy();r.flat=5", "a.var(mean=2.5)", "a.std(mean=2.5)", "a.var(mean=xp.mean(a,keepdims=True))",
    "a.var(1,mean=xp.mean(a,1,keepdims=True))", "a.std(0,mean=xp.mean(a,0,keepdims=True),ddof=1)", "a.var(mean=2.5,dtype='f4')",
    "a.var(mean=2.5,where=a>2)", "b.var(mean=2.5)", "b.var(mean=2)", "c.var(mean=1j)", "a.var(mean=2.5,out=xp.zeros(()))",
    "a.std(mean=2.5,keepdims=True)", "a.var(mean=None)", "xp.var(a,mean=2.5,where=a>2)", "xp.var(b,mean=2.5,dtype='i4')",
    "xp.std(a,mean=2.5,axis=0,keepdims=True)", "xp.choose(xp.array([0,1,0]),[xp.array([1,2,3]),xp.array([4,5,6])])", "r=xp.zeros(5);r.flat=[1,2]",
    "r=xp.zeros((2,2)).T;r.flat=[1,2,3]", "a.fill(value=1)", "a.swapaxes(axis1=0,axis2=1)",
]  # fmt: skip


@pytest.mark.parametrize("program", MEMBERS_OF_ARRAYS)
@same_as_numpy()
def test_members_of_arrays(xp, program):
    return outcome(xp, program)


def test_what_is_constant_stays_constant():
    for constant in (cp.broadcast_to(cp.arange(3), (2, 3)), cp.eye(3).diagonal()):
        with pytest.raises(ValueError, match="WRITEABLE"):
            constant.setflags(write=True)
        with pytest.raises(ValueError, match="WRITEABLE"):
            constant.flags.writeable = True


def test_views_outlive_a_resize():
    a = cp.arange(3)
    view = a[:2]
    a.resize(5)
    a[0] = 9
    assert a.tolist() == [9, 1, 2, 0, 0] and view.tolist() == [0, 1]


@pytest.mark.parametrize(
    "name", ["sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "argmax", "argsort", "copy"]
)
def test_methods_show_their_defaults(name):
    defaults = {name: given.default for name, given in inspect.signature(getattr(cp.ndarray, name)).parameters.items()}
    known = {
        "keepdims": False,
        "axis": -1 if name == "argsort" else None,
        "ddof": 0,
        "order": "C" if name == "copy" else None,
    }
    for argument, default in known.items():
        assert defaults.get(argument, default) == default

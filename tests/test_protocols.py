"""What other libraries ask of an array: DLPack, interfaces, NumPy's dispatch, pickling, copying."""

import copy
import pickle

import numpy as np
import pytest

import cupric as cp
import support
from support import ALL, EVERY, assert_same, cycled, hostile

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

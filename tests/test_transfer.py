"""Between host and device: get, set, asnumpy, asarray; and nothing implicit."""

import subprocess
import sys

import numpy as np
import pytest

import cupric as cp
import support
from support import ALL, EVERY, assert_same, cycled, hostile


@pytest.mark.parametrize("dtype", ALL, ids=support.name_of)
def test_there_and_back(dtype):
    for layout in EVERY:
        data = layout.build(np, cycled(hostile(dtype), int(np.prod(layout.base))))
        for given in (cp.asarray(data), cp.array(data), cp.array(data, order="F")):
            assert_same(given.get(), data, note=layout.name)
            assert_same(cp.asnumpy(given), data, note=layout.name)
        ours = layout.build(cp, cycled(hostile(dtype), int(np.prod(layout.base))))
        assert_same(ours.get(), data, note=layout.name)
        assert ours.tolist() == data.tolist() or not (data == data).all()


def test_later_writes_on_the_host_are_not_seen():
    host = np.ones((5, 5))
    ours, copy = cp.asarray(host), cp.array(host)
    host[0, 0] = 999
    assert float(ours[0, 0]) == 1 and float(copy[0, 0]) == 1


def test_what_get_gives_is_ones_own():
    a = cp.arange(5)
    host = a.get()
    host[0] = 99
    a += 1
    assert a.get().tolist() == [1, 2, 3, 4, 5] and host.tolist() == [99, 1, 2, 3, 4] and host.flags.writeable


def test_get_into_out():
    a = cp.arange(6.0).reshape(2, 3)
    for out in (np.zeros((2, 3)), np.zeros((2, 3), order="F"), np.zeros((4, 6))[::2, ::2]):
        assert a.get(out=out) is out and (out == np.arange(6).reshape(2, 3)).all()
    for bad in (np.zeros((3, 2)), np.zeros((2, 3), "f4"), [0] * 6):
        with pytest.raises((ValueError, TypeError)):
            a.get(out=bad)


def test_set():
    a = cp.zeros((2, 3))
    a.set(np.full((2, 3), 3.0))
    assert float(a.sum()) == 18
    view = cp.zeros((4, 6))
    view[::2, ::2].set(np.arange(6.0).reshape(2, 3))
    assert float(view.sum()) == 15
    for bad in (np.zeros((3, 2)), np.zeros((2, 3), "i4")):
        with pytest.raises((ValueError, TypeError)):
            a.set(bad)


def test_transfers_on_streams():
    stream = cp.cuda.Stream(non_blocking=True)
    host = np.arange(100_000.0)
    a = cp.empty_like(host)
    with stream:
        a.set(host)
        b = a * 2
    host[:] = -1
    assert (b.get(stream=stream) == np.arange(100_000.0) * 2).all()


def test_nothing_is_copied_to_the_host_by_itself():
    a = cp.arange(3)
    for implicit in (
        lambda: np.asarray(a),
        lambda: np.array([a]),
        lambda: np.arange(3) @ np.asarray(a),
        lambda: float(np.asarray(a)[0]),
    ):
        with pytest.raises(TypeError, match="get"):
            implicit()


def test_python_numbers():
    assert (
        float(cp.array(2.5)) == 2.5 and int(cp.array(7)) == 7 and bool(cp.array(True)) and complex(cp.array(1j)) == 1j
    )
    assert cp.array(2.5).item() == 2.5 and cp.arange(4).item(2) == 2 and type(cp.array(1).item()) is int
    assert [10, 20, 30][cp.array(1)] == 20 and cp.arange(3).tolist() == [0, 1, 2] and cp.array(3).tolist() == 3
    for refused in (
        lambda: bool(cp.ones(2)),
        lambda: float(cp.ones(2)),
        lambda: int(cp.ones((2, 2))),
        lambda: cp.ones(3).item(),
    ):
        with pytest.raises((ValueError, TypeError)):
            refused()
    with pytest.raises(TypeError):
        [1, 2][cp.array(1.0)]


@pytest.mark.parametrize("dtype", ["i8", "f8", "f4", "c16", "?"])
def test_printing_is_numpys(dtype):
    values = (np.arange(6) % 3).astype(dtype).reshape(2, 3)
    assert str(cp.array(values)) == str(values) and repr(cp.array(values)) == repr(values)
    assert f"{cp.array(2.5):.2f}" == "2.50" and str(cp.zeros((0, 3))) == "[]"
    assert str(cp.arange(5000)) == str(np.arange(5000))


def test_numpy_scalars_and_zero_dimensional_arrays():
    assert cp.asarray(np.float32(1.5)).dtype == np.float32 and cp.asarray(np.array(3)).shape == ()
    assert cp.asarray(np.array(3)).get().shape == () and type(cp.array(3).get()) is np.ndarray


def test_other_byte_orders_and_read_only_arrays():
    host = np.arange(5, dtype=">f4")
    assert cp.asarray(host).tolist() == [0, 1, 2, 3, 4] and cp.asarray(host).dtype == np.dtype("f4")
    host = np.arange(5)
    host.flags.writeable = False
    ours = cp.asarray(host)
    ours += 1
    assert ours.tolist() == [1, 2, 3, 4, 5] and host.tolist() == [0, 1, 2, 3, 4]


def test_large_transfers():
    host = np.random.default_rng(0).integers(0, 255, 40_000_003, dtype="u1")
    assert (cp.asarray(host).get() == host).all()
    assert (cp.asarray(host)[1:].get() == host[1:]).all()


def test_get_array_module():
    assert (
        cp.get_array_module(cp.arange(3)) is cp
        and cp.get_array_module(np.arange(3)) is np
        and cp.get_array_module(1, cp.ones(1)) is cp
    )


@pytest.mark.parametrize(
    "shape", [(1001,), (2000,), (40, 40), (3, 400), (1500, 1), (7, 7, 30), (1, 1, 2000), (0, 5), ()]
)
@pytest.mark.parametrize(
    "options", [{}, {"edgeitems": 1}, {"edgeitems": 0}, {"threshold": 5, "linewidth": 40}, {"threshold": 0}]
)
def test_long_arrays_are_printed_as_numpy_does(shape, options):
    host = (np.arange(np.prod(shape, dtype=int)) * 1.37 - 500).reshape(shape)
    with np.printoptions(**options):
        for one in (host, host.astype("f4")[::-1] if host.ndim else host, host > 3, host * 1j, host.astype("u1").T):
            one = np.asarray(one)
            ours = cp.array(one)
            assert repr(ours) == repr(one) and str(ours) == str(one)
            assert cp.array_repr(ours, 30, 2) == np.array_repr(one, 30, 2)


def test_printing_copies_only_what_is_shown():
    wide = cp.broadcast_to(cp.arange(3.0), (2**40, 3))
    assert repr(wide).startswith("array([[0., 1., 2.],") and "..." in str(wide)
    assert str(cp.broadcast_to(cp.array(7), (2**50,))) == "[7 7 7 ... 7 7 7]"


def test_bfloat16_in_a_fresh_process():
    program = (
        "import cupric as cp; a = cp.array([1.5], 'bfloat16'); b = cp.asarray([1], dtype='bfloat16');"
        "assert str(a.dtype) == 'bfloat16' and (a > b).all();"
        "assert cp.can_cast('bfloat16', 'f4') and not cp.can_cast('f4', 'bfloat16');"
        "assert cp.promote_types('bfloat16', 'f2') == cp.float32 and cp.result_type('bfloat16', 'i1') == a.dtype"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_foreign_byte_orders_stand_for_the_machines():
    assert cp.zeros(3, ">f4").dtype == np.float32 and cp.ones(2).astype(">i2").dtype == np.int16
    with pytest.raises(TypeError, match="byte order"):
        cp.zeros(3).view(">f8")
    assert cp.array([1, 2], ">i4").tolist() == [1, 2] and cp.array(np.array([1, 2], ">i4"), ">i4").tolist() == [1, 2]

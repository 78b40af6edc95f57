"""More than 2**31 elements, and memory used up: always on a GPU that is large enough, on the CPU device with `--full`."""

import gc
import os

import pytest

import cupric as cp

HALF = 1 << 31
N = HALF + 12_345
GIB = 1 << 30


@pytest.fixture(autouse=True)
def room(device, full):
    if device == "cpu" and not full:
        pytest.skip("arrays of more than 2**31 elements take a while: --full runs them")
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    if cp.cuda.Device().mem_info[0] < 12 * GIB:
        pytest.skip("there is not enough memory")
    yield
    gc.collect()
    pool.free_all_blocks()


@pytest.fixture
def large():
    """Zeros, but for a few elements on either side of 2**31 and at both ends."""
    a = cp.zeros(N, "i1")
    for place, value in MARKS.items():
        a[place] = value
    return a


MARKS = {0: 1, 5: 2, HALF - 1: 3, HALF: 4, HALF + 1: 5, N - 2: 6, N - 1: 7}


def at(a, places):
    return [int(a[place]) for place in places]


def test_elements(large):
    b = large * 2 + 1
    assert b.dtype == "i1" and at(b, MARKS) == [2 * value + 1 for value in MARKS.values()]
    assert at(b, (1, HALF - 2, HALF + 2, N - 3)) == [1] * 4
    large += 1
    assert at(large, MARKS) == [value + 1 for value in MARKS.values()] and int(large[HALF + 3]) == 1
    del b
    c = cp.where(large > 7, large, cp.int8(-1))
    assert at(c, (N - 1, N - 2, 0)) == [8, -1, -1]


def test_strided_elements(large):
    back = large[::-1]
    assert at(back, (0, 1, N - 1)) == [7, 6, 1]
    b = back + large
    assert at(b, (0, 5, N - 6, N - 1)) == [8, 2, 2, 8] and int(b[N - 1 - HALF]) == 4
    del b, back
    odd = large[1::2].copy()
    assert odd.size == N // 2 and int(odd[(HALF - 2) // 2]) == 3 and int(odd[HALF // 2]) == 5


def test_reductions(large):
    total = sum(MARKS.values())
    assert int(large.sum()) == total and int(large.sum(dtype="i8")) == total
    assert int((large == 0).sum()) == N - len(MARKS) and int(cp.count_nonzero(large)) == len(MARKS)
    assert (int(large.max()), int(large.min()), bool(large.any()), bool(large.all())) == (7, 0, True, False)
    assert float(large.mean()) == total / N
    large.fill(1)
    assert int(large.sum()) == N


def test_places_of_the_extremes(large):
    assert int(large.argmax()) == N - 1 and int(large.argmin()) == 1
    large[HALF + 77] = 100
    large[HALF + 99] = -100
    assert (int(large.argmax()), int(large.argmin())) == (HALF + 77, HALF + 99)


def test_reductions_along_axes(large):
    width = N // 5
    rows = large[: width * 5].reshape(5, width)
    want = [{}, {}, {}, {}, {}]
    for place, value in MARKS.items():
        if place < width * 5:
            want[place // width][place % width] = value
    assert rows.sum(axis=1).tolist() == [sum(row.values()) for row in want]
    assert rows.argmax(axis=1).tolist() == [max(row, key=row.get, default=0) for row in want]
    sums = rows.sum(axis=0, dtype="i2")
    columns = sorted({column for row in want for column in row})
    assert at(sums, columns) == [sum(row.get(column, 0) for row in want) for column in columns]
    assert int(cp.count_nonzero(sums)) == len(columns)


def test_slices(large):
    assert large[HALF - 2 :].get()[:5].tolist() == [0, 3, 4, 5, 0]
    assert large[-4:].tolist() == [0, 0, 6, 7]
    assert large[N - 1 :: -HALF].tolist() == [7, 0] and large[:: HALF + 1].tolist() == [1, 5]
    large[HALF - 1 : HALF + 2] = cp.array([11, 12, 13], "i1")
    large[N - 3 :] = 9
    assert at(large, (HALF - 2, HALF - 1, HALF, HALF + 1, HALF + 2, N - 4, N - 3, N - 1)) == [0, 11, 12, 13, 0, 0, 9, 9]


def test_gathers_and_scatters(large):
    places = cp.array(list(MARKS))
    assert large[places].tolist() == list(MARKS.values()) and large.take(places - N).tolist() == list(MARKS.values())
    large[places] = cp.arange(20, 27).astype("i1")
    assert at(large, MARKS) == list(range(20, 27)) and int(large[HALF + 2]) == 0
    # More positions than 2**31 into few elements.
    table = cp.arange(100, 108).astype("i1")
    large &= 7
    b = table[large]
    assert b.size == N and at(b, (1, N - 1, HALF)) == [100, 100 + (26 & 7), 100 + (23 & 7)]


def test_indices_with_long_steps():
    # Each step along the first axis is longer than 2**31 bytes.
    for shape, dtype in (((2, HALF + 7), "i1"), ((2, (HALF >> 3) + 7), "f8")):
        a, last = cp.zeros(shape, dtype), shape[1] - 1
        rows, columns = cp.array([1, 0, 1]), cp.array([last, 3, 5])
        a[rows, columns] = cp.array([1, 2, 3], dtype)
        assert [float(a[place]) for place in ((1, last), (0, 3), (1, 5), (0, last))] == [1, 2, 3, 0]
        assert a[rows, columns].tolist() == [1, 2, 3] and a[cp.array([1, 0]), 5].tolist() == [3, 0]
        assert float(a[cp.array([1])].sum()) == 4
        a[cp.array([1]), -9:] = 7
        assert float(a.sum()) == 7 * 9 + 5


def test_masks_and_positions(large):
    assert cp.flatnonzero(large).tolist() == list(MARKS)
    assert large[large > 3].tolist() == [4, 5, 6, 7]
    large[large > 3] = -1
    assert at(large, MARKS) == [1, 2, 3, -1, -1, -1, -1]


def test_broadcast_without_memory():
    a = cp.broadcast_to(cp.array(3, "i1"), (N,))
    assert int(a.sum()) == 3 * N and int(cp.broadcast_to(cp.arange(5), (N // 5, 5)).sum()) == N // 5 * 10


def test_running_sums(large):
    if cp.cuda.Device().mem_info[0] < 24 * GIB:
        pytest.skip("there is not enough memory")
    sums = cp.cumsum(large, dtype="i8")
    assert at(sums, (0, 4, 5, HALF - 1, HALF, N - 2, N - 1)) == [1, 1, 3, 6, 10, 21, 28]


def test_copies_between_host_and_device(large):
    host = large.get()
    assert host.nbytes == N and [int(host[place]) for place in MARKS] == list(MARKS.values())
    assert not host[HALF + 2 : N - 2].any()
    host[N - 1], host[HALF] = 33, 44
    again = cp.asarray(host)
    assert at(again, (N - 1, HALF, 0)) == [33, 44, 1]


def test_memory_is_used_up_a_hundred_times(device):
    if device == "cpu":
        pytest.skip("a host whose memory is used up ends the process")
    if os.environ.get("CUPRIC_TIER") == "1":
        pytest.skip("general kernels take scratch memory beside what is promised")
    keep = cp.arange(1_000_000)
    chunk = cp.cuda.Device().mem_info[0] // 12
    for turn in range(100):
        held = []
        with pytest.raises(cp.cuda.memory.OutOfMemoryError):
            for k in range(40):
                held.append(cp.full(chunk, k + turn, "u1"))
        queued = keep + turn
        assert len(held) >= 5 and [int(a[-1]) for a in held] == [k + turn for k in range(len(held))]
        assert int(queued.sum()) == 499_999_500_000 + 1_000_000 * turn
        del held
    assert (keep == cp.arange(1_000_000)).all()

"""Nothing but orders of reads and writes: what was queued first is seen first, whatever is fused, copied or exported."""

import numpy as np
import pytest

import cupric as cp
from support import same_as_numpy

N = 4096

pytestmark = pytest.mark.usefixtures("running")


@same_as_numpy()
def test_a_result_keeps_the_values_it_was_made_from(xp):
    a = xp.arange(5.0)
    b = a + 1
    a[0] = 9
    return a, b


@same_as_numpy()
def test_a_view_sees_later_writes_and_a_copy_does_not(xp):
    a = xp.arange(6)
    view, copy = a[::2], a[::2].copy()
    a += 10
    view[0] = -1
    return a, view, copy


@same_as_numpy()
def test_write_read_write(xp):
    a = xp.zeros(N)
    seen = []
    for step in range(20):
        a += step
        seen.append(a * 2)
        a[step] = -step
    return a, *seen


@same_as_numpy()
def test_a_write_through_one_view_is_read_through_another(xp):
    a = xp.arange(16).reshape(4, 4)
    a.T[0] = 7
    first = a[:, 0] + a[0]
    a[::-1][0] = 1
    second = a.reshape(-1)[12:] + first
    a.ravel()[5] = 100
    return a, first, second


@same_as_numpy()
def test_in_place_on_overlapping_views(xp):
    a, b, c, d = (xp.arange(1.0, 11.0) for _ in range(4))
    a[1:] += a[:-1]
    b[:-1] *= b[1:]
    c[::2] -= c[::-2]
    d[::-1] = d
    m = xp.arange(16.0).reshape(4, 4)
    m += m.T
    return a, b, c, d, m


@same_as_numpy()
def test_out_that_is_an_input_of_a_queued_operation(xp):
    a, b = xp.arange(5.0), xp.ones(5)
    before = a + b
    xp.multiply(a, 3, out=a)
    xp.add(before, a, out=b)
    after = a + b
    xp.subtract(after, b, out=before)
    return a, b, before, after


@same_as_numpy()
def test_a_reduction_into_what_feeds_it(xp):
    n = 600
    x = xp.arange(float(n * n)).reshape(n, n) % 97
    y, z = x.copy(), x.copy()
    xp.sum(x + 1, axis=1, out=x[-1])
    xp.max(y[::-1] + y, axis=1, out=y[:, 0])
    xp.sum((z * 2 + 1) - z, axis=0, out=z[0])
    return x, y, z


@same_as_numpy()
def test_results_whose_places_overlap(xp):
    a, c, d = xp.arange(100), xp.zeros(101, int), xp.zeros(100, int)
    xp.divmod(a, 3, out=(c[:-1], c[1:]))
    xp.divmod(a, 7, out=(d, d))
    return c, d


@same_as_numpy()
def test_indices_that_are_written(xp):
    c = (xp.arange(5000) * 7919) % 5000
    c[c] = xp.arange(5000)
    d = xp.arange(10)[::-1].copy()
    d[d[2:7]] = d[:5] * 100
    return c, d


@same_as_numpy()
def test_swapping(xp):
    a, b = xp.arange(5), xp.arange(5) * 10
    a[...], b[...] = b.copy(), a.copy()
    a[:2], a[2:4] = a[2:4].copy(), a[:2].copy()
    return a, b


@same_as_numpy()
def test_a_reduction_between_two_writes(xp):
    a = xp.ones(N)
    first = a.sum()
    a *= 2
    second = a.sum()
    a[: N // 2] = 0
    third = a.sum()
    return first, second, third, a.max()


@same_as_numpy()
def test_a_reduction_of_what_is_then_overwritten(xp):
    a = xp.arange(N)
    total = (a * 2).sum()
    largest = a.max(axis=0, keepdims=True)
    a[...] = 0
    a += largest
    return total, a[:3]


@same_as_numpy()
def test_a_scan_in_place(xp):
    a = xp.ones(N, "i8")
    xp.cumsum(a, out=a)
    b = a[::-1] - 1
    xp.cumsum(b, out=a)
    return a, b


@same_as_numpy()
def test_masked_writes(xp):
    a = xp.arange(10)
    mask = a > 5
    a[mask] = 0
    kept = a[mask]
    a += 1
    a[mask] += 5
    return a, mask, kept


@same_as_numpy()
def test_a_mask_that_is_changed_after_use(xp):
    a, mask = xp.arange(6), xp.array([True, False, True, False, True, False])
    picked = xp.where(mask, a, -a)
    mask[:] = False
    other = xp.where(mask, a, -a)
    return picked, other


@same_as_numpy()
def test_repeated_indices_keep_the_last_value(xp):
    a = xp.zeros(4)
    a[[0, 1, 0, 1, 0]] = xp.arange(5.0)
    b = xp.zeros(3)
    b[xp.zeros(1000, "i8")] = xp.arange(1000.0)
    return a, b


@same_as_numpy()
def test_indices_that_are_changed_after_use(xp):
    a, index = xp.arange(10) * 10, xp.array([1, 2, 3])
    picked = a[index]
    index += 1
    a[index] = 0
    index[...] = 9
    return a, picked, a[index]


@same_as_numpy()
def test_a_product_of_what_is_written_before_and_after(xp):
    a = xp.arange(9.0).reshape(3, 3)
    a[0] = 1
    first = a @ a
    a[1] = 0
    return first, a @ a, a


@same_as_numpy()
def test_sorting_what_is_written_before_and_after(xp):
    a = xp.arange(10)[::-1].copy()
    a[3] = 100
    before = xp.sort(a)
    a.sort()
    a[0] = 50
    return before, a, xp.argsort(a)


@same_as_numpy()
def test_broadcast_view_of_what_is_written_later(xp):
    a = xp.arange(3.0)
    wide = xp.broadcast_to(a, (4, 3))
    before = wide + 0
    a[1] = 9
    return before, wide + 0


@same_as_numpy()
def test_real_and_imaginary_views(xp):
    a = xp.arange(4).astype("c16")
    a.imag[...] = a.real * 2
    b = a * 1
    a.real[::2] = 0
    return a, b


@same_as_numpy()
def test_views_of_another_dtype(xp):
    a = xp.arange(4, dtype="i4")
    words = a.view("i2")
    words[::2] += 1
    b = a + 0
    a[:] = -1
    return a, b, words


@same_as_numpy()
def test_a_thousand_small_operations(xp):
    a = xp.zeros(3, "i8")
    for step in range(1000):
        a += step
        if step % 97 == 0:
            a[step % 3] = -a[step % 3]
    return a


@same_as_numpy()
def test_a_chain_that_nobody_holds(xp):
    a = xp.ones(N)
    for _ in range(300):
        a = a * 1.5 - a / 2
    return a


@same_as_numpy()
def test_results_that_die_unseen(xp):
    a = xp.arange(5.0)
    for _ in range(50):
        _ = a * 3
        a = a + 1
    del _
    return a


@same_as_numpy()
def test_a_host_array_is_copied_at_the_call(xp):
    host = np.ones(4)
    a = xp.array(host)
    b = a + xp.array(host)
    host[:] = 7
    return a, b


# --- several streams


def on_streams(steps):
    """Runs steps on two streams in turn; each must see all that was queued before."""
    streams = [cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)]
    for index, step in enumerate(steps):
        with streams[index % 2]:
            step()


def test_a_read_on_one_stream_of_a_write_on_another():
    a = cp.zeros(N)
    seen = []
    on_streams([lambda: a.__iadd__(1), lambda: seen.append(a * 2), lambda: a.__imul__(10), lambda: seen.append(a + 0)])
    assert float(seen[0].sum()) == 2 * N and float(seen[1].sum()) == 10 * N


def test_a_write_on_one_stream_after_a_read_on_another():
    a = cp.ones(1 << 20)
    seen = []
    on_streams([lambda: seen.append((a * 3).sum()), lambda: a.fill(0), lambda: seen.append(a.sum())])
    assert [float(total) for total in seen] == [3 * 2**20, 0]


def test_a_hundred_turns_between_streams():
    a = cp.zeros(1000, "i8")
    on_streams([lambda step=step: a.__iadd__(step) for step in range(100)])
    assert (a.get() == 4950).all()


def test_a_view_written_on_another_stream():
    a = cp.arange(10)
    one, two = cp.cuda.Stream(), cp.cuda.Stream()
    with one:
        a[::2] = 0
    with two:
        total = a[1::2].sum() + a.sum()
    with one:
        a[:] = 7
    assert int(total) == 50 and int(a.sum()) == 70


def test_wait_event():
    one, two = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    with one:
        a = cp.arange(N) * 2
        event = one.record()
    two.wait_event(event)
    with two:
        b = a + 1
    two.synchronize()
    assert int(b[-1]) == 2 * N - 1


def test_memory_freed_on_one_stream_is_not_taken_by_another_too_early():
    one, two = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    for _ in range(30):
        with one:
            a = cp.ones(1 << 18)
            total = (a * 2).sum()
            del a
        with two:
            b = cp.full(1 << 18, 5.0)
            assert float(b.sum()) == 5 * 2**18
        assert float(total) == 2 * 2**18


# --- exported storage: a write on either side is seen on the other at once


@pytest.fixture
def host_memory(device):
    if device == "cuda":
        pytest.skip("NumPy cannot look into device memory")


def test_an_exported_array_is_written_here(host_memory):
    a = cp.zeros(8)
    theirs = np.from_dlpack(a)
    a += 1
    assert theirs.tolist() == [1] * 8
    a[::2] = 5
    assert theirs.tolist() == [5, 1] * 4


def test_an_exported_array_holds_what_was_queued_before():
    a = cp.arange(8.0)
    a *= 2
    b = cp.from_dlpack(a)
    assert b.get().tolist() == list(range(0, 16, 2))
    b[0] = 9
    assert float(a[0]) == 9


def test_an_imported_array_is_written_there(host_memory):
    theirs = np.arange(5.0)
    a = cp.from_dlpack(theirs)
    doubled = a * 2
    theirs[:] = 7
    tripled = a * 3
    assert doubled.get().tolist() == [0, 2, 4, 6, 8] and tripled.get().tolist() == [21] * 5


def test_an_imported_array_is_written_here(host_memory):
    theirs = np.zeros(5)
    a = cp.from_dlpack(theirs)
    a[1:3] = 4
    assert theirs.tolist() == [0, 4, 4, 0, 0]
    a += cp.ones(5)
    assert theirs.tolist() == [1, 5, 5, 1, 1]


def test_views_of_an_exported_array(host_memory):
    a = cp.arange(6)
    before = a[::2] + 0
    theirs = np.from_dlpack(a[1:])
    a[::2] = -1
    assert theirs.tolist() == [1, -1, 3, -1, 5] and before.get().tolist() == [0, 2, 4]


def test_memory_shown_by_two_arrays_overlaps(host_memory):
    a = cp.arange(1.0, 11.0)
    shown = cp.from_dlpack(a)
    shown[1:] += a[:-1]
    expected = np.arange(1.0, 11.0)
    expected[1:] += expected[:-1]
    assert a.get().tolist() == expected.tolist()
    b = cp.arange(6)
    cp.from_dlpack(b)[::-1] = b
    assert b.get().tolist() == [5, 4, 3, 2, 1, 0]


# --- failure


def test_a_failing_call_leaves_its_operands_as_they_were():
    a = cp.arange(6)
    for bad in (
        lambda: a + cp.ones(5),
        lambda: a.__setitem__(9, 1),
        lambda: a.__iadd__(cp.ones(6)),
        lambda: a.reshape(4, 4),
    ):
        with pytest.raises((ValueError, IndexError, TypeError)):
            bad()
        a += 0
    assert a.get().tolist() == [0, 1, 2, 3, 4, 5]


def test_an_index_outside_its_axis_is_found_at_the_latest_at_the_next_look():
    a = cp.arange(5)
    with pytest.raises(IndexError):
        a[cp.array([1, 7])].get()
    assert (a + 1).get().tolist() == [1, 2, 3, 4, 5]


def test_what_a_failed_operation_should_have_changed_raises_at_each_look():
    a, b = cp.arange(5000.0), cp.ones(3)
    try:
        a[:3] += cp.arange(5.0)[cp.array([1, 7, 2])] * b
    except IndexError:  # found at the call
        assert a.get().tolist() == list(range(5000))
        return
    for _ in range(2):
        with pytest.raises(IndexError):
            a.get()
    a[...] = 4
    assert a.get().tolist() == [4] * 5000


def test_independent_work_survives_a_failure():
    a, b = cp.arange(5), cp.arange(5)
    fine = b * 2
    with pytest.raises(IndexError):
        (a[cp.array([9])] + 1).get()
    assert fine.get().tolist() == [0, 2, 4, 6, 8]


# --- events and waiting


def test_an_event_is_done_when_what_came_before_it_is():
    start, end = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    a = cp.ones((300, 300)) @ cp.ones((300, 300))
    end.record()
    end.synchronize()
    assert end.done and cp.cuda.get_elapsed_time(start, end) >= 0 and float(a[0, 0]) == 300


@pytest.mark.parametrize("wait", ["stream", "device", "event", "nothing"])
def test_every_way_to_wait(wait):
    a = cp.arange(N)
    b = a * 2 + 1
    if wait == "stream":
        cp.cuda.get_current_stream().synchronize()
    elif wait == "device":
        cp.cuda.Device().synchronize()
    elif wait == "event":
        event = cp.cuda.Event()
        event.record()
        event.synchronize()
    assert int(b[-1]) == 2 * N - 1

"""Streams, events, devices, pools, limits; on a machine without a GPU they speak of the host."""

import ctypes
import gc
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cupric as cp

MIB = 1 << 20


@pytest.fixture
def pool():
    """A pool of one's own, current during the test."""
    mine = cp.cuda.MemoryPool()
    with cp.cuda.using_allocator(mine.malloc):
        yield mine


def test_devices(device):
    count = cp.cuda.runtime.getDeviceCount()
    assert isinstance(count, int) and (count > 0) == cp.cuda.is_available()
    if device == "cuda":
        assert count > 0
    with cp.cuda.Device(0) as current:
        assert current.id == 0 and cp.cuda.Device().id == 0 and cp.cuda.Device(0) == current
    free, total = cp.cuda.Device(0).mem_info
    assert 0 < free <= total
    assert isinstance(cp.cuda.runtime.getDeviceProperties(0)["name"], bytes)


def test_a_device_that_is_not_there():
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match=r"(?i)device") as raised:
        cp.cuda.Device(999).use()
    assert raised.value.status == 101
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.status, str(again)) == (101, "cudaErrorInvalidDevice: invalid device ordinal")
    cp.cuda.runtime.check_status(0)
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorInvalidValue"):
        cp.cuda.runtime.check_status(1)


def test_attributes_and_limits_of_a_gpu(device):
    runtime, gpu = cp.cuda.runtime, cp.cuda.Device()
    if device != "cuda":
        assert gpu.attributes == {}
        for ask in (
            lambda: gpu.compute_capability,
            lambda: gpu.pci_bus_id,
            lambda: runtime.deviceGetAttribute(runtime.cudaDevAttrWarpSize, 0),
            lambda: runtime.deviceGetLimit(runtime.cudaLimitStackSize),
        ):
            with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorNoDevice"):
                ask()
        return
    of = runtime.getDeviceProperties(0)
    assert gpu.attributes["MultiProcessorCount"] == of["multiProcessorCount"] and len(gpu.attributes) > 80
    assert runtime.deviceGetAttribute(runtime.cudaDevAttrWarpSize, 0) == of["warpSize"] == 32
    assert gpu.compute_capability == f"{of['major']}{of['minor']}"
    assert cp.cuda.Device.from_pci_bus_id(gpu.pci_bus_id) == gpu and gpu.pci_bus_id.count(":") == 2
    before = runtime.deviceGetLimit(runtime.cudaLimitPrintfFifoSize)
    runtime.deviceSetLimit(runtime.cudaLimitPrintfFifoSize, 2 * before)
    assert runtime.deviceGetLimit(runtime.cudaLimitPrintfFifoSize) >= 2 * before
    runtime.deviceSetLimit(runtime.cudaLimitPrintfFifoSize, before)
    assert runtime.deviceCanAccessPeer(0, 0) == 0
    a = cp.arange(3)
    known = runtime.pointerGetAttributes(a.data.ptr)
    assert (known.type, known.device, known.devicePointer) == (runtime.memoryTypeDevice, 0, a.data.ptr)
    assert runtime.pointerGetAttributes(np.zeros(3).ctypes.data).type == runtime.memoryTypeUnregistered


def test_memory_by_address():
    runtime, size = cp.cuda.runtime, 4000
    host, back = np.arange(1000, dtype="i4"), np.zeros(1000, "i4")
    one, two, pinned = runtime.malloc(size), runtime.malloc(size), runtime.hostAlloc(size, runtime.hostAllocPortable)
    runtime.memcpy(one, host.ctypes.data, size, runtime.memcpyHostToDevice)
    stream = runtime.streamCreateWithFlags(runtime.streamNonBlocking)
    runtime.memcpyAsync(two, one, size, runtime.memcpyDeviceToDevice, stream)
    runtime.memcpyAsync(pinned, two, size, runtime.memcpyDeviceToHost, stream)
    runtime.streamSynchronize(stream)
    runtime.memcpy(back.ctypes.data, pinned, size, runtime.memcpyHostToHost)
    assert (back == host).all()
    runtime.memset(one, 1, 8)
    runtime.memsetAsync(one + 8, 2, 4, stream)
    runtime.streamSynchronize(stream)
    runtime.memcpy(back.ctypes.data, one, 16, runtime.memcpyDefault)
    assert back[:4].tolist() == [0x01010101, 0x01010101, 0x02020202, 3]
    runtime.streamDestroy(stream)
    for address, give in ((one, runtime.free), (two, runtime.free), (pinned, runtime.freeHost)):
        give(address)
        with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorInvalidValue"):
            give(address)
    runtime.free(0)
    with pytest.raises(runtime.CUDARuntimeError, match="direction"):
        runtime.memcpy(1, 2, 3, 9)


def test_pointers_copy():
    one, two = cp.cuda.alloc(64), cp.cuda.alloc(64)
    host, back = np.arange(16, dtype="i4"), np.zeros(16, "i4")
    one.copy_from_host(host.ctypes.data, 64)
    two.memset(255, 64)
    (two + 8).copy_from(one + 8, 56)
    two.copy_to_host(ctypes.c_void_p(back.ctypes.data), 64)
    assert back.tolist() == [-1, -1, *range(2, 16)]
    stream = cp.cuda.Stream(non_blocking=True)
    two.copy_from_device_async(one, 8, stream)
    two.memset_async(7, 4, stream)
    two.copy_to_host_async(back.ctypes.data, 64, stream)
    stream.synchronize()
    assert back.tolist() == [0x07070707, 1, *range(2, 16)]
    one.copy_from(ctypes.c_void_p(back.ctypes.data), 4)
    one.copy_from_host_async(back.ctypes.data, 8, stream)
    one.copy_from_async(two, 0, stream)
    assert cp.ndarray((2,), "i4", one).tolist() == [0x07070707, 1]
    assert (
        int(two) == two.ptr and (two + 8 - 8).ptr == two.ptr and two.device == cp.cuda.Device() and two.device_id == 0
    )


# --- streams and events


def test_current_stream():
    null = cp.cuda.Stream.null
    assert cp.cuda.get_current_stream() == null
    stream = cp.cuda.Stream()
    with stream:
        assert cp.cuda.get_current_stream() == stream
        with cp.cuda.Stream(non_blocking=True) as inner:
            assert cp.cuda.get_current_stream() == inner
        assert cp.cuda.get_current_stream() == stream
    assert cp.cuda.get_current_stream() == null
    stream.use()
    assert cp.cuda.get_current_stream() == stream
    null.use()
    assert stream != null and hash(stream) == hash(stream)


def test_the_current_stream_is_a_threads_own():
    seen = []
    with cp.cuda.Stream():
        thread = threading.Thread(target=lambda: seen.append(cp.cuda.get_current_stream()))
        thread.start()
        thread.join()
    assert seen == [cp.cuda.Stream.null]


def test_a_with_block_left_by_an_error_restores_the_stream():
    with pytest.raises(ZeroDivisionError), cp.cuda.Stream():
        1 / 0  # noqa: B018
    assert cp.cuda.get_current_stream() == cp.cuda.Stream.null


def test_stream_done_and_synchronize():
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        a = cp.arange(1000) * 2
    stream.synchronize()
    assert stream.done and int(a[-1]) == 1998


def test_streams_are_freed_with_work_in_them():
    results = []
    for _ in range(50):
        with cp.cuda.Stream(non_blocking=True):
            results.append(cp.arange(1000) + 1)
    assert all(int(result.sum()) == 500_500 for result in results)


def test_events():
    start, end = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    a = cp.ones((200, 200)) @ cp.ones((200, 200))
    end.record()
    end.synchronize()
    assert end.done and start.done and 0 <= cp.cuda.get_elapsed_time(start, end) < 60_000
    assert float(a[0, 0]) == 200


def test_events_recorded_on_a_stream():
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        a = cp.arange(1000)
    event = stream.record()
    cp.cuda.get_current_stream().wait_event(event)
    assert int((a + 1)[-1]) == 1000
    other = cp.cuda.Event(disable_timing=True)
    other.record(stream)
    other.synchronize()


def test_elapsed_time_of_an_event_that_was_not_recorded():
    with pytest.raises(Exception, match=r"."):
        cp.cuda.get_elapsed_time(cp.cuda.Event(), cp.cuda.Event())


def test_streams_and_events_by_handle():
    runtime, calls = cp.cuda.runtime, []
    stream, start, end = (
        runtime.streamCreate(),
        runtime.eventCreate(),
        runtime.eventCreateWithFlags(runtime.eventBlockingSync),
    )
    runtime.eventRecord(start, stream)
    with cp.cuda.ExternalStream(stream):
        a = cp.arange(1000) * 2
    runtime.eventRecord(end, stream)
    runtime.eventSynchronize(end)
    assert runtime.eventQuery(end) == runtime.streamQuery(stream) == 0 <= runtime.eventElapsedTime(start, end)
    runtime.streamWaitEvent(0, end)
    runtime.streamAddCallback(stream, lambda *given: calls.append(given), "arg")
    runtime.launchHostFunc(stream, calls.append, "other")
    runtime.streamSynchronize(stream)
    assert calls == [(stream, 0, "arg"), "other"] and int(a[-1]) == 1998
    runtime.eventDestroy(start)
    with pytest.raises(runtime.CUDARuntimeError, match="InvalidResourceHandle"):
        runtime.eventQuery(start)
    runtime.eventDestroy(end)
    runtime.streamDestroy(stream)
    with pytest.raises(runtime.CUDARuntimeError, match="InvalidResourceHandle"):
        runtime.streamDestroy(stream)


def test_streams_of_other_libraries():
    class Theirs:
        def __init__(self, stream):
            self.stream = stream

        def __cuda_stream__(self):
            return 0, self.stream.ptr

    ours = cp.cuda.Stream(False, True, False, -1)
    assert ours.priority == -1 and ours.is_non_blocking and not cp.cuda.Stream.null.is_non_blocking
    with cp.cuda.Stream.from_external(Theirs(ours)) as stream:
        assert stream.ptr == ours.ptr and int((cp.arange(10) + 1).sum()) == 55
    assert (
        cp.cuda.Stream.from_external(ours).ptr == ours.ptr and cp.cuda.Stream.null.ptr == cp.cuda.Stream.ptds.ptr == 0
    )


# --- pools


def test_counters(pool):
    assert pool.used_bytes() == 0 and pool.total_bytes() == 0
    a = cp.ones(1000)
    assert pool.used_bytes() >= 8000 and pool.total_bytes() >= pool.used_bytes()
    b = a[::2]
    del a
    gc.collect()
    assert pool.used_bytes() >= 8000, "a view keeps the memory"
    del b
    gc.collect()
    assert pool.used_bytes() == 0 and pool.free_bytes() == pool.total_bytes() > 0
    pool.free_all_blocks()
    assert pool.total_bytes() == 0


def test_blocks_are_used_again(pool):
    for _ in range(100):
        a = cp.ones(MIB // 8)
        del a
    assert pool.total_bytes() <= 4 * MIB


def test_the_default_pool():
    pool = cp.get_default_memory_pool()
    gc.collect()
    base = pool.used_bytes()
    a = cp.ones(1000)
    assert pool.used_bytes() >= base + 8000
    del a
    gc.collect()
    assert pool.used_bytes() <= base + 4096
    assert cp.get_default_pinned_memory_pool() is not None and cp.cuda.get_allocator() is not None


def test_a_pool_dies_after_its_arrays():
    pool = cp.cuda.MemoryPool()
    with cp.cuda.using_allocator(pool.malloc):
        a = cp.arange(1000)
    del pool
    gc.collect()
    assert int(a.sum()) == 499_500


def test_limits():
    pool = cp.cuda.MemoryPool()
    assert pool.get_limit() == 0
    pool.set_limit(size=MIB)
    assert pool.get_limit() == MIB
    pool.set_limit(fraction=0.25)
    assert pool.get_limit() == cp.cuda.Device().mem_info[1] // 4
    pool.set_limit(fraction=0)
    assert pool.get_limit() == 0
    for wrong in ({"fraction": 1.5}, {"fraction": -0.1}, {"size": -1}, {"size": 1, "fraction": 0.5}):
        with pytest.raises(ValueError, match=r"range|specified"):
            pool.set_limit(**wrong)
    pool.set_limit(size=MIB)
    with cp.cuda.using_allocator(pool.malloc):
        with pytest.raises(cp.cuda.memory.OutOfMemoryError, match=r"(?i)memory"):
            cp.ones(MIB, "f4")
        assert float(cp.ones(1000).sum()) == 1000
    pool.set_limit(size=0)
    with cp.cuda.using_allocator(pool.malloc):
        assert float(cp.ones(MIB, "f4").sum()) == MIB


def test_out_of_memory_a_hundred_times(pool):
    pool.set_limit(size=4 * MIB)
    a = cp.arange(1000)
    for turn in range(100):
        with pytest.raises(cp.cuda.memory.OutOfMemoryError):
            cp.zeros(8 * MIB, "u1") if turn % 2 else cp.ones(MIB) + 1
        assert int((a + turn).sum()) == 499_500 + 1000 * turn
    del a
    gc.collect()
    assert pool.used_bytes() == 0


def test_an_allocation_that_no_machine_can_meet():
    for _ in range(3):
        with pytest.raises(MemoryError) as raised:
            cp.zeros(1 << 46, dtype="u1")
        assert isinstance(raised.value, cp.cuda.memory.OutOfMemoryError)
        assert float(cp.ones(10).sum()) == 10


def test_out_of_memory_in_the_middle_of_an_expression(pool):
    pool.set_limit(size=6 * MIB)
    a = cp.ones(MIB // 2, "f4")
    with pytest.raises(cp.cuda.memory.OutOfMemoryError):
        _ = (cp.broadcast_to(a, (8, MIB // 2)) + 1).sum(axis=0)[:3] + cp.zeros(2 * MIB)
    assert float(a.sum()) == MIB // 2


def test_results_that_die_unseen_give_their_memory_back(pool):
    for _ in range(50):
        a = cp.ones(MIB // 8)
        _ = a * 2 + 1
    del a, _
    gc.collect()
    assert pool.used_bytes() == 0


# --- allocators


def in_thread(run):
    """What a function gives in a thread of its own."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(run).result()


@pytest.fixture
def common():
    """A pool that all threads use during the test."""
    mine = cp.cuda.MemoryPool()
    cp.cuda.set_allocator(mine.malloc)
    yield mine
    cp.cuda.set_allocator(None)


def test_set_allocator_is_for_all_threads(common):
    here, there = cp.ones(1000), in_thread(lambda: cp.ones(2000))
    assert common.used_bytes() >= 24_000 and cp.cuda.get_allocator() == common.malloc
    assert in_thread(cp.cuda.get_allocator) == common.malloc
    with cp.cuda.Stream(non_blocking=True):
        assert float((here[0] + there).sum()) == 4000
    del here, there
    gc.collect()
    assert common.used_bytes() == 0


def test_using_allocator_wins_in_its_thread_alone(common):
    one, two = cp.cuda.MemoryPool(), cp.cuda.MemoryPool()
    with cp.cuda.using_allocator(one.malloc):
        a = cp.ones(1000)
        b = in_thread(lambda: cp.ones(1000))
        assert (one.used_bytes() >= 8000, common.used_bytes() >= 8000) == (True, True)
        with cp.cuda.using_allocator(two.malloc):
            c = cp.ones(1000)
        d = cp.ones(1000)
        assert one.used_bytes() == 2 * two.used_bytes() == 2 * common.used_bytes()
        with pytest.raises(ValueError, match="using_allocator"):
            cp.cuda.set_allocator(two.malloc)
        with cp.cuda.using_allocator(None):
            e = cp.ones(1000)
        assert one.used_bytes() == 2 * two.used_bytes() == 2 * common.used_bytes()
    f = cp.ones(1000)
    assert common.used_bytes() == one.used_bytes()
    assert all(float(array.sum()) == 1000 for array in (a, b, c, d, e, f))


def test_set_allocator_while_another_thread_uses_its_own(common):
    mine, inside, done = cp.cuda.MemoryPool(), threading.Event(), threading.Event()

    def work():
        with cp.cuda.using_allocator(mine.malloc):
            inside.set()
            done.wait(60)
            return cp.ones(1000)

    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(work)
        inside.wait(60)
        cp.cuda.set_allocator(None)
        done.set()
        a = future.result()
    assert mine.used_bytes() >= 8000 and common.used_bytes() == 0 and float(a.sum()) == 1000


def test_an_allocator_of_ones_own(common):
    pool, sizes = cp.cuda.MemoryPool(), []

    def allocate(size):
        sizes.append(size)
        if size > MIB:
            raise OverflowError("too much for me")
        return pool.malloc(size)

    cp.cuda.set_allocator(allocate)
    a = in_thread(lambda: cp.ones(1000) + 1)
    assert float(a.sum()) == 2000 and 8000 in sizes and pool.used_bytes() >= 8000 and common.used_bytes() == 0
    with pytest.raises(OverflowError, match="too much for me"):
        cp.zeros(MIB)
    assert float((a * 2).sum()) == 4000
    assert cp.cuda.alloc(100).mem.size == 100 and sizes[-1] == 100
    cp.cuda.set_allocator(None)
    count = len(sizes)
    assert float(cp.ones(10).sum()) == 10 and len(sizes) == count
    del a
    gc.collect()
    assert pool.used_bytes() == 0


def test_an_error_leaves_the_allocator_as_it_was(common):
    with pytest.raises(ZeroDivisionError), cp.cuda.using_allocator(cp.cuda.MemoryPool().malloc):
        1 / 0  # noqa: B018
    assert cp.cuda.get_allocator() == common.malloc
    for wrong in (5, "malloc"):
        with pytest.raises(TypeError):
            cp.cuda.set_allocator(wrong)


# --- page-locked memory


def test_pinned_memory(device):
    memory = cp.cuda.alloc_pinned_memory(800)
    assert isinstance(memory, cp.cuda.PinnedMemoryPointer) and memory.size() == 800 and memory.ptr % 256 == 0
    host = np.frombuffer(memory, np.float64)
    host[...] = np.arange(100)
    a = cp.asarray(host)
    host[...] = 0
    assert (a.get() == np.arange(100)).all()
    a.get(out=host)
    assert (host == np.arange(100)).all() and host.ctypes.data == memory.ptr
    if device == "cuda":
        assert cp.cuda.runtime.pointerGetAttributes(memory.ptr).type == cp.cuda.runtime.memoryTypeHost


def test_a_large_pinned_array_goes_both_ways():
    host = cp.empty_pinned(3_000_001, "i4")
    host[...] = np.arange(3_000_001)
    a = cp.asarray(host)
    host[...] = 0
    a += 1
    a.get(out=host)
    assert (host == np.arange(1, 3_000_002)).all()


def test_pinned_pointers_have_offsets():
    memory = cp.cuda.alloc_pinned_memory(64)
    later = memory + 16
    assert later.ptr == memory.ptr + 16 == int(16 + memory) and later.size() == 48 and (later - 8).size() == 56
    np.frombuffer(later, "u1")[0] = 7
    del later
    assert np.frombuffer(memory, "u1")[16] == 7 and bytes(memory)[16] == 7
    with pytest.raises(BufferError):
        memory + 65


def test_the_pinned_pool_keeps_what_is_given_back():
    pool = cp.cuda.PinnedMemoryPool()
    assert pool.n_free_blocks() == 0
    pool.free_all_blocks()
    first, second = pool.malloc(1000), pool.malloc(1000)
    address, host = first.ptr, np.frombuffer(first, "u1")
    del first
    gc.collect()
    assert pool.n_free_blocks() == 0, "an array still uses the memory"
    del host
    gc.collect()
    assert pool.n_free_blocks() == 1
    third = pool.malloc(900)
    assert third.ptr == address and third.size() == 900 and pool.n_free_blocks() == 0
    del second, third
    gc.collect()
    assert pool.n_free_blocks() == 2
    pool.free_all_blocks()
    assert pool.n_free_blocks() == 0


def test_pinned_memory_outlives_its_pool():
    pool = cp.cuda.PinnedMemoryPool()
    host = np.frombuffer(pool.malloc(8000), "f8")
    del pool
    gc.collect()
    host[...] = 3
    assert float(cp.asarray(host).sum()) == 3000


def test_the_pinned_allocator_is_chosen_for_all_threads():
    pool, seen = cp.cuda.PinnedMemoryPool(), []

    def counted(size):
        seen.append(size)
        return pool.malloc(size)

    cp.cuda.set_pinned_memory_allocator(counted)
    try:
        thread = threading.Thread(target=lambda: cp.zeros_pinned((3, 4), "f4"))
        thread.start()
        thread.join()
        assert seen == [48]
        cp.cuda.set_pinned_memory_allocator(None)
        assert cp.cuda.alloc_pinned_memory(10).size() == 10 and seen == [48]
    finally:
        cp.cuda.set_pinned_memory_allocator(cp.get_default_pinned_memory_pool().malloc)


def test_arrays_in_pinned_memory():
    host = cp.zeros_pinned((3, 4), "c8", order="F")
    assert type(host) is np.ndarray and host.flags.f_contiguous and host.dtype == "c8" and not host.any()
    assert cp.empty_pinned(5).shape == (5,) and cp.empty_pinned(()).shape == () and cp.empty_pinned((0, 3)).size == 0
    like = np.zeros((2, 3, 4), "i2").transpose(1, 2, 0)
    for made in (cp.zeros_like_pinned(like), cp.empty_like_pinned(cp.zeros((2, 3, 4), "i2").transpose(1, 2, 0))):
        assert (made.shape, made.dtype, made.strides) == (like.shape, like.dtype, np.empty_like(like).strides)
    assert cp.zeros_like_pinned(like, dtype="f8", order="C", shape=(7,)).shape == (7,)
    with pytest.raises(ValueError, match="negative"):
        cp.empty_pinned(-1)


def test_data_pointer():
    a = cp.arange(10)
    assert isinstance(a.data.ptr, int) and a[2:].data.ptr == a.data.ptr + 16
    a += 1
    assert a.tolist() == list(range(1, 11))


# --- recorded work


def test_a_graph_does_its_work_again_with_what_its_arrays_hold_then():
    a, stream = cp.arange(100_000.0), cp.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        assert stream.is_capturing()
        b = cp.sqrt(a) * 2 + 1
        total = b.sum()
        a += 1
        largest = cp.sort(b)[-1:] @ cp.ones(1)
        graph = stream.end_capture()
    assert not stream.is_capturing()
    for turn in range(3):
        graph.launch(stream)
        stream.synchronize()
        expected = np.sqrt(np.arange(100_000.0) + turn) * 2 + 1
        np.testing.assert_allclose(b.get(), expected, rtol=1e-15)
        np.testing.assert_allclose([float(total), float(largest)], [expected.sum(), expected[-1]], rtol=1e-12)
    assert float(a[0]) == 3


def test_a_graph_keeps_its_memory():
    stream = cp.cuda.Stream()
    with stream:
        a = cp.arange(5000)
        stream.begin_capture()
        b = cp.cumsum(a[::-1] * 2)
        graph = stream.end_capture()
        out = b.copy()
        del a, b
        others = [cp.full(5000, 7) for _ in range(20)]
        graph.launch()
        stream.synchronize()
    assert all(int(other.sum()) == 35_000 for other in others) and out.shape == (5000,)


def test_a_graph_waits_for_work_on_other_streams():
    stream = cp.cuda.Stream(non_blocking=True)
    a = cp.zeros(200_000)
    with stream:
        stream.begin_capture()
        b = a + 1
        graph = stream.end_capture()
    for turn in range(20):
        a[...] = turn
        graph.launch(stream)
        assert float(b[-1]) == turn + 1


def test_nothing_is_looked_at_while_a_stream_is_recorded():
    a, stream = cp.arange(5000), cp.cuda.Stream()
    with stream:
        stream.begin_capture()
        b = a * 2
        for look in (b.get, lambda: int(b[1]), stream.synchronize, lambda: cp.asarray(np.arange(9))):
            with pytest.raises(RuntimeError, match="captured"):
                look()
        with pytest.raises(RuntimeError, match="already"):
            stream.begin_capture()
        graph = stream.end_capture()
    graph.launch(stream)
    assert int(b.sum()) == 4999 * 5000


def test_what_cannot_be_recorded_is_told():
    with pytest.raises(RuntimeError, match="null stream"):
        cp.cuda.Stream.null.begin_capture()
    with pytest.raises(RuntimeError, match="not being captured"):
        cp.cuda.Stream().end_capture()


# --- allocators that give what cannot be used


@pytest.mark.parametrize(
    "give, error",
    [
        (lambda: cp.cuda.MemoryPointer(cp.cuda.Memory(8), 0), ValueError),
        (lambda: cp.cuda.MemoryPointer(cp.cuda.Memory(800_000), 100), ValueError),
        (lambda: None, TypeError),
        (lambda: 5, TypeError),
    ],
)
def test_an_allocator_that_gives_too_little_is_told(give, error):
    given = give()
    with cp.cuda.using_allocator(lambda size: given), pytest.raises(error, match="allocator"):
        cp.ones(100_000)
    assert float(cp.ones(100_000).sum()) == 100_000


def test_memory_that_cannot_be_there_is_refused():
    for address, size in ((0, 16), (16, 2**63), (2**64 - 8, 16)):
        with pytest.raises((ValueError, OverflowError)):
            cp.cuda.UnownedMemory(address, size, None)


def test_a_graph_is_not_launched_into_a_recording():
    stream = cp.cuda.Stream()
    with stream:
        a = cp.zeros(5000)
        stream.begin_capture()
        a += 1
        graph = stream.end_capture()
        stream.begin_capture()
        with pytest.raises(RuntimeError, match="being captured"):
            graph.launch(stream)
        stream.end_capture()
        graph.launch(stream)
        stream.synchronize()
    assert a.get().tolist() == [1] * 5000

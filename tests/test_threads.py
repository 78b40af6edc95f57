"""Many threads, forks and processes, first use included."""

import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

import cupric as cp


def python(code, device, **settings):
    """Runs code in a fresh process and gives its output."""
    environment = {**os.environ, "CUPRIC_DEVICE": device, **settings}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_sixty_four_threads_on_first_use(device):
    code = """
        import threading
        import cupric as cp
        barrier, seen = threading.Barrier(64), []
        def work(k):
            barrier.wait()
            a = cp.full(10_003, float(k)) + cp.arange(10_003.0)
            seen.append((float(cp.sort(a[::-1])[0]), float(cp.sin(a * 0).sum()), int((cp.ones((20, 20)) * k @ cp.eye(20))[3, 4])) == (float(k), 0.0, k))
        threads = [threading.Thread(target=work, args=(k,)) for k in range(64)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(len(seen), all(seen))
    """
    assert python(code, device).split() == ["64", "True"]


def test_threads_do_not_disturb_each_other():
    def work(k):
        a = cp.full(100_003, float(k))
        b = cp.sort((a + cp.arange(100_003.0))[::-1])
        return float((b - cp.arange(100_003.0)).sum()) / 100_003, float((cp.ones((40, 40)) * k @ cp.eye(40))[3, 4])

    with ThreadPoolExecutor(8) as executor:
        assert list(executor.map(work, range(32))) == [(float(k), float(k)) for k in range(32)]


def test_threads_that_share_an_array():
    a = cp.arange(1000)

    def work(k):
        total = 0
        for turn in range(50):
            total += int((a * k + turn).sum())
        return total

    with ThreadPoolExecutor(8) as executor:
        want = [sum(k * 499_500 + 1000 * turn for turn in range(50)) for k in range(16)]
        assert list(executor.map(work, range(16))) == want


def test_threads_with_streams_of_their_own():
    def work(k):
        with cp.cuda.Stream(non_blocking=True):
            a = cp.zeros(5000, "i8")
            for turn in range(60):
                a += turn * k
            return int(a.sum())

    with ThreadPoolExecutor(8) as executor:
        assert list(executor.map(work, range(16))) == [5000 * 1770 * k for k in range(16)]


def test_an_array_freed_by_another_thread():
    def make(k):
        return cp.arange(2000) + k

    with ThreadPoolExecutor(8) as executor:
        for _ in range(20):
            arrays = list(executor.map(make, range(16)))
            totals = [int(array.sum()) for array in arrays]
            del arrays
            assert totals == [1_999_000 + 2000 * k for k in range(16)]


@pytest.mark.parametrize("used", [False, True], ids=["unused", "used"])
def test_a_forked_child(used, device):
    if device == "cuda" and used:
        pytest.skip("CUDA does not survive a fork; see the next test")
    code = f"""
        import os, warnings
        warnings.simplefilter("ignore")
        import cupric as cp
        a = cp.arange(100_000.0) if {used} else None
        before = float((a * 2).sum()) if {used} else 0.0
        child = os.fork()
        if child == 0:
            fine = float((cp.arange(100_000.0) * 2).sum()) == 9999900000.0 and float((cp.ones((64, 64)) @ cp.ones((64, 64)))[0, 0]) == 64
            os._exit(0 if fine else 7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), float((cp.arange(10.0)).sum()))
    """
    assert python(code, device).split() == ["0", "45.0"]


def test_a_forked_child_of_a_process_that_used_the_gpu(device):
    if device != "cuda":
        pytest.skip("speaks of the GPU")
    code = """
        import os
        import cupric as cp
        cp.arange(10).sum().get()
        child = os.fork()
        if child == 0:
            try:
                cp.arange(10).sum().get()
            except Exception as error:
                os._exit(0 if "spawn" in str(error) else 7)
            os._exit(8)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert python(code, device).split() == ["0"]


def test_many_processes_on_an_empty_cache(device, tmp_path):
    count = 32 if device == "cuda" else 8
    code = "import cupric as cp; a = cp.arange(5000.0); print(float((cp.sin(a) * 0 + a * 2 - cp.sqrt(a) * 0).sum()))"
    environment = {**os.environ, "CUPRIC_DEVICE": device, "CUPRIC_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", code]
    children = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(count)
    ]
    answers = [child.communicate(timeout=300) for child in children]
    assert [out.decode().strip() for out, _ in answers] == ["24995000.0"] * count, answers[0][1][-2000:]


def test_a_cache_that_cannot_be_written(device, tmp_path):
    folder = tmp_path / "file"
    folder.write_text("not a folder")
    code = "import cupric as cp; a = cp.arange(5000.0); print(float((a * 2 + 1).sum()))"
    assert python(code, device, CUPRIC_CACHE_DIR=str(folder / "below")).strip() == "25000000.0"


def test_exit_with_work_still_queued(device):
    code = """
        import threading
        import cupric as cp
        a = cp.arange(100_000.0)
        kept = [a * k for k in range(100)]
        stream = cp.cuda.Stream(non_blocking=True)
        with stream:
            more = [a + k for k in range(100)]
        threading.Thread(target=lambda: (a * 3).sum()).start()
        print("end")
    """
    assert python(code, device).strip() == "end"


@pytest.mark.parametrize("threads", ["1", "2", "7"])
def test_the_number_of_threads_changes_no_bit(threads, device):
    code = """
        import hashlib
        import cupric as cp
        a = cp.random.default_rng(1).random(300_007) - 0.5
        parts = [a.sum(), cp.cumsum(a), cp.sin(a), cp.sort(a), (a * 3 + 1).astype("f4").sum(), a[:300_000].reshape(300, 1000).sum(axis=0)]
        print(hashlib.sha256(b"".join(part.get().tobytes() for part in parts)).hexdigest())
    """
    assert python(code, device, CUPRIC_NUM_THREADS=threads) == python(code, device, CUPRIC_NUM_THREADS="3")

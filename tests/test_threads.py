"""Many threads, forks and processes, first use included."""

import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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


def test_a_fork_with_work_still_queued(device):
    code = f"""
        import os, warnings
        warnings.simplefilter("ignore")
        import cupric as cp
        gpu = {device == "cuda"}
        a = cp.arange(100_000.0)
        other = cp.cuda.Stream(non_blocking=True)
        codes = []
        for turn in range(10):
            queued = a * turn + 1
            with other:
                beside = a - turn
            child = os.fork()
            if child == 0:
                if gpu:
                    os._exit(0)
                fine = float(queued.sum()) == 4999950000.0 * turn + 100_000 and float(beside.sum()) == 4999950000.0 - 100_000 * turn
                queued += 1
                os._exit(0 if fine and float(queued[3]) == 3 * turn + 2 else 7)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            codes.append((float(queued[3]), float(beside[3])) != (3 * turn + 1, 3 - turn))
        print(any(codes), float(a.sum()))
    """
    assert python(code, device).split() == ["False", "4999950000.0"]


def test_forks_while_other_threads_compute(device):
    if device == "cuda":
        pytest.skip("CUDA does not survive a fork")
    code = """
        import os, signal, threading, warnings
        warnings.simplefilter("ignore")
        import cupric as cp
        stop = threading.Event()
        def work():
            while not stop.wait(0.0001):
                assert float((cp.arange(100_000.0) * 2).sum()) == 9999900000.0
        threads = [threading.Thread(target=work) for _ in range(3)]
        [thread.start() for thread in threads]
        codes = []
        for turn in range(20):
            queued = cp.arange(100_000.0) * turn
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                os._exit(0 if float(queued.sum()) == 4999950000.0 * turn and float((queued + 1)[5]) == 5 * turn + 1 else 7)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        stop.set()
        [thread.join() for thread in threads]
        print(set(codes))
    """
    assert python(code, device).strip() == "{0}"


def test_a_forked_child_ends_as_python_ends(device):
    code = """
        import os, sys, warnings
        warnings.simplefilter("ignore")
        import cupric as cp
        a = cp.arange(100_000.0) * 2
        child = os.fork()
        if child == 0:
            sys.exit(3)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), float(a[1]))
    """
    assert python(code, device).split() == ["3", "2.0"]


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_multiprocessing(start, device, tmp_path):
    if device == "cuda" and start == "fork":
        pytest.skip("CUDA does not survive a fork")
    file = tmp_path / "pool.py"
    file.write_text(
        textwrap.dedent(f"""
        import multiprocessing
        import cupric as cp

        def total(k):
            return float((cp.arange(50_000.0) * k).sum())

        if __name__ == "__main__":
            assert total(1) == 1249975000.0
            with multiprocessing.get_context("{start}").Pool(2) as pool:
                print(pool.map(total, range(4)))
    """)
    )
    environment = {**os.environ, "CUPRIC_DEVICE": device, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, file], env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == str([1249975000.0 * k for k in range(4)]), done.stderr[-3000:]


# --- kernels on disk

FUSED = """
    import cupric as cp
    a = cp.arange(5000.0)
    row = cp.arange(70.0).reshape(70, 1)
    got = [float((cp.sin(a) * 0 + a * 2 - cp.sqrt(a) * 0).sum()), float((cp.where(a > 10, a - 1, 0.0) * 3).max()),
           float(((row + row.T) / 2).mean()), int(cp.argsort(-a)[0])]
    print(got == [24995000.0, 14994.0, 34.5, 4999])
"""


def many(count, device, **settings):
    """Runs FUSED in so many processes at once, and gives what they printed."""
    environment = {**os.environ, "CUPRIC_DEVICE": device, **settings}
    command = [sys.executable, "-c", textwrap.dedent(FUSED)]
    children = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(count)
    ]
    answers = [child.communicate(timeout=300) for child in children]
    errors = [errors.decode() for _, errors in answers if errors]
    assert not errors, errors[0][-3000:]
    return [out.decode().strip() for out, _ in answers]


@pytest.fixture(scope="module")
def compiler(device):
    if device != "cuda":
        pytest.skip("the CPU device keeps nothing on disk: it compiles nothing")
    if subprocess.run([sys.executable, "-c", COMPILES], env={**os.environ, "CUPRIC_DEVICE": device}).returncode:
        pytest.skip("NVRTC is not installed")


COMPILES = """
import cupric as cp
cp.RawKernel('extern "C" __global__ void f() {}', "f").compile()
"""


def test_many_processes_on_an_empty_cache(compiler, tmp_path):
    cache = tmp_path / "cache"
    # Without the pack each process needs each kernel at once.
    for tier in ("2", "0"):
        assert many(32, "cuda", CUPRIC_CACHE_DIR=str(cache / tier), CUPRIC_TIER=tier) == ["True"] * 32
    kept = {file.name: file.stat().st_mtime_ns for file in (cache / "2").iterdir()}
    assert len(kept) >= 4 and all(name.endswith(".bin") for name in kept), kept
    assert many(1, "cuda", CUPRIC_CACHE_DIR=str(cache / "2"), CUPRIC_TIER="2") == ["True"]
    assert {file.name: file.stat().st_mtime_ns for file in (cache / "2").iterdir()} == kept, "nothing is compiled again"


def test_damaged_kernels_on_disk_are_made_anew(compiler, tmp_path):
    assert many(1, "cuda", CUPRIC_CACHE_DIR=str(tmp_path), CUPRIC_TIER="2") == ["True"]
    whole = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    for turn, file in enumerate(sorted(tmp_path.iterdir())):
        content = whole[file.name]
        middle = len(content) // 2
        damaged = [b"", content[:middle], content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]]
        file.write_bytes(damaged[turn % 3])
    assert many(1, "cuda", CUPRIC_CACHE_DIR=str(tmp_path), CUPRIC_TIER="2") == ["True"]
    mended = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert mended.keys() == whole.keys() and all(len(mended[name]) == len(whole[name]) for name in whole)


def test_a_cache_folder_without_permission_to_write(compiler, tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir(0o555)
    for tier in ("2", "0"):
        assert many(2, "cuda", CUPRIC_CACHE_DIR=str(cache), CUPRIC_TIER=tier) == ["True"] * 2
    # Who may do everything may write there.
    assert os.geteuid() == 0 or not list(cache.iterdir())
    cache.chmod(0o755)


@pytest.mark.parametrize("damage", ["missing", "empty", "half", "changed"])
def test_a_damaged_pack_is_done_without(damage, compiler, tmp_path):
    packs = list((Path(cp.__file__).parent / "pack").glob("*.pack"))
    if not packs:
        pytest.skip("this build has no pack")
    for pack in packs:
        content = bytearray(pack.read_bytes())
        for place in range(len(content) // 9, len(content), len(content) // 8):
            content[place] ^= 255
        damaged = {"empty": b"", "half": pack.read_bytes()[: len(content) // 2], "changed": bytes(content)}
        if damage in damaged:
            (tmp_path / pack.name).write_bytes(damaged[damage])
    settings = {"CUPRIC_PACK": str(tmp_path), "CUPRIC_CACHE_DIR": str(tmp_path / "cache"), "CUPRIC_TIER": "0"}
    assert many(1, "cuda", **settings) == ["True"]


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

"""A walk through what Cupric does, on whatever device there is.

    python examples/tour.py            # everything
    python examples/tour.py streams    # the parts whose name holds this word

Each part prints what it did and checks it against NumPy. It stops at the first thing that is not as it should be.
"""

import sys
import time

import numpy as np

import cupric as cp

PARTS = []


def part(title):
    """Registers a part of the tour under its title."""

    def keep(function):
        PARTS.append((title, function))
        return function

    return keep


def say(text):
    print(f"   {text}", flush=True)


def check(truth, what):
    """Says that something holds, or stops."""
    if not truth:
        raise SystemExit(f"   WRONG: {what}")
    say(f"ok: {what}")


def on_gpu():
    return cp.zeros(1).__dlpack_device__()[0] != 1


@part("What is installed")
def installed():
    say(f"Cupric {cp.__version__} beside NumPy {np.__version__}")
    say(f"GPUs: {cp.cuda.runtime.getDeviceCount()}; arrays live on the {'GPU' if on_gpu() else 'CPU'}")
    x = cp.arange(10, dtype=cp.float32)
    y = x * 2 + 1
    say(f"x * 2 + 1 = {y}")
    check(np.array_equal(y.get(), np.arange(10, dtype=np.float32) * 2 + 1), "the same as NumPy's")


@part("Making arrays")
def making():
    for text in (
        "array([1, 2, 3])",
        "zeros((2, 3))",
        "ones((2, 3), dtype='i4')",
        "arange(0, 10, 2)",
        "linspace(0, 1, 5)",
        "full((2, 2), 7.5)",
    ):
        ours, theirs = eval(f"cp.{text}"), eval(f"np.{text}")
        check(
            ours.dtype == theirs.dtype and np.array_equal(ours.get(), theirs),
            f"cp.{text} is {ours.dtype}, {ours.shape}",
        )


@part("Between host and device")
def transfers():
    host = np.ones((5, 5))
    ours = cp.asarray(host)
    host[0, 0] = 999
    check(float(ours[0, 0]) == 1, "asarray copied: a later write to the NumPy array is not seen")
    check(type(ours.get()) is np.ndarray, "get() gives a NumPy array")
    try:
        np.asarray(ours)
    except TypeError as error:
        say(f"nothing is copied by itself: {error}")


@part("Functions of elements, broadcasting, reductions")
def computing():
    a, b = cp.array([1.0, 2.0, 3.0]), cp.array([4.0, 5.0, 6.0])
    say(f"a + b = {a + b}, a * b = {a * b}, b / a = {b / a}, a ** 2 = {a**2}")
    check(np.allclose(cp.sin(a).get(), np.sin(a.get()), rtol=1e-15), "sin(a)")
    v = cp.array([10, 20, 30])
    check((v + v.reshape(-1, 1)).shape == (3, 3), "(3,) with (3, 1) gives (3, 3)")
    big = cp.random.default_rng(0).random((1000, 1000))
    for name in ("sum", "mean", "std", "max", "min"):
        check(np.allclose(getattr(big, name)().get(), getattr(big.get(), name)()), f"{name} of a million numbers")
    check(np.allclose(big.sum(axis=0).get(), big.get().sum(axis=0)), "sums of columns")
    check(np.allclose((big[:3] @ big[:, :5]).get(), big.get()[:3] @ big.get()[:, :5]), "a matrix product")


@part("Indexing")
def indexing():
    a, h = cp.arange(24).reshape(4, 6), np.arange(24).reshape(4, 6)
    check((a[:, ::2].get() == h[:, ::2]).all(), "every other column")
    check((a[a > 10].get() == h[h > 10]).all(), "the elements above 10")
    check((a[[0, 2, 3], [1, 4, 5]].get() == h[[0, 2, 3], [1, 4, 5]]).all(), "elements at index arrays")
    a[1:3, 2:5] = -1
    h[1:3, 2:5] = -1
    check((a.get() == h).all(), "a slice is a view: writing to it changes the array")
    x, y = cp.arange(1.0, 11.0), np.arange(1.0, 11.0)
    x[1:] += x[:-1]
    y[1:] += y[:-1]
    check((x.get() == y).all(), "in-place work on overlapping views gives what NumPy gives")


@part("Random numbers")
def random():
    ours = cp.random.default_rng(5).random(1000).get()
    check(
        (ours == np.random.Generator(np.random.Philox(5)).random(1000)).all(),
        "random() gives NumPy's Philox numbers, bit by bit",
    )
    z = cp.random.default_rng(1).standard_normal(1_000_000)
    say(f"a million normal numbers: mean {float(z.mean()):+.4f}, deviation {float(z.std()):.4f}")
    points = cp.random.default_rng(2).random((2, 1_000_000))
    inside = (points**2).sum(axis=0) <= 1
    say(f"pi by throwing darts: {4 * float(inside.mean()):.4f}")


@part("Streams and events")
def streams():
    one, two = cp.cuda.Stream(), cp.cuda.Stream(non_blocking=True)
    start, end = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    with one:
        a = cp.arange(1_000_000.0)
    with two:
        b = a * 2  # sees what the other stream wrote
    check(float(b[-1]) == 1_999_998, "one stream reads what another wrote, in order")
    end.record()
    end.synchronize()
    say(f"that took {cp.cuda.get_elapsed_time(start, end):.2f} ms")


@part("Memory")
def memory():
    pool = cp.get_default_memory_pool()
    a = cp.ones(1 << 20)
    say(f"in use {pool.used_bytes() / 2**20:.1f} MiB, held {pool.total_bytes() / 2**20:.1f} MiB")
    del a
    pool.free_all_blocks()
    try:
        cp.zeros(1 << 46, dtype=cp.uint8)
    except cp.cuda.memory.OutOfMemoryError as error:
        say(f"64 TiB are refused: {error}")
    check(float(cp.ones(10).sum()) == 10, "and the next call works")


@part("Sharing memory with other libraries")
def sharing():
    a = cp.arange(5.0)
    if on_gpu():
        b = cp.from_dlpack(a)
        b[0] = 42
        check(float(a[0]) == 42, "DLPack shares memory: a write on one side is seen on the other")
        return
    theirs = np.from_dlpack(a)
    a += 1
    check(theirs.tolist() == [1, 2, 3, 4, 5], "DLPack shares memory: NumPy sees what Cupric wrote")


SQUARE = """
extern "C" __global__ void square(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
}"""


@part("Kernels of your own")
def kernels():
    if not on_gpu():
        say("kernels in CUDA C++ need a GPU")
        return
    n = 1000
    x, y = cp.arange(n, dtype=cp.float32), cp.empty(n, dtype=cp.float32)
    cp.RawKernel(SQUARE, "square")(((n + 255) // 256,), (256,), (x, y, n))
    check((y.get() == np.arange(n, dtype=np.float32) ** 2).all(), "a kernel in CUDA C++, compiled and run")


@part("Mistakes")
def mistakes():
    a = cp.ones((3, 4))
    for text in ("a + cp.ones((2, 4))", "a @ a", "a[5]", "a.reshape(5, 5)", "a.sum(axis=3)", "bool(a)"):
        try:
            eval(text, {"cp": cp, "a": a})
        except (ValueError, IndexError) as error:
            say(f"{text:20s} {type(error).__name__}: {error}")
        else:
            check(False, f"{text} raises")


def seconds(run):
    """The best of a few runs, after one that is not counted."""
    best, spent = np.inf, 0.0
    run()
    while spent < 1.5:
        start = time.perf_counter()
        run()
        took = time.perf_counter() - start
        best, spent = min(best, took), spent + took
    return best


def waited(run):
    """Runs and waits for the device."""
    result = run()
    cp.cuda.Stream.null.synchronize()
    return result


def compared(host, run):
    """Times one piece of work in both libraries, and checks that they agree."""
    numpys = seconds(lambda: run(np, *host))
    device = [cp.asarray(array) for array in host]
    ours = seconds(lambda: waited(lambda: run(cp, *device)))
    got, want = run(cp, *device).get(), run(np, *host)
    if not np.allclose(got, want, rtol=1e-3, atol=1e-3):
        raise SystemExit(f"WRONG: {got} instead of {want}")
    return f"NumPy {numpys * 1e3:8.2f} ms   Cupric {ours * 1e3:8.2f} ms   x{numpys / ours:.1f}"


@part("Speed beside NumPy")
def speed():
    side, count, rows = (4096, 50_000_000, 10_000) if on_gpu() else (1024, 10_000_000, 4000)
    random = np.random.default_rng(0)
    cases = [
        (f"matrix product, {side} x {side}, float32", lambda: [random.standard_normal((side, side), dtype="f4") for _ in "ab"], lambda xp, a, b: xp.dot(a, b)),
        (f"a * 2.5 + 1.0, {count:,} float32", lambda: [random.standard_normal(count, dtype="f4")], lambda xp, a: a * 2.5 + 1.0),
        (f"sin(a) * a + a / 3, {count:,} float32", lambda: [random.random(count, dtype="f4")], lambda xp, a: xp.sin(a) * a + a / 3),
        (f"sum of {rows:,} x {rows:,} float32", lambda: [random.random((rows, rows), dtype="f4")], lambda xp, a: a.sum()),
        (f"mean((a - b)**2), {count:,} float32", lambda: [random.random(count, dtype="f4") for _ in "ab"], lambda xp, a, b: ((a - b) ** 2).mean()),
    ]  # fmt: skip
    for name, make, run in cases:
        print(f"   {name:42s}", end="", flush=True)
        print(compared(make(), run), flush=True)
    say("transfers are not counted; the first run of each is not either")


def main():
    wanted = sys.argv[1].lower() if len(sys.argv) > 1 else ""
    start = time.perf_counter()
    for number, (title, run) in enumerate(PARTS, 1):
        if wanted in f"{title} {run.__name__}".lower():
            print(f"{number}. {title}", flush=True)
            run()
    print(f"the end, after {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()

"""Speed of typical operations beside NumPy: one row each.

    python benches/rows.py              # sizes follow the device
    python benches/rows.py --only sum   # the rows whose name holds this text

Medians; transfers and each row's first run are not counted.
"""

import argparse
import statistics
import time

import numpy as np

import cupric as cp

SMALL = 16


def rows(count):
    """(name, inputs, work over an array module) for arrays of so many elements."""
    random = np.random.default_rng(0)
    side = int(count**0.5) // 32 * 32
    matrix = int(count ** (1 / 3)) // 32 * 32 * 4

    def floats(*shape, dtype="f4", number=1):
        return lambda: [random.random(shape, dtype=dtype) + np.dtype(dtype).type(0.5) for _ in range(number)]

    return [
        ("copy f32", floats(count), lambda xp, a: a.copy()),
        ("a*2.5+1.0 f32", floats(count), lambda xp, a: a * 2.5 + 1.0),
        ("a+b f32", floats(count, number=2), lambda xp, a, b: a + b),
        ("a+b f64", floats(count, dtype="f8", number=2), lambda xp, a, b: a + b),
        ("sin(a) f32", floats(count), lambda xp, a: xp.sin(a)),
        ("sin(a)*b+c*c-a/b f32", floats(count, number=3), lambda xp, a, b, c: xp.sin(a) * b + c * c - a / b),
        ("where(a>1,sqrt(a),0) f32", floats(count), lambda xp, a: xp.where(a > 1, xp.sqrt(a), 0.0)),
        ("broadcast row+column f32", lambda: [random.random((side, 1), dtype="f4"), random.random((1, side), dtype="f4")], lambda xp, a, b: a + b),
        ("a[::2]+a[1::2] f32", floats(count), lambda xp, a: a[::2] + a[1::2]),
        ("transposed copy f32", floats(side, side), lambda xp, a: a.T.copy()),
        ("sum f32", floats(side, side), lambda xp, a: a.sum()),
        ("sum axis 0 f32", floats(side, side), lambda xp, a: a.sum(axis=0)),
        ("sum axis 1 f32", floats(side, side), lambda xp, a: a.sum(axis=1)),
        ("mean((a-b)**2) f32", floats(count, number=2), lambda xp, a, b: ((a - b) ** 2).mean()),
        ("std f32", floats(count), lambda xp, a: a.std()),
        ("argmax f32", floats(count), lambda xp, a: a.argmax()),
        ("cumsum f32", floats(count), lambda xp, a: xp.cumsum(a)),
        ("a[a>1] f32", floats(count), lambda xp, a: a[a > 1]),
        ("a[index] f32", lambda: [random.random(count, dtype="f4"), random.integers(0, count, count)], lambda xp, a, index: a[index]),
        ("sort f32", floats(count // 4), lambda xp, a: xp.sort(a)),
        (f"matmul f32 {matrix}", floats(matrix, matrix, number=2), lambda xp, a, b: a @ b),
        ("small a+b", floats(SMALL, number=2), lambda xp, a, b: a + b),
        ("small a*2+1", floats(SMALL), lambda xp, a: a * 2 + 1),
        ("small sum", floats(SMALL), lambda xp, a: a.sum()),
        ("small a[2:10]", floats(SMALL), lambda xp, a: a[2:10]),
    ]  # fmt: skip


def median(run, wait, seconds):
    """Microseconds of a run, in batches so long that waiting does not count."""
    run()
    wait()
    calls, times, end = 1, [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        kept = [run() for _ in range(calls)]
        wait()
        took = time.perf_counter() - start
        times.append(took / calls)
        if took < 0.002 and calls < 200:
            calls, times = calls * 2, []
        del kept
    return statistics.median(times) * 1e6


def both(host, work, seconds):
    """NumPy's and Cupric's microseconds for the same work."""
    theirs = median(lambda: work(np, *host), lambda: None, seconds)
    device = [cp.asarray(array) for array in host]
    return theirs, median(lambda: work(cp, *device), cp.cuda.Stream.null.synchronize, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--count", type=int, help="elements of the large arrays")
    parser.add_argument("--seconds", type=float, default=0.4, help="for each figure")
    arguments = parser.parse_args()
    on_gpu = cp.zeros(1).__dlpack_device__()[0] != 1
    count = arguments.count or (50_000_000 if on_gpu else 2_000_000)
    print(f"{count:,} elements on the {'GPU' if on_gpu else 'CPU'}; microseconds a call")
    print(f"{'':28s}{'NumPy':>12s}{'Cupric':>12s}{'ratio':>9s}")
    for name, make, work in rows(count):
        if arguments.only in name:
            theirs, ours = both(make(), work, arguments.seconds)
            print(f"{name:28s}{theirs:12.1f}{ours:12.1f}{theirs / ours:9.2f}", flush=True)


if __name__ == "__main__":
    main()

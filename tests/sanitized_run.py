"""A short run over every kind of kernel, for compute-sanitizer; each part is checked and named."""

import numpy as np

import cupric as cp

N = 10_007


def maps():
    a = cp.arange(N, dtype="f4")
    return np.isclose(
        float((cp.where(a % 3 == 0, a * 2, -a) + cp.sin(a) * 0).sum()),
        float(np.where(np.arange(N) % 3 == 0, np.arange(N) * 2, -np.arange(N)).sum()),
    )


def views():
    a = cp.zeros((64, 65))
    a[1::2, ::-3] = 1
    raw = cp.zeros(8 * N + 8, "u1")[1 : 8 * N + 1].view("f8")
    raw[...] = 2
    return float(a.sum()) == 32 * 22 and float(raw.sum()) == 2 * N


def reductions():
    a = cp.arange(N)
    return int(a.sum()) == N * (N - 1) // 2 and int(a.argmax()) == N - 1 and a.reshape(1, N).sum(axis=0).shape == (N,)


def scans():
    return (
        int(cp.cumsum(cp.ones((3, N), "i4"), axis=1)[2, -1]) == N
        and int(cp.cumsum(cp.ones((N, 3), "i4"), axis=0)[-1, 1]) == N
    )


def sorts():
    a = cp.arange(N)[::-1] * 7919 % 10_007
    return bool((cp.sort(a)[1:] >= cp.sort(a)[:-1]).all()) and bool((a[cp.argsort(a)] == cp.sort(a)).all())


def selections():
    a = cp.arange(N)
    a[a % 2 == 0] = -1
    return int((a == -1).sum()) == 5004 and len(cp.nonzero(a + 1)[0]) == 5003


def gathers():
    a, index = cp.arange(N), cp.arange(N)[::-1].copy()
    b = a[index]
    b[index] = a
    return bool((b == a[::-1]).all())


def products():
    a = cp.ones((65, 33), "f4")
    return float((a @ a.T)[64, 64]) == 33 and int((cp.ones((5, 7), "i4") @ cp.ones((7, 3), "i4"))[0, 0]) == 7


def random():
    a = cp.random.default_rng(1).standard_normal(N)
    return bool(cp.isfinite(a).all()) and int(cp.random.default_rng(1).integers(0, 9, N).max()) == 8


def transfers():
    host, pinned = np.arange(1_000_003, dtype="i4"), cp.zeros_pinned(1_000_003, "i4")
    a = cp.asarray(host)
    a.get(out=pinned)
    pinned += 1
    b = cp.asarray(pinned) - a
    place = cp.cuda.alloc(64)
    place.memset(3, 64)
    (place + 32).copy_from(place, 32)
    return bool((b == 1).all()) and cp.ndarray((64,), "u1", place).tolist() == [3] * 64


OWN = """extern "C" __global__ void scale(const float* x, float* y, int n, float by, double plus, bool on) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = on ? x[i] * by + plus : 0;
}"""


def own_kernels():
    if not cp.cuda.is_available():
        return True
    x, y = cp.arange(N, dtype="f4"), cp.empty(N, "f4")
    cp.RawKernel(OWN, "scale")((7,), (128,), (x, y, N, 2, 0.5, True))
    return bool((y == x * 2 + 0.5).all())


def empty():
    a = cp.zeros((0, 5))
    return a.sum().get() == 0 and (a + 1).shape == (0, 5) and cp.sort(a, axis=0).shape == (0, 5)


def main():
    for part in (
        maps,
        views,
        reductions,
        scans,
        sorts,
        selections,
        gathers,
        products,
        random,
        transfers,
        own_kernels,
        empty,
    ):
        assert part(), part.__name__
        print("ok", part.__name__, flush=True)


if __name__ == "__main__":
    main()

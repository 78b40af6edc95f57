"""Kernels that users write in CUDA C++: on a GPU they run, elsewhere the call says so."""

import numpy as np
import pytest

import cupric as cp

SQUARE = """
extern "C" __global__ void square(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
}"""
BLOCK_SUM = """
template <typename T> __global__ void block_sum(const T* x, T* total, int n) {
  __shared__ T partial[128];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  partial[t] = i < n ? x[i] : T(0);
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) partial[t] += partial[t + s];
    __syncthreads();
  }
  if (t == 0) atomicAdd(total, partial[0]);
}"""


@pytest.fixture
def gpu(device):
    if device != "cuda":
        pytest.skip("kernels of one's own need a GPU")


def test_without_a_gpu_the_call_says_so(device):
    if device == "cuda":
        pytest.skip("there is a GPU")
    kernel = cp.RawKernel(SQUARE, "square")
    with pytest.raises(RuntimeError, match="GPU"):
        kernel((1,), (32,), (cp.zeros(1, "f4"), cp.zeros(1, "f4"), 1))


def test_a_kernel(gpu):
    kernel = cp.RawKernel(SQUARE, "square")
    n = 1000
    x, y = cp.arange(n, dtype="f4"), cp.empty(n, "f4")
    x += 1  # queued: the kernel must see it
    kernel(((n + 255) // 256,), (256,), (x, y, n))
    assert (y.get() == np.arange(1, n + 1, dtype="f4") ** 2).all()
    x[...] = 0
    assert float(y[-1]) == n * n


def test_templates_shared_memory_and_atomics(gpu):
    names = ["block_sum<float>", "block_sum<int>"]
    module = cp.RawModule(code=BLOCK_SUM, options=("-std=c++17",), name_expressions=names)
    for name, dtype in zip(names, ("f4", "i4"), strict=True):
        x, total = cp.arange(1000).astype(dtype), cp.zeros((), dtype)
        module.get_function(name)((8,), (128,), (x, total, np.int32(1000)))
        assert float(total) == 499_500


def test_kernels_and_operations_in_turn(gpu):
    kernel = cp.RawKernel(SQUARE, "square")
    x, y = cp.full(256, 2, "f4"), cp.zeros(256, "f4")
    stream = cp.cuda.Stream(non_blocking=True)
    for _ in range(3):
        with stream:
            kernel((1,), (256,), (x, y, 256))
        x = y - 1
    assert float(x[0]) == 63


def test_a_mistake_in_the_text(gpu):
    kernel = cp.RawKernel('extern "C" __global__ void f(float* x) { x[0] = undeclared_name; }', "f")
    with pytest.raises(cp.cuda.CompileException, match="undeclared_name"):
        kernel((1,), (1,), (cp.zeros(1, "f4"),))
    assert float(cp.ones(3).sum()) == 3


def test_a_name_that_is_not_there(gpu):
    with pytest.raises(Exception, match="no_such_kernel"):
        cp.RawKernel(SQUARE, "no_such_kernel")((1,), (1,), ())


def test_only_one_of_code_and_path():
    for wrong in ({}, {"code": SQUARE, "path": "a.cubin"}):
        with pytest.raises(TypeError):
            cp.RawModule(**wrong)

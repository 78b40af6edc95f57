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


EVERY_WIDTH = """
struct Pair { float x; int n; };
extern "C" __global__ void every_width(double* out, bool b, char c, short s, int i, unsigned u, long long l, float f, double d,
                                       Pair pair, float2 z, double2 w, const float* p) {
  const double all[] = {(double)b, (double)c, (double)s, (double)i, (double)u, (double)l, f, d, pair.x, (double)pair.n,
                        z.x, z.y, w.x, w.y, p ? p[0] : -1.0};
  for (int k = 0; k < 15; ++k) out[k] = all[k];
}"""
PAIR = np.dtype([("x", "f4"), ("n", "i4")])


def test_python_numbers_take_the_width_of_the_parameter(gpu):
    kernel, out, one = cp.RawKernel(EVERY_WIDTH, "every_width"), cp.zeros(15), cp.full(1, 9, "f4")
    pair = np.array((2.5, -3), PAIR)
    kernel((1,), (1,), (out, True, -1, -300, -70_000, 4_000_000_000, 1 << 40, 0.1, 0.1, pair, 1 + 2j, 3 - 4j, one))
    want = [1, -1, -300, -70_000, 4_000_000_000, 1 << 40, np.float32(0.1), 0.1, 2.5, -3, 1, 2, 3, -4, 9]
    assert out.tolist() == want
    # Integers for floating-point parameters, and a structure as a scalar; no pointer.
    kernel((1,), (1,), (out, False, 0, 0, 0, 0, 0, 7, 8, pair[()], 0j, 0j, None))
    assert out.tolist() == [0, 0, 0, 0, 0, 0, 7, 8, 2.5, -3, 0, 0, 0, 0, -1]


def test_numpy_scalars_and_pointers(gpu):
    kernel, out, one = cp.RawKernel(EVERY_WIDTH, "every_width"), cp.zeros(15), cp.full(4, 9, "f4")
    one[2] = 5
    values = [
        np.bool_(True),
        np.int8(-1),
        np.int16(2),
        np.int32(-3),
        np.uint32(4),
        np.int64(-5),
        np.float32(6),
        np.float64(7),
    ]
    rest = [np.array((8, 9), PAIR), np.complex64(10 + 11j), np.complex128(12 + 13j)]
    want = [1, -1, 2, -3, 4, -5, 6, 7, 8, 9, 10, 11, 12, 13, 5]
    for pointer in (one[2:], one.data + 8, one.data.ptr + 8, np.uint64(one.data.ptr + 8)):
        out.fill(0)
        kernel((1,), (1,), (out, *values, *rest, pointer))
        assert out.tolist() == want


def test_arguments_that_do_not_fit_the_parameters(gpu):
    kernel, x, y = cp.RawKernel(SQUARE, "square"), cp.arange(4, dtype="f4"), cp.zeros(4, "f4")
    for wrong, message in (
        ((x, y), "kernel 'square' takes 3 arguments, but 2 were given"),
        ((x, y, 4, 4), "kernel 'square' takes 3 arguments, but 4 were given"),
        ((x, y, np.int64(4)), "argument 3 of kernel 'square': expected an integer of 4 bytes, got numpy.int64 of 8"),
        ((x, y, 4.0), "argument 3 of kernel 'square'.*Python float"),
        ((x, y, x), "argument 3 of kernel 'square': expected an integer of 4 bytes, got an array of 8"),
        ((x, np.zeros(4, "f4"), 4), "lies on the host"),
        ((x, "y", 4), "Unsupported type"),
    ):
        with pytest.raises(TypeError, match=message):
            kernel((1,), (32,), wrong)
    with pytest.raises(OverflowError, match="argument 3 of kernel 'square': 5000000000 does not fit"):
        kernel((1,), (32,), (x, y, 5_000_000_000))
    kernel((1,), (32,), (x, y, 4))
    assert y.tolist() == [0, 1, 4, 9]


def test_parameters_of_compiled_code(gpu, tmp_path):
    ptx = tmp_path / "scale.ptx"
    ptx.write_text(SCALE_PTX)
    out = cp.zeros(1, "f4")
    cp.RawModule(path=str(ptx)).get_function("scale")((1,), (1,), (out, 3))
    assert out.tolist() == [3]


SCALE_PTX = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 scale_param_0, .param .f32 scale_param_1)
{
  .reg .f32 %f<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [scale_param_0];
  ld.param.f32 %f1, [scale_param_1];
  cvta.to.global.u64 %rd2, %rd1;
  st.global.f32 [%rd2], %f1;
  ret;
}
"""


def test_a_larger_share_of_shared_memory(gpu):
    code = """extern "C" __global__ void last(int* out, int n) {
      extern __shared__ int buffer[]; buffer[n - 1] = 7; out[0] = buffer[n - 1]; }"""
    kernel, out = cp.RawKernel(code, "last"), cp.zeros(1, "i4")
    kernel.max_dynamic_shared_size_bytes = 64 << 10
    kernel((1,), (1,), (out, 16 << 10), shared_mem=64 << 10)
    assert out.tolist() == [7] and kernel.max_dynamic_shared_size_bytes == 64 << 10 and kernel.num_regs > 0


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

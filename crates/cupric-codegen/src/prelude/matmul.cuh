// A tile of 64 x 64 results by 256 threads, each 4 x 4 of them; the inner axis in steps of 16, in its order.
// `Value`, `zero` and `multiply_add` stand before this text; the sides give values, zero outside.

template <class Left, class Right>
__device__ __forceinline__ void
multiply_tile(const Left& left, const Right& right, const Index row, const Index column, const Index inner, Value (&sums)[4][4]) {
  __shared__ Value lefts[16][65];
  __shared__ Value rights[16][65];
  const u32 across = threadIdx.x % 16;
  const u32 down = threadIdx.x / 16;
#pragma unroll
  for (u32 i = 0; i < 4; ++i) {
#pragma unroll
    for (u32 j = 0; j < 4; ++j) sums[i][j] = zero();
  }
#pragma unroll 1
  for (Index begin = 0; begin < inner; begin += 16) {
#pragma unroll
    for (u32 i = 0; i < 4; ++i) lefts[across][down + 16 * i] = left.at(row + down + 16 * i, begin + across);
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
      const u32 k = threadIdx.x / 64 + 4 * i;
      rights[k][threadIdx.x % 64] = right.at(begin + k, column + threadIdx.x % 64);
    }
    __syncthreads();
#pragma unroll 4
    for (u32 k = 0; k < 16; ++k) {
      Value a[4], b[4];
#pragma unroll
      for (u32 i = 0; i < 4; ++i) a[i] = lefts[k][down + 16 * i];
#pragma unroll
      for (u32 j = 0; j < 4; ++j) b[j] = rights[k][across + 16 * j];
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
#pragma unroll
        for (u32 j = 0; j < 4; ++j) sums[i][j] = multiply_add(a[i], b[j], sums[i][j]);
      }
    }
    __syncthreads();
  }
}

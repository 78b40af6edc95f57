// The elements where a mask is true: tiles of 4096 count them, the counts are scanned, tiles write them.
// `Index`, and a mask's `bits` (where it is true from a position on), `take` (the element at a position) and `put` (writes it to a
// place) stand before.

constexpr u32 tile = 4096;
// Elements of a thread, which are neighbours.
[[maybe_unused]] constexpr u32 each = tile / 256;

// The sum of the values of the threads before, in a block of 256; `total` is that of all.
__device__ __forceinline__ u32 sum_before(const u32 value, u32& total) {
  __shared__ u32 sums[8];
  const u32 lane = threadIdx.x % 32;
  const u32 warp = threadIdx.x / 32;
  u32 sum = value;
#pragma unroll
  for (u32 distance = 1; distance < 32; distance *= 2) {
    const u32 other = __shfl_up_sync(0xffffffffu, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  u32 before = sum - value;
  total = 0;
#pragma unroll
  for (u32 i = 0; i < 8; ++i) {
    if (i < warp) before += sums[i];
    total += sums[i];
  }
  return before;
}

// Which of the thread's elements are kept, a bit each.
template <class Mask> __device__ __forceinline__ u32 kept_bits(const Mask& mask, const Index length, const Index begin) {
  const Index first = begin + threadIdx.x * each;
  return first >= length ? 0 : mask.bits(first, length - first < each ? int(length - first) : int(each));
}

template <class Mask>
__device__ __forceinline__ void count_kept(const Mask& mask, const Index length, const Index begin, u64* count) {
  u32 total;
  sum_before(__popc(kept_bits(mask, length, begin)), total);
  if (threadIdx.x == 0) *count = total;
}

// One block of 1024 threads turns counts into the sums of those before.
__device__ __forceinline__ void scan_counts(u64* counts, const u64 tiles) {
  __shared__ u64 sums[32];
  const u32 lane = threadIdx.x % 32;
  u64 carry = 0;
#pragma unroll 1
  for (u64 begin = 0; begin < tiles; begin += 4096) {
    const u64 first = begin + 4 * threadIdx.x;
    u64 own[4];
#pragma unroll
    for (u32 i = 0; i < 4; ++i) own[i] = first + i < tiles ? counts[first + i] : 0;
    const u64 count = own[0] + own[1] + own[2] + own[3];
    u64 sum = count;
#pragma unroll
    for (u32 distance = 1; distance < 32; distance *= 2) {
      const u64 other = __shfl_up_sync(0xffffffffu, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (lane == 31) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    u64 before = carry + sum - count;
#pragma unroll
    for (u32 warp = 0; warp < 32; ++warp) {
      if (warp < threadIdx.x / 32) before += sums[warp];
      carry += sums[warp];
    }
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
      if (first + i < tiles) counts[first + i] = before;
      before += own[i];
    }
    __syncthreads();
  }
}

template <class Mask>
__device__ __forceinline__ void write_kept(const Mask& mask, const Index length, const Index begin, const u64 before) {
  using Element = typename Mask::Element;
  // The places of the kept elements within the tile, in order.
  __shared__ u16 places[tile];
  const u32 bits = kept_bits(mask, length, begin);
  u32 total;
  u32 rank = sum_before(__popc(bits), total);
#pragma unroll 1
  for (u32 rest = bits; rest != 0; rest &= rest - 1) places[rank++] = u16(threadIdx.x * each + __ffs(rest) - 1);
  __syncthreads();
  // A few loads are in flight at once.
  constexpr u32 ahead = 4;
#pragma unroll 1
  for (u32 first = threadIdx.x; first < total; first += ahead * 256) {
    Element taken[ahead];
#pragma unroll
    for (u32 i = 0; i < ahead; ++i) {
      if (first + i * 256 < total) taken[i] = mask.take(begin + places[first + i * 256]);
    }
#pragma unroll
    for (u32 i = 0; i < ahead; ++i) {
      if (first + i * 256 < total) mask.put(taken[i], before + first + i * 256);
    }
  }
}

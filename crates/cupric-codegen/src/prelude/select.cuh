// The elements where a mask is true: tiles of 4096 count them, the counts are scanned, tiles write them.
// `Index`, `kept` (is the mask true at a position?), `take` (the element at a position) and `put` (writes it to a place) stand
// before.

constexpr u32 tile = 4096;
[[maybe_unused]] constexpr u32 rounds = tile / 256;

template <class Mask>
__device__ __forceinline__ void count_kept(const Mask& mask, const Index length, const Index begin, u64* count) {
  __shared__ u32 counts[8];
  u32 sum = 0;
#pragma unroll
  for (u32 round = 0; round < rounds; ++round) {
    const Index at = begin + round * 256 + threadIdx.x;
    sum += __popc(__ballot_sync(0xffffffffu, at < length && mask.kept(at)));
  }
  if (threadIdx.x % 32 == 0) counts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 total = 0;
#pragma unroll
    for (u32 warp = 0; warp < 8; ++warp) total += counts[warp];
    *count = total;
  }
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
  // For each round and warp, how many elements are kept before.
  __shared__ u32 starts[rounds * 8];
  const u32 lane = threadIdx.x % 32;
  const u32 warp = threadIdx.x / 32;
  u32 votes[rounds];
#pragma unroll
  for (u32 round = 0; round < rounds; ++round) {
    const Index at = begin + round * 256 + threadIdx.x;
    votes[round] = __ballot_sync(0xffffffffu, at < length && mask.kept(at));
    if (lane == 0) starts[round * 8 + warp] = __popc(votes[round]);
  }
  __syncthreads();
  if (warp == 0) {
    u32 own[4];
    u32 sum = 0;
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
      own[i] = sum;
      sum += starts[lane * 4 + i];
    }
    u32 inclusive = sum;
#pragma unroll
    for (u32 distance = 1; distance < 32; distance *= 2) {
      const u32 other = __shfl_up_sync(0xffffffffu, inclusive, distance);
      if (lane >= distance) inclusive += other;
    }
#pragma unroll
    for (u32 i = 0; i < 4; ++i) starts[lane * 4 + i] = inclusive - sum + own[i];
  }
  __syncthreads();
  // A few loads are in flight at once; where a warp keeps nothing it loads nothing.
  constexpr u32 ahead = sizeof(Element) > 8 ? 4 : 8;
#pragma unroll
  for (u32 first = 0; first < rounds; first += ahead) {
    Element taken[ahead];
#pragma unroll
    for (u32 i = 0; i < ahead; ++i) {
      const Index at = begin + (first + i) * 256 + threadIdx.x;
      if (votes[first + i] != 0 && at < length) taken[i] = mask.take(at);
    }
#pragma unroll
    for (u32 i = 0; i < ahead; ++i) {
      const u32 vote = votes[first + i];
      if ((vote >> lane & 1) == 0) continue;
      mask.put(taken[i], before + starts[(first + i) * 8 + warp] + __popc(vote & ((1u << lane) - 1)));
    }
  }
}

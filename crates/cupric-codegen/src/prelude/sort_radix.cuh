// Passes of a stable sort by digits of 8 bits, from the lowest on: tiles count their digits, the counts are scanned, tiles
// put their elements where they belong. `Element`, `Count`, `digit_of` and `tile` stand before this text.

// The sum of the values of the threads before, within a block of `warps` warps; `total` is that of all.
template <class T, int warps> __device__ __forceinline__ T exclusive_sum(const T value, T* shared, T& total) {
  const u32 lane = threadIdx.x % 32;
  T sum = value;
#pragma unroll
  for (u32 distance = 1; distance < 32; distance *= 2) {
    const T other = __shfl_up_sync(0xffffffffu, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31) shared[threadIdx.x / 32] = sum;
  __syncthreads();
  T before = 0;
  total = 0;
#pragma unroll
  for (u32 warp = 0; warp < warps; ++warp) {
    if (warp < threadIdx.x / 32) before += shared[warp];
    total += shared[warp];
  }
  __syncthreads();
  return before + sum - value;
}

// 256 threads count the digits of a tile.
__device__ __forceinline__ void
count_digits(const Element* from, const u64 length, const u64 begin, const u32 shift, Count* counts, const u64 tiles) {
  __shared__ u32 bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (u32 i = threadIdx.x; i < tile; i += 256) {
    if (begin + i < length) atomicAdd(&bins[digit_of(from[begin + i], shift)], 1u);
  }
  __syncthreads();
  counts[u64(threadIdx.x) * tiles] = bins[threadIdx.x];
}

// 1024 threads turn the counts of a digit into the sums of the tiles before.
__device__ __forceinline__ void scan_counts(Count* counts, const u64 tiles, Count* digit_total) {
  __shared__ Count shared[32];
  Count carry = 0;
#pragma unroll 1
  for (u64 begin = 0; begin < tiles; begin += 1024) {
    const bool inside = begin + threadIdx.x < tiles;
    const Count count = inside ? counts[begin + threadIdx.x] : 0;
    Count total;
    const Count before = exclusive_sum<Count, 32>(count, shared, total);
    if (inside) counts[begin + threadIdx.x] = carry + before;
    carry += total;
  }
  if (threadIdx.x == 0) *digit_total = carry;
}

// 256 threads move a tile. `positions` may be null; in the first pass they are counted, not read.
template <bool moves_positions>
__device__ __forceinline__ void move_tile(
    const Element* from, Element* to, const Count* positions_from, Count* positions_to, const u64 length, const u64 begin,
    const u32 shift, const Count* counts, const u64 tiles, const Count* digit_totals, const bool first_pass) {
  constexpr u32 items = tile / 256;
  __shared__ u16 counted[8][256];
  __shared__ u32 starts[256];
  __shared__ Count bases[256];
  __shared__ Count sums[8];
  __shared__ Element elements[tile];
  __shared__ Count positions[moves_positions ? tile : 1];
  const u32 lane = threadIdx.x % 32;
  const u32 warp = threadIdx.x / 32;
#pragma unroll
  for (u32 i = 0; i < 8; ++i) counted[i][threadIdx.x] = 0;
  __syncthreads();
  // Within a warp's part, neighbours in memory are neighbouring lanes.
  const u64 part = begin + warp * (32 * items) + lane;
  Element element[items];
  u16 rank[items];
#pragma unroll
  for (u32 j = 0; j < items; ++j) {
    const bool inside = part + 32 * j < length;
    if (inside) element[j] = from[part + 32 * j];
    const u32 digit = inside ? digit_of(element[j], shift) : 0;
    u32 peers = __ballot_sync(0xffffffffu, inside);
#pragma unroll
    for (u32 bit = 0; bit < 8; ++bit) {
      const bool set = (digit >> bit & 1) != 0;
      const u32 same = __ballot_sync(0xffffffffu, set);
      peers &= set ? same : ~same;
    }
    const u32 prior = counted[warp][digit];
    rank[j] = u16(prior + __popc(peers & ((1u << lane) - 1)));
    __syncwarp();
    if (inside && peers >> lane == 1) counted[warp][digit] = u16(prior + __popc(peers));
    __syncwarp();
  }
  __syncthreads();
  u32 mine = 0;
#pragma unroll
  for (u32 i = 0; i < 8; ++i) {
    const u32 count = counted[i][threadIdx.x];
    counted[i][threadIdx.x] = u16(mine);
    mine += count;
  }
  Count all;
  const Count start = exclusive_sum<Count, 8>(Count(mine), sums, all);
  const Count base = exclusive_sum<Count, 8>(digit_totals[threadIdx.x], sums, all);
  starts[threadIdx.x] = u32(start);
  bases[threadIdx.x] = base + counts[u64(threadIdx.x) * tiles] - start;
  __syncthreads();
#pragma unroll
  for (u32 j = 0; j < items; ++j) {
    const u64 at = part + 32 * j;
    if (at < length) {
      const u32 digit = digit_of(element[j], shift);
      const u32 place = starts[digit] + counted[warp][digit] + rank[j];
      elements[place] = element[j];
      if (moves_positions) positions[place] = first_pass ? Count(at) : positions_from[at];
    }
  }
  __syncthreads();
#pragma unroll 1
  for (u32 i = threadIdx.x; i < tile && begin + i < length; i += 256) {
    const Count place = Count(bases[digit_of(elements[i], shift)] + i);
    to[place] = elements[i];
    if (moves_positions) positions_to[place] = positions[i];
  }
}

// A stable sort by digits of 8 bits, from the lowest on. All digits are counted in one pass; then tiles put their elements where
// they belong, digit by digit, each learning from the tiles before it how many elements of each digit those have.
// `Element`, `Count`, `digit_of`, `tile` and `passes` stand before this text.

constexpr u32 threads = 512;
constexpr u32 warps = threads / 32;
constexpr u32 items = tile / threads;
// What a block counts.
[[maybe_unused]] constexpr u32 span = 32768;

// The sum of the values of the threads before, within a block of 512.
__device__ __forceinline__ Count exclusive_sum(const Count value, Count* shared) {
  const u32 lane = threadIdx.x % 32;
  Count sum = value;
#pragma unroll
  for (u32 distance = 1; distance < 32; distance *= 2) {
    const Count other = __shfl_up_sync(0xffffffffu, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31) shared[threadIdx.x / 32] = sum;
  __syncthreads();
  Count before = sum - value;
#pragma unroll
  for (u32 warp = 0; warp < warps; ++warp) {
    if (warp < threadIdx.x / 32) before += shared[warp];
  }
  __syncthreads();
  return before;
}

// A block of 256 threads adds its elements to the totals of a row's digits.
__device__ __forceinline__ void count_digits(const Element* from, const u64 length, const u64 begin, Count* totals) {
  // Several bins for a digit, side by side: neighbours often have the same digit.
  constexpr u32 parts = 16 / passes;
  __shared__ u32 bins[passes * 256 * parts];
#pragma unroll
  for (u32 i = threadIdx.x; i < passes * 256 * parts; i += 256) bins[i] = 0;
  __syncthreads();
  const u32 valid = u32(length - begin < span ? length - begin : span);
  u32* mine = bins + threadIdx.x % parts;
#pragma unroll 4
  for (u32 i = threadIdx.x; i < valid; i += 256) {
    const Element element = from[begin + i];
#pragma unroll
    for (u32 pass = 0; pass < passes; ++pass) atomicAdd(mine + (pass * 256 + digit_of(element, 8 * pass)) * parts, 1u);
  }
  __syncthreads();
#pragma unroll
  for (u32 pass = 0; pass < passes; ++pass) {
    u32 sum = 0;
#pragma unroll
    for (u32 part = 0; part < parts; ++part) sum += bins[(pass * 256 + threadIdx.x) * parts + part];
    if (sum != 0) atomicAdd(totals + pass * 256 + threadIdx.x, Count(sum));
  }
}

// Which buffers a pass takes. A pass whose digit is the same in all elements is left out, unless it is one of the first `forced`.
struct Turn {
  // How many passes were not left out before this one, and whether this one and any later one are.
  u32 number;
  bool here, last, none;
  __device__ __forceinline__ Turn(const u32* varied, const u32 pass, const u32 forced) : number(0), last(true), none(true) {
#pragma unroll
    for (u32 i = 0; i < passes; ++i) {
      const bool moves = i < forced || varied[i] != 0;
      if (i < pass) number += moves;
      if (i == pass) here = moves;
      if (i > pass && moves) last = false;
      if (moves) none = false;
    }
  }
};

// What one tile tells those behind it about a digit: 0 is nothing yet, else a count with a mark in the two lowest bits.
constexpr Count own_count = 1;
constexpr Count all_so_far = 2;

// How many elements with a digit are in the tiles before: `tile_counts` are those of this tile.
__device__ __forceinline__ Count count_before(Count* tile_counts, const u64 tiles_before, const Count own) {
  volatile Count* mine = tile_counts + threadIdx.x;
  Count before = 0;
  for (u64 back = 1; back <= tiles_before; ++back) {
    const volatile Count* other = mine - back * 256;
    Count word = *other;
    while (word == 0) word = *other;
    before += word >> 2;
    if ((word & all_so_far) != 0) break;
  }
  if (tiles_before != 0) *mine = (before + own) << 2 | all_so_far;
  return before;
}

// Where a pass reads and writes.
struct Buffers {
  const Element* input;
  // Of passes with an even and with an odd number.
  Element* even_elements;
  Element* odd_elements;
  Count* even_positions;
  Count* odd_positions;
  // Of the last pass, which may lie at any address.
  char* output;
  u64 aligned;
};

template <class T> __device__ __forceinline__ void put(const Buffers& buffers, const u64 place, const T value) {
  char* at = buffers.output + place * sizeof(T);
  if (buffers.aligned != 0) store<T>(at, value);
  else store_bytes<T>(at, value);
}

// 512 threads move a tile of a row; with positions, those of the elements go along and are the answer.
template <bool moves_positions>
__device__ __forceinline__ void move_tile(
    const Buffers& buffers, const Turn& turn, const u64 row, const u64 part, const u64 length, const u64 tiles, const u32 pass,
    Count* counts, const Count* totals) {
  __shared__ union {
    u32 counted[warps][256];
    Element elements[tile];
    Count positions[moves_positions ? tile : 1];
  } room;
  __shared__ u32 starts[256];
  __shared__ Count bases[256];
  __shared__ Count sums[warps];
  const u32 lane = threadIdx.x % 32;
  const u32 warp = threadIdx.x / 32;
  const u64 begin = row * length + part * tile;
  const u32 valid = u32(length - part * tile < tile ? length - part * tile : tile);
  const Element* from = (turn.number == 0 ? buffers.input : turn.number % 2 == 0 ? buffers.odd_elements : buffers.even_elements) + begin;
#pragma unroll
  for (u32 i = threadIdx.x; i < warps * 256; i += threads) room.counted[i / 256][i % 256] = 0;
  // Within a warp's part, neighbours in memory are neighbouring lanes.
  const u32 first = warp * (32 * items) + lane;
  Element element[items];
#pragma unroll
  for (u32 j = 0; j < items; ++j) {
    if (first + 32 * j < valid) element[j] = from[first + 32 * j];
  }
  __syncthreads();
  // The digit, and how many of the warp's elements with it stand before; what is missing at the end has the last digit.
  u32 code[items];
#pragma unroll
  for (u32 j = 0; j < items; ++j) {
    const u32 digit = first + 32 * j < valid ? digit_of(element[j], 8 * pass) : 255;
    u32 peers = 0xffffffffu;
#pragma unroll
    for (u32 bit = 0; bit < 8; ++bit) {
      const bool set = (digit >> bit & 1) != 0;
      const u32 same = __ballot_sync(0xffffffffu, set);
      peers &= set ? same : ~same;
    }
    const u32 before = __popc(peers & ((1u << lane) - 1));
    const u32 prior = room.counted[warp][digit];
    code[j] = digit << 16 | (prior + before);
    __syncwarp();
    if (before == 0) room.counted[warp][digit] = prior + __popc(peers);
    __syncwarp();
  }
  __syncthreads();
  u32 mine = 0;
  if (threadIdx.x < 256) {
#pragma unroll
    for (u32 i = 0; i < warps; ++i) {
      const u32 count = room.counted[i][threadIdx.x];
      room.counted[i][threadIdx.x] = mine;
      mine += count;
    }
  }
  const Count own = threadIdx.x == 255 ? mine - (tile - valid) : mine;
  Count* tile_counts = counts + (row * tiles + part) * 256;
  if (tiles > 1 && threadIdx.x < 256) {
    static_cast<volatile Count*>(tile_counts)[threadIdx.x] = own << 2 | (part == 0 ? all_so_far : own_count);
  }
  const Count start = exclusive_sum(mine, sums);
  Count base = start;
  if (tiles > 1) base = exclusive_sum(threadIdx.x < 256 ? totals[(row * passes + pass) * 256 + threadIdx.x] : 0, sums);
  if (threadIdx.x < 256) starts[threadIdx.x] = u32(start);
  __syncthreads();
#pragma unroll
  for (u32 j = 0; j < items; ++j) {
    const u32 digit = code[j] >> 16;
    code[j] = starts[digit] + room.counted[warp][digit] + (code[j] & 0xffff);
  }
  __syncthreads();
#pragma unroll
  for (u32 j = 0; j < items; ++j) {
    if (first + 32 * j < valid) room.elements[code[j]] = element[j];
  }
  if (threadIdx.x < 256) bases[threadIdx.x] = base + count_before(tile_counts, part, own) - start;
  __syncthreads();
  Element* to = turn.number % 2 == 0 ? buffers.even_elements : buffers.odd_elements;
  u64 place[moves_positions ? items : 1];
#pragma unroll
  for (u32 k = 0; k < items; ++k) {
    const u32 i = threadIdx.x + threads * k;
    if (i >= valid) continue;
    const Element moved = room.elements[i];
    const u64 at = row * length + Count(bases[digit_of(moved, 8 * pass)] + i);
    if (!turn.last) to[at] = moved;
    else if (!moves_positions) put(buffers, at, moved);
    if (moves_positions) place[k] = at;
  }
  if constexpr (moves_positions) {
    const bool even = turn.number % 2 == 0;
    const Count* positions_from = (even ? buffers.odd_positions : buffers.even_positions) + begin;
    Count* positions_to = even ? buffers.even_positions : buffers.odd_positions;
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
      const u32 at = first + 32 * j;
      if (at < valid) room.positions[code[j]] = turn.number == 0 ? Count(part * tile + at) : positions_from[at];
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < items; ++k) {
      const u32 i = threadIdx.x + threads * k;
      if (i >= valid) continue;
      if (turn.last) put(buffers, place[k], i64(room.positions[i]));
      else positions_to[place[k]] = room.positions[i];
    }
  }
}

// Nothing moves at all: the elements, or their positions, as they are.
template <bool moves_positions>
__device__ __forceinline__ void copy_tile(const Buffers& buffers, const u64 row, const u64 part, const u64 length) {
#pragma unroll 4
  for (u64 i = part * tile + threadIdx.x; i < length && i < (part + 1) * tile; i += threads) {
    if constexpr (moves_positions) put(buffers, row * length + i, i64(i));
    else put(buffers, row * length + i, buffers.input[row * length + i]);
  }
}

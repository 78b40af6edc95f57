// Partial results of a chunk of 1024 elements: element k goes to lane k % 128, then lanes combine by halves.
// `State`, `combine` and `combine_next` stand before this text; a source gives the states of elements by position.

// The result of all 128 lanes, of which thread t of a warp holds 4t .. 4t + 3; it is thread 0's. While there are more lanes than
// threads, each thread of a pair combines half of what both hold.
__device__ __forceinline__ State combine_lanes(const State (&lane)[4], const u32 t) {
  const bool upper = (t & 16) != 0;
  State two[2];
#pragma unroll
  for (u32 j = 0; j < 2; ++j) {
    const State own = choose(upper, lane[j + 2], lane[j]);
    const State other = shuffle_across(choose(upper, lane[j], lane[j + 2]), 16);
    two[j] = combine(choose(upper, other, own), choose(upper, own, other));
  }
  // Now lanes 4u + 2s and 4u + 2s + 1 of 64 are with thread 16s + u.
  const bool second = (t & 8) != 0;
  const State own = choose(second, two[1], two[0]);
  const State other = shuffle_across(choose(second, two[0], two[1]), 8);
  State one = combine(choose(second, other, own), choose(second, own, other));
  // And lane 4u + 2s + b of 32 with thread 16s + 8b + u.
#pragma unroll
  for (u32 distance = 4; distance >= 1; distance /= 2) one = combine(one, shuffle_across(one, distance));
  one = combine(one, shuffle_across(one, 16));
  return combine(one, shuffle_across(one, 8));
}

// `width` threads of a warp; thread t holds lanes 4t .. 4t + 3. The result is thread 0's.
template <int width, class Source>
__device__ __forceinline__ State
reduce_chunk(const Source& source, const Index begin, const u32 length, const u32 t) {
  State lane[4] = {};
  // The threads of a warp agree about its length, but the compiler has to be told.
  if (width == 32 && __all_sync(0xffffffffu, length == 1024)) {
    source.some(begin + 4 * t, 4, lane);
#pragma unroll Source::unroll
    for (u32 k = 128; k < 1024; k += 128) {
      State next[4];
      source.some(begin + k + 4 * t, 4, next);
#pragma unroll
      for (int j = 0; j < 4; ++j) lane[j] = combine_next(lane[j], next[j]);
    }
  } else {
#pragma unroll 1
    for (u32 k = 4 * t; k < length; k += 128) {
      const int present = int(length - k < 4 ? length - k : 4);
      State next[4] = {};
      source.some(begin + k, present, next);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (j < present) lane[j] = k < 128 ? next[j] : combine_next(lane[j], next[j]);
      }
    }
  }
  if (width == 32 && __all_sync(0xffffffffu, length >= 128)) return combine_lanes(lane, t);
  const u32 lanes = length < 128 ? length : 128;
#pragma unroll
  for (u32 half = 64; half >= 4; half /= 2) {
    if (half / 4 < width) {
#pragma unroll
      for (u32 j = 0; j < 4; ++j) {
        const State other = shuffle_down(lane[j], half / 4, width);
        if (4 * t + j < half && 4 * t + j + half < lanes) lane[j] = combine(lane[j], other);
      }
    }
  }
  if (2 < lanes) lane[0] = combine(lane[0], lane[2]);
  if (3 < lanes) lane[1] = combine(lane[1], lane[3]);
  if (1 < lanes) lane[0] = combine(lane[0], lane[1]);
  return lane[0];
}

// Partial results in shared memory.
struct SharedSource {
  static constexpr int unroll = 1;
  const State* states;
  __device__ __forceinline__ void some(const Index position, const int present, State* out) const {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (j < present) out[j] = states[position + j];
    }
  }
};

// A column of `height` threads among `columns` neighbours; thread t holds lanes t, t + height, t + 2 height, t + 3 height.
// All threads of the block take part. The result is row 0's.
template <int columns, int height, class Source>
__device__ __forceinline__ State reduce_column(
    const Source& source, const Index begin, const u32 length, const u32 column, const u32 t, State* shared) {
  State lane[4] = {};
  const u32 lanes = length < 128 ? length : 128;
  if (height == 32 && length == 1024) {
#pragma unroll
    for (u32 q = 0; q < 4; ++q) lane[q] = source.one(begin + t + height * q);
#pragma unroll Source::unroll
    for (u32 k = 128; k < 1024; k += 128) {
      State next[4];
#pragma unroll
      for (u32 q = 0; q < 4; ++q) next[q] = source.one(begin + k + t + height * q);
#pragma unroll
      for (int q = 0; q < 4; ++q) lane[q] = combine_next(lane[q], next[q]);
    }
  } else {
#pragma unroll 1
    for (u32 k = 0; k < length; k += 128) {
#pragma unroll
      for (u32 q = 0; q < 4; ++q) {
        const u32 at = k + t + height * q;
        if (at < length) {
          const State next = source.one(begin + at);
          lane[q] = k == 0 ? next : combine_next(lane[q], next);
        }
      }
    }
  }
  if (t + 2 * height < lanes) lane[0] = combine(lane[0], lane[2]);
  if (t + 3 * height < lanes) lane[1] = combine(lane[1], lane[3]);
  if (t + height < lanes) lane[0] = combine(lane[0], lane[1]);
#pragma unroll
  for (u32 half = height / 2; half >= 1; half /= 2) {
    // The rows that are written now are not those that the round before reads.
    if (t >= half && t < 2 * half) shared[t * columns + column] = lane[0];
    __syncthreads();
    if (t < half && t + half < lanes) lane[0] = combine(lane[0], shared[(t + half) * columns + column]);
  }
  return lane[0];
}

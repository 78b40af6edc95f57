// Partial results of a chunk of 1024 elements: element k goes to lane k % 128, then lanes combine by halves.
// `State`, `combine` and `combine_next` stand before this text; a source gives the states of elements by position.

// `width` threads of a warp; thread t holds lanes 4t .. 4t + 3. The result is thread 0's.
template <int width, class Source>
__device__ __forceinline__ State
reduce_chunk(const Source& source, const Index begin, const u32 length, const u32 t) {
  State lane[4] = {};
  if (width == 32 && length == 1024) {
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

// sum float32 by row, finish   key 34f2990a5efa3c20985c81c52b8b1a7e
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

template <class T> struct alignas(2 * sizeof(T)) Complex {
  T re, im;
};

// Several elements at once, and elements at any address. `present` says how many of them there are.

template <class T, int count> struct alignas(sizeof(T) * count < 16 ? sizeof(T) * count : 16) Pack {
  T item[count];
};

template <class T> __device__ __forceinline__ T load(const char* at) { return *reinterpret_cast<const T*>(at); }
template <class T> __device__ __forceinline__ void store(char* at, const T value) { *reinterpret_cast<T*>(at) = value; }

template <class T> __device__ __forceinline__ T load_bytes(const char* at) {
  union {
    T value;
    char bytes[sizeof(T)];
  } both;
#pragma unroll
  for (int i = 0; i < int(sizeof(T)); ++i) both.bytes[i] = at[i];
  return both.value;
}
template <class T> __device__ __forceinline__ void store_bytes(char* at, const T value) {
  union {
    T value;
    char bytes[sizeof(T)];
  } both;
  both.value = value;
#pragma unroll
  for (int i = 0; i < int(sizeof(T)); ++i) at[i] = both.bytes[i];
}

// Neighbours at an address that suits them all.
template <class T, int count> __device__ __forceinline__ Pack<T, count> load_vector(const char* at, const int present) {
  if (present >= count) return *reinterpret_cast<const Pack<T, count>*>(at);
  Pack<T, count> pack{};
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present) pack.item[j] = load<T>(at + j * int(sizeof(T)));
  }
  return pack;
}
template <class T, int count>
__device__ __forceinline__ void store_vector(char* at, const Pack<T, count>& pack, const int present) {
  if (present >= count) {
    *reinterpret_cast<Pack<T, count>*>(at) = pack;
    return;
  }
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present) store<T>(at + j * int(sizeof(T)), pack.item[j]);
  }
}

// Elements `step` bytes apart.
template <class T, int count, class S>
__device__ __forceinline__ Pack<T, count> load_each(const char* at, const S step, const int present) {
  Pack<T, count> pack{};
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present) pack.item[j] = load<T>(at + j * step);
  }
  return pack;
}
template <class T, int count, class S>
__device__ __forceinline__ void store_each(char* at, const S step, const Pack<T, count>& pack, const int present) {
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present) store<T>(at + j * step, pack.item[j]);
  }
}
template <class T, int count, class S>
__device__ __forceinline__ Pack<T, count> load_each_bytes(const char* at, const S step, const int present) {
  Pack<T, count> pack{};
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present) pack.item[j] = load_bytes<T>(at + j * step);
  }
  return pack;
}
template <class T, int count, class S>
__device__ __forceinline__ void store_each_bytes(char* at, const S step, const Pack<T, count>& pack, const int present) {
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present) store_bytes<T>(at + j * step, pack.item[j]);
  }
}

// Only the elements that are kept.
template <class T, int count, class S>
__device__ __forceinline__ void
store_each_where(char* at, const S step, const Pack<T, count>& pack, const bool (&keep)[count], const int present) {
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present && keep[j]) store<T>(at + j * step, pack.item[j]);
  }
}
template <class T, int count, class S>
__device__ __forceinline__ void store_each_bytes_where(
    char* at, const S step, const Pack<T, count>& pack, const bool (&keep)[count], const int present) {
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present && keep[j]) store_bytes<T>(at + j * step, pack.item[j]);
  }
}

// A register of another thread of the warp, `distance` threads on or back within groups of `width`.

template <class T> __device__ __forceinline__ T shuffle_word(const T x, const u32 distance, const int width) {
  if constexpr (sizeof(T) < 4) return T(__shfl_down_sync(0xffffffffu, u32(x), distance, width));
  else return __shfl_down_sync(0xffffffffu, x, distance, width);
}
template <class T> __device__ __forceinline__ T shuffle_word_up(const T x, const u32 distance) {
  if constexpr (sizeof(T) < 4) return T(__shfl_up_sync(0xffffffffu, u32(x), distance));
  else return __shfl_up_sync(0xffffffffu, x, distance);
}
// That of the thread whose number differs in the bits of `distance`.
template <class T> __device__ __forceinline__ T shuffle_word_across(const T x, const u32 distance) {
  if constexpr (sizeof(T) < 4) return T(__shfl_xor_sync(0xffffffffu, u32(x), distance));
  else return __shfl_xor_sync(0xffffffffu, x, distance);
}

using Index = u32;
using Step = i32;

// Division by a number that is known at the launch, for dividends below 2^31.
struct Divisor {
  u32 divisor, multiplier, shift;
  __device__ __forceinline__ u32 quotient(const u32 n) const { return (__umulhi(n, multiplier) + n) >> shift; }
};

struct Shape {
  Index rows;
  Index count;
  Divisor chunks[1];
  Step steps[2][1];
  Step reduced[1][1];
};

struct State {
  float s0;
};

__device__ __forceinline__ State shuffle_down(const State& x, const u32 distance, const int width) {
  return State{shuffle_word(x.s0, distance, width)};
}
__device__ __forceinline__ State shuffle_up(const State& x, const u32 distance) {
  return State{shuffle_word_up(x.s0, distance)};
}
__device__ __forceinline__ State shuffle_across(const State& x, const u32 distance) {
  return State{shuffle_word_across(x.s0, distance)};
}
// By registers: a choice between structs is one between addresses.
__device__ __forceinline__ State choose(const bool first, const State& a, const State& b) {
  return State{first ? a.s0 : b.s0};
}

__device__ __forceinline__ State combine(const State& left, const State& right) {
  const float a0 = left.s0;
  const float a1 = right.s0;
  const float t2 = a0 + a1;
  return State{t2};
}
__device__ __forceinline__ State combine_next(const State& left, const State& right) { return combine(left, right); }

__device__ __forceinline__ State element(const i64 position, const float raw0) {
  const float x0_re = raw0;
  return State{x0_re};
}

struct Source {
  static constexpr int unroll = 7;
  const char* in0;
  const Shape& shape;
  __device__ __forceinline__ State one(const Index position) const {
    return element(i64(position), load<float>(in0 + Step(position) * shape.reduced[0][0]));
  }
  __device__ __forceinline__ void some(const Index position, const int present, State* out) const {
    const Pack<float, 4> raw0 = load_vector<float, 4>(in0 + Step(position) * 4, present);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (j < present) out[j] = element(i64(position + j), raw0.item[j]);
    }
  }
};

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

__device__ __forceinline__ float finish(const State& total) {
  const float a0 = total.s0;
  return a0;
}

extern "C" __global__ void __launch_bounds__(256) sum_row_34f2990a5efa3c20(
    const char* in0,
    char* out0,
    const Shape shape) {
  const u32 t = threadIdx.x % 32;
  const Index asked = (Index(blockIdx.x) * 256 + threadIdx.x) / 32;
  const bool active = asked < shape.rows * shape.chunks[0].divisor;
  const Index unit = active ? asked : 0;
  [[maybe_unused]] const Index row = shape.chunks[0].quotient(unit);
  const Index begin = (unit - row * shape.chunks[0].divisor) * 1024;
  const u32 length = shape.count - begin < 1024 ? u32(shape.count - begin) : 1024;
  Step in0_at = 0;
  Step out0_at = 0;
  in0_at += Step(row) * shape.steps[0][0];
  out0_at += Step(row) * shape.steps[1][0];
  const State total = reduce_chunk<32>(Source{in0 + in0_at, shape}, begin, length, t);
  if (t != 0 || !active) return;
  store<float>(out0 + out0_at, finish(total));
}

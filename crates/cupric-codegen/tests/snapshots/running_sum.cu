// scan sum int64, totals   key e6e9b698875f6b857f7dbfa54441c3af
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
  Step reduced[2][1];
};

struct State {
  i64 s0;
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
  const i64 a0 = left.s0;
  const i64 a1 = right.s0;
  const i64 t2 = i64(u64(a0) + u64(a1));
  return State{t2};
}
__device__ __forceinline__ State combine_next(const State& left, const State& right) { return combine(left, right); }

__device__ __forceinline__ State element(const i64 position, const i32 raw0) {
  const i32 x0_re = raw0;
  const i64 t1 = i64(x0_re);
  return State{t1};
}

struct Source {
  static constexpr int unroll = 7;
  const char* in0;
  const Shape& shape;
  __device__ __forceinline__ State one(const Index position) const {
    return element(i64(position), load<i32>(in0 + Step(position) * shape.reduced[0][0]));
  }
  __device__ __forceinline__ void some(const Index position, const int present, State* out) const {
    const Pack<i32, 4> raw0 = load_vector<i32, 4>(in0 + Step(position) * 4, present);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (j < present) out[j] = element(i64(position + j), raw0.item[j]);
    }
  }
};

// Prefixes within a chunk of 1024 elements by 256 threads (or within 128 elements by a warp): groups of 4 from left to
// right, 32 group totals by distances 1, 2, 4, 8, 16, segment totals from left to right.
// `State` and `combine` stand before this text; a source gives the states of elements by position.

// The prefixes of the thread's 4 elements within its group, whose total is `own`; `before` is the prefix of the groups before
// in the segment, `total` that of the group.
template <class Source>
__device__ __forceinline__ void scan_segment(
    const Source& source, const Index begin, const u32 length, const u32 group, State* prefix, State& own, State& total,
    State& before) {
  const u32 lane = group % 32;
  const int present = int(length <= 4 * group ? 0 : length - 4 * group < 4 ? length - 4 * group : 4);
  if (present > 0) source.some(begin + 4 * group, present, prefix);
  own = prefix[0];
#pragma unroll
  for (int j = 1; j < 4; ++j) {
    if (j < present) own = prefix[j] = combine(prefix[j - 1], prefix[j]);
  }
  total = own;
#pragma unroll
  for (u32 distance = 1; distance < 32; distance *= 2) {
    const State other = shuffle_up(total, distance);
    if (lane >= distance) total = combine(other, total);
  }
  before = shuffle_up(total, 1);
}

// All 256 threads take part. Gives the prefix of the thread's last element.
template <class Source>
__device__ __forceinline__ State scan_chunk(const Source& source, const Index begin, const u32 length, State* prefix) {
  __shared__ State totals[8];
  const u32 group = threadIdx.x;
  State own, total, before;
  scan_segment(source, begin, length, group, prefix, own, total, before);
  if (group % 32 == 31) totals[group / 32] = total;
  __syncthreads();
  bool any = group % 32 != 0;
  if (group >= 32) {
    State segments = totals[0];
#pragma unroll 1
    for (u32 segment = 1; segment < group / 32; ++segment) segments = combine(segments, totals[segment]);
    before = any ? combine(segments, before) : segments;
    any = true;
  }
  if (!any) return own;
#pragma unroll
  for (int j = 0; j < 4; ++j) prefix[j] = combine(before, prefix[j]);
  return combine(before, own);
}

// One warp, at most 128 elements.
template <class Source>
__device__ __forceinline__ void scan_row(const Source& source, const u32 length, State* prefix) {
  const u32 group = threadIdx.x % 32;
  State own, total, before;
  scan_segment(source, 0, length, group, prefix, own, total, before);
  if (group != 0) {
#pragma unroll
    for (int j = 0; j < 4; ++j) prefix[j] = combine(before, prefix[j]);
  }
}

extern "C" __global__ void __launch_bounds__(256) scan_sum_e6e9b698875f6b85(
    const char* in0,
    char* total0,
    const Shape shape) {
  const Index unit = blockIdx.x;
  [[maybe_unused]] const Index row = shape.chunks[0].quotient(unit);
  const Index begin = (unit - row * shape.chunks[0].divisor) * 1024;
  const u32 group = threadIdx.x;
  const u32 length = shape.count - begin < 1024 ? u32(shape.count - begin) : 1024;
  Step in0_at = 0;
  State prefix[4] = {};
  const State total = scan_chunk(Source{in0 + in0_at, shape}, begin, length, prefix);
  if (group != (length - 1) / 4) return;
  store<i64>(total0 + Step(unit) * 8, total.s0);
}

// ---- next launch

// scan sum int64, short rows   key c4579fef579ca040967e7893d5ac8e35
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
  Step reduced[2][1];
};

struct State {
  i64 s0;
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
  const i64 a0 = left.s0;
  const i64 a1 = right.s0;
  const i64 t2 = i64(u64(a0) + u64(a1));
  return State{t2};
}
__device__ __forceinline__ State combine_next(const State& left, const State& right) { return combine(left, right); }

__device__ __forceinline__ State element(const i64 position, const i64 raw0) {
  const i64 x0_re = raw0;
  return State{x0_re};
}

struct Source {
  static constexpr int unroll = 7;
  const char* in0;
  const Shape& shape;
  __device__ __forceinline__ State one(const Index position) const {
    return element(i64(position), load<i64>(in0 + Step(position) * shape.reduced[0][0]));
  }
  __device__ __forceinline__ void some(const Index position, const int present, State* out) const {
    const Pack<i64, 4> raw0 = load_vector<i64, 4>(in0 + Step(position) * 8, present);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (j < present) out[j] = element(i64(position + j), raw0.item[j]);
    }
  }
};

// Prefixes within a chunk of 1024 elements by 256 threads (or within 128 elements by a warp): groups of 4 from left to
// right, 32 group totals by distances 1, 2, 4, 8, 16, segment totals from left to right.
// `State` and `combine` stand before this text; a source gives the states of elements by position.

// The prefixes of the thread's 4 elements within its group, whose total is `own`; `before` is the prefix of the groups before
// in the segment, `total` that of the group.
template <class Source>
__device__ __forceinline__ void scan_segment(
    const Source& source, const Index begin, const u32 length, const u32 group, State* prefix, State& own, State& total,
    State& before) {
  const u32 lane = group % 32;
  const int present = int(length <= 4 * group ? 0 : length - 4 * group < 4 ? length - 4 * group : 4);
  if (present > 0) source.some(begin + 4 * group, present, prefix);
  own = prefix[0];
#pragma unroll
  for (int j = 1; j < 4; ++j) {
    if (j < present) own = prefix[j] = combine(prefix[j - 1], prefix[j]);
  }
  total = own;
#pragma unroll
  for (u32 distance = 1; distance < 32; distance *= 2) {
    const State other = shuffle_up(total, distance);
    if (lane >= distance) total = combine(other, total);
  }
  before = shuffle_up(total, 1);
}

// All 256 threads take part. Gives the prefix of the thread's last element.
template <class Source>
__device__ __forceinline__ State scan_chunk(const Source& source, const Index begin, const u32 length, State* prefix) {
  __shared__ State totals[8];
  const u32 group = threadIdx.x;
  State own, total, before;
  scan_segment(source, begin, length, group, prefix, own, total, before);
  if (group % 32 == 31) totals[group / 32] = total;
  __syncthreads();
  bool any = group % 32 != 0;
  if (group >= 32) {
    State segments = totals[0];
#pragma unroll 1
    for (u32 segment = 1; segment < group / 32; ++segment) segments = combine(segments, totals[segment]);
    before = any ? combine(segments, before) : segments;
    any = true;
  }
  if (!any) return own;
#pragma unroll
  for (int j = 0; j < 4; ++j) prefix[j] = combine(before, prefix[j]);
  return combine(before, own);
}

// One warp, at most 128 elements.
template <class Source>
__device__ __forceinline__ void scan_row(const Source& source, const u32 length, State* prefix) {
  const u32 group = threadIdx.x % 32;
  State own, total, before;
  scan_segment(source, 0, length, group, prefix, own, total, before);
  if (group != 0) {
#pragma unroll
    for (int j = 0; j < 4; ++j) prefix[j] = combine(before, prefix[j]);
  }
}

extern "C" __global__ void __launch_bounds__(256) scan_sum_c4579fef579ca040(
    const char* in0,
    char* out0,
    const Shape shape) {
  const Index asked = Index(blockIdx.x) * 8 + threadIdx.x / 32;
  const bool active = asked < shape.rows;
  [[maybe_unused]] const Index row = active ? asked : 0;
  const u32 group = threadIdx.x % 32;
  const Index begin = 0;
  const u32 length = u32(shape.count);
  Step in0_at = 0;
  Step out0_at = 0;
  State prefix[4] = {};
  scan_row(Source{in0 + in0_at, shape}, length, prefix);
  if (!active) return;
  if (4 * group >= length) return;
  const int present = length - 4 * group < 4 ? int(length - 4 * group) : 4;
  Pack<i64, 4> result0;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const i64 a0 = prefix[j].s0;
    result0.item[j] = a0;
  }
  const Index first = begin + 4 * group;
  store_vector<i64, 4>(out0 + out0_at + Step(first) * 8, result0, present);
}

// ---- next launch

// scan sum int64, carried   key 123023d2540983252967fa02694fda11
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
  Step reduced[2][1];
};

struct State {
  i64 s0;
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
  const i64 a0 = left.s0;
  const i64 a1 = right.s0;
  const i64 t2 = i64(u64(a0) + u64(a1));
  return State{t2};
}
__device__ __forceinline__ State combine_next(const State& left, const State& right) { return combine(left, right); }

__device__ __forceinline__ State element(const i64 position, const i32 raw0) {
  const i32 x0_re = raw0;
  const i64 t1 = i64(x0_re);
  return State{t1};
}

struct Source {
  static constexpr int unroll = 7;
  const char* in0;
  const Shape& shape;
  __device__ __forceinline__ State one(const Index position) const {
    return element(i64(position), load<i32>(in0 + Step(position) * shape.reduced[0][0]));
  }
  __device__ __forceinline__ void some(const Index position, const int present, State* out) const {
    const Pack<i32, 4> raw0 = load_vector<i32, 4>(in0 + Step(position) * 4, present);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (j < present) out[j] = element(i64(position + j), raw0.item[j]);
    }
  }
};

// Prefixes within a chunk of 1024 elements by 256 threads (or within 128 elements by a warp): groups of 4 from left to
// right, 32 group totals by distances 1, 2, 4, 8, 16, segment totals from left to right.
// `State` and `combine` stand before this text; a source gives the states of elements by position.

// The prefixes of the thread's 4 elements within its group, whose total is `own`; `before` is the prefix of the groups before
// in the segment, `total` that of the group.
template <class Source>
__device__ __forceinline__ void scan_segment(
    const Source& source, const Index begin, const u32 length, const u32 group, State* prefix, State& own, State& total,
    State& before) {
  const u32 lane = group % 32;
  const int present = int(length <= 4 * group ? 0 : length - 4 * group < 4 ? length - 4 * group : 4);
  if (present > 0) source.some(begin + 4 * group, present, prefix);
  own = prefix[0];
#pragma unroll
  for (int j = 1; j < 4; ++j) {
    if (j < present) own = prefix[j] = combine(prefix[j - 1], prefix[j]);
  }
  total = own;
#pragma unroll
  for (u32 distance = 1; distance < 32; distance *= 2) {
    const State other = shuffle_up(total, distance);
    if (lane >= distance) total = combine(other, total);
  }
  before = shuffle_up(total, 1);
}

// All 256 threads take part. Gives the prefix of the thread's last element.
template <class Source>
__device__ __forceinline__ State scan_chunk(const Source& source, const Index begin, const u32 length, State* prefix) {
  __shared__ State totals[8];
  const u32 group = threadIdx.x;
  State own, total, before;
  scan_segment(source, begin, length, group, prefix, own, total, before);
  if (group % 32 == 31) totals[group / 32] = total;
  __syncthreads();
  bool any = group % 32 != 0;
  if (group >= 32) {
    State segments = totals[0];
#pragma unroll 1
    for (u32 segment = 1; segment < group / 32; ++segment) segments = combine(segments, totals[segment]);
    before = any ? combine(segments, before) : segments;
    any = true;
  }
  if (!any) return own;
#pragma unroll
  for (int j = 0; j < 4; ++j) prefix[j] = combine(before, prefix[j]);
  return combine(before, own);
}

// One warp, at most 128 elements.
template <class Source>
__device__ __forceinline__ void scan_row(const Source& source, const u32 length, State* prefix) {
  const u32 group = threadIdx.x % 32;
  State own, total, before;
  scan_segment(source, 0, length, group, prefix, own, total, before);
  if (group != 0) {
#pragma unroll
    for (int j = 0; j < 4; ++j) prefix[j] = combine(before, prefix[j]);
  }
}

extern "C" __global__ void __launch_bounds__(256) scan_sum_123023d254098325(
    const char* in0,
    char* out0,
    const char* total0,
    const Shape shape) {
  const Index unit = shape.rows * shape.chunks[0].divisor - 1 - blockIdx.x;
  [[maybe_unused]] const Index row = shape.chunks[0].quotient(unit);
  const Index begin = (unit - row * shape.chunks[0].divisor) * 1024;
  const u32 group = threadIdx.x;
  const u32 length = shape.count - begin < 1024 ? u32(shape.count - begin) : 1024;
  Step in0_at = 0;
  Step out0_at = 0;
  State prefix[4] = {};
  scan_chunk(Source{in0 + in0_at, shape}, begin, length, prefix);
  if (begin > 0) {
    const State carry{load<i64>(total0 + Step(unit - 1) * 8)};
#pragma unroll
    for (int j = 0; j < 4; ++j) prefix[j] = combine(carry, prefix[j]);
  }
  if (4 * group >= length) return;
  const int present = length - 4 * group < 4 ? int(length - 4 * group) : 4;
  Pack<i64, 4> result0;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const i64 a0 = prefix[j].s0;
    result0.item[j] = a0;
  }
  const Index first = begin + 4 * group;
  store_vector<i64, 4>(out0 + out0_at + Step(first) * 8, result0, present);
}

// sort float32 in blocks of 1024, values   key af18b0e0a4bff5f2b3d3260852b0fd52
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

// Unsigned integers in the order of numbers: zeros are equal, NaN are equal and last.

template <class Bits> __device__ __forceinline__ Bits order_float(const Bits bits, const Bits infinity) {
  const Bits sign = Bits(Bits(1) << (8 * sizeof(Bits) - 1));
  const Bits magnitude = Bits(bits & Bits(~sign));
  if (magnitude > infinity) return Bits(~Bits(0));
  if (magnitude == 0) return sign;
  return (bits & sign) != 0 ? Bits(~bits) : Bits(bits | sign);
}
__device__ __forceinline__ u32 order_bits(const float x) { return order_float<u32>(__float_as_uint(x), 0x7f800000u); }
__device__ __forceinline__ u64 order_bits(const double x) {
  return order_float<u64>(u64(__double_as_longlong(x)), 0x7ff0000000000000ull);
}

// Two words in lexicographic order.
template <class Word> struct Pair {
  Word high, low;
  __device__ __forceinline__ bool operator<(const Pair& other) const {
    return high < other.high || (high == other.high && low < other.low);
  }
  __device__ __forceinline__ bool operator==(const Pair& other) const { return high == other.high && low == other.low; }
};

// Complex numbers by real and then by imaginary part; behind them those with one NaN or two, by the part that is none.
template <class T> __device__ __forceinline__ auto order_complex(const T re, const T im) -> Pair<decltype(order_bits(re))> {
  using Word = decltype(order_bits(re));
  const Word last = ~Word(0);
  const Word real = order_bits(re);
  const Word imaginary = order_bits(im);
  if (real == last) return imaginary == last ? Pair<Word>{last, 0} : Pair<Word>{Word(last - 1), imaginary};
  return imaginary == last ? Pair<Word>{Word(last - 2), real} : Pair<Word>{real, imaginary};
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
  Step steps[2][1];
  Step along[2][1];
};

using Element = float;
using Key = u32;

__device__ __forceinline__ Key order_key(const Element x) {
  return order_bits(x);
}

// Bitonic sorts of keys with their positions, which makes them stable.
// `Key` stands before this text.

template <class Key> struct Entry {
  Key key;
  u32 position;
  __device__ __forceinline__ bool operator<(const Entry& other) const {
    return key < other.key || (key == other.key && position < other.position);
  }
};
template <> struct Entry<u32> {
  u64 both;
  __device__ __forceinline__ bool operator<(const Entry& other) const { return both < other.both; }
};

template <class Key> __device__ __forceinline__ Entry<Key> entry(const Key key, const u32 position) {
  return Entry<Key>{key, position};
}
template <> __device__ __forceinline__ Entry<u32> entry<u32>(const u32 key, const u32 position) {
  return Entry<u32>{(u64(key) << 32) | position};
}
template <class Key> __device__ __forceinline__ u32 position_of(const Entry<Key>& entry) { return entry.position; }
template <> __device__ __forceinline__ u32 position_of<u32>(const Entry<u32>& entry) { return u32(entry.both); }

// An entry of the thread `apart` lanes away.
template <class Key> __device__ __forceinline__ Entry<Key> entry_across(const Entry<Key>& entry, const u32 apart) {
  return Entry<Key>{__shfl_xor_sync(0xffffffffu, entry.key, apart), __shfl_xor_sync(0xffffffffu, entry.position, apart)};
}
template <> __device__ __forceinline__ Entry<u32> entry_across<u32>(const Entry<u32>& entry, const u32 apart) {
  return Entry<u32>{__shfl_xor_sync(0xffffffffu, entry.both, apart)};
}

template <class Key> __device__ __forceinline__ void order_pair(Entry<Key>& low, Entry<Key>& high, const bool up) {
  const bool turn = (high < low) == up;
  const Entry<Key> first = turn ? high : low;
  high = turn ? low : high;
  low = first;
}

// Sorts what `lanes` threads of a warp hold in registers; afterwards lane l holds the entries l * each .. of the order.
template <u32 lanes, u32 each, class Key> __device__ __forceinline__ void sort_registers(Entry<Key> (&entries)[each]) {
  const u32 lane = threadIdx.x % lanes;
#pragma unroll
  for (u32 run = 2; run <= each; run *= 2) {
#pragma unroll
    for (u32 stride = run / 2; stride > 0; stride /= 2) {
#pragma unroll
      for (u32 i = 0; i < each; ++i) {
        const bool up = run < each ? (i & run) == 0 : lane % 2 == 0;
        if ((i & stride) == 0) order_pair(entries[i], entries[i + stride], up);
      }
    }
  }
#pragma unroll 1
  for (u32 width = 2; width <= lanes; width *= 2) {
    const bool up = (lane & width) == 0;
#pragma unroll 1
    for (u32 apart = width / 2; apart > 0; apart /= 2) {
      const bool least = ((lane & apart) == 0) == up;
#pragma unroll
      for (u32 i = 0; i < each; ++i) {
        const Entry<Key> other = entry_across(entries[i], apart);
        if ((other < entries[i]) == least) entries[i] = other;
      }
    }
#pragma unroll
    for (u32 stride = each / 2; stride > 0; stride /= 2) {
#pragma unroll
      for (u32 i = 0; i < each; ++i) {
        if ((i & stride) == 0) order_pair(entries[i], entries[i + stride], up);
      }
    }
  }
}

// In shared memory: `size` entries by size / 2 threads of which this is thread t; all threads of the block take part.
template <u32 size, class Key> __device__ __forceinline__ void sort_entries(Entry<Key>* entries, const u32 t) {
#pragma unroll 1
  for (u32 run = 2; run <= size; run *= 2) {
#pragma unroll 1
    for (u32 stride = run / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const u32 low = 2 * t - (t & (stride - 1));
      const Entry<Key> first = entries[low];
      const Entry<Key> second = entries[low + stride];
      if ((second < first) == ((low & run) == 0)) {
        entries[low] = second;
        entries[low + stride] = first;
      }
    }
  }
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(128) sort_block_af18b0e0a4bff5f2(
    const char* in0,
    char* out0,
    const Shape shape) {
  const u32 t = threadIdx.x % 32;
  const u32 local = threadIdx.x / 32;
  const Index asked = Index(blockIdx.x) * 4 + local;
  const bool active = asked < shape.rows;
  [[maybe_unused]] const Index row = active ? asked : 0;
  Step in0_at = 0;
  Step out0_at = 0;
  in0_at += Step(row) * shape.steps[0][0];
  out0_at += Step(row) * shape.steps[1][0];
  const u32 count = u32(shape.count);
  __shared__ u16 positions[4][1056];
  Entry<Key> entries[32];
#pragma unroll
  for (u32 j = 0; j < 32; ++j) {
    const u32 i = j * 32 + t;
    Key key = ~Key(0);
    if (i < count) key = order_key(load<float>(in0 + in0_at + Step(i) * shape.along[0][0]));
    entries[j] = entry(key, i);
  }
  sort_registers<32, 32>(entries);
  u16* mine = positions[local];
#pragma unroll
  for (u32 j = 0; j < 32; ++j) {
    const u32 i = t * 32 + j;
    mine[i + i / 32] = u16(position_of(entries[j]));
  }
  __syncwarp();
  Element sorted[32];
#pragma unroll
  for (u32 j = 0; j < 32; ++j) {
    const u32 i = j * 32 + t;
    if (i < count) sorted[j] = load<float>(in0 + in0_at + Step(mine[i + i / 32]) * shape.along[0][0]);
  }
  __syncwarp();
#pragma unroll
  for (u32 j = 0; j < 32; ++j) {
    const u32 i = j * 32 + t;
    if (active && i < count) store<float>(out0 + out0_at + Step(i) * shape.along[1][0], sorted[j]);
  }
}

// map in tiles: float32 <- float32   key 92f71408656258f793dfa93d6a2d113e
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

using Index = u32;
using Step = i32;

// Division by a number that is known at the launch, for dividends below 2^31.
struct Divisor {
  u32 divisor, multiplier, shift;
  __device__ __forceinline__ u32 quotient(const u32 n) const { return (__umulhi(n, multiplier) + n) >> shift; }
};

struct Shape {
  Index rows;
  Index columns;
  Divisor tiles[2];
  Step steps[2][2];
};

extern "C" __global__ void __launch_bounds__(256) map_tile_92f71408656258f7(
    const char* __restrict__ in0,
    char* __restrict__ out0,
    const Shape shape) {
  const Index band = shape.tiles[1].quotient(blockIdx.x);
  const Index column = (blockIdx.x - band * shape.tiles[1].divisor) * 64;
  [[maybe_unused]] const Index batch = shape.tiles[0].quotient(band);
  const Index row = (band - batch * shape.tiles[0].divisor) * 64;
  Step out0_at = 0;
  Step in0_at = 0;
  __shared__ float turned0[64][65];
#pragma unroll
  for (u32 r = threadIdx.y; r < 64; r += 4) {
    if (row + threadIdx.x < shape.rows && column + r < shape.columns) {
      turned0[r][threadIdx.x] = load<float>(in0 + in0_at + Step(row + threadIdx.x) * shape.steps[1][0] + Step(column + r) * shape.steps[1][1]);
    }
  }
  __syncthreads();
#pragma unroll 4
  for (u32 r = threadIdx.y; r < 64; r += 4) {
    if (row + r >= shape.rows || column + threadIdx.x >= shape.columns) continue;
    const float raw0 = turned0[threadIdx.x][r];
    const float x0_re = raw0;
    store<float>(out0 + out0_at + Step(row + r) * shape.steps[0][0] + Step(column + threadIdx.x) * shape.steps[0][1], x0_re);
  }
}

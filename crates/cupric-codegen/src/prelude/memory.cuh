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

// A bitonic sort of keys with their positions, which makes it stable, in shared memory.
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

// `size` entries by size / 2 threads of which this is thread t; all threads of the block take part.
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

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

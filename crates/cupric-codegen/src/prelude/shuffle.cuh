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

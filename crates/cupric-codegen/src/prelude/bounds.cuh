// What an index array says, and what happens outside of the axis.

enum class Bounds { Raise, Wrap, Clip };

// Of several failures the one with the least axis and index stays: word 0 holds both, word 1 + axis the length.
__device__ __forceinline__ void fail(u64* failure, const u32 axis, const i64 index, const i64 length) {
  const i64 most = (1ll << 57) - 1;
  const i64 shown = index < -most ? -most : index > most ? most : index;
  atomicMin(failure, (u64(axis) << 58) | u64(shown + most));
  failure[1 + axis] = u64(length);
}

// Moves an index into its axis; false if there is no such element.
template <Bounds bounds>
__device__ __forceinline__ bool resolve(i64& index, const i64 length, const u32 axis, u64* failure) {
  if (index >= 0 && index < length) return true;
  if constexpr (bounds == Bounds::Raise) {
    if (index >= length || index < -length) {
      fail(failure, axis, index, length);
      return false;
    }
    index += length;
    return true;
  }
  if (length == 0) return false;
  if constexpr (bounds == Bounds::Wrap) {
    index %= length;
    if (index < 0) index += length;
  } else {
    index = index < 0 ? 0 : length - 1;
  }
  return true;
}

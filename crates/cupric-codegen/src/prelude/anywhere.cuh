// Elements of any layout: up to 32 axes that are known at the launch.

struct Anywhere {
  u64 count, axes;
  u64 sizes[32];
  // Of what is read, of what is written, of a mask.
  i64 steps[3][32];
};

// Takes a row-major index apart.
struct Place {
  i64 from = 0, to = 0, mask = 0;
  __device__ __forceinline__ Place(const Anywhere& any, u64 rest) {
#pragma unroll 1
    for (u64 axis = any.axes; axis-- > 0;) {
      const u64 size = any.sizes[axis];
      // 64-bit divisions take long.
      const u64 outer = ((rest | size) >> 32) == 0 ? u64(u32(rest) / u32(size)) : rest / size;
      const i64 i = i64(rest - outer * size);
      from += i * any.steps[0][axis];
      to += i * any.steps[1][axis];
      mask += i * any.steps[2][axis];
      rest = outer;
    }
  }
};

template <class T> __device__ __forceinline__ T load_any(const char* at, const u64 aligned) {
  return aligned != 0 ? load<T>(at) : load_bytes<T>(at);
}
template <class T> __device__ __forceinline__ void store_any(char* at, const T value, const u64 aligned) {
  if (aligned != 0) store<T>(at, value);
  else store_bytes<T>(at, value);
}

// Up to 8 indices of int64: bytes from a base to the first, and along the axes of the iteration.
struct Indices {
  u64 count, bounds;
  i64 offsets[8];
  i64 lengths[8];
  i64 strides[8];
  i64 slots[8];
  i64 steps[8][32];
};

// Where the indices lead; false if there is no such element.
__device__ __forceinline__ bool follow(
    const char* base, const Indices& indices, const Anywhere& any, const u64 position, i64& jump, i64& slot,
    u64* failure) {
#pragma unroll 1
  for (u32 k = 0; k < u32(indices.count); ++k) {
    i64 at = indices.offsets[k];
    u64 rest = position;
#pragma unroll 1
    for (u64 axis = any.axes; axis-- > 0;) {
      const u64 size = any.sizes[axis];
      const u64 outer = ((rest | size) >> 32) == 0 ? u64(u32(rest) / u32(size)) : rest / size;
      at += i64(rest - outer * size) * indices.steps[k][axis];
      rest = outer;
    }
    i64 index = load<i64>(base + at);
    const i64 length = indices.lengths[k];
    const bool found = indices.bounds == 0 ? resolve<Bounds::Raise>(index, length, k, failure)
        : indices.bounds == 1              ? resolve<Bounds::Wrap>(index, length, k, failure)
                                           : resolve<Bounds::Clip>(index, length, k, failure);
    if (!found) return false;
    jump += index * indices.strides[k];
    slot += index * indices.slots[k];
  }
  return true;
}

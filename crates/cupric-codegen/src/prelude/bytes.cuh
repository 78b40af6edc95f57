// For each byte of a word whether it is not zero, as four bits.
__device__ __forceinline__ u32 true_bytes(const u32 word) {
  const u32 tops = (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u;
  return ((tops >> 7) * 0x01020408u) >> 24;
}

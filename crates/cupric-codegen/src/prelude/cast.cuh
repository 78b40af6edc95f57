// Float to integer as x86-64 does: NaN and out of range give the least value.

__device__ __forceinline__ i32 to_i32(const float x) {
  return x < 2147483648.0f ? __float2int_rz(x) : i32(0x80000000u);
}
__device__ __forceinline__ i32 to_i32(const double x) {
  return x < 2147483648.0 ? __double2int_rz(x) : i32(0x80000000u);
}
__device__ __forceinline__ i64 to_i64(const float x) {
  return x < 9223372036854775808.0f ? __float2ll_rz(x) : i64(0x8000000000000000ull);
}
__device__ __forceinline__ i64 to_i64(const double x) {
  return x < 9223372036854775808.0 ? __double2ll_rz(x) : i64(0x8000000000000000ull);
}
// From 2^63 on, what is left after subtracting it.
__device__ __forceinline__ u64 to_u64(const float x) {
  const bool high = x >= 9223372036854775808.0f;
  return u64(to_i64(high ? x - 9223372036854775808.0f : x)) ^ (u64(high) << 63);
}
__device__ __forceinline__ u64 to_u64(const double x) {
  const bool high = x >= 9223372036854775808.0;
  return u64(to_i64(high ? x - 9223372036854775808.0 : x)) ^ (u64(high) << 63);
}

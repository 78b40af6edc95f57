// Conversions of half formats, which travel as their bits. The hardware has one NaN; these keep payload and sign.

__device__ __forceinline__ u16 f32_to_f16(const float x) {
  const u32 bits = __float_as_uint(x);
  const u32 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    const u32 payload = (magnitude >> 13) & 0x3ffu;
    return u16(((bits >> 16) & 0x8000u) | 0x7c00u | (payload == 0 ? 1u : payload));
  }
  u16 half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
  return half;
}

__device__ __forceinline__ u16 f64_to_f16(const double x) {
  const u64 bits = u64(__double_as_longlong(x));
  const u64 magnitude = bits & 0x7fffffffffffffffull;
  if (magnitude > 0x7ff0000000000000ull) {
    const u32 payload = u32(magnitude >> 42) & 0x3ffu;
    return u16((u32(bits >> 48) & 0x8000u) | 0x7c00u | (payload == 0 ? 1u : payload));
  }
  u16 half;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(half) : "d"(x));
  return half;
}

__device__ __forceinline__ float f16_to_f32(const u16 half) {
  const u32 magnitude = half & 0x7fffu;
  if (magnitude > 0x7c00u) {
    return __uint_as_float((u32(half & 0x8000u) << 16) | 0x7f800000u | (magnitude << 13));
  }
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
  return x;
}

__device__ __forceinline__ u16 f32_to_bf16(const float x) {
  const u32 bits = __float_as_uint(x);
  if (x != x) return u16(((bits >> 16) & 0x8000u) | 0x7fc0u);
  return u16((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

__device__ __forceinline__ u16 f64_to_bf16(const double x) {
  // Rounding to odd on the way keeps what the second rounding has to know.
  const float near = float(x);
  const double back = double(near);
  u32 bits = __float_as_uint(near);
  if (!(back == x) && (bits & 1u) == 0 && x == x) bits = fabs(back) < fabs(x) ? bits + 1u : bits - 1u;
  return f32_to_bf16(__uint_as_float(bits));
}

__device__ __forceinline__ float bf16_to_f32(const u16 half) { return __uint_as_float(u32(half) << 16); }

__device__ __forceinline__ float round_f16(const float x) { return f16_to_f32(f32_to_f16(x)); }
__device__ __forceinline__ float round_f16(const double x) { return f16_to_f32(f64_to_f16(x)); }
__device__ __forceinline__ float round_bf16(const float x) { return bf16_to_f32(f32_to_bf16(x)); }
__device__ __forceinline__ float round_bf16(const double x) { return bf16_to_f32(f64_to_bf16(x)); }

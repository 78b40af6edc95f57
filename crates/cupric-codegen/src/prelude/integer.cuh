// Integer quotients, remainders and powers, defined for all arguments.

template <class T> __device__ __forceinline__ T floor_div(const T a, const T b) {
  if (b == 0) return 0;
  if constexpr (T(-1) < T(0)) {
    if (b == T(-1)) return T(0ull - u64(a));
    const T quotient = T(a / b);
    const T rest = T(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? T(quotient - 1) : quotient;
  } else {
    return T(a / b);
  }
}

template <class T> __device__ __forceinline__ T floor_mod(const T a, const T b) {
  if (b == 0) return 0;
  if constexpr (T(-1) < T(0)) {
    if (b == T(-1)) return 0;
    const T rest = T(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? T(rest + b) : rest;
  } else {
    return T(a % b);
  }
}

template <class T> __device__ __forceinline__ T pow_int(const T a, const T b) {
  if constexpr (T(-1) < T(0)) {
    if (b < 0) return a == T(1) ? T(1) : a == T(-1) ? T((b & 1) != 0 ? -1 : 1) : T(0);
  }
  u64 power = 1;
  u64 base = u64(a);
#pragma unroll 1
  for (u64 rest = u64(b); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) power *= base;
    base *= base;
  }
  return T(power);
}

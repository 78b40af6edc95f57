using Index = u32;
using Step = i32;

// Division by a number that is known at the launch, for dividends below 2^31.
struct Divisor {
  u32 divisor, multiplier, shift;
  __device__ __forceinline__ u32 quotient(const u32 n) const { return (__umulhi(n, multiplier) + n) >> shift; }
};

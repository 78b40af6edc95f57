using Index = u64;
using Step = i64;

struct Divisor {
  u64 divisor;
  __device__ __forceinline__ u64 quotient(const u64 n) const { return n / divisor; }
};

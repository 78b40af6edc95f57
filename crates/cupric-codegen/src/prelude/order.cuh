// Unsigned integers in the order of numbers: zeros are equal, NaN are equal and last.

template <class Bits> __device__ __forceinline__ Bits order_float(const Bits bits, const Bits infinity) {
  const Bits sign = Bits(Bits(1) << (8 * sizeof(Bits) - 1));
  const Bits magnitude = Bits(bits & Bits(~sign));
  if (magnitude > infinity) return Bits(~Bits(0));
  if (magnitude == 0) return sign;
  return (bits & sign) != 0 ? Bits(~bits) : Bits(bits | sign);
}
__device__ __forceinline__ u32 order_bits(const float x) { return order_float<u32>(__float_as_uint(x), 0x7f800000u); }
__device__ __forceinline__ u64 order_bits(const double x) {
  return order_float<u64>(u64(__double_as_longlong(x)), 0x7ff0000000000000ull);
}

// Two words in lexicographic order.
template <class Word> struct Pair {
  Word high, low;
  __device__ __forceinline__ bool operator<(const Pair& other) const {
    return high < other.high || (high == other.high && low < other.low);
  }
  __device__ __forceinline__ bool operator==(const Pair& other) const { return high == other.high && low == other.low; }
};

// Complex numbers by real and then by imaginary part; behind them those with one NaN or two, by the part that is none.
template <class T> __device__ __forceinline__ auto order_complex(const T re, const T im) -> Pair<decltype(order_bits(re))> {
  using Word = decltype(order_bits(re));
  const Word last = ~Word(0);
  const Word real = order_bits(re);
  const Word imaginary = order_bits(im);
  if (real == last) return imaginary == last ? Pair<Word>{last, 0} : Pair<Word>{Word(last - 1), imaginary};
  return imaginary == last ? Pair<Word>{Word(last - 2), real} : Pair<Word>{real, imaginary};
}

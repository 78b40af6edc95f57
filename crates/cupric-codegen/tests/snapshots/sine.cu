// map: float32 <- float32   key bb171a86a7c74358413f1ac65d8f1b92
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

template <class T> struct alignas(2 * sizeof(T)) Complex {
  T re, im;
};

// Several elements at once, and elements at any address. `present` says how many of them there are.

template <class T, int count> struct alignas(sizeof(T) * count < 16 ? sizeof(T) * count : 16) Pack {
  T item[count];
};

template <class T> __device__ __forceinline__ T load(const char* at) { return *reinterpret_cast<const T*>(at); }
template <class T> __device__ __forceinline__ void store(char* at, const T value) { *reinterpret_cast<T*>(at) = value; }

template <class T> __device__ __forceinline__ T load_bytes(const char* at) {
  union {
    T value;
    char bytes[sizeof(T)];
  } both;
#pragma unroll
  for (int i = 0; i < int(sizeof(T)); ++i) both.bytes[i] = at[i];
  return both.value;
}
template <class T> __device__ __forceinline__ void store_bytes(char* at, const T value) {
  union {
    T value;
    char bytes[sizeof(T)];
  } both;
  both.value = value;
#pragma unroll
  for (int i = 0; i < int(sizeof(T)); ++i) at[i] = both.bytes[i];
}

// Neighbours at an address that suits them all.
template <class T, int count> __device__ __forceinline__ Pack<T, count> load_vector(const char* at, const int present) {
  if (present >= count) return *reinterpret_cast<const Pack<T, count>*>(at);
  Pack<T, count> pack{};
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present) pack.item[j] = load<T>(at + j * int(sizeof(T)));
  }
  return pack;
}
template <class T, int count>
__device__ __forceinline__ void store_vector(char* at, const Pack<T, count>& pack, const int present) {
  if (present >= count) {
    *reinterpret_cast<Pack<T, count>*>(at) = pack;
    return;
  }
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present) store<T>(at + j * int(sizeof(T)), pack.item[j]);
  }
}

// Elements `step` bytes apart.
template <class T, int count, class S>
__device__ __forceinline__ Pack<T, count> load_each(const char* at, const S step, const int present) {
  Pack<T, count> pack{};
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present) pack.item[j] = load<T>(at + j * step);
  }
  return pack;
}
template <class T, int count, class S>
__device__ __forceinline__ void store_each(char* at, const S step, const Pack<T, count>& pack, const int present) {
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present) store<T>(at + j * step, pack.item[j]);
  }
}
template <class T, int count, class S>
__device__ __forceinline__ Pack<T, count> load_each_bytes(const char* at, const S step, const int present) {
  Pack<T, count> pack{};
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present) pack.item[j] = load_bytes<T>(at + j * step);
  }
  return pack;
}
template <class T, int count, class S>
__device__ __forceinline__ void store_each_bytes(char* at, const S step, const Pack<T, count>& pack, const int present) {
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present) store_bytes<T>(at + j * step, pack.item[j]);
  }
}

// Only the elements that are kept.
template <class T, int count, class S>
__device__ __forceinline__ void
store_each_where(char* at, const S step, const Pack<T, count>& pack, const bool (&keep)[count], const int present) {
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present && keep[j]) store<T>(at + j * step, pack.item[j]);
  }
}
template <class T, int count, class S>
__device__ __forceinline__ void store_each_bytes_where(
    char* at, const S step, const Pack<T, count>& pack, const bool (&keep)[count], const int present) {
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (j < present && keep[j]) store_bytes<T>(at + j * step, pack.item[j]);
  }
}

using Index = u32;
using Step = i32;

// Division by a number that is known at the launch, for dividends below 2^31.
struct Divisor {
  u32 divisor, multiplier, shift;
  __device__ __forceinline__ u32 quotient(const u32 n) const { return (__umulhi(n, multiplier) + n) >> shift; }
};

struct Shape {
  Index threads;
  Index count;
  Step steps[2][1];
};

__device__ const u32 table_f1522adc[42] = {
  0x00000000u, 0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
  0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu,
  0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu,
  0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du,
  0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u, 0xfc7b6babu,
  0xf0cfbc20u, 0x9af4361du,
};

__device__ __noinline__ float sin32_rare(const float a0) {
  const float t1 = fabsf(a0);
  const bool t3 = 131072.0f < t1;
  const bool t5 = t1 < __uint_as_float(0x7f800000u);
  const bool t6 = bool(t3 & t5);
  const float t9 = __fmaf_rn(a0, __uint_as_float(0x3f22f983u), __uint_as_float(0x4b400000u));
  const float t10 = t9 - __uint_as_float(0x4b400000u);
  const i32 t11 = i32(__float_as_uint(t9));
  const i32 t12 = i32(__float_as_uint(__uint_as_float(0x4b400000u)));
  const i32 t13 = i32(u32(t11) - u32(t12));
  const float t14 = -t10;
  const float t16 = __fmaf_rn(t14, __uint_as_float(0x3fc90fdbu), a0);
  const float t18 = t14 * __uint_as_float(0xb33bbd2eu);
  const float t19 = -t18;
  const float t20 = __fmaf_rn(t14, __uint_as_float(0xb33bbd2eu), t19);
  const float t21 = t16 + t18;
  const float t22 = t21 - t16;
  const float t23 = t21 - t22;
  const float t24 = t16 - t23;
  const float t25 = t18 - t22;
  const float t26 = t24 + t25;
  const float t28 = t26 + t20;
  const float t29 = __fmaf_rn(t14, __uint_as_float(0xa6f72cedu), t28);
  const float t30 = t21 + t29;
  const float t31 = t30 - t21;
  const float t32 = t29 - t31;
  const float t34 = t6 ? a0 : 262144.0f;
  const float t35 = fabsf(t34);
  const i32 t36 = i32(__float_as_uint(t35));
  const i32 t38 = i32(t36 & i32(8388607));
  const i32 t40 = i32(t38 | i32(8388608));
  const i32 t42 = i32(t36 >> i32(23));
  const i32 t44 = i32(u32(t42) - u32(i32(150)));
  const i32 t46 = i32(u32(t44) - u32(i32(2)));
  const i32 t48 = i32(u32(t46) + u32(i32(32)));
  const i32 t50 = i32(t48 >> i32(5));
  const i32 t52 = i32(t48 & i32(31));
  const i32 t53 = i32(u32(i32(31)) - u32(t52));
  const i32 t54 = i32(u32(t50) + u32(i32(2)));
  const i32 t56 = i32(u32(t54) + u32(i32(1)));
  const i32 t57 = i32(table_f1522adc[t56]);
  const i32 t58 = i32(u32(t57) << t52);
  const i32 t60 = i32(u32(t50) + u32(i32(3)));
  const i32 t61 = i32(u32(t60) + u32(i32(1)));
  const i32 t62 = i32(table_f1522adc[t61]);
  const u32 t63 = u32(t62);
  const u32 t64 = u32(i32(1));
  const u32 t65 = u32(t63 >> t64);
  const i32 t66 = i32(t65);
  const u32 t67 = u32(t66);
  const u32 t68 = u32(t53);
  const u32 t69 = u32(t67 >> t68);
  const i32 t70 = i32(t69);
  const i32 t71 = i32(t58 | t70);
  const i32 t72 = i32(u32(t50) + u32(i32(1)));
  const i32 t73 = i32(u32(t72) + u32(i32(1)));
  const i32 t74 = i32(table_f1522adc[t73]);
  const i32 t75 = i32(u32(t74) << t52);
  const u32 t76 = u32(t57);
  const u32 t77 = u32(t76 >> t64);
  const i32 t78 = i32(t77);
  const u32 t79 = u32(t78);
  const u32 t80 = u32(t79 >> t68);
  const i32 t81 = i32(t80);
  const i32 t82 = i32(t75 | t81);
  const u32 t83 = u32(t40);
  const u32 t84 = u32(t71);
  const u32 t85 = __umulhi(t83, t84);
  const i32 t86 = i32(t85);
  const i32 t87 = i32(u32(t40) * u32(t82));
  const i32 t88 = i32(u32(t87) + u32(t86));
  const i32 t90 = i32(t88 ^ i32(0x80000000u));
  const i32 t91 = i32(t86 ^ i32(0x80000000u));
  const bool t92 = t90 < t91;
  const i32 t94 = t92 ? i32(1) : i32(0);
  const i32 t95 = i32(u32(t50) + u32(i32(0)));
  const i32 t96 = i32(u32(t95) + u32(i32(1)));
  const i32 t97 = i32(table_f1522adc[t96]);
  const i32 t98 = i32(u32(t97) << t52);
  const u32 t99 = u32(t74);
  const u32 t100 = u32(t99 >> t64);
  const i32 t101 = i32(t100);
  const u32 t102 = u32(t101);
  const u32 t103 = u32(t102 >> t68);
  const i32 t104 = i32(t103);
  const i32 t105 = i32(t98 | t104);
  const i32 t106 = i32(u32(t40) * u32(t105));
  const u32 t107 = u32(t82);
  const u32 t108 = __umulhi(t83, t107);
  const i32 t109 = i32(t108);
  const i32 t110 = i32(u32(t106) + u32(t109));
  const i32 t111 = i32(u32(t110) + u32(t94));
  const i32 t112 = i32(u32(t40) * u32(t71));
  const i32 t114 = i32(u32(t111) + u32(i32(536870912)));
  const u32 t116 = u32(t114);
  const u32 t117 = u32(i32(30));
  const u32 t118 = u32(t116 >> t117);
  const i32 t119 = i32(t118);
  const i32 t120 = i32(u32(t111) << i32(2));
  const u32 t121 = u32(t88);
  const u32 t122 = u32(t121 >> t117);
  const i32 t123 = i32(t122);
  const i32 t124 = i32(t120 | t123);
  const i32 t125 = i32(u32(t88) << i32(2));
  const u32 t126 = u32(t112);
  const u32 t127 = u32(t126 >> t117);
  const i32 t128 = i32(t127);
  const i32 t129 = i32(t125 | t128);
  const i32 t131 = i32(t124 >> i32(8));
  const i32 t133 = i32(t124 & i32(255));
  const i32 t135 = i32(u32(t133) << i32(16));
  const u32 t136 = u32(t129);
  const u32 t137 = u32(i32(16));
  const u32 t138 = u32(t136 >> t137);
  const i32 t139 = i32(t138);
  const i32 t140 = i32(t135 | t139);
  const i32 t142 = i32(t129 & i32(65535));
  const float t143 = float(t131);
  const float t145 = t143 * __uint_as_float(0x33800000u);
  const float t146 = float(t140);
  const float t148 = t146 * __uint_as_float(0x27800000u);
  const float t149 = t145 + t148;
  const float t150 = t149 - t145;
  const float t151 = t149 - t150;
  const float t152 = t145 - t151;
  const float t153 = t148 - t150;
  const float t154 = t152 + t153;
  const float t155 = float(t142);
  const float t157 = t155 * __uint_as_float(0x1f800000u);
  const float t158 = t154 + t157;
  const float t159 = t149 + t158;
  const float t160 = t159 - t149;
  const float t161 = t158 - t160;
  const float t162 = t159 * __uint_as_float(0x3fc90fdbu);
  const float t163 = -t162;
  const float t164 = __fmaf_rn(t159, __uint_as_float(0x3fc90fdbu), t163);
  const float t165 = t161 * __uint_as_float(0x3fc90fdbu);
  const float t166 = __fmaf_rn(t159, __uint_as_float(0xb33bbd2eu), t165);
  const float t167 = t164 + t166;
  const float t168 = t162 + t167;
  const float t169 = t168 - t162;
  const float t170 = t167 - t169;
  const bool t172 = t34 < 0.0f;
  const i32 t173 = i32(u32(i32(0)) - u32(t119));
  const i32 t174 = t172 ? t173 : t119;
  const float t175 = -t168;
  const float t176 = t172 ? t175 : t168;
  const float t177 = -t170;
  const float t178 = t172 ? t177 : t170;
  const i32 t179 = t6 ? t174 : t13;
  const float t180 = t6 ? t176 : t30;
  const float t181 = t6 ? t178 : t32;
  const bool t182 = a0 == 0.0f;
  const i32 t183 = i32(t179 & i32(1));
  const bool t184 = t183 == i32(1);
  const float t185 = t180 * t180;
  const float t187 = t185 * 0.5f;
  const float t189 = 1.0f - t187;
  const float t190 = 1.0f - t189;
  const float t191 = t190 - t187;
  const float t192 = t185 * t185;
  const float t195 = __fmaf_rn(__uint_as_float(0xb4a82a19u), t185, __uint_as_float(0x37d06e26u));
  const float t197 = __fmaf_rn(t195, t185, __uint_as_float(0xbab60be2u));
  const float t199 = __fmaf_rn(t197, t185, __uint_as_float(0x3d2aaaabu));
  const float t200 = -t180;
  const float t201 = __fmaf_rn(t200, t181, t191);
  const float t202 = __fmaf_rn(t192, t199, t201);
  const float t203 = t189 + t202;
  const float t204 = t203 - t189;
  const float t205 = t202 - t204;
  const float t206 = t203 + t205;
  const float t208 = t181 * (-0.5f);
  const float t209 = __fmaf_rn(t185, t208, t181);
  const float t210 = t185 * t180;
  const float t213 = __fmaf_rn(__uint_as_float(0x36419144u), t185, __uint_as_float(0xb9503b2au));
  const float t215 = __fmaf_rn(t213, t185, __uint_as_float(0x3c0888c8u));
  const float t217 = __fmaf_rn(t215, t185, __uint_as_float(0xbe2aaaabu));
  const float t218 = __fmaf_rn(t210, t217, t209);
  const float t219 = t180 + t218;
  const float t220 = t219 - t180;
  const float t221 = t218 - t220;
  const float t222 = t219 + t221;
  const float t223 = t184 ? t206 : t222;
  const i32 t224 = i32(t179 & i32(2));
  const i32 t225 = i32(u32(t224) << i32(30));
  const i32 t226 = i32(__float_as_uint(t223));
  const i32 t227 = i32(t226 ^ t225);
  const float t228 = __uint_as_float(u32(t227));
  const float t229 = t182 ? a0 : t228;
  return t229;
}

__device__ __forceinline__ bool sin32_is_rare(const float a0) {
  const float t1 = fabsf(a0);
  const bool t3 = 131072.0f < t1;
  const bool t5 = t1 < __uint_as_float(0x7f800000u);
  const bool t6 = bool(t3 & t5);
  return t6;
}

__device__ __forceinline__ float sin32(const float a0) {
  if (sin32_is_rare(a0)) return sin32_rare(a0);
  const float t3 = __fmaf_rn(a0, __uint_as_float(0x3f22f983u), __uint_as_float(0x4b400000u));
  const float t4 = t3 - __uint_as_float(0x4b400000u);
  const i32 t5 = i32(__float_as_uint(t3));
  const i32 t6 = i32(__float_as_uint(__uint_as_float(0x4b400000u)));
  const i32 t7 = i32(u32(t5) - u32(t6));
  const float t8 = -t4;
  const float t10 = __fmaf_rn(t8, __uint_as_float(0x3fc90fdbu), a0);
  const float t12 = t8 * __uint_as_float(0xb33bbd2eu);
  const float t13 = -t12;
  const float t14 = __fmaf_rn(t8, __uint_as_float(0xb33bbd2eu), t13);
  const float t15 = t10 + t12;
  const float t16 = t15 - t10;
  const float t17 = t15 - t16;
  const float t18 = t10 - t17;
  const float t19 = t12 - t16;
  const float t20 = t18 + t19;
  const float t22 = t20 + t14;
  const float t23 = __fmaf_rn(t8, __uint_as_float(0xa6f72cedu), t22);
  const float t24 = t15 + t23;
  const float t25 = t24 - t15;
  const float t26 = t23 - t25;
  const bool t28 = a0 == 0.0f;
  const i32 t30 = i32(t7 & i32(1));
  const bool t31 = t30 == i32(1);
  const float t32 = t24 * t24;
  const float t34 = t32 * 0.5f;
  const float t36 = 1.0f - t34;
  const float t37 = 1.0f - t36;
  const float t38 = t37 - t34;
  const float t39 = t32 * t32;
  const float t42 = __fmaf_rn(__uint_as_float(0xb4a82a19u), t32, __uint_as_float(0x37d06e26u));
  const float t44 = __fmaf_rn(t42, t32, __uint_as_float(0xbab60be2u));
  const float t46 = __fmaf_rn(t44, t32, __uint_as_float(0x3d2aaaabu));
  const float t47 = -t24;
  const float t48 = __fmaf_rn(t47, t26, t38);
  const float t49 = __fmaf_rn(t39, t46, t48);
  const float t50 = t36 + t49;
  const float t51 = t50 - t36;
  const float t52 = t49 - t51;
  const float t53 = t50 + t52;
  const float t55 = t26 * (-0.5f);
  const float t56 = __fmaf_rn(t32, t55, t26);
  const float t57 = t32 * t24;
  const float t60 = __fmaf_rn(__uint_as_float(0x36419144u), t32, __uint_as_float(0xb9503b2au));
  const float t62 = __fmaf_rn(t60, t32, __uint_as_float(0x3c0888c8u));
  const float t64 = __fmaf_rn(t62, t32, __uint_as_float(0xbe2aaaabu));
  const float t65 = __fmaf_rn(t57, t64, t56);
  const float t66 = t24 + t65;
  const float t67 = t66 - t24;
  const float t68 = t65 - t67;
  const float t69 = t66 + t68;
  const float t70 = t31 ? t53 : t69;
  const i32 t72 = i32(t7 & i32(2));
  const i32 t74 = i32(u32(t72) << i32(30));
  const i32 t75 = i32(__float_as_uint(t70));
  const i32 t76 = i32(t75 ^ t74);
  const float t77 = __uint_as_float(u32(t76));
  const float t78 = t28 ? a0 : t77;
  return t78;
}

extern "C" __global__ void __launch_bounds__(256) map_bb171a86a7c74358(
    const char* in0,
    char* out0,
    const Shape shape) {
  const Index thread = Index(blockIdx.x) * 256 + threadIdx.x;
  if (thread >= shape.threads) return;
  const Index first = thread * 4;
  const int present = shape.count - first < 4 ? int(shape.count - first) : 4;
  Pack<float, 4> raw0;
  if (present == 4) {
    raw0 = load_vector<float, 4>(in0 + Step(first) * 4, 4);
  } else {
    raw0 = load_each<float, 4>(in0 + Step(first) * 4, 4, present);
  }
  Pack<float, 4> result0;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float x0_re = raw0.item[j];
    const float t1 = sin32(x0_re);
    result0.item[j] = t1;
  }
  if (present == 4) {
    store_vector<float, 4>(out0 + Step(first) * 4, result0, 4);
  } else {
    store_each<float, 4>(out0 + Step(first) * 4, 4, result0, present);
  }
}

// Elementary functions without branches, tables and calls, which a compiler can vectorise, for the rows of a
// likelihood. Errors are below 4 ulp. At the ends of the domain, each function has the values of the function
// of the same name in emomc::device.
#ifndef EMOMC_DEVICE_VECTOR_FUNCTIONS_HPP
#define EMOMC_DEVICE_VECTOR_FUNCTIONS_HPP

#include "emomc/device/math.hpp"

namespace emomc::device::vector {

EMOMC_INLINE double larger(double a, double b) { return a > b ? a : b; }
EMOMC_INLINE double absolute(double x) { return double_of(bits_of(x) & 0x7ffffffffffffffful); }

/// x = (m / 4) log 2 + r with |r| <= log(2) / 8, for an exponential: m is in the low bits of `shifted`, and
/// `rest` is exp(r) - 1, from the interpolation of (exp(r) - 1 - r) / r^2 at Chebyshev points, with an error
/// of 1.3e-17.
struct QuartersAndRest {
  double shifted, rest;
};
EMOMC_INLINE QuartersAndRest quarters_and_rest(double x) {
  constexpr double kLn2High = 0x1.62e42fefa3000p-3, kLn2Low = 0x1.3de6af278ece6p-44, kShift = 0x1.8p52;
  const double shifted = EMOMC_FMA(x, 4 * kLog2E, kShift);
  const double m = shifted - kShift;
  const double r = EMOMC_FMA(-m, kLn2Low, EMOMC_FMA(-m, kLn2High, x));
  const double r2 = r * r, r4 = r2 * r2;
  const double p0 = EMOMC_FMA(r2, EMOMC_FMA(r, 0x1.111110c652807p-7, 0x1.5555555555c84p-5),
                              EMOMC_FMA(r, 0x1.555555555674bp-3, 0.5));
  const double p1 =
      EMOMC_FMA(r2, 0x1.a0298f478b22ap-16, EMOMC_FMA(r, 0x1.a02d72c38601ap-13, 0x1.6c16c1304b62fp-10));
  return {shifted, EMOMC_FMA(r2, EMOMC_FMA(r4, p1, p0), r)};
}

/// 2^(m / 4 - kLess), with m in the low bits of `shifted`. The upper bits of m are added to the exponent; its
/// last two bits, which would be added to the mantissa, are subtracted from the mantissas of 2^(j / 4).
template <u64 kLess>
EMOMC_INLINE double power_of_quarters(double shifted) {
  constexpr u64 kOne = 0x3ff0000000000000ul - (kLess << 52);
  constexpr u64 k1 = kOne + (0x306fe0a31b715ul - (1ul << 50)), k2 = kOne + (0x6a09e667f3bcdul - (2ul << 50)),
                k3 = kOne + (0xae89f995ad3adul - (3ul << 50));
  const u64 m = bits_of(shifted);
  const u64 even = (m & 2) != 0 ? k2 : kOne, odd = (m & 2) != 0 ? k3 : k1;
  return double_of((m << 50) + ((m & 1) != 0 ? odd : even));
}

/// exp(x), as exp(r) 2^(m / 4). The exponent is lowered by one, since 2^1024 is not representable, so that
/// for x below -707.7 the result is below 2^-1020 and is replaced by 0.
EMOMC_INLINE double exp(double x) {
  constexpr double kLargest = 709.8, kSmallest = -707.7;
  const QuartersAndRest q = quarters_and_rest(x);
  const double power = power_of_quarters<1>(q.shifted), half = EMOMC_FMA(q.rest, power, power);
  return x < kSmallest ? 0.0 : x > kLargest ? kInfinity : 2.0 * half;
}

/// exp(x) for x <= 0. For x below -708 the result is 2^-1021 or less and is replaced by 0.
EMOMC_INLINE double exp_of_negative(double x) {
  constexpr double kSmallest = -708;
  const QuartersAndRest q = quarters_and_rest(x);
  const double power = power_of_quarters<0>(q.shifted), value = EMOMC_FMA(q.rest, power, power);
  return x < kSmallest ? 0.0 : value;
}

/// log(x) with x = 2^k (1 + f) and the series of log(1 + f) in f / (2 + f), from FreeBSD's msun (e_log.c, Sun
/// Microsystems 1993).
EMOMC_INLINE double log(double x) {
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
  constexpr double kNormal = 0x1p-1022;
  const bool is_small = x < kNormal;
  const double scaled = is_small ? x * 0x1p54 : x;
  const u64 bits = bits_of(scaled);
  // m = 1 + f is in [sqrt(1/2), sqrt(2)).
  const u64 above = bits - 0x3fe6a09e667f3bcdul;
  const u64 exponent = above & 0xfff0000000000000ul;
  const double m = double_of(bits - exponent);
  // The exponent as a number: the exponent's bits, offset to be unsigned, become the lowest bits of 2^52.
  const double k = (double_of(0x4330000000000000ul | ((exponent >> 52) ^ 0x800u)) - (0x1p52 + 2048.0)) -
                   (is_small ? 54.0 : 0.0);
  const double f = m - 1.0, s = f / (2.0 + f), z = s * s, w = z * z;
  const double t1 = w * EMOMC_FMA(w, EMOMC_FMA(w, 1.531383769920937332e-01, 2.222219843214978396e-01),
                                  3.999999999940941908e-01);
  const double t2 =
      z * EMOMC_FMA(w,
                    EMOMC_FMA(w, EMOMC_FMA(w, 1.479819860511658591e-01, 1.818357216161805012e-01),
                              2.857142874366239149e-01),
                    6.666666666666735130e-01);
  const double half = 0.5 * f * f;
  const double value = k * kLn2High - ((half - (EMOMC_FMA(s, half + (t2 + t1), k * kLn2Low))) - f);
  const double at_ends = x == 0 ? -kInfinity : x < 0 ? double_of(0x7ff8000000000000ul) : x;
  return x > 0 && x < kInfinity ? value : at_ends;
}

/// log(1 + x); the rounding error of 1 + x is corrected to first order.
EMOMC_INLINE double log1p(double x) {
  const double y = 1.0 + x;
  const double lost = absolute(x) < 1.0 ? x - (y - 1.0) : 1.0 - (y - x);
  const double value = log(y) + lost / y;
  return y > 0 && y < kInfinity ? value : log(y);
}

/// log(1 + e) for e from 0 to 1, as 2 artanh(s) with s = e / (2 + e): 2 s + s^3 times the polynomial in s^2
/// that interpolates at Chebyshev points, with an error of 1e-17.
EMOMC_INLINE double log1p_of_fraction(double e) {
  const double s = e / (2.0 + e), z = s * s, z2 = z * z, z4 = z2 * z2;
  const double p0 = EMOMC_FMA(z2, EMOMC_FMA(z, 0x1.c71c727143318p-3, 0x1.24924923d44c6p-2),
                              EMOMC_FMA(z, 0x1.999999999a3ddp-2, 0x1.5555555555555p-1));
  const double p1 = EMOMC_FMA(z2, EMOMC_FMA(z, 0x1.eb905e8575054p-4, 0x1.10ac75dc602b1p-3),
                              EMOMC_FMA(z, 0x1.3b18b294bebf9p-3, 0x1.745cf0b0e03bdp-3));
  const double p2 = EMOMC_FMA(z, 0x1.4b0a26c5f2aefp-3, 0x1.687a6e7c95176p-4);
  const double p = EMOMC_FMA(z4, EMOMC_FMA(z4, p2, p1), p0);
  return EMOMC_FMA(s * z, p, 2.0 * s);
}

EMOMC_INLINE double log1m(double x) { return log1p(-x); }
EMOMC_INLINE double log1p_exp(double x) {
  return larger(x, 0.0) + log1p_of_fraction(exp_of_negative(-absolute(x)));  // NaN for NaN
}
EMOMC_INLINE double log_inv_logit(double x) { return -log1p_exp(-x); }
EMOMC_INLINE double log1m_inv_logit(double x) { return -log1p_exp(x); }
EMOMC_INLINE double inv_logit(double x) {
  const double e = exp_of_negative(-absolute(x)), d = 1.0 / (1.0 + e);
  return x < 0 ? e * d : d;
}
EMOMC_INLINE double log_sum_exp(double a, double b) {
  const double high = larger(a, b), value = high + log1p_of_fraction(exp_of_negative(-absolute(a - b)));
  // Otherwise one of the two is infinite or NaN.
  const bool is_plain = absolute(high) < kInfinity;
  return is_plain && a == a ? value : a == a && b == b ? high : a + b;
}

// ---- float32: errors are below 4 ulp, results below 2^-125 are 0

inline constexpr float kInfinityF = __builtin_bit_cast(float, u32{0x7f800000u});
EMOMC_INLINE u32 bits_of(float x) { return __builtin_bit_cast(u32, x); }
EMOMC_INLINE float float_of(u32 bits) { return __builtin_bit_cast(float, bits); }
EMOMC_INLINE float larger(float a, float b) { return a > b ? a : b; }
EMOMC_INLINE float absolute(float x) { return float_of(bits_of(x) & 0x7fffffffu); }

/// exp(x) in float32 by the same method as in float64. The exponent is lowered by one, since 2^128 is not
/// representable. For x below -87 the result is 2^-126 or less and is replaced by 0.
EMOMC_INLINE float exp(float x) {
#ifdef __CUDA_ARCH__
  // The instruction for 2^t has an error of 2^-22.5; the rounding error of t is corrected to first order.
  // Where the power is 0 or infinite, the rounding error may be NaN or below -1, and max.f32 lets the power
  // keep its sign.
  float t, power, rest;
  asm("mul.f32 %0, %1, 0f3FB8AA3B;" : "=f"(t) : "f"(x));  // in C++ the product in -t below would be fused
  const float lost = EMOMC_FMAF(x, 1.92596299e-8f, EMOMC_FMAF(x, 1.44269504f, -t));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(t));
  asm("max.f32 %0, %1, 0fBF800000;" : "=f"(rest) : "f"(lost));
  return power * EMOMC_FMAF(0.693147181f, rest, 1.0f);
#else
  constexpr float kLargest = 89, kSmallest = -87.6f, kShift = 0x1.8p23f;
  constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  const float inside = x > kLargest ? kLargest : x < kSmallest ? kSmallest : x;
  const float shifted = EMOMC_FMAF(inside, 1.44269504f, kShift);
  const float n = shifted - kShift;
  const float r = EMOMC_FMAF(-n, kLn2Low, EMOMC_FMAF(-n, kLn2High, inside));
  const float r2 = r * r;
  const float p0 = EMOMC_FMAF(r, 0.1666657667f, 0.5f), p1 = EMOMC_FMAF(r, 0.008363232884f, 0.04166655421f);
  const float p = EMOMC_FMAF(r2, EMOMC_FMAF(r2, 0.001392625083f, p1), p0);
  const float y = 1.0f + EMOMC_FMAF(r2, p, r);
  return y * float_of((bits_of(shifted) + 126u) << 23) * 2.0f;
#endif
}

/// 2 atanh(s) / s, for |s| up to 1/3, by the series in z = s^2 up to z^8.
EMOMC_INLINE float twice_atanh(float s) {
  const float z = s * s;
  float p = EMOMC_FMAF(z, 2.0f / 17, 2.0f / 15);
  p = EMOMC_FMAF(z, p, 2.0f / 13);
  p = EMOMC_FMAF(z, p, 2.0f / 11);
  p = EMOMC_FMAF(z, p, 2.0f / 9);
  p = EMOMC_FMAF(z, p, 2.0f / 7);
  p = EMOMC_FMAF(z, p, 2.0f / 5);
  p = EMOMC_FMAF(z, p, 2.0f / 3);
  return EMOMC_FMAF(s * z, p, 2.0f * s);
}

EMOMC_INLINE float log(float x) {
  const bool is_small = x < 0x1p-126f;
  const u32 bits = bits_of(is_small ? x * 0x1p25f : x);
  const u32 above = bits - 0x3f3504f3u;  // 0x3f3504f3 is sqrt(1/2)
  const u32 exponent = above & 0xff800000u;
  const float k =
      (float_of(0x4b000000u | ((exponent >> 23) ^ 0x100u)) - (0x1p23f + 256.0f)) - (is_small ? 25.0f : 0.0f);
  const float f = float_of(bits - exponent) - 1.0f;
  const float value =
      EMOMC_FMAF(k, 0x1.62e4p-1f, EMOMC_FMAF(k, 0x1.7f7d1cp-20f, twice_atanh(f / (2.0f + f))));
  const float at_ends = x == 0 ? -kInfinityF : x < 0 ? float_of(0x7fc00000u) : x;
  return x > 0 && x < kInfinityF ? value : at_ends;
}

/// log(1 + e) for e from 0 to 1: e times the polynomial that interpolates log(1 + e) / e at Chebyshev points,
/// with an error of 5e-9.
EMOMC_INLINE float log1p_of_fraction(float e) {
  const float t = e - 0.5f;
  float p = EMOMC_FMAF(t, -0.00317605583894f, 0.00525027033666f);
  p = EMOMC_FMAF(t, p, -0.0067880175282f);
  p = EMOMC_FMAF(t, p, 0.0115776853312f);
  p = EMOMC_FMAF(t, p, -0.0205631823404f);
  p = EMOMC_FMAF(t, p, 0.0366352341465f);
  p = EMOMC_FMAF(t, p, -0.0676881896592f);
  p = EMOMC_FMAF(t, p, 0.132609015778f);
  p = EMOMC_FMAF(t, p, -0.288527101372f);
  p = EMOMC_FMAF(t, p, 0.810930219913f);
  return e * p;
}
EMOMC_INLINE float log1p_exp(float x) {
  return larger(x, 0.0f) + log1p_of_fraction(exp(-absolute(x)));  // NaN for NaN
}
EMOMC_INLINE float log_inv_logit(float x) { return -log1p_exp(-x); }
EMOMC_INLINE float log1m_inv_logit(float x) { return -log1p_exp(x); }
/// 1 / d for d from 1 to 2.
EMOMC_INLINE float reciprocal_from_1_to_2(float d) {
#ifdef __CUDA_ARCH__
  // The compiler's division has a branch for numbers near the limits of float32, to which all values of a
  // thread are moved; the instruction has an error of 1 ulp, and a step of Newton's method follows.
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(d));
  return EMOMC_FMAF(y, EMOMC_FMAF(-d, y, 1.0f), y);
#else
  return 1.0f / d;
#endif
}
EMOMC_INLINE float inv_logit(float x) {
  const float e = exp(-absolute(x)), d = reciprocal_from_1_to_2(1.0f + e);
  return x < 0 ? e * d : d;
}
EMOMC_INLINE float log_sum_exp(float a, float b) {
  const float high = larger(a, b), value = high + log1p_of_fraction(exp(-absolute(a - b)));
  const bool is_plain = absolute(high) < kInfinityF;
  return is_plain && a == a ? value : a == a && b == b ? high : a + b;
}

}  // namespace emomc::device::vector

#endif  // EMOMC_DEVICE_VECTOR_FUNCTIONS_HPP

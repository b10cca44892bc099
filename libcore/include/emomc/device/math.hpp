// Elementary functions in float64 with the same bits on host and device: only correctly rounded
// operations and explicit fma. log, exp and the sine and cosine kernels follow FreeBSD's msun
// (e_log.c, e_exp.c, k_sin.c, k_cos.c; Sun Microsystems 1993), errors below 1 ulp.
#ifndef EMOMC_DEVICE_MATH_HPP
#define EMOMC_DEVICE_MATH_HPP

#include "emomc/device/integers.hpp"
#include "emomc/device/macros.hpp"

namespace emomc::device {

inline constexpr double kInfinity = __builtin_bit_cast(double, u64{0x7ff0000000000000ul});
inline constexpr double kLn2 = 0.693147180559945309417232121458;
inline constexpr double kLog2E = 1.44269504088896340735992468100;
inline constexpr double kLog2TwoPi = 2.65149612947231879804327929511;
inline constexpr double kLogTwoPi = 1.83787706640934548356065947281;

EMOMC_INLINE u64 bits_of(double x) {
  return __builtin_bit_cast(u64, x);
}

EMOMC_INLINE double double_of(u64 b) {
  return __builtin_bit_cast(double, b);
}

EMOMC_INLINE bool is_finite(double x) { return (bits_of(x) & 0x7ff0000000000000ul) != 0x7ff0000000000000ul; }
EMOMC_INLINE bool is_nan(double x) { return (bits_of(x) & 0x7ffffffffffffffful) > 0x7ff0000000000000ul; }

/// 2^k for -1022 <= k <= 1023.
EMOMC_INLINE double power_of_two(int k) { return double_of(static_cast<u64>(k + 1023) << 52); }

/// Natural logarithm. log(0) = -infinity, of a negative number NaN.
EMOMC_OUTLINE double log(double x) {
  if (!(x > 0)) return x == 0 ? -kInfinity : double_of(0x7ff8000000000000ul);
  if (!is_finite(x)) return x;
  int k = 0;
  if (x < 2.2250738585072014e-308) {
    x = x * 18014398509481984.0;  // 2^54
    k = -54;
  }
  u64 bits = bits_of(x);
  k += static_cast<int>(bits >> 52) - 1023;
  bits = (bits & 0xffffffffffffful) | 0x3ff0000000000000ul;
  double m = double_of(bits);
  if (m > 1.41421356237309504880) {
    m = m * 0.5;
    k += 1;
  }
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double w = z * z;
  const double t1 = w * EMOMC_FMA(w, EMOMC_FMA(w, 1.531383769920937332e-01, 2.222219843214978396e-01),
                                  3.999999999940941908e-01);
  const double t2 =
      z * EMOMC_FMA(w,
                    EMOMC_FMA(w, EMOMC_FMA(w, 1.479819860511658591e-01, 1.818357216161805012e-01),
                              2.857142874366239149e-01),
                    6.666666666666735130e-01);
  const double r = t2 + t1;
  const double hfsq = 0.5 * f * f;
  const double dk = k;
  return dk * 6.93147180369123816490e-01 - ((hfsq - (s * (hfsq + r) + dk * 1.90821492927058770002e-10)) - f);
}

/// Natural exponential; 0 below the smallest normal number's logarithm, infinity above the largest's.
EMOMC_OUTLINE double exp(double x) {
  if (is_nan(x)) return x;
  if (x > 709.782712893383973096) return kInfinity;
  if (x < -708.396418532264106224) return 0.0;
  const double dk = EMOMC_RINT(x * kLog2E);
  const double hi = EMOMC_FMA(-dk, 6.93147180369123816490e-01, x);
  const double lo = dk * 1.90821492927058770002e-10;
  const double r = hi - lo;
  const double t = r * r;
  const double p =
      EMOMC_FMA(t,
                EMOMC_FMA(t,
                          EMOMC_FMA(t, EMOMC_FMA(t, 4.13813679705723846039e-08, -1.65339022054652515390e-06),
                                    6.61375632143793436117e-05),
                          -2.77777777770155933842e-03),
                1.66666666666666019037e-01);
  const double c = r - t * p;
  const double y = 1.0 - ((lo - (r * c) / (2.0 - c)) - hi);
  const int k = static_cast<int>(dk);
  // Two factors, since 2^1024 itself is no number.
  return k > 1000 ? y * power_of_two(k - 1000) * power_of_two(1000) : y * power_of_two(k);
}

/// log(1 + x), good for small |x| (Goldberg 1991, theorem 4).
EMOMC_INLINE double log1p(double x) {
  const double y = 1.0 + x;
  if (y == 1.0) return x;
  if (!(y > 0) || !is_finite(y)) return log(y);
  return log(y) * (x / (y - 1.0));
}

/// log(a / b), by its series where the two are within 1e-4.
EMOMC_INLINE double log_ratio(double a, double b) {
  const double x = (a - b) / b;
  if (!(x > -1e-4 && x < 1e-4)) return log(a / b);
  return x * EMOMC_FMA(x, EMOMC_FMA(x, EMOMC_FMA(x, -0.25, 1.0 / 3), -0.5), 1.0);  // next term 2e-17
}

struct SineAndCosine {
  double sine, cosine;
};

/// Sine and cosine of 2 pi u for u in [0, 1]; the reduction to |angle| <= pi/4 is exact.
EMOMC_INLINE SineAndCosine sincos_two_pi(double u) {
  const double t = 4.0 * u;
  const double q = EMOMC_RINT(t);
  const double x = (t - q) * 1.57079632679489661923;
  const double z = x * x;
  const double ps = EMOMC_FMA(
      z,
      EMOMC_FMA(z,
                EMOMC_FMA(z,
                          EMOMC_FMA(z, EMOMC_FMA(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08),
                                    2.75573137070700676789e-06),
                          -1.98412698298579493134e-04),
                8.33333333332248946124e-03),
      -1.66666666666666324348e-01);
  const double s = EMOMC_FMA(z * x, ps, x);
  const double pc = EMOMC_FMA(
      z,
      EMOMC_FMA(z,
                EMOMC_FMA(z,
                          EMOMC_FMA(z, EMOMC_FMA(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09),
                                    -2.75573143513906633035e-07),
                          2.48015872894767294178e-05),
                -1.38888888888741095749e-03),
      4.16666666666666019037e-02);
  const double c = EMOMC_FMA(z * z, pc, EMOMC_FMA(z, -0.5, 1.0));
  const int quadrant = static_cast<int>(q) & 3;
  return {quadrant == 0   ? s
          : quadrant == 1 ? c
          : quadrant == 2 ? -s
                          : -c,
          quadrant == 0   ? c
          : quadrant == 1 ? -s
          : quadrant == 2 ? -c
                          : s};
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_MATH_HPP

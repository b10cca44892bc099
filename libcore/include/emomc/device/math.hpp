// Elementary functions in float64 with the same bits on host and device: only correctly rounded operations
// and explicit fma. Errors below 1 ulp. The sine and cosine kernels follow FreeBSD's msun (k_sin.c, k_cos.c;
// Sun Microsystems 1993).
#ifndef EMOMC_DEVICE_MATH_HPP
#define EMOMC_DEVICE_MATH_HPP

#include "emomc/device/integers.hpp"
#include "emomc/device/macros.hpp"
#include "emomc/device/math_tables.hpp"

namespace emomc::device {

inline constexpr double kInfinity = __builtin_bit_cast(double, u64{0x7ff0000000000000ul});
inline constexpr double kLn2 = 0.693147180559945309417232121458;
inline constexpr double kLog2E = 1.44269504088896340735992468100;
inline constexpr double kLog2TwoPi = 2.65149612947231879804327929511;
inline constexpr double kLogTwoPi = 1.83787706640934548356065947281;

EMOMC_INLINE u64 bits_of(double x) { return __builtin_bit_cast(u64, x); }

EMOMC_INLINE double double_of(u64 b) { return __builtin_bit_cast(double, b); }

EMOMC_INLINE bool is_finite(double x) { return (bits_of(x) & 0x7ff0000000000000ul) != 0x7ff0000000000000ul; }
EMOMC_INLINE bool is_nan(double x) { return (bits_of(x) & 0x7ffffffffffffffful) > 0x7ff0000000000000ul; }

/// Returns 2^k for -1022 <= k <= 1023.
EMOMC_INLINE double power_of_two(int k) { return double_of(static_cast<u64>(k + 1023) << 52); }

/// Converts an int without the latency that the conversion instruction has on the device.
EMOMC_INLINE double small_integer(int n) {
  return double_of(0x4330000000000000ul | (static_cast<u32>(n) ^ 0x80000000u)) - 0x1.000008p52;
}

/// Natural logarithm; -infinity for 0, NaN for a negative number. By a table (Tang 1990): x = 2^k z, z = c (1
/// + r), log x = k log 2 + log c + log(1 + r); the last term is computed by its series to r^12.
EMOMC_OUTLINE double log(double x) {
  constexpr u64 kLowest = 0x3fe6000000000000ul;  // smallest value of z, 0.6875
  constexpr double kLn2High = 0x1.62e42fefa3000p-1, kLn2Low = 0x1.3de6af278ece6p-42;
  u64 bits = bits_of(x);
  double k = 0;
  if (bits - 0x0010000000000000ul >= 0x7ff0000000000000ul - 0x0010000000000000ul) {
    if (!(x > 0)) return x == 0 ? -kInfinity : double_of(0x7ff8000000000000ul);
    if (!is_finite(x)) return x;
    bits = bits_of(x * 18014398509481984.0);  // 2^54, for a subnormal number
    k = -54;
  }
  const u64 above = bits - kLowest;
  const LogTableEntry entry = EMOMC_TABLE(kLogTable)[static_cast<int>(above >> 47) & (kLogTableSize - 1)];
  k += small_integer(static_cast<int>(static_cast<i64>(above) >> 52));
  const double z = double_of(bits - (above & 0xfff0000000000000ul));
  const double r = EMOMC_FMA(z, entry.reciprocal, -1.0);
  const double w = EMOMC_FMA(k, kLn2High, entry.log_c);  // exact
  const double high = w + r;
  const double low = EMOMC_FMA(k, kLn2Low, (w - high) + r);
  const double r2 = r * r, r4 = r2 * r2;
  // The series is summed in pairs and fours, for short chains of dependent operations (Estrin).
  const double p0 = EMOMC_FMA(r2, EMOMC_FMA(r, 1.0 / 5, -1.0 / 4), EMOMC_FMA(r, 1.0 / 3, -1.0 / 2));
  const double p1 = EMOMC_FMA(r2, EMOMC_FMA(r, 1.0 / 9, -1.0 / 8), EMOMC_FMA(r, 1.0 / 7, -1.0 / 6));
  const double p2 = EMOMC_FMA(r2, -1.0 / 12, EMOMC_FMA(r, 1.0 / 11, -1.0 / 10));
  return high + EMOMC_FMA(r2, EMOMC_FMA(r4, EMOMC_FMA(r4, p2, p1), p0), low);
}

/// Natural exponential; 0 below the logarithm of the smallest normal number, infinity above that of the
/// largest. x = k log 2 + r, |r| <= log(2) / 2, exp(r) by its series to r^13.
EMOMC_OUTLINE double exp(double x) {
  if (!(x <= 709.782712893383973096 && x >= -708.396418532264106224))
    return x > 0 ? kInfinity : is_nan(x) ? x : 0.0;
  // The sum has the nearest integer in its low bits; less kShift, the sum is that integer as a float64
  // number.
  constexpr double kShift = 0x1.8p52;
  const double shifted = EMOMC_FMA(x, kLog2E, kShift);
  const double n = shifted - kShift;
  const int k = static_cast<int>(bits_of(shifted));
  constexpr double kLn2High = 0x1.62e42fefa3000p-1, kLn2Low = 0x1.3de6af278ece6p-42;
  const double high = EMOMC_FMA(-n, kLn2High, x);  // exact
  const double r = EMOMC_FMA(-n, kLn2Low, high);
  const double rest = EMOMC_FMA(-n, kLn2Low, high - r);
  const double r2 = r * r, r4 = r2 * r2;
  const double p0 = EMOMC_FMA(r2, EMOMC_FMA(r, 1.0 / 120, 1.0 / 24), EMOMC_FMA(r, 1.0 / 6, 0.5));
  const double p1 =
      EMOMC_FMA(r2, EMOMC_FMA(r, 1.0 / 362880, 1.0 / 40320), EMOMC_FMA(r, 1.0 / 5040, 1.0 / 720));
  const double p2 = EMOMC_FMA(r2, EMOMC_FMA(r, 1.0 / 6227020800.0, 1.0 / 479001600.0),
                              EMOMC_FMA(r, 1.0 / 39916800.0, 1.0 / 3628800.0));
  const double p = EMOMC_FMA(r4, EMOMC_FMA(r4, p2, p1), p0);
  const double y = 1.0 + (r + EMOMC_FMA(r2, p, rest));
  // Two factors are needed because 2^1024 is not a float64 number.
  return k > 1000 ? y * power_of_two(k - 1000) * power_of_two(1000) : y * power_of_two(k);
}

/// Returns log(1 + x), accurate for small |x| (Goldberg 1991, theorem 4).
EMOMC_INLINE double log1p(double x) {
  const double y = 1.0 + x;
  if (y == 1.0) return x;
  if (!(y > 0) || !is_finite(y)) return log(y);
  return log(y) * (x / (y - 1.0));
}

/// Returns log(a / b), by its series if the ratio is within 1e-4 of 1.
EMOMC_INLINE double log_ratio(double a, double b) {
  const double x = (a - b) / b;
  if (!(x > -1e-4 && x < 1e-4)) return log(a / b);
  return x * EMOMC_FMA(x, EMOMC_FMA(x, EMOMC_FMA(x, -0.25, 1.0 / 3), -0.5), 1.0);  // the next term is below
                                                                                   // 2e-17
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

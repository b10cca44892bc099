// Pairs of float64 numbers whose sum is more accurate than a single number; the second number is below the
// rounding error of the first.
#ifndef EMOMC_DEVICE_DOUBLE_DOUBLE_HPP
#define EMOMC_DEVICE_DOUBLE_DOUBLE_HPP

#include "emomc/device/math.hpp"

namespace emomc::device {

struct DoubleDouble {
  double high, low;
};

/// Returns a + b exactly (Knuth, The Art of Computer Programming 2, 4.2.2, theorem B).
EMOMC_INLINE DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

/// Returns a b exactly, unless the low part underflows.
EMOMC_INLINE DoubleDouble two_product(double a, double b) {
  const double product = a * b;
  return {product, EMOMC_FMA(a, b, -product)};
}

/// Evaluates the polynomial c[0] + c[1] x + ... by Horner's scheme.
template <int N>
EMOMC_INLINE double polynomial(const double (&c)[N], double x) {
  double sum = c[N - 1];
  for (int i = N - 2; i >= 0; --i) sum = EMOMC_FMA(sum, x, c[i]);
  return sum;
}

/// Evaluates the Chebyshev series c[0]/2 + c[1] T1(x) + ... by Clenshaw's recurrence.
template <int N>
EMOMC_INLINE double chebyshev(const double (&c)[N], double x) {
  const double y = 2.0 * x;
  double d = 0, dd = 0;
  for (int k = N - 1; k > 0; --k) {
    const double next = EMOMC_FMA(y, d, c[k] - dd);
    dd = d;
    d = next;
  }
  return EMOMC_FMA(x, d, 0.5 * c[0] - dd);
}

/// Returns log x for 0 < x < infinity, with an error of some 2^-59 |log x|. The algorithm is that of log() in
/// math.hpp, with the rounding errors kept in the low part.
EMOMC_OUTLINE DoubleDouble log_double_double(double x) {
  constexpr u64 kLowest = 0x3fe6000000000000ul;  // smallest value of z, 0.6875
  constexpr double kLn2High = 0x1.62e42fefa3000p-1, kLn2Low = 0x1.3de6af278ece6p-42;
  static constexpr double kSeries[] = {1.0 / 3,  -1.0 / 4, 1.0 / 5,   -1.0 / 6, 1.0 / 7,
                                       -1.0 / 8, 1.0 / 9,  -1.0 / 10, 1.0 / 11, -1.0 / 12};
  double k = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    k = -54;
  }
  const u64 bits = bits_of(x);
  const u64 above = bits - kLowest;
  const LogTableEntry entry = EMOMC_TABLE(kLogTable)[static_cast<int>(above >> 47) & (kLogTableSize - 1)];
  k += small_integer(static_cast<int>(static_cast<i64>(above) >> 52));
  const double z = double_of(bits - (above & 0xfff0000000000000ul));
  const DoubleDouble ratio = two_product(z, entry.reciprocal);
  const DoubleDouble r = two_sum(ratio.high - 1.0, ratio.low);
  const double r2 = r.high * r.high;
  const DoubleDouble start = two_sum(r.high, -0.5 * r2);
  double low = EMOMC_FMA(r.low, 1.0 - r.high, start.low);
  low = EMOMC_FMA(r2 * r.high, polynomial(kSeries, r.high), low);
  const double w = EMOMC_FMA(k, kLn2High, entry.log_c);  // exact
  const DoubleDouble sum = two_sum(w, start.high);
  return two_sum(sum.high, sum.low + EMOMC_FMA(k, kLn2Low, low));
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_DOUBLE_DOUBLE_HPP

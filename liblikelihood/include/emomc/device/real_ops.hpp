// Arithmetic on one real number or one SIMD pack, with the same source for both. A pack type offers the
// same overloads (liblikelihood/src/simd_pack.hpp).
//
// Re-includable: the cpu engine includes this once per SIMD target (see forget_includes.hpp).
#if defined(EMOMC_DEVICE_REAL_OPS_HPP) == defined(EMOMC_ROW_ARITHMETIC_AGAIN)
#ifdef EMOMC_DEVICE_REAL_OPS_HPP
#undef EMOMC_DEVICE_REAL_OPS_HPP
#else
#define EMOMC_DEVICE_REAL_OPS_HPP
#endif

#include "emomc/device/macros.hpp"

namespace EMOMC_DEVICE_NAMESPACE {

EMOMC_INLINE float real_fma(float a, float b, float c) { return EMOMC_FMAF(a, b, c); }
EMOMC_INLINE double real_fma(double a, double b, double c) { return EMOMC_FMA(a, b, c); }
/// c - a b, rounded once.
EMOMC_INLINE float real_fnma(float a, float b, float c) { return EMOMC_FMAF(-a, b, c); }
EMOMC_INLINE double real_fnma(double a, double b, double c) { return EMOMC_FMA(-a, b, c); }
EMOMC_INLINE float real_max(float a, float b) { return EMOMC_FMAXF(a, b); }
EMOMC_INLINE double real_max(double a, double b) { return a > b ? a : b; }
EMOMC_INLINE float real_min(float a, float b) { return EMOMC_FMINF(a, b); }
EMOMC_INLINE double real_min(double a, double b) { return a < b ? a : b; }
/// Returns a > b ? x : y.
EMOMC_INLINE float real_select_greater(float a, float b, float x, float y) { return a > b ? x : y; }
EMOMC_INLINE double real_select_greater(double a, double b, double x, double y) { return a > b ? x : y; }

EMOMC_INLINE float real_round(float x) { return static_cast<float>(EMOMC_RINT(static_cast<double>(x))); }
EMOMC_INLINE double real_round(double x) { return EMOMC_RINT(x); }

/// p 2^n for an integer-valued n in the range of normal exponents.
EMOMC_INLINE float real_scale(float p, float n) {
  const int bits = (static_cast<int>(n) + 127) << 23;
  return p * __builtin_bit_cast(float, bits);
}
EMOMC_INLINE double real_scale(double p, double n) {
  const long bits = (static_cast<long>(n) + 1023) << 52;
  return p * __builtin_bit_cast(double, bits);
}

/// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for normal x > 0.
EMOMC_INLINE float real_split(float x, float* e) {
  int bits = __builtin_bit_cast(int, x);
  const int k = (bits - 0x3f3504f3) >> 23;
  bits -= k << 23;
  *e = static_cast<float>(k);
  return __builtin_bit_cast(float, bits);
}
EMOMC_INLINE double real_split(double x, double* e) {
  long bits = __builtin_bit_cast(long, x);
  const long k = (bits - 0x3fe6a09e667f3bcdl) >> 52;
  bits -= k << 52;
  *e = static_cast<double>(k);
  return __builtin_bit_cast(double, bits);
}

template <class Real>
struct RealTraits;
template <>
struct RealTraits<float> {
  using Scalar = float;
  static constexpr float lowest = -3.402823466e+38f, infinity = __builtin_bit_cast(float, 0x7f800000);
  static constexpr float min_exponent = -126.0f, max_exponent = 127.0f;
};
template <>
struct RealTraits<double> {
  using Scalar = double;
  static constexpr double lowest = -1.7976931348623157e+308,
                          infinity = __builtin_bit_cast(double, 0x7ff0000000000000l);
  static constexpr double min_exponent = -1022.0, max_exponent = 1023.0;
};

/// 2^r for |r| <= 1/2 by the Taylor polynomial: degree 7 in float32 (1e-9), 13 in float64 (5e-18).
template <class Real>
EMOMC_INLINE Real exp2_kernel(Real r, float) {
  Real p = real_fma(Real(1.525273380405984e-05f), r, Real(1.540353039338161e-04f));
  p = real_fma(p, r, Real(1.333355814642844e-03f));
  p = real_fma(p, r, Real(9.618129107628477e-03f));
  p = real_fma(p, r, Real(5.550410866482158e-02f));
  p = real_fma(p, r, Real(2.402265069591007e-01f));
  p = real_fma(p, r, Real(6.931471805599453e-01f));
  return real_fma(p, r, Real(1.0f));
}
template <class Real>
EMOMC_INLINE Real exp2_kernel(Real r, double) {
  Real p = real_fma(Real(1.3691488853904129e-12), r, Real(2.5678435993488200e-11));
  p = real_fma(p, r, Real(4.4455382718708116e-10));
  p = real_fma(p, r, Real(7.0549116208011233e-09));
  p = real_fma(p, r, Real(1.0178086009239699e-07));
  p = real_fma(p, r, Real(1.3215486790144307e-06));
  p = real_fma(p, r, Real(1.5252733804059840e-05));
  p = real_fma(p, r, Real(1.5403530393381608e-04));
  p = real_fma(p, r, Real(1.3333558146428441e-03));
  p = real_fma(p, r, Real(9.6181291076284769e-03));
  p = real_fma(p, r, Real(5.5504108664821576e-02));
  p = real_fma(p, r, Real(2.4022650695910071e-01));
  p = real_fma(p, r, Real(6.9314718055994529e-01));
  return real_fma(p, r, Real(1.0));
}

/// 2^r for |r| <= 1/2 by the polynomial of least relative error: degree 6 in float32 (3e-9), 11 in float64
/// (6e-18).
template <class Real>
EMOMC_INLINE Real exp2_minimax_kernel(Real r, float) {
  Real p = real_fma(Real(1.534582054750485e-04f), r, Real(1.339993125776851e-03f));
  p = real_fma(p, r, Real(9.618488923496238e-03f));
  p = real_fma(p, r, Real(5.550328776878003e-02f));
  p = real_fma(p, r, Real(2.402264689096285e-01f));
  p = real_fma(p, r, Real(6.931472057373325e-01f));
  return real_fma(p, r, Real(1.0f));
}
template <class Real>
EMOMC_INLINE Real exp2_minimax_kernel(Real r, double) {
  Real p = real_fma(Real(4.4352807031925460e-10), r, Real(7.0741055798305342e-09));
  p = real_fma(p, r, Real(1.0178198035371477e-07));
  p = real_fma(p, r, Real(1.3215433089906127e-06));
  p = real_fma(p, r, Real(1.5252733489955561e-05));
  p = real_fma(p, r, Real(1.5403530462513904e-04));
  p = real_fma(p, r, Real(1.3333558146789955e-03));
  p = real_fma(p, r, Real(9.6181291075883357e-03));
  p = real_fma(p, r, Real(5.5504108664819921e-02));
  p = real_fma(p, r, Real(2.4022650695910156e-01));
  p = real_fma(p, r, Real(6.9314718055994533e-01));
  return real_fma(p, r, Real(1.0));
}

/// x minus the nearest integer, without rounding.
template <class Real>
EMOMC_INLINE Real real_remainder(Real x) {
  return x - real_round(x);
}

/// log2(1 + f) / s with s = f / (2 + f), |s| <= 0.172, z = s^2: 2 log2(e) sum of z^i / (2i + 1).
template <class Real>
EMOMC_INLINE Real log2_kernel(Real z, float) {
  Real p = real_fma(Real(0.26230818925253876f), z, Real(0.32059889797532520f));
  p = real_fma(p, z, Real(0.41219858311113240f));
  p = real_fma(p, z, Real(0.57707801635558536f));
  p = real_fma(p, z, Real(0.96179669392597560f));
  return real_fma(p, z, Real(2.8853900817779268f));
}
template <class Real>
EMOMC_INLINE Real log2_kernel(Real z, double) {
  Real p = Real(2.8853900817779268 / 23);
  p = real_fma(p, z, Real(2.8853900817779268 / 21));
  p = real_fma(p, z, Real(2.8853900817779268 / 19));
  p = real_fma(p, z, Real(2.8853900817779268 / 17));
  p = real_fma(p, z, Real(2.8853900817779268 / 15));
  p = real_fma(p, z, Real(2.8853900817779268 / 13));
  p = real_fma(p, z, Real(2.8853900817779268 / 11));
  p = real_fma(p, z, Real(2.8853900817779268 / 9));
  p = real_fma(p, z, Real(2.8853900817779268 / 7));
  p = real_fma(p, z, Real(2.8853900817779268 / 5));
  p = real_fma(p, z, Real(2.8853900817779268 / 3));
  return real_fma(p, z, Real(2.8853900817779268));
}

/// 2^x for x <= 1023 (float32: 127); 0 below the smallest normal number and for minus infinity.
template <class Real>
EMOMC_INLINE Real real_exp2(Real x) {
  using Scalar = typename RealTraits<Real>::Scalar;
  const Real floor = Real(RealTraits<Scalar>::min_exponent);
  const Real bounded = real_max(x, floor);
  const Real n = real_round(bounded);
  const Real p = exp2_kernel(bounded - n, Scalar());
  return real_select_greater(floor, x, Real(Scalar(0)), real_scale(p, n));
}

/// 2^x for x <= 0, to be added to a number of 1 or more: results below the smallest normal number are
/// replaced by that number, which changes no bit of the sum.
template <class Real>
EMOMC_INLINE Real real_exp2_addend(Real x) {
#ifdef __CUDA_ARCH__
  return real_exp2(x);  // there is an instruction for float32; in float64 the form below takes more registers
#else
  using Scalar = typename RealTraits<Real>::Scalar;
  const Real bounded = real_max(x, Real(RealTraits<Scalar>::min_exponent));
  const Real r = real_remainder(bounded);
  return real_scale(exp2_minimax_kernel(r, Scalar()), bounded - r);
#endif
}

/// log2 of a normal number.
template <class Real>
EMOMC_INLINE Real real_log2(Real x) {
  using Scalar = typename RealTraits<Real>::Scalar;
  Real e;
  const Real m = real_split(x, &e);
  const Real f = m - Real(Scalar(1));
  const Real s = f / (m + Real(Scalar(1)));
  return real_fma(s, log2_kernel(s * s, Scalar()), e);
}

/// (log(1 + f) / s - 2) / z with s = f / (2 + f), |s| <= 0.172, z = s^2: 2 sum of z^i / (2i + 3).
template <class Real>
EMOMC_INLINE Real log_kernel(Real z, float) {
  Real p = real_fma(Real(2.0f / 11), z, Real(2.0f / 9));
  p = real_fma(p, z, Real(2.0f / 7));
  p = real_fma(p, z, Real(2.0f / 5));
  return real_fma(p, z, Real(2.0f / 3));
}
template <class Real>
EMOMC_INLINE Real log_kernel(Real z, double) {
  Real p = real_fma(Real(2.0 / 23), z, Real(2.0 / 21));
  p = real_fma(p, z, Real(2.0 / 19));
  p = real_fma(p, z, Real(2.0 / 17));
  p = real_fma(p, z, Real(2.0 / 15));
  p = real_fma(p, z, Real(2.0 / 13));
  p = real_fma(p, z, Real(2.0 / 11));
  p = real_fma(p, z, Real(2.0 / 9));
  p = real_fma(p, z, Real(2.0 / 7));
  p = real_fma(p, z, Real(2.0 / 5));
  return real_fma(p, z, Real(2.0 / 3));
}

/// log(1 + x) for finite x >= 0. No constant has a rounding error that would cause the same relative error in
/// every result: the leading coefficient is 2, and log 2 is stored in two parts.
template <class Real>
EMOMC_INLINE Real real_log1p(Real x) {
  using Scalar = typename RealTraits<Real>::Scalar;
  constexpr bool kIsFloat = sizeof(Scalar) == sizeof(float);
  constexpr Scalar kLn2High =
      kIsFloat ? static_cast<Scalar>(0x1.62ep-1) : static_cast<Scalar>(0x1.62e42fefa3000p-1);
  constexpr Scalar kLn2Low =
      kIsFloat ? static_cast<Scalar>(0x1.0bfbe8e7bcd5ep-15) : static_cast<Scalar>(0x1.3de6af278ece6p-42);
  const Real one = Real(Scalar(1));
  Real e;
  const Real m = real_split(one + x, &e);
  // With exponent 0, f is x itself, free of the rounding error of 1 + x.
  const Real f = real_select_greater(e, Real(Scalar(0.5)), m - one, x);
  const Real s = f / (m + one), z = s * s;
  const Real rest = real_fma(s * z, log_kernel(z, Scalar()), e * Real(kLn2Low));
  return real_fma(e, Real(kLn2High), real_fma(s, Real(Scalar(2)), rest));
}

#if EMOMC_HAS_FAST_EXP2F
template <>
EMOMC_INLINE float real_exp2<float>(float x) {
  float y;
  EMOMC_FAST_EXP2F(y, x);
  return y;
}
template <>
EMOMC_INLINE float real_log2<float>(float x) {
  float y;
  EMOMC_FAST_LOG2F(y, x);
  return y;
}
#endif

#ifdef __CUDA_ARCH__
/// 2^x with x limited to -1020 to 1020 (within 2^-10). Comparison and scaling are integer operations, which
/// run beside floating-point ones.
__device__ inline double exp2_within_1020(double x) {
  constexpr int kMost = 0x408fe000;  // high word of 1020; as unsigned, those of negative numbers are larger
  constexpr unsigned kLeast = 0xc08fe000u;
  const auto high = static_cast<unsigned>(__double2hiint(x));
  const int bounded = static_cast<int>(high < kLeast ? high : kLeast);
  x = __hiloint2double(bounded < kMost ? bounded : kMost, __double2loint(x));
  constexpr double kToIntegers = 0x1.8p52;  // neighbouring numbers of this size are 1 apart
  const double shifted = x + kToIntegers;
  const double p = exp2_minimax_kernel(x - (shifted - kToIntegers), 0.0);
  return __hiloint2double(__double2hiint(p) + (__double2loint(shifted) << 20), __double2loint(p));
}
#endif

/// 2^x, to be added to numbers of about 1: results below the smallest normal number (on the GPU in float64:
/// below 2^-1020) become that number or zero, results above the largest power of two (2^1020) become that
/// power or infinity.
template <class Real>
EMOMC_INLINE Real real_exp2_bounded(Real x) {
  using Scalar = typename RealTraits<Real>::Scalar;
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(Scalar) == sizeof(float))
    return real_exp2(x);
  else
    return exp2_within_1020(x);
#else
  const Real bounded =
      real_min(real_max(x, Real(RealTraits<Scalar>::min_exponent)), Real(RealTraits<Scalar>::max_exponent));
  const Real r = real_remainder(bounded);
  return real_scale(exp2_minimax_kernel(r, Scalar()), bounded - r);
#endif
}

/// Running log2 of a sum of powers of two of any size. A term 2^(minus infinity) adds nothing.
template <class Real>
struct LogSum {
  using Scalar = typename RealTraits<Real>::Scalar;
  Real largest;  ///< largest exponent; RealTraits::lowest: there was no term
  Real sum;      ///< sum in units of 2^largest

  // The constructor is explicit code, since one that the compiler generates belongs to no SIMD target.
  EMOMC_INLINE LogSum() : largest(Real(RealTraits<Scalar>::lowest)), sum(Real(Scalar(0))) {}

  EMOMC_INLINE void add(Real t) {
    const Real before = largest;
    largest = real_max(largest, t);
    sum = real_fma(sum, real_exp2_addend(before - largest), real_exp2_addend(t - largest));
  }
  /// log2 of the sum minus `largest`; minus infinity where there was no term.
  EMOMC_INLINE Real rest() const {
    const Real least = Real(RealTraits<Scalar>::lowest);
    return real_select_greater(largest, least, real_log2(sum), Real(-RealTraits<Scalar>::infinity));
  }
};

}  // namespace EMOMC_DEVICE_NAMESPACE

#endif  // EMOMC_DEVICE_REAL_OPS_HPP

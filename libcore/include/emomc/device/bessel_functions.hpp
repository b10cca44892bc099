// The modified Bessel function of the first kind, in float64 with the same bits on host and device.
#ifndef EMOMC_DEVICE_BESSEL_FUNCTIONS_HPP
#define EMOMC_DEVICE_BESSEL_FUNCTIONS_HPP

#include "emomc/device/gamma_functions.hpp"

namespace emomc::device {

/// Returns log of Gamma(v + 1) (2/z)^v I_v(z) (DLMF 10.25.2), for z^2/4 below some 10 (v + 1).
EMOMC_OUTLINE double log_bessel_series(double v, double z) {
  const double q = 0.25 * z * z;
  double term = 1, sum = 0;
  EMOMC_ROLLED
  for (int k = 1; k < 200; ++k) {
    term *= q / (k * (v + k));
    sum += term;
    if (term < 1e-17 * sum) break;
  }
  return log1p(sum);
}

/// Returns log(exp(-z) I_v(z)) for v >= 25 by the uniform expansion DLMF 10.41.3; its polynomials follow
/// 10.41.9.
EMOMC_OUTLINE double log_scaled_bessel_uniform(double v, double z) {
  constexpr int kOrder = 10;
  // Coefficients in p^2 of U_k(p) / p^k, for k = 1 to 10.
  static constexpr double kSeries[] = {0.125,
                                       -0.20833333333333333333,
                                       0.0703125,
                                       -0.40104166666666666667,
                                       0.33420138888888888889,
                                       0.0732421875,
                                       -0.8912109375,
                                       1.8464626736111111111,
                                       -1.025812596450617284,
                                       0.112152099609375,
                                       -2.3640869140625,
                                       8.78912353515625,
                                       -11.207002616222993827,
                                       4.669584423426247428,
                                       0.227108001708984375,
                                       -7.3687943594796316964,
                                       42.534998745388454861,
                                       -91.818241543240017361,
                                       84.636217674600734632,
                                       -28.212072558200244877,
                                       0.57250142097473144531,
                                       -26.491430486951555525,
                                       218.19051174421159048,
                                       -699.57962737613254123,
                                       1059.9904525279998779,
                                       -765.2524681411816423,
                                       212.57013003921712286,
                                       1.7277275025844573975,
                                       -108.0909197883946555,
                                       1200.9029132163524628,
                                       -5305.6469786134031084,
                                       11655.393336864533248,
                                       -13586.550006434137439,
                                       8061.7221817373093845,
                                       -1919.4576623184069963,
                                       6.0740420012734830379,
                                       -493.91530477308801242,
                                       7109.5143024893637214,
                                       -41192.654968897551298,
                                       122200.46498301745979,
                                       -203400.17728041553428,
                                       192547.00123253153236,
                                       -96980.598388637513489,
                                       20204.291330966148643,
                                       24.380529699556063861,
                                       -2499.8304818112096241,
                                       45218.768981362726273,
                                       -331645.17248456357783,
                                       1268365.2733216247816,
                                       -2813563.2265865341107,
                                       3763271.2976564039964,
                                       -2998015.9185381067501,
                                       1311763.6146629772007,
                                       -242919.18790055133346,
                                       110.01714026924673817,
                                       -13886.089753717040532,
                                       308186.40461266239848,
                                       -2785618.128086454689,
                                       13288767.166421818329,
                                       -37567176.660763351308,
                                       66344512.274729026665,
                                       -74105148.211532657748,
                                       50952602.492664642206,
                                       -19706819.118432226927,
                                       3284469.8530720378211};
  const double large = fmax(v, z), small = fmin(v, z), ratio = small / large;
  const double w = large * EMOMC_SQRT(EMOMC_FMA(ratio, ratio, 1.0));  // sqrt(v^2 + z^2)
  const double p = v / w, p2 = p * p, r = 1.0 / w;
  double sum = 0, power = 1;
  int first = 0;
  EMOMC_ROLLED
  for (int k = 1; k <= kOrder; ++k) {
    double u = kSeries[first + k];
    for (int j = k - 1; j >= 0; --j) u = EMOMC_FMA(u, p2, kSeries[first + j]);
    first += k + 1;
    power *= r;
    sum = EMOMC_FMA(u, power, sum);
  }
  const double excess = v * (v / (w + z));  // w - z
  return (excess - v * log1p((v + excess) / z)) - kHalfLogTwoPi - 0.5 * log(w) + log1p(sum);
}

/// Returns log(exp(-z) I_0(z)) for z > 8, by a Chebyshev series of sqrt(z) exp(-z) I_0(z) in 16/z - 1, whose
/// coefficients were computed with 60 digits.
EMOMC_OUTLINE double log_scaled_bessel_zero(double z) {
  static constexpr double kSeries[] = {
      0.80449041101410883161,     0.0033691164782556940899,   0.000068897583469168239843,
      2.891370520834756483e-6,    2.0489185894690637418e-7,   2.2666689904981780646e-8,
      3.3962320257083863452e-9,   4.9406023882249695891e-10,  1.1889147107846438342e-11,
      -3.1499165279632413645e-11, -1.3215811840447713119e-11, -1.7941785315068061178e-12,
      7.1801244513836662337e-13,  3.8527783827421427011e-13,  1.5400862175214098269e-14,
      -4.1505693472872220866e-14, -9.5548466988283076487e-15, 3.8116806693526224207e-15,
      1.7725601330565263836e-15,  -3.4254856196772191346e-16, -2.8276239805165834849e-16,
      3.4612228676974610931e-17,  4.465621420296759999e-17,   -4.8305044859441820713e-18,
      -7.2331804878747539546e-18, 9.9214754121736985989e-19,  1.1936508908459820855e-18,
      -2.4887098371508072357e-19, -1.938426454160905929e-19};
  return log(chebyshev(kSeries, 16.0 / z - 1.0)) - 0.5 * log(z);
}

/// Returns log(exp(-z) I_v(z)) for z^2/4 > 10 (v + 1). Values at orders below 25 are computed from orders of
/// 25 and more by the downward recurrence DLMF 10.29.1, whose terms are all positive.
EMOMC_OUTLINE double log_scaled_bessel_large(double v, double z) {
  constexpr double kUniform = 25;
  if (v == 0) return log_scaled_bessel_zero(z);
  double order = v;
  EMOMC_ROLLED
  while (order < kUniform) order += 1.0;
  const double start = log_scaled_bessel_uniform(order, z);
  if (order == v) return start;
  double ratio = exp(log_scaled_bessel_uniform(order + 1.0, z) - start);  // I_{order+1} / I_order
  double product = 1;
  int steps = static_cast<int>(EMOMC_RINT(order - v));
  EMOMC_ROLLED
  for (; steps > 0; --steps) {
    ratio = 1.0 / EMOMC_FMA(2.0 * (v + steps), 1.0 / z, ratio);
    product *= ratio;
  }
  return start - log(product);
}

/// Returns the logarithm of (z/2)^v / Gamma(v + 1).
EMOMC_INLINE double log_bessel_factor(double v, double z) {
  if (v == 0) return 0.0;
  const double of_v = v < 0.5 ? log_gamma_near_one(v) : lgamma(v + 1.0);
  return v * (log(z) - kLn2) - of_v;
}

/// Returns log I_v(z) for v, z >= 0.
EMOMC_OUTLINE double log_modified_bessel_first_kind(double v, double z) {
  if (!(v >= 0 && z >= 0) || (v == kInfinity && z == kInfinity)) return kNotANumber;
  if (z == 0 || v == kInfinity) return v == 0 ? 0.0 : -kInfinity;
  if (z == kInfinity) return z;
  if (z <= 8 || z * 0.025 * z <= v + 1.0) return log_bessel_factor(v, z) + log_bessel_series(v, z);
  return z + log_scaled_bessel_large(v, z);
}

/// Returns log(exp(-z) I_v(z)) for v, z >= 0; a density needs this form for large z.
EMOMC_OUTLINE double log_modified_bessel_first_kind_scaled(double v, double z) {
  if (!(v >= 0 && z >= 0) || (v == kInfinity && z == kInfinity)) return kNotANumber;
  if (z == kInfinity) return -z;
  if (z <= 8 || z * 0.025 * z <= v + 1.0) return log_modified_bessel_first_kind(v, z) - z;
  return log_scaled_bessel_large(v, z);
}

/// Returns I_1(z) / I_0(z), the derivative of log I_0; odd in z.
EMOMC_OUTLINE double modified_bessel_ratio(double z) {
  static constexpr double kZero[] = {1.0,
                                     1.0,
                                     0.25,
                                     0.027777777777777777778,
                                     0.0017361111111111111111,
                                     0.000069444444444444444444,
                                     1.9290123456790123457e-6,
                                     3.9367598891408415218e-8,
                                     6.1511873267825648778e-10,
                                     7.5940584281266233059e-12,
                                     7.5940584281266233059e-14,
                                     6.2760813455591928148e-16,
                                     4.3583898233049950103e-18,
                                     2.5789288895295828463e-20,
                                     1.3157800456783585951e-22,
                                     5.8479113141260382003e-25,
                                     2.284340357080483672e-27,
                                     7.9042918930120542283e-30,
                                     2.4395962632753253791e-32,
                                     6.7578843858042254269e-35,
                                     1.6894710964510563567e-37,
                                     3.8310002187098783599e-40,
                                     7.9152897080782610742e-43,
                                     1.4962740468957015263e-45,
                                     2.5976979980828151499e-48,
                                     4.1563167969325042398e-51,
                                     6.1483976285983790529e-54,
                                     8.4340159514381056967e-57};  // 1 / n!^2
  static constexpr double kOne[] = {1.0,
                                    0.5,
                                    0.083333333333333333333,
                                    0.0069444444444444444444,
                                    0.00034722222222222222222,
                                    0.000011574074074074074074,
                                    2.7557319223985890653e-7,
                                    4.9209498614260519022e-9,
                                    6.8346525853139609753e-11,
                                    7.5940584281266233059e-13,
                                    6.9036894801151120963e-15,
                                    5.2300677879659940123e-17,
                                    3.3526075563884577002e-19,
                                    1.8420920639497020331e-21,
                                    8.7718669711890573004e-24,
                                    3.6549445713287738752e-26,
                                    1.3437296218120492188e-28,
                                    4.3912732738955856824e-31,
                                    1.2839980333028028311e-33,
                                    3.3789421929021127135e-36,
                                    8.0451004592907445558e-39,
                                    1.7413637357772174363e-41,
                                    3.4414303078601135105e-44,
                                    6.2344751953987563597e-47,
                                    1.0390791992331260599e-49,
                                    1.5985833834355785538e-52,
                                    2.2771843068882885381e-55,
                                    3.0121485540850377488e-58};  // 1 / (n! (n + 1)!)
  static constexpr double kRatio[] = {
      1.9358473447309768556,       -0.032369597368733444603,   -0.00030498827444693036058,
      -0.000012548195886619846417, -9.2122112037071558616e-7,  -1.0548506209336987633e-7,
      -1.6122117793447985363e-8,   -2.3495532463903182871e-9,  -4.436302774430299829e-11,
      1.5706912873033410416e-10,   6.4921283017416317264e-11,  8.5957130723587648924e-12,
      -3.6134724835107826186e-12,  -1.8993006124983763203e-12, -6.7907159001573314862e-14,
      2.0674144831376601054e-13,   4.6621337185979495609e-14,  -1.9158903018732125003e-14,
      -8.7365002566138326832e-15,  1.7401075251206650395e-15,  1.3995569952898540803e-15,
      -1.7781089744767293475e-16,  -2.214664309187655608e-16,  2.4900259260377561763e-17,
      3.589344781791957693e-17,    -5.0741462532316969906e-18, -5.9205863813028007802e-18,
      1.2606824409649692174e-18,   9.6000823659428522098e-19};
  if (is_nan(z)) return z;
  const double y = abs(z);
  if (y <= 8) {
    const double q = 0.25 * y * y;
    return 0.5 * z * (polynomial(kOne, q) / polynomial(kZero, q));
  }
  return copy_sign(chebyshev(kRatio, 16.0 / y - 1.0), z);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_BESSEL_FUNCTIONS_HPP

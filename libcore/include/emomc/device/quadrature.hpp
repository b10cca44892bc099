// Integrals of smooth functions, in float64 with the same bits on host and device.
#ifndef EMOMC_DEVICE_QUADRATURE_HPP
#define EMOMC_DEVICE_QUADRATURE_HPP

#include "emomc/device/macros.hpp"

namespace emomc::device {

/// Returns the integral of f from `low` to `high` by Gauss and Legendre's rule with 32 nodes. The result is
/// accurate to the last digits for f = exp(-g) if g is smooth and convex and rises by 40.
template <class F>
EMOMC_HD inline double integral(const F& f, double low, double high) {
  static constexpr double kNodes[] = {
      0.99726386184948156354, 0.9856115115452683354,  0.96476225558750643077, 0.93490607593773968917,
      0.89632115576605212397, 0.84936761373256997013, 0.79448379596794240696, 0.73218211874028968039,
      0.66304426693021520098, 0.58771575724076232904, 0.50689990893222939002, 0.42135127613063534536,
      0.33186860228212764978, 0.23928736225213707454, 0.14447196158279649349, 0.048307665687738316235};
  static constexpr double kWeights[] = {
      0.0070186100094700966004, 0.016274394730905670605, 0.025392065309262059456, 0.034273862913021433103,
      0.042835898022226680657,  0.050998059262376176196, 0.058684093478535547145, 0.065822222776361846838,
      0.072345794108848506225,  0.078193895787070306472, 0.083311924226946755222, 0.087652093004403811143,
      0.091173878695763884713,  0.093844399080804565639, 0.095638720079274859419, 0.096540088514727800567};
  const double middle = 0.5 * (low + high), half = 0.5 * (high - low);
  double sum = 0;
  EMOMC_ROLLED
  for (int i = 0; i < 16; ++i)
    sum += kWeights[i] * (f(middle - half * kNodes[i]) + f(middle + half * kNodes[i]));
  return half * sum;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_QUADRATURE_HPP

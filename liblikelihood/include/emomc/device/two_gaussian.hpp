// Two Gaussians with one mean on a line, the usual signal shape of an unbinned fit:
// fraction N(x; mean, sigma[0]) + (1 - fraction) N(x; mean, sigma[1]).
#ifndef EMOMC_DEVICE_TWO_GAUSSIAN_HPP
#define EMOMC_DEVICE_TWO_GAUSSIAN_HPP

#include "emomc/device/axis_aligned_mixture.hpp"
#include "emomc/device/block_description.hpp"

namespace emomc::device {

struct TwoGaussian {
  int num_components;
  int dim;

  static constexpr const char* name = "two_gaussian";
  static constexpr const char* covariance = "diagonal";
  static constexpr int fixed_components = 2;
  static constexpr int fixed_dim = 1;
  static constexpr BlockDescription blocks[] = {
      {"fraction", Support::unit_interval, DataUnit::none, Influence::weights, 0, {}},
      {"mean", Support::real, DataUnit::location, Influence::everything, 0, {}},
      {"sigma",
       Support::positive,
       DataUnit::scale,
       Influence::component,
       1,
       {Axis::component, Axis::component}},
  };

  EMOMC_INLINE AxisAlignedShape shape() const { return {2, 1}; }
  EMOMC_INLINE int num_parameters() const { return 4; }
  EMOMC_INLINE double weight(const double* theta, int k) const { return k == 0 ? theta[0] : 1.0 - theta[0]; }
  EMOMC_INLINE double mean(const double* theta, int, int) const { return theta[1]; }
  EMOMC_INLINE double scale(const double* theta, int k, int) const { return theta[2 + k]; }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_TWO_GAUSSIAN_HPP

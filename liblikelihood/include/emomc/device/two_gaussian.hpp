// Two Gaussians with one mean on a line, the usual signal shape of an unbinned fit:
// fraction N(x; mean, sigma[0]) + (1 - fraction) N(x; mean, sigma[1]).
#include "emomc/device/axis_aligned_mixture.hpp"  // before the guard: this may be included again

#ifndef EMOMC_DEVICE_TWO_GAUSSIAN_HPP
#define EMOMC_DEVICE_TWO_GAUSSIAN_HPP

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
      {"fraction", Support::unit_interval, DataUnit::none, Influence::weights, 0, {}, "{beta: {a: 1, b: 1}}"},
      {"mean",
       Support::real,
       DataUnit::location,
       Influence::everything,
       0,
       {},
       "{normal: {mean: 0, sd: 10}}"},
      {"sigma",
       Support::positive,
       DataUnit::scale,
       Influence::component,
       1,
       {Axis::component, Axis::component},
       "{half_normal: 1}"},
  };
  // The next members are for host code; likelihood/model_info.hpp explains them.
  static constexpr const char* description = "one column; two widths, one mean";
  static constexpr const char* ordered_by = "sigma";
  static constexpr const char* init = "prior";
  static constexpr bool has_gaussian_components = true;
  static constexpr bool has_em = true;

  EMOMC_INLINE AxisAlignedShape shape() const { return {2, 1}; }
  EMOMC_INLINE int num_parameters() const { return 4; }
  EMOMC_INLINE double weight(const double* theta, int k) const { return k == 0 ? theta[0] : 1.0 - theta[0]; }
  EMOMC_INLINE int weight_index(int) const { return 0; }
  EMOMC_INLINE double weight_slope(int k) const { return k == 0 ? 1.0 : -1.0; }
  EMOMC_INLINE int mean_index(int, int) const { return 1; }
  EMOMC_INLINE int scale_index(int k, int) const { return 2 + k; }
  EMOMC_INLINE double mean(const double* theta, int, int) const { return theta[1]; }
  EMOMC_INLINE double scale(const double* theta, int k, int) const { return theta[2 + k]; }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_TWO_GAUSSIAN_HPP

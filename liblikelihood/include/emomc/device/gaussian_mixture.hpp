// Gaussian mixture with diagonal covariance: weights [K], means [K][d], scales [K][d] (standard
// deviations).
#include "emomc/device/axis_aligned_mixture.hpp"  // before the guard: this may be included again

#ifndef EMOMC_DEVICE_GAUSSIAN_MIXTURE_HPP
#define EMOMC_DEVICE_GAUSSIAN_MIXTURE_HPP

#include "emomc/device/block_description.hpp"

namespace emomc::device {

struct GaussianMixture {
  int num_components;
  int dim;

  static constexpr const char* name = "gaussian_mixture";
  static constexpr const char* covariance = "diagonal";
  static constexpr int fixed_components = 0;  ///< 0: any number of components
  static constexpr int fixed_dim = 0;
  static constexpr BlockDescription blocks[] = {
      {"weights",
       Support::simplex,
       DataUnit::none,
       Influence::weights,
       1,
       {Axis::component, Axis::component},
       "{dirichlet: 1}"},
      {"means",
       Support::real,
       DataUnit::location,
       Influence::component,
       2,
       {Axis::component, Axis::feature},
       "{normal: {mean: 0, sd: 10}}"},
      {"scales",
       Support::positive,
       DataUnit::scale,
       Influence::component,
       2,
       {Axis::component, Axis::feature},
       "{half_normal: 1}"},
  };
  // The next members are for host code; likelihood/model_info.hpp explains them.
  static constexpr const char* description = "";
  static constexpr const char* ordered_by = "means";
  static constexpr const char* init = "kmeans";
  static constexpr bool has_gaussian_components = true;
  static constexpr bool has_em = true;

  EMOMC_INLINE AxisAlignedShape shape() const { return {num_components, dim}; }
  EMOMC_INLINE int num_parameters() const { return num_components * (1 + 2 * dim); }
  // Places in theta, for gradients; weight_slope is d weight / d theta[weight_index].
  EMOMC_INLINE int weight_index(int k) const { return k; }
  EMOMC_INLINE double weight_slope(int) const { return 1.0; }
  EMOMC_INLINE int mean_index(int k, int j) const { return num_components + k * dim + j; }
  EMOMC_INLINE int scale_index(int k, int j) const { return num_components * (1 + dim) + k * dim + j; }
  // These functions do not call those above: with such calls, a kernel of full covariances in float64 spilled
  // registers.
  EMOMC_INLINE double weight(const double* theta, int k) const { return theta[k]; }
  EMOMC_INLINE double mean(const double* theta, int k, int j) const {
    return theta[num_components + k * dim + j];
  }
  EMOMC_INLINE double scale(const double* theta, int k, int j) const {
    return theta[num_components * (1 + dim) + k * dim + j];
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GAUSSIAN_MIXTURE_HPP

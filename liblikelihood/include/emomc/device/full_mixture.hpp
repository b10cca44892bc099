// Gaussian mixture with full covariance: weights [K], means [K][d], covariances [K][d][d].
#include "emomc/device/triangular_mixture.hpp"  // before the guard: this may be included again

#ifndef EMOMC_DEVICE_FULL_MIXTURE_HPP
#define EMOMC_DEVICE_FULL_MIXTURE_HPP

#include "emomc/device/gaussian_mixture.hpp"

namespace emomc::device {

/// A GaussianMixture with other covariance blocks, which theta holds as lower Cholesky factors.
struct FullMixture : GaussianMixture {
  static constexpr const char* covariance = "full";
  static constexpr BlockDescription blocks[] = {
      GaussianMixture::blocks[0],
      GaussianMixture::blocks[1],
      {"covariances",
       Support::covariance,
       DataUnit::scale,
       Influence::component,
       3,
       {Axis::component, Axis::feature, Axis::feature},
       "{half_normal: 1}",
       "{lkj: 1}"},
  };

  EMOMC_INLINE FullShape shape() const { return {num_components, dim}; }
  EMOMC_INLINE int num_parameters() const { return num_components * (1 + dim + triangle_size(dim)); }
  /// Element (i, j), j <= i, of L with Sigma = L L'.
  EMOMC_INLINE double factor(const double* theta, int k, int i, int j) const {
    return theta[num_components * (1 + dim) + k * triangle_size(dim) + triangle_index(i, j)];
  }
  EMOMC_INLINE int factor_index(int k, int i, int j) const {
    return num_components * (1 + dim) + k * triangle_size(dim) + triangle_index(i, j);
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_FULL_MIXTURE_HPP

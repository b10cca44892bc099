// Gaussian mixture whose components share one covariance: weights [K], means [K][d], covariance [d][d].
#include "emomc/device/triangular_mixture.hpp"  // before the guard: this may be included again

#ifndef EMOMC_DEVICE_TIED_MIXTURE_HPP
#define EMOMC_DEVICE_TIED_MIXTURE_HPP

#include "emomc/device/gaussian_mixture.hpp"

namespace emomc::device {

/// A GaussianMixture with another covariance block, which theta holds as a lower Cholesky factor.
struct TiedMixture : GaussianMixture {
  static constexpr const char* covariance = "tied";
  static constexpr const char* description = "one full one for all components";
  static constexpr BlockDescription blocks[] = {
      GaussianMixture::blocks[0],
      GaussianMixture::blocks[1],
      {"covariance",
       Support::covariance,
       DataUnit::scale,
       Influence::everything,
       2,
       {Axis::feature, Axis::feature},
       "{half_normal: 1}",
       "{lkj: 1}"},
  };

  EMOMC_INLINE TiedShape shape() const { return {num_components, dim}; }
  EMOMC_INLINE int num_parameters() const { return num_components * (1 + dim) + triangle_size(dim); }
  /// Element (i, j), j <= i, of L with Sigma = L L'.
  EMOMC_INLINE double factor(const double* theta, int, int i, int j) const {
    return theta[num_components * (1 + dim) + triangle_index(i, j)];
  }
  EMOMC_INLINE int factor_index(int, int i, int j) const {
    return num_components * (1 + dim) + triangle_index(i, j);
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_TIED_MIXTURE_HPP

// Gaussian mixture with spherical covariance: weights [K], means [K][d], scales [K] (standard deviations).
#include "emomc/device/axis_aligned_mixture.hpp"  // before the guard: this may be included again

#ifndef EMOMC_DEVICE_SPHERICAL_MIXTURE_HPP
#define EMOMC_DEVICE_SPHERICAL_MIXTURE_HPP

#include "emomc/device/gaussian_mixture.hpp"

namespace emomc::device {

/// A GaussianMixture with one scale for each component.
struct SphericalMixture : GaussianMixture {
  static constexpr const char* covariance = "spherical";
  static constexpr BlockDescription blocks[] = {
      GaussianMixture::blocks[0],
      GaussianMixture::blocks[1],
      {"scales",
       Support::positive,
       DataUnit::scale,
       Influence::component,
       1,
       {Axis::component, Axis::component},
       "{half_normal: 1}"},
  };

  EMOMC_INLINE int num_parameters() const { return num_components * (2 + dim); }
  EMOMC_INLINE int scale_index(int k, int) const { return num_components * (1 + dim) + k; }
  EMOMC_INLINE double scale(const double* theta, int k, int) const {
    return theta[num_components * (1 + dim) + k];
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_SPHERICAL_MIXTURE_HPP

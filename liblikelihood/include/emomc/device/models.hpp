// The list of mixtures. A new one needs a header beside this one, its include and line here and a test
// (docs/adding-a-model.md).
#ifndef EMOMC_DEVICE_MODELS_HPP
#define EMOMC_DEVICE_MODELS_HPP

#include "emomc/device/full_mixture.hpp"
#include "emomc/device/gaussian_mixture.hpp"
#include "emomc/device/spherical_mixture.hpp"
#include "emomc/device/tied_mixture.hpp"
#include "emomc/device/two_gaussian.hpp"

#define EMOMC_MODELS(X) \
  X(GaussianMixture)    \
  X(SphericalMixture)   \
  X(TiedMixture)        \
  X(FullMixture)        \
  X(TwoGaussian)

#endif  // EMOMC_DEVICE_MODELS_HPP

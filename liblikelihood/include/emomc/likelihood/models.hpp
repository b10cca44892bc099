// The list of models. Adding one is a header under emomc/device, its line here and its test.
#pragma once

#include "emomc/device/gaussian_mixture.hpp"
#include "emomc/device/spherical_mixture.hpp"
#include "emomc/device/two_gaussian.hpp"

#define EMOMC_MODELS(X) \
  X(GaussianMixture)    \
  X(SphericalMixture)   \
  X(TwoGaussian)

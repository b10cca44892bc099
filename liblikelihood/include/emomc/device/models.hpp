// The list of mixtures. A new mixture needs a header beside this one, an include and a line here, and a test
// (docs/adding-a-model.md). The cpu engine includes the headers once for each SIMD target, which defines
// their arithmetic again (forget_includes.hpp).
#include "emomc/device/full_mixture.hpp"
#include "emomc/device/gaussian_mixture.hpp"
#include "emomc/device/spherical_mixture.hpp"
#include "emomc/device/student_t_mixture.hpp"
#include "emomc/device/tied_mixture.hpp"
#include "emomc/device/two_gaussian.hpp"

#ifndef EMOMC_DEVICE_MODELS_HPP
#define EMOMC_DEVICE_MODELS_HPP

// Each model and the type that Model::shape() returns. Models of one name follow each other.
#define EMOMC_MODELS(X)                 \
  X(GaussianMixture, AxisAlignedShape)  \
  X(SphericalMixture, AxisAlignedShape) \
  X(TiedMixture, TiedShape)             \
  X(FullMixture, FullShape)             \
  X(TwoGaussian, AxisAlignedShape)      \
  X(StudentTMixture, StudentTShape)

#endif  // EMOMC_DEVICE_MODELS_HPP

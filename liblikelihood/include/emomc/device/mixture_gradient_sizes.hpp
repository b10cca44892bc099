// Sizes of the sums that kernels add up for the gradient of a mixture (mixture_gradient.cuh).
#ifndef EMOMC_DEVICE_MIXTURE_GRADIENT_SIZES_HPP
#define EMOMC_DEVICE_MIXTURE_GRADIENT_SIZES_HPP

#include "emomc/device/gradient_rows.hpp"
#include "emomc/device/models.hpp"

namespace emomc::device {

/// Whether the components of a shape are Student t distributions.
template <class Shape>
inline constexpr bool kHasTails = false;
template <>
inline constexpr bool kHasTails<StudentTShape> = true;
/// Whether a shape has covariances.
template <class Shape>
inline constexpr bool kHasMatrices = requires {
  Shape::is_shared;
};

/// Number of tiles of columns by which responsibilities are multiplied: 1, x, and x^2 or the lower triangle
/// of x x'.
template <class Shape>
EMOMC_INLINE constexpr int num_moment_tiles(int d) {
  const auto tiles = [](int columns) { return (columns + kGradientTileColumns - 1) / kGradientTileColumns; };
  return kHasMatrices<Shape> ? tiles(1 + d + d * (d + 1) / 2) : 2 * tiles(d + 1);
}
template <class Shape>
EMOMC_INLINE constexpr int num_matrices(int num_components) {
  if constexpr (kHasMatrices<Shape>) return Shape::is_shared ? 1 : num_components;
  return 0;
}

template <class Model>
EMOMC_INLINE constexpr GradientSizes mixture_gradient_sizes(int K, int d) {
  using Shape = decltype(Model().shape());
  GradientSizes sizes{};
  sizes.num_tiles = num_moment_tiles<Shape>(d);
  sizes.num_of_tile = K;
  sizes.num_used_columns = kHasMatrices<Shape> ? 1 + d + d * (d + 1) / 2 : 1 + 2 * d;
  sizes.num_numbers = kHasTails<Shape> ? 3 * K : K;
  sizes.num_slots = sizes.num_tiles * K * kGradientTileColumns + (kHasTails<Shape> ? 2 * K : 0);
  sizes.num_parameters = K * (2 + 2 * d) + num_matrices<Shape>(K) * d * d;
  sizes.num_work = kHasMatrices<Shape> ? num_matrices<Shape>(K) * d * d + K * d : 0;
  return sizes;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_MIXTURE_GRADIENT_SIZES_HPP

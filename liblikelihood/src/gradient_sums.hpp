// Sums over rows from which the cpu engine computes the gradient of a mixture: for each component k the sum
// of the responsibilities r, and the sums of r z and of r z^2 or r z z', where z is the residual that follows
// from the shape's coefficients (axis_aligned_mixture.hpp, triangular_mixture.hpp). For a Student t
// distribution, r is divided by 1 + sum_j z_j^2 =: 1 + u in the sums with z, and the sums of r (log(1 + u) -
// u / (1 + u)) and r u / (1 + u) follow.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "emomc/device/row_likelihood.hpp"

namespace emomc {

/// Places of the sums: r [K], r z [K][d], r z^2 [K][d] or r z z' [matrix][lower triangle], tails [K][2].
struct GradientSums {
  int num_components, dim;
  int num_matrices;  ///< number of matrices r z z'; 0: squares are summed
  bool has_tails;

  constexpr int triangle() const { return dim * (dim + 1) / 2; }
  constexpr int first(int k, int j) const { return num_components + k * dim + j; }
  constexpr int seconds() const { return num_components * (1 + dim); }
  constexpr int square(int k, int j) const { return seconds() + k * dim + j; }
  constexpr int product(int k, int i, int j) const {
    return seconds() + (num_matrices == 1 ? 0 : k * triangle()) + i * (i + 1) / 2 + j;
  }
  constexpr int tail(int k) const {
    return seconds() + (num_matrices > 0 ? num_matrices * triangle() : num_components * dim) + 2 * k;
  }
  constexpr int size() const { return tail(has_tails ? num_components : 0); }
};

/// Whether the components of a shape are Student t distributions.
template <class Shape>
inline constexpr bool kHasTails = requires(const Shape& shape) {
  shape.exponent_index(0);
};

template <class Shape>
constexpr GradientSums gradient_sums(const Shape& shape) {
  const int K = shape.num_components;
  if constexpr (requires { Shape::is_shared; })
    return {K, shape.dim, Shape::is_shared ? 1 : K, false};
  else
    return {K, shape.dim, 0, kHasTails<Shape>};
}

/// Size of the working memory of tile_gradient(): the responsibilities [4 num_blocks][kGradientStride], and
/// the last rows [dim][kGradientRowGroup], or for matrices two arrays [dim][kGradientRows].
inline constexpr int kGradientStride = device::kTileRows + 16;  // avoids conflicts of cache lines
inline constexpr int kGradientRows = 256, kGradientRowGroup = 32, kGradientLanes = 16;
constexpr std::size_t gradient_work(const GradientSums& s) {
  const auto padded = static_cast<std::size_t>((s.num_components + 3) / 4 * 4);
  const int rows = s.num_matrices > 0 ? 2 * kGradientRows : kGradientRowGroup;
  return padded * kGradientStride + static_cast<std::size_t>(s.dim * rows);
}
/// Size of the working memory in float64: kGradientLanes numbers for each sum of a matrix and of r z.
constexpr std::size_t gradient_lanes(const GradientSums& s) {
  if (s.num_matrices == 0) return 0;
  const int firsts = s.num_matrices == 1 ? s.num_components * s.dim : s.dim;
  return static_cast<std::size_t>(s.triangle() + firsts) * kGradientLanes;
}

/// Uninitialised numbers that begin a cache line: packs that cross lines take twice as long.
template <class T>
class CacheLines {
 public:
  explicit CacheLines(std::size_t count)
      : memory_(static_cast<T*>(::operator new[](count * sizeof(T), kAlignment))) {}
  T* data() const { return memory_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(T* memory) const { ::operator delete[](memory, kAlignment); }
  };
  std::unique_ptr<T[], Free> memory_;
};

}  // namespace emomc

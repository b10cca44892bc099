// This file is compiled once per SIMD target: Highway includes it again for each target (foreach_target.h),
// and the arithmetic of the models is included into the namespace of the target.
#include "cpu_kernel.hpp"

#include "emomc/device/math.hpp"
#include "emomc/device/row_likelihood.hpp"
#include "gradient_sums.hpp"
#include "tree_sum.hpp"

// remaining_sum() is compiled once, without the instructions of a SIMD target.
namespace emomc::cpu {
double remaining_sum(double* values, std::size_t count);
}

#if EMOMC_HAVE_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu_kernel.cpp"
#include <hwy/foreach_target.h>
// The next include must follow foreach_target.h.
#include <hwy/highway.h>

#undef EMOMC_DEVICE_NAMESPACE
#define EMOMC_DEVICE_NAMESPACE emomc::cpu::HWY_NAMESPACE
#include "emomc/device/forget_includes.hpp"

HWY_BEFORE_NAMESPACE();
// clang-format off
#include "emomc/device/models.hpp"
#include "simd_pack.hpp"
#include "simd_sums.hpp"
#include "cpu_tile.hpp"
#include "tile_gradient.hpp"
// clang-format on

namespace emomc::cpu::HWY_NAMESPACE {

#define EMOMC_TILE_FUNCTIONS(T)                                                                        \
  void densities_##T(const TileMixture<T>& m, const T* tile, double* out) {                            \
    with_shape(m, TileDensities<Pack<T>, T>{m.coefficients, tile, m.num_rows, out});                   \
  }                                                                                                    \
  void pair_##T(const TileMixture<T>& m, const T* tile, int pair, T* out) {                            \
    with_shape(m, TilePair<Pack<T>, T>{m.coefficients, tile, m.num_rows, pair, out});                  \
  }                                                                                                    \
  void products_##T(const TileMixture<T>& m, const T* tile, double* out) {                             \
    with_shape(m, TileProducts<Pack<T>, T>{m.coefficients, tile, m.num_rows, out});                    \
  }                                                                                                    \
  void products_of_##T(const TileMixture<T>& m, const T* tile, const T* const* pairs, double* out) {   \
    with_shape(m, TileProductsOf<Pack<T>, T>{m.coefficients, tile, pairs, m.num_rows, out});           \
  }                                                                                                    \
  void gradient_##T(const TileMixture<T>& m, const T* tile, T* work, double* lanes, double* out,       \
                    double* sums) {                                                                    \
    with_shape(m, TileGradient<Pack<T>, T>{m.coefficients, tile, m.num_rows, work, lanes, out, sums}); \
  }
EMOMC_TILE_FUNCTIONS(float)
EMOMC_TILE_FUNCTIONS(double)
#undef EMOMC_TILE_FUNCTIONS
#if HWY_TARGET != HWY_SCALAR
/// Sums of the neighbours in two packs.
template <class Tag, class Pack>
Pack sums_of_pairs(Tag tag, Pack low, Pack high) {
  return hn::Add(hn::ConcatEven(tag, high, low), hn::ConcatOdd(tag, high, low));
}
template <class Tag>
auto sums_of_pairs(Tag tag, const double* values) {
  return sums_of_pairs(tag, hn::LoadU(tag, values), hn::LoadU(tag, values + hn::Lanes(tag)));
}
#endif
// Sums the levels of the tree, one pack at a time: three levels at once while eight neighbours have one sum,
// so that the numbers between them stay in registers.
double tile_sum_double(double* values, std::size_t count) {
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<double> tag;
  const std::size_t lanes = hn::Lanes(tag);
  while (count >= 2 * lanes) {
    std::size_t i = 0;
    if (count % 8 == 0) {
      const std::size_t num_sums = count / 8;
      for (; i + lanes <= num_sums; i += lanes) {
        const double* const v = values + 8 * i;
        const auto low = sums_of_pairs(tag, sums_of_pairs(tag, v), sums_of_pairs(tag, v + 2 * lanes));
        const auto high =
            sums_of_pairs(tag, sums_of_pairs(tag, v + 4 * lanes), sums_of_pairs(tag, v + 6 * lanes));
        hn::StoreU(sums_of_pairs(tag, low, high), tag, values + i);
      }
      for (; i < num_sums; ++i) {
        const double* const v = values + 8 * i;
        values[i] = ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
      }
      count = num_sums;
      continue;
    }
    const std::size_t pairs = count / 2;
    for (; i + lanes <= pairs; i += lanes) hn::StoreU(sums_of_pairs(tag, values + 2 * i), tag, values + i);
    for (; i < pairs; ++i) values[i] = values[2 * i] + values[2 * i + 1];
    if (count % 2) values[pairs] = values[count - 1] + 0.0;
    count = pairs + count % 2;
  }
#endif
  return remaining_sum(values, count);
}
const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace emomc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace emomc::cpu {
double remaining_sum(double* values, std::size_t count) { return tree_sum({values, count}); }
HWY_EXPORT(densities_float);
HWY_EXPORT(densities_double);
HWY_EXPORT(pair_float);
HWY_EXPORT(pair_double);
HWY_EXPORT(products_float);
HWY_EXPORT(products_double);
HWY_EXPORT(products_of_float);
HWY_EXPORT(products_of_double);
HWY_EXPORT(gradient_float);
HWY_EXPORT(gradient_double);
HWY_EXPORT(tile_sum_double);
HWY_EXPORT(target_name);
}  // namespace emomc::cpu

namespace emomc {
using namespace cpu;
#define EMOMC_DISPATCH(function) HWY_DYNAMIC_DISPATCH(function)
#endif  // HWY_ONCE

#else  // without Highway: one number at a time

#include "emomc/device/models.hpp"
// The next include must follow the shapes.
#include "cpu_tile.hpp"
// The next include must follow the tiles.
#include "tile_gradient.hpp"

namespace emomc {
double cpu::remaining_sum(double* values, std::size_t count) { return tree_sum({values, count}); }
#define EMOMC_DISPATCH(function) function
namespace {
#define EMOMC_TILE_FUNCTIONS(T)                                                                        \
  void densities_##T(const TileMixture<T>& m, const T* tile, double* out) {                            \
    device::with_shape(m, device::TileDensities<T, T>{m.coefficients, tile, m.num_rows, out});         \
  }                                                                                                    \
  void pair_##T(const TileMixture<T>& m, const T* tile, int pair, T* out) {                            \
    device::with_shape(m, device::TilePair<T, T>{m.coefficients, tile, m.num_rows, pair, out});        \
  }                                                                                                    \
  void products_##T(const TileMixture<T>& m, const T* tile, double* out) {                             \
    device::with_shape(m, device::TileProducts<T, T>{m.coefficients, tile, m.num_rows, out});          \
  }                                                                                                    \
  void products_of_##T(const TileMixture<T>& m, const T* tile, const T* const* pairs, double* out) {   \
    device::with_shape(m, device::TileProductsOf<T, T>{m.coefficients, tile, pairs, m.num_rows, out}); \
  }                                                                                                    \
  void gradient_##T(const TileMixture<T>& m, const T* tile, T* work, double* lanes, double* out,       \
                    double* sums) {                                                                    \
    device::with_shape(                                                                                \
        m, device::TileGradient<T, T>{m.coefficients, tile, m.num_rows, work, lanes, out, sums});      \
  }
EMOMC_TILE_FUNCTIONS(float)
EMOMC_TILE_FUNCTIONS(double)
#undef EMOMC_TILE_FUNCTIONS
double tile_sum_double(double* values, std::size_t count) { return cpu::remaining_sum(values, count); }
const char* target_name() { return "none"; }
}  // namespace
#endif

#if !EMOMC_HAVE_HIGHWAY || HWY_ONCE
void tile_log2_densities(const TileMixture<float>& mixture, const float* tile, double* out) {
  EMOMC_DISPATCH(densities_float)(mixture, tile, out);
}
void tile_log2_densities(const TileMixture<double>& mixture, const double* tile, double* out) {
  EMOMC_DISPATCH(densities_double)(mixture, tile, out);
}
void tile_log2_products(const TileMixture<float>& mixture, const float* tile, double* out) {
  EMOMC_DISPATCH(products_float)(mixture, tile, out);
}
void tile_log2_products(const TileMixture<double>& mixture, const double* tile, double* out) {
  EMOMC_DISPATCH(products_double)(mixture, tile, out);
}
void tile_pair(const TileMixture<float>& mixture, const float* tile, int pair, float* out) {
  EMOMC_DISPATCH(pair_float)(mixture, tile, pair, out);
}
void tile_log2_products_of(const TileMixture<float>& mixture, const float* tile, const float* const* pairs,
                           double* out) {
  EMOMC_DISPATCH(products_of_float)(mixture, tile, pairs, out);
}
void tile_pair(const TileMixture<double>& mixture, const double* tile, int pair, double* out) {
  EMOMC_DISPATCH(pair_double)(mixture, tile, pair, out);
}
void tile_log2_products_of(const TileMixture<double>& mixture, const double* tile, const double* const* pairs,
                           double* out) {
  EMOMC_DISPATCH(products_of_double)(mixture, tile, pairs, out);
}
void tile_gradient(const TileMixture<float>& mixture, const float* tile, float* work, double* lanes,
                   double* out, double* sums) {
  EMOMC_DISPATCH(gradient_float)(mixture, tile, work, lanes, out, sums);
}
void tile_gradient(const TileMixture<double>& mixture, const double* tile, double* work, double* lanes,
                   double* out, double* sums) {
  EMOMC_DISPATCH(gradient_double)(mixture, tile, work, lanes, out, sums);
}
double tile_sum(double* values, std::size_t count) { return EMOMC_DISPATCH(tile_sum_double)(values, count); }
const char* simd_target_name() { return EMOMC_DISPATCH(target_name)(); }
}  // namespace emomc
#endif

// Tests the same source for every SIMD target. Targets with fma give bitwise equal results, so that draws do
// not depend on the target that a machine supports.
#include <gtest/gtest.h>

#if EMOMC_HAVE_HIGHWAY
#include <hwy/highway.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <random>
#include <vector>

#include "cpu_kernel.hpp"
#include "gradient_sums.hpp"

namespace emomc {
namespace {

constexpr std::size_t kRows = 1024;

// Returns the sums of a gradient, of all rows and of some, for all forms of coefficients. Any numbers are
// valid coefficients of some shape.
template <class Real>
std::vector<double> gradient_results(const TileMixture<Real>& diagonal, const Real* tile) {
  std::vector<double> all;
  for (const TileForm form :
       {TileForm::GaussianMixture, TileForm::StudentTMixture, TileForm::FullMixture, TileForm::TiedMixture})
    for (const int num_rows : {1024, 333}) {
      const bool has_matrices = form == TileForm::FullMixture || form == TileForm::TiedMixture;
      // For forms with matrices the coefficients suffice for fewer components and columns.
      const GradientSums places{has_matrices ? 3 : 11, has_matrices ? 2 : 5,
                                form == TileForm::FullMixture   ? 3
                                : form == TileForm::TiedMixture ? 1
                                                                : 0,
                                form == TileForm::StudentTMixture};
      std::vector<Real> work(gradient_work(places));
      std::vector<double> lanes(gradient_lanes(places)), products(kRows);
      std::vector<double> sums(static_cast<std::size_t>(places.size()));
      tile_gradient({form, places.num_components, places.dim, num_rows, diagonal.coefficients}, tile,
                    work.data(), lanes.data(), products.data(), sums.data());
      for (const double sum : sums) EXPECT_TRUE(std::isfinite(sum));
      all.insert(all.end(), sums.begin(), sums.end());
      products.resize(num_products(num_rows));
      all.insert(all.end(), products.begin(), products.end());
    }
  return all;
}

// Returns densities, products of densities and their sum, for a tile with near and far rows, and with a
// component of weight 0.
template <class Real>
std::vector<double> results() {
  constexpr int dim = 5, num_components = 11, num_blocks = 3;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  struct alignas(64) Line {
    Real values[64 / sizeof(Real)];
  };
  std::vector<Line> tile_lines(dim * kRows * sizeof(Real) / 64), coefficient_lines(64);
  Real *tile = tile_lines[0].values, *coefficients = coefficient_lines[0].values;
  for (std::size_t i = 0; i < dim * kRows; ++i)
    tile[i] = static_cast<Real>((i % kRows % 7 == 0 ? 30.0 : 1.0) * normal(random));
  const int num_slopes = num_blocks * dim * 4 * 2;
  for (int i = 0; i < num_slopes; ++i) coefficients[i] = static_cast<Real>(normal(random));
  for (int k = 0; k < num_blocks * 4; ++k)
    coefficients[num_slopes + k] = k == 3 || k >= num_components ? -std::numeric_limits<Real>::infinity()
                                                                 : static_cast<Real>(normal(random));
  std::vector<double> out(kRows);
  const TileMixture<Real> mixture{TileForm::GaussianMixture, num_components, dim, kRows, coefficients};
  tile_log2_densities(mixture, tile, out.data());
  std::vector<double> products(num_products(kRows));
  tile_log2_products(mixture, tile, products.data());
  out.insert(out.end(), products.begin(), products.end());
  std::vector<double> densities(out.begin(), out.begin() + kRows);
  out.push_back(tile_sum(densities.data(), densities.size()));
  out.push_back(tile_sum(products.data(), products.size()));

  std::vector<Line> pair_lines(2 * num_blocks * kRows * sizeof(Real) / 64);
  std::vector<const Real*> pairs;
  for (int pair = 0; pair < 2 * num_blocks; ++pair) {
    Real* sums = pair_lines[0].values + static_cast<std::size_t>(pair) * kRows;
    tile_pair(mixture, tile, pair, sums);
    pairs.push_back(sums);
  }
  std::vector<double> of_pairs(num_products(kRows));
  tile_log2_products_of(mixture, tile, pairs.data(), of_pairs.data());
  out.insert(out.end(), of_pairs.begin(), of_pairs.end());
  const std::vector<double> sums = gradient_results(mixture, tile);
  out.insert(out.end(), sums.begin(), sums.end());
  return out;
}

void choose(std::int64_t targets) {
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(SimdTargets, WithFmaGiveTheSameBits) {
  choose(0);
  int compared = 0;
  const std::vector<double> expected32 = results<float>(), expected64 = results<double>();
  const std::string best = simd_target_name();
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (!(HWY_ARCH_X86 && target <= HWY_AVX2)) continue;
    choose(target);
    ASSERT_EQ(simd_target_name(), std::string(hwy::TargetName(target)));
    const std::vector<double> of32 = results<float>(), of64 = results<double>();
    EXPECT_EQ(std::memcmp(of32.data(), expected32.data(), of32.size() * sizeof(double)), 0)
        << simd_target_name() << " and " << best;
    EXPECT_EQ(std::memcmp(of64.data(), expected64.data(), of64.size() * sizeof(double)), 0)
        << simd_target_name() << " and " << best;
    ++compared;
  }
  choose(0);
  if (compared < 2) GTEST_SKIP() << compared << " targets with fma here";
}

}  // namespace
}  // namespace emomc
#endif

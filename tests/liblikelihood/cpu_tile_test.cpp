// Compares logarithms of products of densities with sums of logarithms, for ordinary, very small and very
// large factors.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "cpu_kernel.hpp"
#include "emomc/likelihood/data_set.hpp"
#include "tree_sum.hpp"

namespace emomc {
namespace {

// A mixture with one column and one component: log2 of a row's density is shift - x^2.
template <class Real>
class OneGaussian {
 public:
  explicit OneGaussian(Real shift) : memory_(64 / sizeof(Real) + 32, Real(0)) {
    coefficients_ = memory_.data();
    while (reinterpret_cast<std::uintptr_t>(coefficients_) % 16 != 0) ++coefficients_;
    coefficients_[0] = 1;  // slope and offset of component 0; three absent components; shifts
    coefficients_[8] = shift;
    for (int k = 1; k < 4; ++k) coefficients_[8 + k] = -std::numeric_limits<Real>::infinity();
  }
  TileMixture<Real> of(int num_rows) const {
    return {TileForm::GaussianMixture, 1, 1, num_rows, coefficients_};
  }

 private:
  std::vector<Real> memory_;
  Real* coefficients_;
};

// Returns the sum of the log2 densities of the rows of each product, in float64.
template <class Real>
std::vector<double> expected_products(const std::vector<Real>& rows, int num_rows, Real shift) {
  std::vector<double> sums(num_products(num_rows), 0.0);
  for (int row = 0; row < num_rows; ++row) {
    const double x = rows[static_cast<std::size_t>(row)];
    sums[static_cast<std::size_t>(row / kProductRows * kProducts + row % kProducts)] += shift - x * x;
  }
  return sums;
}

template <class T>
class CpuTile : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CpuTile, Reals);

TYPED_TEST(CpuTile, ProductsAreSumsOfLogarithms) {
  using Real = TypeParam;
  // The rows are ordinary, or have a density that underflows or overflows in a product of eight or by itself.
  for (const Real shift : {Real(0), Real(100), Real(-100)})
    for (const double every : {0.0, 7.0, 3.0, 1.0})
      for (const int num_rows : {1, 15, 16, 127, 128, 129, 300, 1024}) {
        std::vector<Real> rows(kTileRows);
        for (int row = 0; row < kTileRows; ++row) {
          double x = 0.01 * (row % 100);
          if (every > 0 && row % static_cast<int>(every) == 0)
            x = row % 2 ? std::sqrt(130.0 + row % 50) : row % 4 ? 1e3 : 10.5;
          rows[static_cast<std::size_t>(row)] = static_cast<Real>(x);
        }
        const OneGaussian<Real> mixture(shift);
        std::vector<double> products(num_products(num_rows));
        tile_log2_products(mixture.of(num_rows), rows.data(), products.data());
        const std::vector<double> expected = expected_products(rows, num_rows, shift);
        for (std::size_t i = 0; i < products.size(); ++i)
          EXPECT_NEAR(products[i], expected[i],
                      8 * std::numeric_limits<Real>::epsilon() * (10 + std::abs(expected[i])) +
                          1e-15 * std::abs(shift))
              << "product " << i << " of " << num_rows << " rows, shift " << shift << ", every " << every;
      }
}

TYPED_TEST(CpuTile, PartsOfATileHaveTheBitsOfTheWhole) {
  using Real = TypeParam;
  std::vector<Real> rows(kTileRows);
  for (int row = 0; row < kTileRows; ++row)
    rows[static_cast<std::size_t>(row)] =
        static_cast<Real>(row % 9 == 0 ? 12.0 + row % 5 : 0.013 * (row % 150));
  const OneGaussian<Real> mixture(Real(0.25));
  const int num_rows = 901;
  std::vector<double> whole(num_products(num_rows));
  tile_log2_products(mixture.of(num_rows), rows.data(), whole.data());
  for (const int part_rows : {128, 256, 512}) {
    std::vector<double> parts;
    for (int row = 0; row < num_rows; row += part_rows) {
      const int count = std::min(part_rows, num_rows - row);
      std::vector<double> products(num_products(count));
      tile_log2_products(mixture.of(count), rows.data() + row, products.data());
      parts.insert(parts.end(), products.begin(), products.end());
    }
    ASSERT_EQ(parts.size(), whole.size());
    EXPECT_EQ(std::memcmp(parts.data(), whole.data(), whole.size() * sizeof(double)), 0) << part_rows;
  }
}

// The only component has weight 0: the density is 0 everywhere, which must give minus infinity.
TYPED_TEST(CpuTile, NoDensityIsMinusInfinity) {
  using Real = TypeParam;
  const std::vector<Real> rows(kTileRows, Real(0.5));
  const OneGaussian<Real> mixture(-std::numeric_limits<Real>::infinity());
  std::vector<double> products(num_products(20));
  tile_log2_products(mixture.of(20), rows.data(), products.data());
  for (const double log : products) EXPECT_EQ(log, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(tile_sum(products.data(), products.size()), -std::numeric_limits<double>::infinity());
}

// Instructions that sum several levels of the tree at once have the bits of one addition after the other, for
// any number of values.
TEST(TileSum, IsThatOfTheTree) {
  std::vector<double> values(kTileRows);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i * i + 1)) / 3;
  for (std::size_t count = 0; count <= values.size(); ++count) {
    std::vector<double> ours(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)),
        tree = ours;
    const double sum = tile_sum(ours.data(), count), expected = tree_sum(tree);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(sum), std::bit_cast<std::uint64_t>(expected)) << count;
  }
}

}  // namespace
}  // namespace emomc

#include "emomc/core/real_fft.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace emomc {
namespace {

std::vector<double> series(std::size_t size) {
  std::vector<double> x(size);
  for (std::size_t i = 0; i < size; ++i) x[i] = std::sin(1.7 * static_cast<double>(i * i % 101)) + 0.3;
  return x;
}

class RealFftOfSize : public ::testing::TestWithParam<std::size_t> {};

// The result is compared with the sum of the definition, in extended precision. The error of an FFT grows
// with log(size); the bound is 16 roundings of the root of the sum of squares.
TEST_P(RealFftOfSize, IsTheSumOfTheDefinition) {
  const std::size_t n = GetParam();
  const std::vector<double> x = series(n);
  RealFft fft(n);
  ASSERT_EQ(fft.num_bins(), n / 2 + 1);
  std::vector<std::complex<double>> spectrum(fft.num_bins());
  fft.forward(x.data(), spectrum.data());
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double bound = 16 * 2.2e-16 * std::sqrt(squares) * (1 + std::log2(static_cast<double>(n)));
  for (std::size_t k = 0; k < spectrum.size(); ++k) {
    std::complex<long double> sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const long double phase = -2 * std::numbers::pi_v<long double> * static_cast<long double>(i * k % n) /
                                static_cast<long double>(n);
      sum += static_cast<long double>(x[i]) * std::complex<long double>(std::cos(phase), std::sin(phase));
    }
    EXPECT_LE(std::abs(std::complex<double>(sum) - spectrum[k]), bound) << n << ", bin " << k;
  }
  std::vector<double> back(n);
  fft.inverse(spectrum.data(), back.data());
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(back[i] / static_cast<double>(n), x[i], 1e-13) << n;
}
INSTANTIATE_TEST_SUITE_P(Sizes, RealFftOfSize,
                         ::testing::Values(1, 2, 3, 4, 5, 8, 12, 97, 100, 400, 512, 1024));

TEST(RealFft, FastSizesAreProductsOfSmallPrimes) {
  EXPECT_EQ(RealFft::fast_size(0), 4u);
  EXPECT_EQ(RealFft::fast_size(5), 8u);
  EXPECT_EQ(RealFft::fast_size(40000), 40000u);
  EXPECT_EQ(RealFft::fast_size(40001), 40500u);
}

TEST(RealFft, SizesOutOfRangeAreRefused) {
  EXPECT_THROW(RealFft(0), std::logic_error);
  EXPECT_THROW(RealFft((std::size_t{1} << 30) + 1), std::logic_error);
}

}  // namespace
}  // namespace emomc

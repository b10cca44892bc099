// Tests the powers of two of the cpu engine.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "emomc/device/real_ops.hpp"

namespace emomc::device {
namespace {

// The largest term of a sum is 1, so that smaller terms need only the type's precision relative to it. An
// error with the same sign in all terms would grow with the number of rows.
template <class Real>
void expect_powers(double most_error, double most_mean) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-40.0, 0.0);
  double greatest = 0, sum = 0;
  constexpr int n = 200000;
  for (int i = 0; i < n; ++i) {
    const Real x = static_cast<Real>(uniform(random));
    const long double exact = std::exp2(static_cast<long double>(x));
    const auto error = static_cast<double>((static_cast<long double>(real_exp2_addend(x)) - exact) / exact);
    greatest = std::max(greatest, std::abs(error));
    sum += error;
  }
  EXPECT_LE(greatest, most_error);
  EXPECT_LE(std::abs(sum / n), most_mean);
}

TEST(Exp2, IsRoundedWellAndWithoutBias) {
  constexpr double eps32 = 0x1p-24, eps64 = 0x1p-53;  // half an ulp of 1
  expect_powers<float>(2.5 * eps32, 0.1 * eps32);
  expect_powers<double>(2.5 * eps64, 0.1 * eps64);
}

template <class Real>
class Exp2Of : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Exp2Of, Reals);

TYPED_TEST(Exp2Of, IsExactForIntegersAndAtTheEndsOfTheRange) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  for (int n = 0; n > Limits::min_exponent; --n)
    ASSERT_EQ(real_exp2_addend(static_cast<Real>(n)), std::ldexp(Real(1), n)) << n;
  for (const Real x : {-Limits::denorm_min(), -Limits::min(), -Limits::epsilon() / 8})
    EXPECT_EQ(real_exp2_addend(x), Real(1)) << x;
  for (const Real x : {static_cast<Real>(Limits::min_exponent - 2), -Limits::max(), -Limits::infinity()})
    EXPECT_EQ(real_exp2_addend(x), Limits::min()) << x;
}

}  // namespace
}  // namespace emomc::device

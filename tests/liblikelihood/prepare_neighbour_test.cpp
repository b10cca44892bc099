// Tests that coefficients of a mixture that differs from a prepared one in a block are bitwise equal to newly
// prepared coefficients.
#include "emomc/device/prepare_neighbour.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "emomc/device/full_mixture.hpp"
#include "emomc/device/gaussian_mixture.hpp"
#include "emomc/device/random.hpp"
#include "emomc/device/spherical_mixture.hpp"

namespace emomc {
namespace {

struct Team : device::HostTeam {
  static bool any(bool x) { return x; }
};

template <class Real>
struct Prepared {
  explicit Prepared(std::size_t num_coefficients, std::size_t num_terms)
      : coefficients(num_coefficients), terms(num_terms) {}
  // The coefficients are copied as words of 8 bytes.
  std::vector<Real> coefficients;
  std::vector<double> terms;
  double common = 0;
  device::PreparedPoint<Real> view() { return {coefficients.data(), terms.data(), common}; }
};

template <class Model, class Real>
void expect_neighbours_as_prepared_anew(int K, int d) {
  const Model model{K, d};
  const auto shape = model.shape();
  // Means and scales are arbitrary; elements of a diagonal must be positive.
  std::vector<double> theta;
  const device::RandomSource random{5, 0, 0};
  for (int i = 0; i < model.num_parameters(); ++i)
    theta.push_back(0.3 + random.uniform(device::Purpose::simulation, static_cast<std::uint32_t>(i)));
  std::vector<double> scratch(static_cast<std::size_t>(shape.num_scratch()));
  const auto num_coefficients = static_cast<std::size_t>(shape.num_coefficients());
  const auto num_terms = static_cast<std::size_t>(shape.num_terms());
  const device::Influence everything = device::Influence::everything;
  std::vector<Prepared<Real>> points(2, Prepared<Real>(num_coefficients, num_terms));
  points[0].common = device::prepare_neighbour(Team{}, model, theta.data(), {everything, 0, false},
                                               points[0].view(), points[0].view(), scratch.data());
  const auto change = [&](const device::ParameterChange& what, const char* name) {
    Prepared<Real>&from = points[0], &to = points[1];
    to.common =
        device::prepare_neighbour(Team{}, model, theta.data(), what, from.view(), to.view(), scratch.data());
    Prepared<Real> anew(num_coefficients, num_terms);
    const double common =
        device::prepare_mixture(Team{}, model, theta.data(), anew.coefficients.data(), scratch.data());
    EXPECT_EQ(to.common, common) << name << ", K = " << K;
    EXPECT_EQ(to.coefficients, anew.coefficients) << name << ", K = " << K;
    std::swap(from, to);  // the next change starts from this mixture
  };
  const auto at = [&](int i) -> double& { return theta[static_cast<std::size_t>(i)]; };
  const int last = K - 1, means = K, scales = K + K * d;
  // In all parametrisations, the last number of the last component's block belongs to its scale.
  at(static_cast<int>(theta.size()) - 1) *= 1.25;
  change({device::Influence::component, last, false}, "scale");
  at(means + last * d) += 0.5;
  change({device::Influence::component, last, true}, "mean");
  at(0) += 0.01;
  at(1) -= 0.01;
  change({device::Influence::weights, 0, false}, "weights");
  at(static_cast<int>(theta.size()) - 1) *= 0.8;
  change({device::Influence::component, last, false}, "scale again");
  ASSERT_LT(scales, static_cast<int>(theta.size()));
  at(scales) *= 1.1;
  change({everything, 0, false}, "everything");
  at(means) -= 0.25;
  change({device::Influence::component, 0, true}, "mean after everything");
}

template <class Real>
void expect_all(int K) {
  expect_neighbours_as_prepared_anew<device::GaussianMixture, Real>(K, 2);
  expect_neighbours_as_prepared_anew<device::SphericalMixture, Real>(K, 2);
  expect_neighbours_as_prepared_anew<device::FullMixture, Real>(K, 2);
}

// The lanes of a warp hold 32 numbers; larger sums are computed in another way.
TEST(PrepareNeighbour, HasTheBitsOfPreparingAnew) {
  for (int K : {2, 8, 32, 33, 40}) {
    expect_all<float>(K);
    expect_all<double>(K);
  }
}

}  // namespace
}  // namespace emomc

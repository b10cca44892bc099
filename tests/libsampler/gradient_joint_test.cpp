// Geweke's joint test (2004) of the gradient samplers, as in joint_test.cpp for other kinds, with a
// likelihood that has gradients. Each chain has data of its own, five normal numbers and four categories, and
// begins at a pair of parameters and data that is exactly from their joint distribution. Data are drawn anew
// between steps, so that all later pairs are from the joint distribution, too, if the sampler is correct. The
// chains are independent replicas.
//
// There are 3 kinds, 2 shapes and 16 functions, with each difference within 6.5 standard errors (8.1e-11 for
// a normal error). This gives a rate of false alarms of 8e-9.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "trajectory_chains.hpp"

namespace emomc {
namespace {

using namespace testing;

constexpr int kChains = 4000, kIterations = 20, kNumbers = 5, kCategories = 4;
// theta contains weights [3], mean and sd.
constexpr int kMean = 3, kSd = 4, kDim = 5;

struct Data {
  double numbers[kNumbers];
  int counts[3];
};

Target joint_target() {
  ParameterLayout layout;
  layout.blocks.push_back({"weights", {3}, Support::simplex});
  layout.blocks.push_back({"mean", {}, Support::real});
  layout.blocks.push_back({"sd", {}, Support::positive});
  PriorSet prior;
  prior.blocks["weights"] = {PriorFamily::dirichlet, {number(2)}};
  prior.blocks["mean"] = {PriorFamily::normal, {number(0.5), number(2)}};
  prior.blocks["sd"] = {PriorFamily::lognormal, {number(0), number(0.5)}};
  return Target(layout, prior, std::vector<double>{});
}

Data draw_data(const double* theta, const device::RandomSource& random) {
  Data data{};
  for (device::u32 i = 0; i < kNumbers; ++i)
    data.numbers[i] = theta[kMean] + theta[kSd] * random.normal(device::Purpose::simulation, i);
  for (device::u32 i = 0; i < kCategories; ++i) {
    const double u = random.uniform(device::Purpose::choice, i);
    ++data.counts[u < theta[0] ? 0 : u < theta[0] + theta[1] ? 1 : 2];
  }
  return data;
}

double log_likelihood(const Data& data, const double* theta, double* gradient) {
  double value = 0;
  if (gradient) std::fill_n(gradient, kDim, 0.0);
  for (int k = 0; k < 3; ++k) {
    value += data.counts[k] * std::log(theta[k]);
    if (gradient) gradient[k] = data.counts[k] / theta[k];
  }
  for (const double y : data.numbers) {
    const double z = (y - theta[kMean]) / theta[kSd];
    value -= 0.5 * z * z + std::log(theta[kSd]);
    if (!gradient) continue;
    gradient[kMean] += z / theta[kSd];
    gradient[kSd] += (z * z - 1) / theta[kSd];
  }
  return value;
}

std::vector<double> functions_of(const double* theta, const Data& data) {
  double sum = 0, squares = 0;
  for (const double y : data.numbers) {
    sum += y;
    squares += y * y;
  }
  const double log_sd = std::log(theta[kSd]), mean = theta[kMean];
  return {theta[0],
          theta[1],
          std::log(theta[0]),
          theta[0] * theta[1],
          mean,
          mean * mean,
          log_sd,
          log_sd * log_sd,
          mean * log_sd,
          mean * sum / kNumbers,
          log_sd * std::log(squares),
          theta[0] * data.counts[0],
          theta[1] * data.counts[0],
          static_cast<double>(data.counts[1]),
          sum,
          std::tanh(0.1 * log_likelihood(data, theta, nullptr))};
}

class GradientJoint : public ::testing::TestWithParam<std::tuple<std::string, ProposalShape>> {};
INSTANTIATE_TEST_SUITE_P(Kinds, GradientJoint,
                         ::testing::Combine(::testing::Values("mala", "hmc", "nuts", "chees"),
                                            ::testing::Values(ProposalShape::diagonal, ProposalShape::dense)),
                         [](const auto& parameters) {
                           return std::get<0>(parameters.param) +
                                  (std::get<1>(parameters.param) == ProposalShape::dense ? "_dense"
                                                                                         : "_diagonal");
                         });

TEST_P(GradientJoint, SuccessivePairsAreDistributedAsIndependentOnes) {
  std::vector<Data> data(kChains);
  const Target target = joint_target();
  FixedMetric metric{0.6, std::get<1>(GetParam()), {0.7, 0.8, 0.8, 0.4}};
  metric.factor = {0.7, 0.2, 0, 0, 0, 0.8, 0, 0, 0, 0, 0.8, -0.1, 0, 0, 0, 0.4};
  TrajectoryChains chains(std::get<0>(GetParam()),
                          {target,
                           [&](int chain, const double* theta, double* gradient) {
                             return log_likelihood(data[static_cast<std::size_t>(chain)], theta, gradient);
                           }},
                          kChains, metric);
  std::vector<double> u, independent(kChains * 16), successive(kChains * 16);
  for (device::u32 c = 0; c < kChains; ++c) {
    const auto theta = target.draw_from_prior(5, c, 0);
    std::vector<double> point(4);
    target.unconstrain(theta, point);
    u.insert(u.end(), point.begin(), point.end());
    data[c] = draw_data(theta.data(), {6, 0, c});
    for (std::uint64_t i = 0; i < kIterations; ++i) {
      const auto other = target.draw_from_prior(7, c, i);
      const auto values = functions_of(other.data(), draw_data(other.data(), {8, i, c}));
      for (std::size_t f = 0; f < 16; ++f) independent[c * 16 + f] += values[f] / kIterations;
    }
  }
  chains.begin(u);
  double acceptance = 0;
  for (std::uint64_t i = 0; i < kIterations; ++i) {
    chains.run(2);
    for (device::u32 c = 0; c < kChains; ++c) {
      const double* theta = chains.theta.data() + std::size_t{c} * kDim;
      const auto values = functions_of(theta, data[c]);
      for (std::size_t f = 0; f < 16; ++f) successive[c * 16 + f] += values[f] / kIterations;
      data[c] = draw_data(theta, {9, i, c});
      acceptance += chains.statistics[c].acceptance / (kChains * kIterations);
    }
    chains.evaluate();
  }
  double worst = 0;
  for (std::size_t f = 0; f < 16; ++f) {
    double mean[2] = {}, squares[2] = {};
    for (std::size_t c = 0; c < kChains; ++c)
      for (int which : {0, 1}) {
        const double x = (which ? successive : independent)[c * 16 + f];
        mean[which] += x / kChains;
        squares[which] += x * x / kChains;
      }
    const double error =
        std::sqrt((squares[0] - mean[0] * mean[0] + squares[1] - mean[1] * mean[1]) / (kChains - 1));
    worst = std::max(worst, std::abs(mean[0] - mean[1]) / error);
    EXPECT_LT(std::abs(mean[0] - mean[1]), 6.5 * error)
        << "function " << f << ": " << mean[1] << " for " << mean[0];
  }
  std::cout << "largest |z| " << worst << ", acceptance " << acceptance << '\n';
  EXPECT_GT(acceptance, 0.4);
  EXPECT_LT(acceptance, 0.99);
}

}  // namespace
}  // namespace emomc

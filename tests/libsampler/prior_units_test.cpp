// Tests that priors that are stated in other units have the same density up to log_prior_offset.
#include "emomc/sampler/prior_units.hpp"

#include <gtest/gtest.h>

#include "emomc/likelihood/engines.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {
namespace {

ArrayArgument number(double x) { return {{}, {x}, false}; }
ArrayArgument sampled() { return {{}, {}, true}; }

struct Case {
  std::string covariance;
  std::map<std::string, PriorSpec> priors;
};

std::vector<Case> cases() {
  using F = PriorFamily;
  const PriorSpec weights{F::dirichlet, {number(2)}}, lkj{F::lkj, {number(1.5)}};
  const PriorSpec normal{F::normal, {{{3}, {90, 5, -2}, false}, number(40)}};
  return {
      {"diagonal", {{"weights", weights}, {"means", normal}, {"scales", {F::half_normal, {number(3)}}}}},
      {"diagonal",
       {{"weights", weights},
        {"means", {F::student_t, {number(4), number(1), {{2}, {30, 60}, false}}}},
        {"scales", {F::gamma, {number(2), {{2, 3}, {1, 2, 3, 4, 5, 6}, false}}}}}},
      {"diagonal",
       {{"weights", weights},
        {"means", {F::uniform, {number(-500), number(500)}}},
        {"scales", {F::inverse_gamma, {number(3), number(2)}}}}},
      {"spherical",
       {{"weights", weights},
        {"means", {F::cauchy, {number(20), number(7)}}},
        {"scales", {F::exponential, {number(0.3)}}}}},
      {"full",
       {{"weights", weights},
        {"means", normal},
        {"scales", {F::lognormal, {number(0.7), number(1.1)}}},
        {"correlations", lkj}}},
      {"tied",
       {{"weights", weights}, {"means", normal}, {"scales", {F::fixed, {number(2)}}}, {"correlations", lkj}}},
      {"diagonal",
       {{"weights", weights},
        {"means", {F::normal, {sampled(), sampled()}}},
        {"means.mean", {F::normal, {number(10), number(100)}}},
        {"means.sd", {F::half_normal, {number(50)}}},
        {"scales", {F::lognormal, {sampled(), sampled()}}},
        {"scales.meanlog", {F::normal, {number(1), number(2)}}},
        {"scales.sdlog", {F::half_normal, {number(1)}}}}},
      {"diagonal",
       {{"weights", weights},
        {"means", normal},
        {"scales", {F::exponential, {sampled()}}},
        {"scales.rate", {F::gamma, {number(2), number(3)}}}}},
  };
}

TEST(PriorUnits, TheDensityOfAPointIsTheSameInBothUnitsButForTheOffset) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.covariance + " " + family_name(one.priors.at("scales").family));
    const ParameterLayout layout = model_layout({"gaussian_mixture", 2, one.covariance}, 3);
    ColumnUnits units{{100, 4, -3}, {8, 2, 0.25}};
    if (one.covariance == "spherical") units.sd = {2, 2, 2};
    const std::vector<double> sd_of_columns(units.sd), ones(3, 1.0);
    PriorSet stated;
    stated.blocks = one.priors;
    const Target in_data(layout, stated, sd_of_columns);
    const Target in_sampler(layout, in_sampler_units(stated, layout, units), ones);
    const double offset = log_prior_offset(stated, layout, units);
    for (std::uint32_t i = 0; i < 5; ++i) {
      std::vector<double> theta = in_sampler.draw_from_prior(7, i, 0);
      const double there = in_sampler.log_prior(theta) + offset;
      to_data_units(in_sampler.layout(), units, theta);
      EXPECT_NEAR(in_data.log_prior(theta), there, 1e-8 * (1 + std::abs(there)));
    }
    const PriorSet back = in_data_units(in_sampler_units(stated, layout, units), layout, units);
    EXPECT_NEAR(log_prior_offset(back, layout, units), offset, 1e-12);
  }
}

}  // namespace
}  // namespace emomc

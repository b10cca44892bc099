// Defines the calibrated scenarios: a covering design over models, prior families, orders, floors,
// hierarchies, proposals, engines and precisions. docs/statistics.md shows the design as a table.
#pragma once

#include "sbc.hpp"

namespace emomc::testing {

namespace families {
inline ArrayArgument of(double x) { return {{}, {x}, false}; }
inline const ArrayArgument kSampled{{}, {}, true};
inline PriorSpec normal(double mean, double sd) { return {PriorFamily::normal, {of(mean), of(sd)}}; }
inline PriorSpec half_normal(double sd) { return {PriorFamily::half_normal, {of(sd)}}; }
inline PriorSpec student_t(double df, double mean, double scale) {
  return {PriorFamily::student_t, {of(df), of(mean), of(scale)}};
}
inline PriorSpec cauchy(double location, double scale) {
  return {PriorFamily::cauchy, {of(location), of(scale)}};
}
inline PriorSpec lognormal(double meanlog, double sdlog) {
  return {PriorFamily::lognormal, {of(meanlog), of(sdlog)}};
}
inline PriorSpec gamma(double shape, double rate) { return {PriorFamily::gamma, {of(shape), of(rate)}}; }
inline PriorSpec inverse_gamma(double shape, double scale) {
  return {PriorFamily::inverse_gamma, {of(shape), of(scale)}};
}
inline PriorSpec exponential(double rate) { return {PriorFamily::exponential, {of(rate)}}; }
inline PriorSpec uniform(double lower, double upper) {
  return {PriorFamily::uniform, {of(lower), of(upper)}};
}
inline PriorSpec beta(double a, double b) { return {PriorFamily::beta, {of(a), of(b)}}; }
inline PriorSpec dirichlet(double a) { return {PriorFamily::dirichlet, {of(a)}}; }
inline PriorSpec lkj(double eta) { return {PriorFamily::lkj, {of(eta)}}; }
inline PriorSpec fixed(std::vector<int> shape, std::vector<double> values) {
  return {PriorFamily::fixed, {{std::move(shape), std::move(values), false}}};
}
}  // namespace families

using Blocks = std::map<std::string, PriorSpec>;

inline GenerativeModel mixture(int K, int d, const std::string& covariance, Blocks blocks,
                               double scale_floor = 0, const std::string& order = "") {
  blocks.try_emplace("weights", families::dirichlet(2));
  return {{"gaussian_mixture", K, covariance}, d, {std::move(blocks), scale_floor, order}};
}

inline GenerativeModel two_gaussian(Blocks blocks, double scale_floor = 0, const std::string& order = "") {
  return {{"two_gaussian", 2}, 1, {std::move(blocks), scale_floor, order}};
}

inline GenerativeModel student_t_mixture(int K, int d, Blocks blocks, double scale_floor = 0) {
  blocks.try_emplace("weights", families::dirichlet(2));
  return {{"student_t_mixture", K, "diagonal"}, d, {std::move(blocks), scale_floor, ""}};
}

inline std::vector<Scenario> calibration_scenarios() {
  using namespace families;
  using enum ProposalShape;
  const auto walk = [](const char* kind, ProposalShape shape = diagonal) {
    return ProposalSpec{kind, shape, 0.234};
  };
  std::vector<Scenario> all;

  // These scenarios have models and families with one component.
  all.push_back({"diagonal_1",
                 mixture(1, 2, "diagonal", {{"means", normal(0.5, 2)}, {"scales", half_normal(1.5)}}, 0.3), 3,
                 walk("component_wise"), 20});
  all.push_back(
      {"spherical_1",
       mixture(1, 2, "spherical", {{"means", uniform(-4, 4)}, {"scales", student_t(4, 0.5, 0.7)}}, 0.2), 3,
       walk("stretch"), 50, 8});
  all.push_back(
      {"tied_1",
       mixture(1, 2, "tied",
               {{"means", student_t(5, 0.5, 1)}, {"scales", exponential(0.8)}, {"correlations", lkj(1)}},
               0.1),
       3, walk("adaptive_metropolis"), 60});
  all.push_back(
      {"full_1",
       mixture(1, 2, "full",
               {{"means", cauchy(0, 1)}, {"scales", inverse_gamma(3, 2)}, {"correlations", lkj(1)}}),
       3, walk("delayed_rejection", dense), 40});
  all.push_back(
      {"full_1_three_columns",
       mixture(1, 3, "full",
               {{"means", normal(0, 1)}, {"scales", lognormal(0, 0.5)}, {"correlations", lkj(1.2)}}),
       4, walk("random_walk", dense), 160});

  // These scenarios have two components.
  all.push_back(
      {"diagonal_2_ordered",
       mixture(2, 1, "diagonal", {{"means", normal(0, 3)}, {"scales", lognormal(-0.5, 0.5)}}, 0, "means"), 6,
       walk("random_walk", dense), 100});
  all.push_back(
      {"diagonal_2_ordered_by_scale",
       mixture(2, 1, "diagonal", {{"means", normal(0, 2)}, {"scales", normal(0.5, 0.7)}}, 0.1, "scales"), 6,
       walk("component_wise"), 30});
  all.push_back({"spherical_2",
                 mixture(2, 2, "spherical", {{"means", student_t(5, 0, 2)}, {"scales", gamma(3, 3)}}), 6,
                 walk("component_wise", isotropic), 30, 1, Backend::cpu, Precision::mixed});
  all.push_back({"tied_2",
                 mixture(2, 2, "tied",
                         {{"weights", dirichlet(3)},
                          {"means", normal(0, 3)},
                          {"scales", half_normal(1)},
                          {"correlations", lkj(1)}},
                         0, "means"),
                 6, walk("delayed_rejection"), 160, 1, Backend::reference});
  all.push_back(
      {"full_2",
       mixture(2, 2, "full", {{"means", normal(0, 2)}, {"scales", gamma(3, 4)}, {"correlations", lkj(2)}}), 6,
       walk("component_wise", dense), 30});
  all.push_back({"full_2_fixed",
                 mixture(2, 2, "full",
                         {{"weights", fixed({2}, {0.3, 0.7})},
                          {"means", normal(0, 3)},
                          {"scales", cauchy(0.5, 0.3)},
                          {"correlations", fixed({2, 2}, {1, 0.6, 0.6, 1})}},
                         0.2),
                 8, walk("random_walk", isotropic), 300});
  all.push_back({"fixed_scales",
                 mixture(2, 1, "diagonal", {{"means", normal(0, 2)}, {"scales", fixed({}, {1})}}, 0, "means"),
                 8, walk("independence"), 50});
  all.push_back({"differential_evolution",
                 mixture(2, 1, "diagonal", {{"means", normal(0, 2)}, {"scales", inverse_gamma(4, 3)}}), 6,
                 walk("differential_evolution"), 30, 16, Backend::cpu, Precision::mixed});

  all.push_back({"crank_nicolson",
                 mixture(2, 2, "diagonal", {{"means", normal(0, 2)}, {"scales", lognormal(-0.5, 0.6)}}), 6,
                 walk("crank_nicolson"), 15});
  all.push_back({"crank_nicolson_full",
                 mixture(1, 3, "full",
                         {{"means", student_t(5, 0, 1)}, {"scales", gamma(3, 3)}, {"correlations", lkj(2)}}),
                 4, walk("crank_nicolson", dense), 15});

  // These scenarios have three components.
  all.push_back({"split_merge",
                 mixture(3, 1, "diagonal", {{"means", normal(0, 2)}, {"scales", lognormal(-0.5, 0.6)}}), 3,
                 walk("split_merge"), 20});
  all.push_back(
      {"split_merge_ordered",
       mixture(3, 2, "diagonal", {{"means", normal(0, 1.5)}, {"scales", gamma(3, 3)}}, 0.1, "means"), 6,
       walk("split_merge", isotropic), 30});

  all.push_back({"sparse_weights",
                 mixture(3, 1, "diagonal",
                         {{"weights", dirichlet(0.02)}, {"means", normal(0, 2)}, {"scales", gamma(3, 3)}}),
                 5, walk("component_wise"), 60});

  // These scenarios have two Gaussians with a common mean.
  all.push_back({"two_gaussian_ordered",
                 two_gaussian({{"fraction", beta(2, 3)}, {"mean", normal(0.3, 1)}, {"sigma", half_normal(1)}},
                              0.05, "sigma"),
                 8, walk("independence"), 50});
  all.push_back(
      {"two_gaussian",
       two_gaussian({{"fraction", uniform(0, 1)}, {"mean", cauchy(0, 0.5)}, {"sigma", uniform(0.2, 2)}}), 8,
       walk("random_walk"), 50, 1, Backend::reference});
  all.push_back({"two_gaussian_stretch",
                 two_gaussian({{"fraction", beta(5, 5)}, {"mean", normal(0, 1)}, {"sigma", exponential(1)}}),
                 8, walk("stretch"), 30, 16});

  // These scenarios have priors with sampled arguments.
  all.push_back({"hierarchical_normal",
                 mixture(3, 1, "diagonal",
                         {{"means", {PriorFamily::normal, {kSampled, kSampled}}},
                          {"means.mean", normal(0, 2)},
                          {"means.sd", lognormal(0, 0.5)},
                          {"scales", {PriorFamily::lognormal, {kSampled, kSampled}}},
                          {"scales.meanlog", normal(-0.5, 0.5)},
                          {"scales.sdlog", gamma(4, 8)}},
                         0.05, "means"),
                 6, walk("component_wise"), 45});
  all.push_back({"hierarchical_student_t",
                 mixture(2, 2, "spherical",
                         {{"means", {PriorFamily::student_t, {of(4), kSampled, kSampled}}},
                          {"means.mean", uniform(-2, 2)},
                          {"means.scale", lognormal(0, 0.5)},
                          {"scales", {PriorFamily::exponential, {kSampled}}},
                          {"scales.rate", gamma(4, 3)}},
                         0.05),
                 6, walk("component_wise"), 30});
  all.push_back({"hierarchical_cauchy",
                 mixture(2, 2, "tied",
                         {{"means", {PriorFamily::cauchy, {kSampled, of(0.5)}}},
                          {"means.location", normal(0, 1)},
                          {"scales", {PriorFamily::half_normal, {kSampled}}},
                          {"scales.sd", inverse_gamma(4, 3)},
                          {"correlations", lkj(3)}},
                         0.05),
                 8, walk("adaptive_metropolis"), 250});
  all.push_back({"hierarchical_truncated",
                 mixture(1, 2, "diagonal",
                         {{"means", {PriorFamily::normal, {kSampled, of(1)}}},
                          {"means.mean", cauchy(0, 0.5)},
                          {"scales", {PriorFamily::normal, {kSampled, of(0.5)}}},
                          {"scales.mean", student_t(6, 0.3, 0.4)}},
                         0.3),
                 3, walk("differential_evolution"), 40, 16});
  all.push_back({"heavy_tails",
                 student_t_mixture(2, 2,
                                   {{"means", normal(0, 2)},
                                    {"scales", lognormal(-0.3, 0.5)},
                                    {"degrees_of_freedom", gamma(2, 0.3)}}),
                 6, walk("component_wise"), 40});
  all.push_back(
      {"heavy_tails_fixed_freedom",
       student_t_mixture(
           2, 1,
           {{"means", normal(0, 2)}, {"scales", half_normal(1)}, {"degrees_of_freedom", fixed({}, {3})}},
           0.1),
       6, walk("random_walk"), 60, 1, Backend::cpu, Precision::mixed});
  return all;
}

}  // namespace emomc::testing

// Scenarios for the calibration of the gradient samplers: each kind on each model that has gradients.
#pragma once

#include "calibration_scenarios.hpp"

namespace emomc::testing {

/// A model with priors of several families.
struct CalibratedModel {
  std::string name;
  GenerativeModel model;
  std::size_t num_rows;
  Precision precision = Precision::float64;
  Backend backend = Backend::cpu;
};

inline std::vector<CalibratedModel> calibrated_models() {
  using namespace families;
  return {
      {"diagonal", mixture(2, 1, "diagonal", {{"means", normal(0, 2)}, {"scales", lognormal(-0.5, 0.6)}}), 5},
      {"spherical", mixture(2, 2, "spherical", {{"means", student_t(5, 0, 2)}, {"scales", gamma(3, 3)}}), 5,
       Precision::mixed},
      {"tied",
       mixture(2, 2, "tied",
               {{"means", {PriorFamily::normal, {kSampled, of(2)}}},
                {"means.mean", normal(0, 1)},
                {"scales", half_normal(1)},
                {"correlations", lkj(1.5)}},
               0.1, "means"),
       5},
      {"full",
       mixture(2, 2, "full", {{"means", normal(0, 2)}, {"scales", gamma(3, 4)}, {"correlations", lkj(2)}}),
       5},
      {"two_gaussian",
       two_gaussian({{"fraction", beta(2, 3)}, {"mean", normal(0.3, 1)}, {"sigma", half_normal(1)}}, 0.05,
                    "sigma"),
       8, Precision::float64, Backend::reference},
      {"heavy_tails",
       student_t_mixture(2, 1,
                         {{"means", normal(0, 2)},
                          {"scales", lognormal(-0.3, 0.5)},
                          {"degrees_of_freedom", gamma(2, 0.3)}}),
       6, Precision::mixed}};
}

/// A kind with its shape, and the number of its steps that make a draw nearly independent of the previous
/// one.
struct CalibratedKind {
  const char* kind;
  ProposalShape shape;
  std::int64_t warmup, thin;
};
inline const std::vector<CalibratedKind> kCalibratedKinds{{"nuts", ProposalShape::diagonal, 150, 2},
                                                          {"hmc", ProposalShape::dense, 150, 5},
                                                          {"mala", ProposalShape::diagonal, 250, 35},
                                                          {"chees", ProposalShape::diagonal, 200, 8}};

/// The length of a chain. The posterior of a mixture with five rows often has a narrow region beside its
/// bulk, around a single row. In a few percent of the replicates a short chain does not find it, or does not
/// leave it: too few to be seen in 200 replicates, and enough to be seen in 2000.
enum class ChainLength { usual, longer };

/// Returns every kind on every model, with names "kind_model".
inline std::vector<Scenario> gradient_scenarios(ChainLength length = ChainLength::usual) {
  constexpr std::int64_t kLongWarmup = 1000, kLongThin = 4;
  const bool longer = length == ChainLength::longer;
  std::vector<Scenario> all;
  for (const CalibratedModel& model : calibrated_models())
    for (const CalibratedKind& kind : kCalibratedKinds)
      all.push_back({std::string(kind.kind) + "_" + model.name, model.model, model.num_rows,
                     ProposalSpec{kind.kind, kind.shape}, longer ? kLongThin * kind.thin : kind.thin, 1,
                     model.backend, model.precision, longer ? kLongWarmup : kind.warmup});
  return all;
}

}  // namespace emomc::testing

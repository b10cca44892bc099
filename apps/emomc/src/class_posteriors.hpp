// The posteriors of all classes of all training sets: their priors, starts and chains, and EM beside them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "evaluation_plan.hpp"
#include "run_setup.hpp"

namespace emomc::app {

/// Chains of set s and class c are group s * num_classes + c; `chains` of each, ids in that order.
struct ClassPosteriors {
  RunSetup run;                 ///< of all chains; its target is the first group's
  std::vector<Target> targets;  ///< [num_groups]
  std::vector<double> starts;   ///< num_chains x dim
  int chains_per_group = 0;
  std::size_t num_groups() const { return targets.size(); }
  std::size_t chain_of(std::size_t group, std::size_t chain) const {
    return group * static_cast<std::size_t>(chains_per_group) + chain;
  }
};

/// What evaluates the likelihood of all chains, and how they move.
struct EvaluationEngine {
  ModelSpec model;
  Backend backend = Backend::cpu;  ///< resolved
  std::unique_ptr<Device> device;
  std::unique_ptr<LikelihoodEngine> engine;
  ProposalSpec proposal;
  std::vector<ChainPlan> plans;
};
EvaluationEngine make_evaluation_engine(const LabelledFrames& frames, const EvaluationPlan& plan,
                                        const EvaluationConfig& config);

/// Called between pieces of work with how much of it is done; may throw to end it.
using Report = std::function<void(std::size_t done, std::size_t all)>;

/// Throws InputError where a prior cannot be stated in a training set's units. `with_starts`: a resumed run
/// needs none.
ClassPosteriors prepare_posteriors(const LabelledFrames& frames, const EvaluationPlan& plan,
                                   const EvaluationConfig& config, bool with_starts, const Report& report);

/// Checks what prepare_posteriors refuses, without fitting anything. Returns a target like those of all
/// groups but for the figures of their priors.
Target check_posteriors(const LabelledFrames& frames, const EvaluationPlan& plan,
                        const EvaluationConfig& config, const EvaluationEngine& engine);

/// Throws InputError where a class of a training set has too few rows for a mixture of its own.
void require_class_rows(const LabelledFrames& frames, const EvaluationPlan& plan,
                        const EvaluationConfig& config);

/// Maximum likelihood mixtures of each group by EM, from the best of a pool of clusterings: num_groups x dim
/// of the model.
std::vector<double> fit_by_em(const LabelledFrames& frames, const EvaluationPlan& plan,
                              const EvaluationConfig& config, const ClassPosteriors& posteriors,
                              const Report& report);

}  // namespace emomc::app

// Prepares the posteriors of all classes of all training sets for sampling: priors, starting points and
// chains. Also computes maximum likelihood fits by EM for comparison.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "emomc/emotion/evaluation_plan.hpp"
#include "emomc/posterior/run_setup.hpp"

namespace emomc::app {

/// The posterior of training set s and class c is group s * num_classes + c. Each group has
/// `chains_per_group` chains, with consecutive ids in the order of the groups.
struct ClassPosteriors {
  SampledChains run;            ///< the chains of all groups
  std::vector<Target> targets;  ///< [num_groups]
  std::vector<double> starts;   ///< num_chains x dim
  int chains_per_group = 0;
  std::size_t num_groups() const { return targets.size(); }
  std::size_t chain_of(std::size_t group, std::size_t chain) const {
    return group * static_cast<std::size_t>(chains_per_group) + chain;
  }
};

/// The engine that evaluates the likelihood for all chains, and their proposal.
struct EvaluationEngine {
  ModelSpec model;
  Backend backend = Backend::cpu;  ///< resolved backend
  std::unique_ptr<Device> device;
  std::unique_ptr<LikelihoodEngine> engine;
  ProposalSpec proposal;
  std::vector<ChainPlan> plans;
};
/// Throws InputError if the backend is not available.
EvaluationEngine make_evaluation_engine(const LabelledFrames& frames, const EvaluationPlan& plan,
                                        const EvaluationConfig& config);

/// A callback between units of work, with the number of finished units and the number of all units. An
/// exception of the callback ends the work.
using Report = std::function<void(std::size_t done, std::size_t all)>;

/// Builds the posteriors. Collective: several ranks divide the fits of backgrounds, the search for starting
/// points, and the chains among them. `with_starts` false leaves out the starting points, which a resumed run
/// does not need. Throws InputError if a prior cannot be stated in the units of a training set.
ClassPosteriors prepare_posteriors(const LabelledFrames& frames, const EvaluationPlan& plan,
                                   const EvaluationConfig& config, bool with_starts, const Report& report);

/// Does the checks of prepare_posteriors() without fitting anything. Returns a target that differs from the
/// groups' targets only in the numbers in its prior.
Target check_posteriors(const LabelledFrames& frames, const EvaluationPlan& plan,
                        const EvaluationConfig& config, const EvaluationEngine& engine);

/// Throws InputError if a class of a training set has fewer than two rows for each component of its mixture.
void require_class_rows(const LabelledFrames& frames, const EvaluationPlan& plan,
                        const EvaluationConfig& config);

/// Fits maximum likelihood mixtures for all groups by EM, each started from the best of a pool of short fits.
/// Returns the parameters, num_groups x dim of the model. Collective: several ranks divide the groups.
std::vector<double> fit_by_em(const LabelledFrames& frames, const EvaluationPlan& plan,
                              const EvaluationConfig& config, const ClassPosteriors& posteriors,
                              const Report& report);

}  // namespace emomc::app

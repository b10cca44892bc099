#include "emomc/sampler/run_chains.hpp"

#include <algorithm>
#include <map>

#include "chain_runner.hpp"
#include "emomc/core/errors.hpp"
#include "stepper.hpp"
#include "trajectories.hpp"

namespace emomc {
namespace {

void validate(const RunOptions& options, std::span<const Target> targets, const LikelihoodEngine& engine,
              const std::vector<ChainPlan>& plans) {
  if (plans.empty()) throw InputError("sampler.chains: 0 is out of range; allowed: 1 or more");
  if (options.warmup < 0 || options.draws < 0 || options.thin < 1)
    throw InputError("sampler: warmup and draws must not be negative, thin at least 1");
  for (const ChainPlan& plan : plans)
    if (targets.empty() || plan.group < 0 ||
        (targets.size() > 1 && static_cast<std::size_t>(plan.group) >= targets.size()))
      throw std::invalid_argument("run_chains: a group without a target");
  for (const Target& target : targets)
    if (!target.is_like(targets[0]))
      throw std::invalid_argument("run_chains: targets of different structure");
  const auto& blocks = targets[0].layout().blocks;
  const auto& evaluated = engine.layout().blocks;
  if (blocks.size() < evaluated.size() || !std::equal(evaluated.begin(), evaluated.end(), blocks.begin()))
    throw std::invalid_argument("run_chains: target and engine differ");
}

}  // namespace

const std::vector<std::string>& step_kernels_names() {
  static const std::vector<std::string> names{"fastest", "launched", "ahead", "in_turn",
                                              "lines",   "wide",     "teams"};
  return names;
}

StepKernels step_kernels_of_name(const std::string& name) {
  const auto& names = step_kernels_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw InputError("kernels: " + name + " is not known; allowed: " + listed(names));
  return static_cast<StepKernels>(found - names.begin());
}

ProposalUse proposal_use(const std::string& kind) {
  const ProposalTraits traits = traits_of_kind(kind);
  const bool shape = traits.learning == device::ShapeLearning::as_asked ||
                     traits.learning == device::ShapeLearning::as_asked_and_fitted;
  return {shape,
          traits.adapts_scale(),
          traits.needs_others(),
          traits.mixtures_only(),
          traits.is_fitted(),
          traits.gradient()};
}

std::vector<std::string> proposal_names(const LikelihoodEngine& engine) {
  std::vector<std::string> names;
  for (const auto& name : proposal_names())
    if (!proposal_use(name).gradient || why_no_gradients(engine).empty()) names.push_back(name);
  return names;
}

void check_proposal(const ProposalSpec& proposal, const LikelihoodEngine& engine) {
  const std::string why_not = why_no_gradients(engine);
  if (proposal_use(proposal.kind).gradient && !why_not.empty())
    throw InputError("sampler.proposal.kind: " + proposal.kind + " " + why_not +
                     "; allowed here: " + listed(proposal_names(engine)));
}

void check_proposal(const ProposalSpec& proposal, const Target& target, const std::vector<ChainPlan>& plans) {
  // Each half of the ensemble needs three chains, for a difference and an axis.
  constexpr int kFewest = 6;
  if (!proposal_use(proposal.kind).other_chains) return;
  std::map<int, int> chains;
  for (const auto& plan : plans) ++chains[plan.group];
  const int needed = std::max(kFewest, 2 * target.dim_unconstrained());
  for (const auto& [group, count] : chains)
    if (count < needed)
      throw InputError("sampler.chains: " + std::to_string(count) + " are too few for proposal " +
                       proposal.kind + "; allowed: " + std::to_string(needed) +
                       " or more, twice the number of free parameters");
}

std::vector<std::string> proposal_block_names(const ProposalSpec& proposal, const Target& target) {
  return plan_blocks(traits_of_kind(proposal.kind), proposal.shape, target).names;
}

bool uses_component_caches(const ProposalSpec& proposal, const Target& target) {
  return plan_blocks(traits_of_kind(proposal.kind), proposal.shape, target).uses_component_caches();
}

int evaluations_per_step(const ProposalSpec& proposal, const Target& target) {
  return plan_blocks(traits_of_kind(proposal.kind), proposal.shape, target).evaluations_of_chain();
}

RunResult run_chains(LikelihoodEngine& engine, std::span<const Target> targets, const ProposalSpec& proposal,
                     const std::vector<ChainPlan>& plans, const RunOptions& options,
                     std::span<const double> starts, DrawHandler& handler, const SamplerState* resume) {
  validate(options, targets, engine, plans);
  check_proposal(proposal, engine);
  if (options.tempering.is_on() && targets.size() != 1)
    throw InputError("sampler.tempering.rungs: only the chains of one posterior can be tempered");
  const std::vector<ChainPlan> all = tempered_plans(plans, options.tempering);
  check_proposal(proposal, targets[0], all);
  ChainRunner runner(engine, targets, proposal, all, options, handler);
  if (resume) {
    runner.resume(*resume);
    return runner.run();
  }
  std::vector<double> of_rungs;
  if (starts.size() == plans.size() * static_cast<std::size_t>(targets[0].dim()) &&
      options.tempering.is_on()) {
    for (int k = 0; k < options.tempering.rungs; ++k)
      of_rungs.insert(of_rungs.end(), starts.begin(), starts.end());
    starts = of_rungs;
  }
  runner.start(starts);
  return runner.run();
}

RunResult run_chains(LikelihoodEngine& engine, const Target& target, const ProposalSpec& proposal,
                     const std::vector<ChainPlan>& plans, const RunOptions& options,
                     std::span<const double> starts, DrawHandler& handler, const SamplerState* resume) {
  return run_chains(engine, std::span<const Target>(&target, 1), proposal, plans, options, starts, handler,
                    resume);
}

}  // namespace emomc

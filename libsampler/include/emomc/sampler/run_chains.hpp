// From starts to draws: the one function that runs an ensemble of chains.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {

/// Covariance of a proposal's Gaussian increments inside a block.
enum class ProposalShape { isotropic, diagonal, dense };

struct ProposalSpec {
  std::string kind = "component_wise";  ///< a name of proposal_names()
  ProposalShape shape = ProposalShape::diagonal;
  double target_acceptance = 0.234;  ///< 0.44 in a block of one dimension
};

std::vector<std::string> proposal_names();
/// Which parts of a ProposalSpec a kind uses, whether it moves chains by one another's state, whether it is
/// for mixtures of three or more components only, and whether it moves by a distribution that warm-up has
/// fitted.
struct ProposalUse {
  bool shape, target_acceptance, other_chains, mixtures_only, fitted;
};
/// Throws InputError for an unknown kind.
ProposalUse proposal_use(const std::string& kind);
/// Throws InputError where a proposal cannot be used for these chains: moves by other chains' state need at
/// least twice as many chains in a group as there are free parameters.
void check_proposal(const ProposalSpec& proposal, const Target& target, const std::vector<ChainPlan>& plans);

/// Names of the blocks whose acceptance is counted, e.g. "means[3]"; "all" for random_walk.
std::vector<std::string> proposal_block_names(const ProposalSpec& proposal, const Target& target);

/// Whether component caches are of use: every block changes one component, or the weights, only. Where they
/// are not, run_chains allocates none.
bool uses_component_caches(const ProposalSpec& proposal, const Target& target);

/// Bytes that run_chains takes where the likelihood is evaluated, beside the engine's own
/// (LikelihoodEngine::plan).
struct SamplerMemory {
  std::size_t state = 0;  ///< of the chains: points, counters, what proposals have learned
  /// Kept draws on their way, of two segments; on the host twice, of either side of the copy. A GPU's run has
  /// as many bytes on the host.
  std::size_t draws = 0;
  std::size_t drawn_ahead = 0;  ///< innovations of moves that are drawn together, on a GPU
  std::size_t total() const { return state + draws + drawn_ahead; }
};
SamplerMemory sampler_memory(DeviceKind where, std::span<const Target> targets, const ProposalSpec& proposal,
                             const std::vector<ChainPlan>& plans);

/// Likelihood evaluations that a step of one chain takes.
int evaluations_per_step(const ProposalSpec& proposal, const Target& target);

struct RunOptions {
  std::int64_t warmup = 1000;  ///< steps; of the first warm-up where DrawHandler::on_decision asks for more
  std::int64_t draws = 1000;   ///< kept per chain
  std::int64_t thin = 1;       ///< steps per kept draw
  std::uint64_t seed = 0;
  double max_nan_share = 0.01;  ///< of a chain's proposals so far (at least 1,000), before the run ends
  bool keep_warmup = false;     ///< hand warm-up draws (thinned alike) to the handler as well
  ComponentCaches caches = ComponentCaches::on;
  /// On a GPU: many steps in one kernel, where that is faster. Draws do not depend on it.
  bool resident = true;
  /// 0: by time, at most 50 ms. Draws do not depend on it.
  std::int64_t segment_steps = 0;
  /// Steps after each multiple of which the handler is asked for wants_state; 0: after segments alone. Draws
  /// do not depend on it.
  std::int64_t state_every = 0;
  /// Numbers of draws since the last warm-up, increasing, at which the handler decides how the run goes on.
  std::vector<std::int64_t> decisions;
};

/// Kept draws of all chains, sampler's units, host memory, valid during the call only.
struct DrawBatch {
  bool warmup = false;
  int num_draws = 0, num_chains = 0, dim = 0;
  std::int64_t first_step = 0;  ///< absolute step (warm-up counted) of draw 0
  std::int64_t thin = 1;
  const double* theta = nullptr;           ///< num_draws x num_chains x dim
  const double* log_prior = nullptr;       ///< num_draws x num_chains
  const double* log_likelihood = nullptr;  ///< num_draws x num_chains
};

/// The state of a run at a segment boundary: everything that its continuation depends on.
struct SamplerState {
  std::int64_t step = 0;  ///< absolute steps done
  /// The warm-up that the draws come after, or that the run is in: its first step less 1, and its length.
  std::int64_t warmup_begin = 0, warmup = 0;
  int num_chains = 0, dim_unconstrained = 0, dim = 0, num_blocks = 0;
  std::vector<double> unconstrained;                            ///< num_chains x dim_unconstrained
  std::vector<double> log_prior, log_likelihood, log_jacobian;  ///< [num_chains]
  std::vector<double> adaptation;                               ///< adapted state and its statistics, flat
  std::vector<std::uint64_t> accepted, proposed;  ///< num_chains x num_blocks, since warm-up ended (or began)
  /// The same counts when the adaptation window began that `step` lies in; after warm-up of no meaning.
  std::vector<std::uint64_t> window_accepted, window_proposed;
  std::vector<std::uint64_t> faults;  ///< [num_chains] NaN or +infinity met
  std::uint64_t num_evaluations = 0;  ///< as in RunResult, by all runs that led here
};

struct Progress {
  std::int64_t step = 0, num_steps = 0;
  std::int64_t warmup = 0;     ///< absolute step after which the last warm-up ends
  double mean_acceptance = 0;  ///< over chains and blocks, since the phase began
  double seconds = 0;          ///< since run_chains was called
};

enum class Continue { yes, stop };

/// What follows a look at the draws.
enum class Decision {
  more_draws,
  enough,  ///< the run is finished
  /// The draws so far are not of the posterior: they and their warm-up count as warm-up, and one of twice the
  /// length follows, which adapts anew from what has been learnt.
  longer_warmup,
};

/// Draws and news leave run_chains only through this. Calls come in order, from the calling thread.
class DrawHandler {
 public:
  virtual ~DrawHandler() = default;
  virtual void on_draws(const DrawBatch& draws) = 0;
  /// At segment boundaries; `stop` ends the run after the state has been handed over.
  virtual Continue on_progress(const Progress&) { return Continue::yes; }
  /// At each of RunOptions::decisions, when exactly that many draws of every chain have been handed over
  /// since the last warm-up by this run or those that it resumes. It must be a function of the draws alone: a
  /// run that was interrupted is asked again.
  virtual Decision on_decision(std::int64_t /*num_draws*/) { return Decision::more_draws; }
  /// After Decision::longer_warmup; `end` is the absolute step after which draws count.
  virtual void on_longer_warmup(std::int64_t /*end*/) {}
  /// Whether on_state is wanted now, after `step` steps; asked after every segment, while it may still run.
  virtual bool wants_state(std::int64_t /*step*/) { return false; }
  virtual void on_state(const SamplerState&) {}
};

struct RunResult {
  SamplerState state;    ///< at the end
  bool finished = true;  ///< false: on_progress stopped it
  double warmup_seconds = 0, sampling_seconds = 0;
  /// Parameter vectors evaluated, those before a resumed state included; component evaluations in full.
  std::uint64_t num_evaluations = 0;
  /// [num_blocks] change of the log scale of each block's increments over the last fifth of the warm-up, the
  /// largest of the groups; NaN where there was none.
  std::vector<double> adaptation_drift;
  std::string stepping;  ///< how steps were run on a GPU, for people; empty on the host
};

/// Runs the chains of `plans` from `starts` (num_chains x target.dim(), constrained, sampler's units) or
/// from `resume` (then `starts` is not looked at). Throws InputError where a plan or proposal does not
/// fit, DensityError where a start has no finite density or non-finite ones exceed max_nan_share.
RunResult run_chains(LikelihoodEngine& engine, const Target& target, const ProposalSpec& proposal,
                     const std::vector<ChainPlan>& plans, const RunOptions& options,
                     std::span<const double> starts, DrawHandler& handler,
                     const SamplerState* resume = nullptr);
/// The same with a target for each group of chains, targets[plan.group]. Throws std::invalid_argument where
/// they are not like one another (Target::is_like).
RunResult run_chains(LikelihoodEngine& engine, std::span<const Target> targets, const ProposalSpec& proposal,
                     const std::vector<ChainPlan>& plans, const RunOptions& options,
                     std::span<const double> starts, DrawHandler& handler,
                     const SamplerState* resume = nullptr);

}  // namespace emomc

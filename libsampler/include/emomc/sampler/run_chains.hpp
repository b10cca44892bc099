// Runs an ensemble of Markov chains from starting points and passes the draws to a handler.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/device/draw_statistics.hpp"
#include "emomc/sampler/target.hpp"
#include "emomc/sampler/tempering.hpp"

namespace emomc {

class Communicator;
class DeviceRanks;

/// Structure of the covariance of a proposal's Gaussian increments within a block.
enum class ProposalShape { isotropic, diagonal, dense };

struct ProposalSpec {
  std::string kind = "component_wise";  ///< one of proposal_names()
  ProposalShape shape = ProposalShape::diagonal;
  /// 0 means default_target_acceptance(kind). Random walks replace that default by 0.44 in a block of one
  /// dimension.
  double target_acceptance = 0;
};

/// The valid values of ProposalSpec::kind.
std::vector<std::string> proposal_names();
/// Properties of a proposal kind: whether it uses ProposalSpec::shape and ::target_acceptance, whether a
/// chain's moves depend on the state of other chains, whether it is restricted to mixtures of three or more
/// components, whether it proposes from a distribution that was fitted during warm-up, and whether it is a
/// gradient sampler.
struct ProposalUse {
  bool shape, target_acceptance, other_chains, mixtures_only, fitted, gradient;
};
/// Returns the properties of a proposal kind. Throws InputError for an unknown kind.
ProposalUse proposal_use(const std::string& kind);
/// The proposal kinds that run on an engine; gradient samplers need an engine with gradients.
std::vector<std::string> proposal_names(const LikelihoodEngine& engine);
/// The default acceptance target: 0.234 for random walks, 0.9 for hmc and nuts, 0.574 for mala, 0.8 for
/// chees.
double default_target_acceptance(const std::string& kind);
/// Throws InputError if a proposal does not run on an engine.
void check_proposal(const ProposalSpec& proposal, const LikelihoodEngine& engine);
/// Throws InputError if a proposal cannot be used for these chains: a proposal that moves chains by the state
/// of other chains needs at least max(6, 2 x number of free parameters) chains in each group.
void check_proposal(const ProposalSpec& proposal, const Target& target, const std::vector<ChainPlan>& plans);

/// Throws InputError if there are fewer chains, rungs included, than ranks to spread them over.
void check_ranks(int ranks, std::size_t chains);

/// Names of the blocks whose acceptance is counted, e.g. "means[3]"; "all" for random_walk.
std::vector<std::string> proposal_block_names(const ProposalSpec& proposal, const Target& target);

/// Whether component caches help: every block changes only one component, or only the weights. Otherwise
/// run_chains allocates no caches.
bool uses_component_caches(const ProposalSpec& proposal, const Target& target);

/// Bytes that run_chains allocates on the device that evaluates the likelihood, in addition to the engine's
/// own (LikelihoodEngine::plan).
struct SamplerMemory {
  std::size_t state = 0;  ///< points, counters and adapted proposals of all chains
  /// Buffers of kept draws for two segments. On the host the size counts both sides of the copy; a run on a
  /// GPU takes the same number of bytes on the host in addition.
  std::size_t draws = 0;
  /// Random numbers drawn in advance for moves by the fitted distribution; on a GPU only.
  std::size_t drawn_ahead = 0;
  std::size_t total() const { return state + draws + drawn_ahead; }
};
/// Computes the memory. Throws InputError for an unknown kind and for a proposal that these targets do not
/// allow.
SamplerMemory sampler_memory(DeviceKind where, std::span<const Target> targets, const ProposalSpec& proposal,
                             const std::vector<ChainPlan>& plans);

/// Likelihood evaluations in a step of one chain; 1 for gradient samplers, whose number varies.
int evaluations_per_step(const ProposalSpec& proposal, const Target& target);

/// Ways to run the steps of random walks on a GPU (docs/gpu-kernels.md): `fastest` chooses by a rule on
/// sizes; `launched` uses separate kernels for the parts of a step; the others are forms of the kernel that
/// runs many steps.
enum class StepKernels { fastest, launched, ahead, in_turn, lines, wide, teams };
/// The names of the values of StepKernels, in their order.
const std::vector<std::string>& step_kernels_names();
/// Throws InputError for a name that is not among step_kernels_names().
StepKernels step_kernels_of_name(const std::string& name);

struct RunOptions {
  /// Length of the warm-up in steps; that of the first warm-up if DrawHandler::on_decision demands longer
  /// ones.
  std::int64_t warmup = 1000;
  std::int64_t draws = 1000;  ///< number of kept draws per chain
  std::int64_t thin = 1;      ///< number of steps between kept draws
  std::uint64_t seed = 0;
  /// The run ends with a DensityError if a larger share of a chain's proposals than this had a density of NaN
  /// or +infinity. Only proposals after the warm-up count, during which chains may be far out of the
  /// posterior, where densities overflow; the share is checked from 1,000 proposals on.
  double max_nan_share = 0.01;
  bool keep_warmup = false;  ///< pass the draws of warm-up, thinned alike, to the handler as well
  ComponentCaches caches = ComponentCaches::on;
  /// Kernels that run the steps on a GPU. Draws do not depend on this. A form that does not suit the chains
  /// is replaced by `launched`, and RunResult::stepping has the reason.
  StepKernels kernels = StepKernels::fastest;
  /// Number of steps of a segment; 0 chooses segments of about 30 ms, meant to stay below 50 ms, of at least
  /// one step. Draws do not depend on this.
  std::int64_t segment_steps = 0;
  /// DrawHandler::wants_state is also called at every multiple of this number of steps; 0: only where a
  /// segment ends anyway. Draws do not depend on this.
  std::int64_t state_every = 0;
  /// Increasing numbers of draws since the last warm-up at which the handler is called for a decision.
  std::vector<std::int64_t> decisions = {};
  Tempering tempering = {};
  /// The ranks over which the chains are spread; nullptr: all chains run on this rank. Not used if the engine
  /// divides its rows among ranks (LikelihoodEngine::row_ranks): each of those ranks runs all chains. Every
  /// rank calls run_chains with an engine of its own, on equal data, and with equal other arguments, and gets
  /// the same result. Draws do not depend on the number of ranks if processors, GPUs and compilers of the
  /// ranks are equal. The handlers of all ranks are called; only the answers of rank 0's handler are used.
  Communicator* ranks = nullptr;
  /// The connection by which the engines' devices of `ranks` exchange log likelihoods if chains move by the
  /// state of others; nullptr: run_chains makes one. A connection of the caller outlives an exception. Ranks
  /// of one process need this, because all of them must end the connection at the same time, or after it is
  /// known that one of them has failed.
  std::shared_ptr<DeviceRanks> connection = nullptr;
};

using device::DrawStatistics;

/// Kept draws of all chains in the sampler's units, in host memory that is valid during the call only.
struct DrawBatch {
  bool warmup = false;
  int num_draws = 0, num_chains = 0, dim = 0;
  std::int64_t first_step = 0;  ///< absolute step (warm-up included) of draw 0
  std::int64_t thin = 1;
  const double* theta = nullptr;               ///< num_draws x num_chains x dim
  const double* log_prior = nullptr;           ///< num_draws x num_chains
  const double* log_likelihood = nullptr;      ///< num_draws x num_chains
  const DrawStatistics* statistics = nullptr;  ///< num_draws x num_chains; null unless the proposal is a
                                               ///< gradient sampler
};

/// The log densities of the kept draws of all rungs of a run with tempering; valid during the call only.
struct RungBatch {
  bool warmup = false;
  int num_draws = 0, num_chains = 0;  ///< num_chains counts the chains of tempered_plans(), in that order
  std::int64_t first_step = 0, thin = 1;
  const double* log_prior = nullptr;       ///< num_draws x num_chains
  const double* log_likelihood = nullptr;  ///< num_draws x num_chains, not raised to a power
};

/// Statistics of a gradient sampler over all chains since the current phase (warm-up or sampling) began.
struct TrajectorySummary {
  std::uint64_t num_divergences = 0;  ///< draws whose trajectory diverged
  double deepest_share = 0;           ///< share of the draws whose tree had the greatest depth
  double mean_leapfrogs = 0;          ///< mean number of leapfrogs per draw
};

/// The state of a run between two segments: everything that the continuation depends on.
struct SamplerState {
  std::int64_t step = 0;  ///< absolute number of completed steps
  /// The current or last warm-up: the absolute number of steps before it, and its length in steps.
  std::int64_t warmup_begin = 0, warmup = 0;
  int num_chains = 0, dim_unconstrained = 0, dim = 0, num_blocks = 0;
  std::vector<double> unconstrained;                            ///< num_chains x dim_unconstrained
  std::vector<double> log_prior, log_likelihood, log_jacobian;  ///< [num_chains]
  /// Adapted scales and shapes with their statistics (Adaptation::save), flat.
  std::vector<double> adaptation;
  /// num_chains x num_blocks, counted since the current phase (warm-up or sampling) began
  std::vector<std::uint64_t> accepted, proposed;
  /// The same counts at the start of the adaptation window that contains `step`; unused after warm-up.
  std::vector<std::uint64_t> window_accepted, window_proposed;
  std::vector<std::uint64_t> faults;  ///< [num_chains] proposals with a density of NaN or +infinity
  std::uint64_t num_evaluations = 0;  ///< number of evaluations, as in RunResult, summed over this run and
                                      ///< those that it resumes
  /// Ladder, counts and paths of points (Exchanges::save), flat; empty without tempering. With tempering, all
  /// members above count the chains of tempered_plans().
  std::vector<double> tempering;
};

struct Progress {
  std::int64_t step = 0, num_steps = 0;
  std::int64_t warmup = 0;  ///< absolute step at which the last warm-up ends
  /// Acceptance rate over all chains and blocks since the current phase began; for gradient samplers the mean
  /// of DrawStatistics::acceptance.
  double mean_acceptance = 0;
  double seconds = 0;  ///< seconds since run_chains was called
  TrajectorySummary trajectories = {};
};

enum class Continue { yes, stop };

/// The continuation of a run after its handler has checked the draws.
enum class Decision {
  more_draws,
  enough,  ///< the run is finished
  /// The draws so far do not represent the posterior. They and their warm-up count as warm-up, and another
  /// warm-up of twice the length follows, which continues the adaptation.
  longer_warmup,
};

/// Receives draws and progress. All calls come in order, from the thread that called run_chains.
class DrawHandler {
 public:
  virtual ~DrawHandler() = default;
  /// Receives draws; with tempering, those of the cold rung.
  virtual void on_draws(const DrawBatch& draws) = 0;
  /// Receives the log densities of all rungs of a run with tempering; called before on_draws for the same
  /// draws.
  virtual void on_rungs(const RungBatch&) {}
  /// Called between segments; `stop` ends the run after the state has been passed to on_state.
  virtual Continue on_progress(const Progress&) { return Continue::yes; }
  /// Called at each number of draws in RunOptions::decisions, when exactly that many draws of every chain
  /// since the last warm-up have been passed on by this run or by those that it resumes. The decision must be
  /// a function of the draws alone, because a resumed run repeats the call.
  virtual Decision on_decision(std::int64_t /*num_draws*/) { return Decision::more_draws; }
  /// Called after Decision::longer_warmup; sampling restarts after the absolute step `end`.
  virtual void on_longer_warmup(std::int64_t /*end*/) {}
  /// Whether on_state is to be called now, after `step` steps. Called between segments, while the device may
  /// still be running the last one.
  virtual bool wants_state(std::int64_t /*step*/) { return false; }
  virtual void on_state(const SamplerState&) {}
};

struct RunResult {
  SamplerState state;    ///< state at the end
  bool finished = true;  ///< false: on_progress stopped the run
  double warmup_seconds = 0, sampling_seconds = 0;
  /// Number of parameter vectors evaluated, including those of the runs that this one resumes; one
  /// evaluate_component or evaluate_with_gradient counts as one.
  std::uint64_t num_evaluations = 0;
  /// [num_blocks] change of the log scale of each block's increments over the last fifth of the warm-up, the
  /// largest over the groups; NaN if there was no warm-up.
  std::vector<double> adaptation_drift;
  /// Part of warm-up and sampling, in seconds, in which this rank gathered segments of all ranks; on a GPU
  /// this overlaps with the next segment.
  double gather_seconds = 0;
  std::string stepping;  ///< description for messages of how a GPU ran the steps; empty on the host
  TrajectorySummary trajectories;
};

/// Runs the chains of `plans` from `starts` (num_chains x target.dim(), host memory, constrained parameters
/// in the sampler's units) or from `resume`, in which case `starts` is ignored. With tempering, `plans` are
/// the chains without rungs; rungs begin at their chain's start, or at their own if `starts` has those of
/// tempered_plans(). Throws InputError if an option, plan, proposal or state does not match, or if there are
/// more ranks than chains; MachineError if memory does not suffice; DensityError if a start has no finite
/// density or if a chain exceeds max_nan_share; and std::invalid_argument if the target does not match the
/// engine.
RunResult run_chains(LikelihoodEngine& engine, const Target& target, const ProposalSpec& proposal,
                     const std::vector<ChainPlan>& plans, const RunOptions& options,
                     std::span<const double> starts, DrawHandler& handler,
                     const SamplerState* resume = nullptr);
/// Runs chains as above with one target for each group of chains, targets[plan.group]. Throws
/// std::invalid_argument if the targets differ in structure (Target::is_like).
RunResult run_chains(LikelihoodEngine& engine, std::span<const Target> targets, const ProposalSpec& proposal,
                     const std::vector<ChainPlan>& plans, const RunOptions& options,
                     std::span<const double> starts, DrawHandler& handler,
                     const SamplerState* resume = nullptr);

}  // namespace emomc

// Chains of a gradient sampler with fixed adapted numbers, which are stepped by the parts of run_chains, and
// the densities with which they are tested.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "emomc/device/trajectory.hpp"
#include "ensemble.hpp"
#include "function_engine.hpp"
#include "mixture_target.hpp"
#include "segment_runner.hpp"
#include "trajectories.hpp"

namespace emomc::testing {

/// A posterior: the sampler's target has the prior and the transforms, and the likelihood is a function with
/// its gradient.
struct TrajectoryProblem {
  Target target;
  FunctionEngine::GradientFunction log_likelihood;
  double beta = 1;
};

/// Returns a target of `size` real parameters with normal(0, prior_sd) priors.
inline Target real_target(int size, double prior_sd) {
  ParameterLayout layout;
  layout.blocks.push_back({"x", {size}, Support::real});
  PriorSet prior;
  prior.blocks["x"] = {PriorFamily::normal, {number(0), number(prior_sd)}};
  return Target(layout, prior, std::vector<double>{});
}

/// The adapted numbers of the steps of a gradient sampler.
struct FixedMetric {
  double step_size = 0.5;
  ProposalShape shape = ProposalShape::isotropic;
  std::vector<double> sd = {};      ///< [dim_unconstrained]; empty: 1
  std::vector<double> factor = {};  ///< with dense: lower Cholesky factor, column-major
  bool is_fitted = false;           ///< whether leapfrogs are fitted to the metric
  // These are used if the length is learnt.
  double length = 2;
  std::vector<double> centre = {};  ///< [dim_unconstrained]; empty: 1
};

class TrajectoryChains {
 public:
  TrajectoryChains(const std::string& kind, TrajectoryProblem problem, int num_chains,
                   const FixedMetric& metric, std::uint64_t seed = 1)
      : problem_(std::move(problem)),
        engine_(*device_, problem_.target.layout(), problem_.log_likelihood),
        blocks_(plan_blocks(traits_of_kind(kind), metric.shape, problem_.target)) {
    for (int c = 0; c < num_chains; ++c)
      plans_.push_back({static_cast<std::uint64_t>(c), {0}, problem_.beta, 0});
    ensemble_ = std::make_unique<Ensemble>(*device_, std::span(&problem_.target, 1), blocks_, plans_, seed,
                                           RecordLayout{kMostKept});
    trajectories_ = make_trajectories(kind, engine_, *ensemble_, RecordLayout{kMostKept});
    segments_ = std::make_unique<SegmentRunner>(engine_, *ensemble_, *trajectories_, blocks_,
                                                RecordLayout{kMostKept});
    const int n = problem_.target.dim_unconstrained();
    const device::AdaptedLayout layout = blocks_.adapted_layout(n);
    std::vector<double> adapted(static_cast<std::size_t>(layout.size()), 1.0);
    adapted[0] = std::log(metric.step_size);
    std::copy(metric.sd.begin(), metric.sd.end(), adapted.begin() + layout.sd(0));
    adapted[static_cast<std::size_t>(layout.has_metric())] = metric.is_fitted ? 1 : 0;
    if (blocks_.traits.length() == device::TrajectoryLength::bounded)
      adapted[static_cast<std::size_t>(layout.length())] = device::kLongestTime;
    if (blocks_.traits.length() == device::TrajectoryLength::learnt) {
      adapted[static_cast<std::size_t>(layout.length())] = std::log(metric.length);
      std::copy(metric.centre.begin(), metric.centre.end(), adapted.begin() + layout.length() + 1);
    }
    if (metric.shape == ProposalShape::dense)
      std::copy(metric.factor.begin(), metric.factor.end(), adapted.begin() + layout.dense(0));
    ensemble_->upload_adapted(adapted);
  }

  const Target& target() const { return problem_.target; }
  int dim_u() const { return problem_.target.dim_unconstrained(); }
  FunctionEngine& engine() { return engine_; }
  const Ensemble& ensemble() const { return *ensemble_; }
  Trajectories& trajectories() { return *trajectories_; }
  device::TrajectoryView view() const { return trajectories_->arrays().view(); }

  /// Moves the chains to `points` [num_chains x dim_unconstrained].
  void begin(const std::vector<double>& points) {
    ensemble_->upload_points(points, {&problem_.target, 1});
    trajectories_->evaluate_current();
  }
  /// Evaluates the current points anew, for example after a change of the likelihood.
  void evaluate() { trajectories_->evaluate_current(); }

  /// Steps all chains. After this, `u` and `statistics` have the values of the last step.
  void run(std::int64_t steps) {
    const auto drain = [&](const SegmentResult& segment) {
      const auto chains = plans_.size(), n = static_cast<std::size_t>(dim_u());
      u.assign(segment.u, segment.u + chains * n);
      theta.assign(segment.theta, segment.theta + chains * static_cast<std::size_t>(target().dim()));
      statistics.assign(segment.statistics, segment.statistics + chains);
      totals.assign(segment.totals, segment.totals + chains);
    };
    segments_->run(step_, steps, step_, steps, CopyPoints::both, drain);
    segments_->finish(drain);
    step_ += steps;
  }

  std::vector<double> u, theta;
  std::vector<DrawStatistics> statistics;
  std::vector<device::TrajectoryTotals> totals;

 private:
  static constexpr std::int64_t kMostKept = 1;

  std::unique_ptr<Device> device_ = make_host_device();
  TrajectoryProblem problem_;
  FunctionEngine engine_;
  ProposalBlocks blocks_;
  std::vector<ChainPlan> plans_;
  std::unique_ptr<Ensemble> ensemble_;
  std::unique_ptr<Trajectories> trajectories_;
  std::unique_ptr<SegmentRunner> segments_;
  std::int64_t step_ = 0;
};

/// Takes one leapfrog at a time, by the phases of the sampler, in chain 0 of TrajectoryChains.
class Leapfrogs {
 public:
  struct Phase {
    std::vector<double> u, momentum;
  };
  explicit Leapfrogs(TrajectoryChains& chains) : chains_(chains) {}

  /// Returns the energy of a point with a momentum; later calls continue from there.
  double begin(const Phase& phase) {
    chains_.begin(phase.u);
    view_ = chains_.view();
    trajectory_ = device::trajectory_of(view_, 0, 0);
    device::TrajectoryState state{};
    state.direction = 1;
    state.leapfrog = device::leapfrog_factors(trajectory_, trajectory_.step_size);
    state_ = state;
    const std::size_t n = phase.u.size();
    std::copy(phase.u.begin(), phase.u.end(), trajectory_.rows.u);
    std::copy(phase.momentum.begin(), phase.momentum.end(), trajectory_.x.momentum);
    std::copy_n(trajectory_.x.gradient, n, trajectory_.x.moving_gradient);
    return device::kinetic_energy(device::HostTeam{}, static_cast<int>(n), phase.momentum.data()) -
           device::log_density_of(device::densities_of(view_.step.current, 0), trajectory_.beta);
  }
  /// Takes `count` leapfrogs in a direction of time and returns the energy after them.
  double go(int count, int direction) {
    state_.direction = direction;
    double energy = 0;
    for (int i = 0; i < count; ++i) {
      device::propose(device::HostTeam{}, view_, trajectory_, state_);
      chains_.engine().evaluate_with_gradient(chains_.ensemble().candidate_view(),
                                              chains_.trajectories().arrays().gradients(), {nullptr, 1});
      energy = device::arrive(device::HostTeam{}, view_, trajectory_, state_).energy;
    }
    return energy;
  }
  Phase phase() const {
    const auto n = static_cast<std::size_t>(chains_.dim_u());
    return {{trajectory_.rows.u, trajectory_.rows.u + n},
            {trajectory_.x.momentum, trajectory_.x.momentum + n}};
  }
  const device::TrajectoryState& state() const { return state_; }

 private:
  TrajectoryChains& chains_;
  device::TrajectoryView view_{};
  device::Trajectory trajectory_{};
  device::TrajectoryState state_{};
};

}  // namespace emomc::testing

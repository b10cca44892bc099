// Runs the chains of gradient samplers. Each chain has a trajectory of its own; all chains whose trajectory
// is under way are evaluated together.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/device/trajectory_view.hpp"
#include "ensemble.hpp"

namespace emomc {

/// The state of all trajectories, in the memory of the device that evaluates the likelihood.
class TrajectoryArrays {
 public:
  TrajectoryArrays(Device& device, const Ensemble& ensemble, bool has_tree, RecordLayout record);

  const device::TrajectoryView& view() const { return view_; }
  /// Arrays to which the engine writes the gradients of the candidates' log likelihoods.
  GradientView gradients() const { return {view_.likelihood_gradient, view_.step.ld}; }
  /// The same arrays, restricted to chains whose trajectory is under way when the work runs.
  GradientView gradients_under_way() const {
    return {view_.likelihood_gradient, view_.step.ld, view_.active};
  }
  device::i64* until() const { return until_.data(); }
  /// Device address of the first slot of one of the two record buffers.
  const device::DrawStatistics* half(int index) const;
  std::size_t record_bytes() const { return statistics_.bytes(); }

  // Transfers from and to the host; all wait.
  std::vector<device::TrajectoryTotals> totals() const { return totals_.download(); }
  void upload_totals(const std::vector<device::TrajectoryTotals>& totals) { totals_.upload(totals); }
  std::vector<device::TrajectoryState> states() const { return states_.download(); }
  /// Whether the gradient at each chain's current point is finite, in the order of chains.
  std::vector<bool> have_finite_gradients() const;

 private:
  RecordLayout record_layout_;
  DeviceArray<double> vectors_, likelihood_gradient_, scratch_;
  DeviceArray<device::TrajectoryState> states_;
  DeviceArray<device::TrajectoryTotals> totals_;
  DeviceArray<device::DrawStatistics> statistics_;
  DeviceArray<device::i64> until_;
  DeviceArray<device::u8> active_;
  device::TrajectoryView view_{};
};

class Trajectories {
 public:
  virtual ~Trajectories() = default;
  virtual const TrajectoryArrays& arrays() const = 0;
  virtual TrajectoryArrays& arrays() = 0;

  /// Evaluates the current points with their gradients. Required before the calls below, after points have
  /// been uploaded. Waits.
  virtual void evaluate_current() = 0;
  /// Enqueues the steps of all chains up to the one in arrays().until(); waits for them if the host repeats
  /// leapfrogs.
  virtual void launch() = 0;
  /// Returns the acceptance probabilities [num_chains] of a single leapfrog from each chain's current point,
  /// which does not change. Waits.
  virtual std::vector<double> try_step() = 0;
  /// Describes how steps are run on a GPU, for messages.
  virtual std::string stepping() const = 0;
};

/// Makes the trajectories of `kind`, one of EMOMC_TRAJECTORIES; nullptr for another kind, and for an engine
/// without gradients. `by`: the side that repeats leapfrogs on a GPU until all chains have completed their
/// steps.
std::unique_ptr<Trajectories> make_trajectories(const std::string& kind, LikelihoodEngine& engine,
                                                const Ensemble& ensemble, RecordLayout record,
                                                RepeatedBy by = RepeatedBy::device);
/// Makes the trajectories of `kind` on a GPU.
std::unique_ptr<Trajectories> make_cuda_trajectories(const std::string& kind, LikelihoodEngine& engine,
                                                     const Ensemble& ensemble, RecordLayout record,
                                                     RepeatedBy by);
/// The reason why the engine cannot run gradient samplers; empty if it can.
std::string why_no_gradients(const LikelihoodEngine& engine);

}  // namespace emomc

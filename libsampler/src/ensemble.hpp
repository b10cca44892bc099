// The state of all chains, in the memory of the device that evaluates the likelihood.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "emomc/core/execution.hpp"
#include "emomc/core/likelihood_engine.hpp"
#include "emomc/core/rank_range.hpp"
#include "emomc/device/metropolis.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "proposal_blocks.hpp"

namespace emomc {

/// Returns the target of a group; `targets` has one element for all groups or one for each.
inline const Target& target_of(std::span<const Target> targets, int group) {
  return targets.size() == 1 ? targets[0] : targets[static_cast<std::size_t>(group)];
}

/// Slots for kept draws, in two buffers: one is filled while the other is drained. A "half" of the record is
/// one of these buffers.
struct RecordLayout {
  std::int64_t slots_per_half = 1;
};
/// Returns as many slots as fit into 32 MB for each buffer, at most 4,096.
RecordLayout plan_record(const Target& target, std::size_t num_chains);

/// Returns 1 + the largest group number.
std::size_t num_groups(const std::vector<ChainPlan>& plans);

class Ensemble {
 public:
  /// `targets` has one element for all groups or one for each. `evaluated`: the chains whose likelihood is
  /// evaluated here, among `plans`.
  Ensemble(Device& device, std::span<const Target> targets, const ProposalBlocks& blocks,
           const std::vector<ChainPlan>& plans, std::size_t num_groups, std::uint64_t seed,
           RecordLayout record, RankRange evaluated);
  /// Makes an ensemble in which the likelihood of all chains is evaluated here.
  Ensemble(Device& device, std::span<const Target> targets, const ProposalBlocks& blocks,
           const std::vector<ChainPlan>& plans, std::uint64_t seed, RecordLayout record)
      : Ensemble(device, targets, blocks, plans, num_groups(plans), seed, record, {0, plans.size()}) {}

  const device::StepView& view() const { return view_; }
  int num_chains() const { return view_.num_chains; }
  EnsembleView current_view() const { return engine_view(view_.current); }
  EnsembleView candidate_view() const { return engine_view(view_.candidate); }
  /// Returns the component numbers of a block for evaluate_component, [num_chains], in device memory.
  const int* components_of(int block) const { return components_.data() + block * view_.num_chains; }

  /// Returns the chains that a block moves and whose likelihood is evaluated here, in device memory. `half`:
  /// one half of the ensemble, or kAllChains.
  ActiveSet movers(int half) const;

  // Transfers of the state from and to the host; all wait.
  void upload_points(const std::vector<double>& u, std::span<const Target> targets);
  void upload_adapted(const std::vector<double>& adapted) { adapted_.upload(adapted); }
  void upload_step(std::int64_t step);
  void upload_betas(const std::vector<double>& betas) { beta_.upload(betas); }
  void upload_log_likelihood(const std::vector<double>& values);
  void upload_counters(const std::vector<std::uint64_t>& accepted, const std::vector<std::uint64_t>& proposed,
                       const std::vector<std::uint64_t>& faults);
  std::vector<double> download_u() const {
    return unpad(current_u_.download(), view_.ld_u, view_.table.dim_unconstrained);
  }
  std::vector<double> download_scalars(const double* values) const;
  std::vector<std::uint64_t> accepted() const { return num_accepted_.download(); }
  std::vector<std::uint64_t> proposed() const { return num_proposed_.download(); }
  std::vector<std::uint64_t> faults() const { return num_faults_.download(); }

  /// Bytes of both buffers of kept draws; drawn_ahead_bytes() returns those of innovations that are drawn
  /// ahead.
  std::size_t record_bytes() const {
    return record_u_.bytes() + record_theta_.bytes() + record_log_prior_.bytes() +
           record_log_likelihood_.bytes();
  }
  std::size_t drawn_ahead_bytes() const { return drawn_.bytes(); }

  device::RecordPlan* record_plan() const { return record_plan_.data(); }
  /// Returns the device addresses of the first slot of a buffer.
  device::Record half(int index) const;

 private:
  EnsembleView engine_view(const device::PointSet& points) const {
    return {view_.num_chains, view_.table.dim, view_.ld, points.theta, points.log_likelihood};
  }
  void upload_tables(std::span<const Target> targets);
  void plan_drawn_ahead(const ProposalBlocks& blocks);
  void plan_halves(const std::vector<int>& groups, std::size_t num_groups);
  std::vector<double> unpad(const std::vector<double>& padded, int ld, int width) const;

  Device& device_;
  RecordLayout record_layout_;
  DeviceArray<device::Element> elements_;
  DeviceArray<device::SimplexBlock> simplices_;
  DeviceArray<device::CovarianceRow> covariance_rows_;
  DeviceArray<device::ConditionalElement> conditionals_;
  DeviceArray<double> constants_;
  DeviceArray<device::ProposalBlock> blocks_;
  DeviceArray<double> current_u_, current_theta_, current_scalars_;
  DeviceArray<double> candidate_u_, candidate_theta_, candidate_scalars_;
  DeviceArray<double> innovation_, drawn_, log_q_, beta_, adapted_;
  DeviceArray<std::uint8_t> accepted_;
  DeviceArray<device::i64> step_;
  DeviceArray<device::u32> chain_id_;
  std::vector<int> groups_;  ///< [num_chains], host memory
  DeviceArray<int> group_, components_, half_, members_, first_member_;
  std::array<DeviceArray<int>, 2> half_chains_;  ///< chains of evaluated_ in each half
  RankRange evaluated_;
  DeviceArray<int> evaluated_chains_;  ///< chains of evaluated_; empty if these are all chains
  DeviceArray<std::uint8_t> first_accepted_;
  DeviceArray<double> first_density_;
  DeviceArray<std::uint64_t> num_accepted_, num_proposed_, num_faults_;
  DeviceArray<device::RecordPlan> record_plan_;
  DeviceArray<double> record_u_, record_theta_, record_log_prior_, record_log_likelihood_;
  device::StepView view_{};
};

}  // namespace emomc

#include "trajectory_counts.hpp"

#include <cstring>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

using device::TrajectoryTotals;
constexpr std::size_t kNumParts = sizeof(TrajectoryTotals) / sizeof(double);

}  // namespace

double TrajectoryCounts::sum(double TrajectoryTotals::*part) const {
  double sum = 0;
  for (const auto& total : totals_) sum += total.*part;
  return sum;
}

void TrajectoryCounts::upload() { arrays_.upload_totals(share_.mine(totals_, 1)); }

std::uint64_t TrajectoryCounts::evaluations() const {
  return earlier_evaluations_ + static_cast<std::uint64_t>(sum(&TrajectoryTotals::leapfrogs));
}

TrajectorySummary TrajectoryCounts::summary() const {
  const double draws = sum(&TrajectoryTotals::draws);
  if (draws == 0) return {};
  return {static_cast<std::uint64_t>(sum(&TrajectoryTotals::divergences)),
          sum(&TrajectoryTotals::deepest) / draws, sum(&TrajectoryTotals::leapfrogs) / draws};
}

double TrajectoryCounts::mean_acceptance() const {
  const double draws = sum(&TrajectoryTotals::draws);
  return draws > 0 ? sum(&TrajectoryTotals::acceptance) / draws : 0;
}

std::vector<double> TrajectoryCounts::window_acceptance() const {
  std::vector<double> sums;
  for (const auto& total : totals_) sums.push_back(total.window_acceptance);
  return sums;
}

std::vector<double> TrajectoryCounts::window_length_slope() const {
  std::vector<double> sums;
  for (const auto& total : totals_) sums.push_back(total.window_length_slope);
  return sums;
}

void TrajectoryCounts::begin_window() {
  for (auto& total : totals_) total.window_acceptance = total.window_length_slope = 0;
  upload();
}

void TrajectoryCounts::begin_phase() {
  earlier_evaluations_ = evaluations();
  for (auto& total : totals_) total = {};
  upload();
}

std::size_t TrajectoryCounts::num_saved() const { return totals_.size() * kNumParts; }

void TrajectoryCounts::append_to(std::vector<double>& saved) const {
  const std::size_t before = saved.size();
  saved.resize(before + num_saved());
  std::memcpy(saved.data() + before, totals_.data(), num_saved() * sizeof(double));
}

void TrajectoryCounts::restore(std::span<const double> saved, std::uint64_t evaluations) {
  std::memcpy(totals_.data(), saved.data(), saved.size_bytes());
  upload();
  const double leapfrogs = sum(&TrajectoryTotals::leapfrogs);
  if (!(leapfrogs >= 0 && leapfrogs <= static_cast<double>(evaluations)))
    throw InputError("checkpoint: it has an impossible number of leapfrogs");
  earlier_evaluations_ = evaluations - static_cast<std::uint64_t>(leapfrogs);
}

}  // namespace emomc

#include "length_adaptation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "emomc/device/draw_statistics.hpp"

namespace emomc {
namespace {

// The constants of section 3.1 of the paper: Adam (Kingma and Ba 2015) without momentum.
constexpr double kRate = 0.025, kMemory = 0.95;
// Number of leapfrogs of the first length. Trajectories have half of it on average, which suffices for chains
// to find the posterior before the length is known.
constexpr double kFirstLeapfrogs = 10;
// The weight of a log length in the mean is this power of the number of updates since the mean was restarted.
constexpr double kForgetting = 0.5;
// Weight of earlier points in the centre, as a number of points; it matters if there are few chains.
constexpr double kRemembered = 16;
// The root of tan(2 T) = 2 T: the best length if the metric has the covariance of a normal density and the
// share of the length is uniform (tests/libsampler/chees_test.cpp).
constexpr double kBestForANormal = 2.2467;
constexpr double kLeastAcceptance = 1e-3;
// With fewer updates the last length is used instead of the mean.
constexpr double kFewestUpdates = 10;

}  // namespace

LengthAdaptation::LengthAdaptation(const device::AdaptedLayout& layout, std::size_t num_groups)
    : layout_(layout), dim_(static_cast<std::size_t>(layout.dim_unconstrained)) {
  for (auto* numbers :
       {&log_length_, &square_, &updates_, &mean_, &averaged_, &known_, &count_, &has_metric_})
    numbers->assign(num_groups, 0.0);
  for (auto* numbers : {&centre_, &sum_}) numbers->assign(num_groups * dim_, 0.0);
}

void LengthAdaptation::write(std::size_t group, double* numbers) const {
  double* own = numbers + layout_.length();
  own[0] = log_length_[group];
  std::copy_n(centre_.begin() + static_cast<std::ptrdiff_t>(group * dim_), dim_, own + 1);
}

void LengthAdaptation::follow(std::size_t group, double log_step) {
  if (updates_[group] == 0) log_length_[group] = log_step + std::log(kFirstLeapfrogs);
  keep_in_bounds(group, log_step);
}

void LengthAdaptation::keep_in_bounds(std::size_t group, double log_step) {
  log_length_[group] = std::clamp(log_length_[group], log_step,
                                  log_step + std::log(static_cast<double>(device::kMostLeapfrogs)));
}

void LengthAdaptation::begin_mean() {
  for (auto* numbers : {&mean_, &averaged_}) std::fill(numbers->begin(), numbers->end(), 0.0);
}

void LengthAdaptation::add_point(std::size_t group, std::span<const double> u) {
  double* sum = sum_.data() + group * dim_;
  for (std::size_t i = 0; i < dim_; ++i) sum[i] += u[i];
  count_[group] += 1;
}

// Without memory of earlier points, the centre of a single chain would be its point.
void LengthAdaptation::move_centre(std::size_t group) {
  const double count = count_[group];
  if (count == 0) return;
  const double weight = known_[group] == 0 ? 1 : count / (count + kRemembered);
  double *centre = centre_.data() + group * dim_, *sum = sum_.data() + group * dim_;
  for (std::size_t i = 0; i < dim_; ++i) {
    centre[i] += weight * (sum[i] / count - centre[i]);
    sum[i] = 0;
  }
  known_[group] = 1;
  count_[group] = 0;
}

void LengthAdaptation::update(std::size_t group, double slope, double acceptance, double log_step) {
  // The gradient is with respect to the logarithm of the length. The scale of the slopes cancels in Adam's
  // step.
  const double gradient = slope / acceptance * std::exp(log_length_[group]);
  if (std::isfinite(gradient)) {
    const double t = updates_[group] += 1;
    square_[group] = kMemory * square_[group] + (1 - kMemory) * gradient * gradient;
    const double size = std::sqrt(square_[group] / (1 - std::pow(kMemory, t)));
    if (size > 0) log_length_[group] += kRate * gradient / size;
    keep_in_bounds(group, log_step);
  }
  const double count = averaged_[group] += 1;
  mean_[group] += std::pow(count, -kForgetting) * (log_length_[group] - mean_[group]);
}

void LengthAdaptation::change_metric(std::size_t group, std::span<const double> before,
                                     std::span<const double> after) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < before.size(); ++i) least = std::min(least, std::log(before[i] / after[i]));
  if (has_metric_[group] == 0)
    log_length_[group] = std::log(kBestForANormal);
  else if (std::isfinite(least))
    log_length_[group] += least;
  has_metric_[group] = 1;
}

void LengthAdaptation::finish(std::size_t group, double log_step) {
  if (averaged_[group] >= kFewestUpdates) log_length_[group] = mean_[group];
  keep_in_bounds(group, log_step);
}

double harmonic_mean(std::span<const double> acceptance, std::span<const std::size_t> group_of_chain,
                     std::size_t group) {
  double inverses = 0, count = 0;
  for (std::size_t c = 0; c < acceptance.size(); ++c) {
    if (group_of_chain[c] != group) continue;
    inverses += 1 / std::max(acceptance[c], kLeastAcceptance);
    count += 1;
  }
  return count / inverses;
}

}  // namespace emomc

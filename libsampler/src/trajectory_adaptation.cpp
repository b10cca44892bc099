#include "trajectory_adaptation.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "emomc/core/errors.hpp"
#include "emomc/device/leapfrog.hpp"
#include "outer_product.hpp"
#include "relative_points.hpp"

namespace emomc {
namespace {

constexpr std::int64_t kFewestSteps = 20, kInitialBuffer = 75, kFinalBuffer = 50, kFirstWindow = 25;
// With fewer updates, the step size that the search has found is used instead of the mean.
constexpr std::int64_t kFewestUpdates = 10;
constexpr double kShortInitialBuffer = 0.15, kShortFinalBuffer = 0.1;
constexpr double kWindowGrowth = 0.05;
constexpr std::int64_t kPointsPerWindow = 4096;  // counted over all chains
// Number of chains of a group from whose points the metric is learnt if every window is a single step.
constexpr std::size_t kLearntFrom = 256;

// Constants of Hoffman and Gelman 2014, section 3.2.1, with a different shrinkage (0.05 there) and first
// value (10 times the step size that the search has found): docs/decisions/gradient-samplers.md.
constexpr double kShrinkage = 0.2, kDelay = 10, kForgetting = 0.75, kLargerFirst = 2;
// Bound of the size of a chain's slope, as a multiple of the median of the group's sizes.
constexpr double kMostOfMedian = 5;
// The acceptance at which the search for the first step size aims, as in Stan.
constexpr double kAcceptanceOfTrials = 0.8;
// Bound of the number of leapfrogs of the longest trajectories before there is a metric that determines their
// length.
constexpr double kMostWithoutMetric = 10;
// Three fitted leapfrogs of this step size are half a turn, or a little more, of a posterior with the
// metric's covariance. With a step size that is up to kMostRaised times smaller, a tree that has not turned
// after three leapfrogs is doubled and returns to its beginning.
constexpr double kHalfTurnOfThree = 1.1 * 3.141592653589793 / 3, kMostRaised = 1.4;
constexpr double kLeastLogStep = -60, kGreatestLogStep = 20;
// Prior points and relative variance of Stan's regularisation of the metric.
constexpr double kPriorPoints = 5, kPriorVariance = 1e-3;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

MetricWindows metric_windows(std::int64_t warmup) {
  MetricWindows windows;
  windows.begin = warmup;
  if (warmup < kFewestSteps) return windows;
  std::int64_t initial = kInitialBuffer, last = kFinalBuffer, length = kFirstWindow;
  if (initial + length + last > warmup) {
    initial = static_cast<std::int64_t>(kShortInitialBuffer * static_cast<double>(warmup));
    last =
        std::max(kFewestUpdates, static_cast<std::int64_t>(kShortFinalBuffer * static_cast<double>(warmup)));
    length = warmup - initial - last;
  }
  windows.begin = initial;
  const std::int64_t end = warmup - last;
  // A window is extended to the end if the next one would not fit.
  for (std::int64_t at = initial; at < end; length *= 2) {
    at = at + length + 2 * length > end ? end : at + length;
    windows.ends.push_back(at);
  }
  return windows;
}

TrajectoryAdaptation::TrajectoryAdaptation(const ProposalBlocks& blocks, double target_acceptance,
                                           const std::vector<ChainPlan>& plans, int dim_unconstrained,
                                           std::int64_t warmup, std::size_t num_rows)
    : layout_(blocks.adapted_layout(dim_unconstrained)),
      shape_(blocks.shape),
      has_trees_(blocks.traits.has_tree()),
      target_acceptance_(target_acceptance),
      warmup_(warmup) {
  std::vector<std::size_t> chains_of_group;
  for (const auto& plan : plans) {
    const auto group = static_cast<std::size_t>(plan.group);
    group_of_chain_.push_back(group);
    num_groups_ = std::max(num_groups_, group + 1);
    chains_of_group.resize(num_groups_);
    place_of_chain_.push_back(chains_of_group[group]++);
  }
  const auto n = static_cast<std::size_t>(dim_unconstrained);
  const auto size = static_cast<std::size_t>(layout_.size());
  adapted_.assign(num_groups_ * size, 0.0);
  for (std::size_t g = 0; g < num_groups_; ++g) {
    // The stable step size of leapfrogs is proportional to the posterior's width, about 1 / sqrt(rows).
    log_step(g) =
        -0.5 * std::log(1.0 + static_cast<double>(num_rows)) - 0.25 * std::log(static_cast<double>(n));
    double* numbers = numbers_of(g);
    std::fill_n(numbers + layout_.sd(0), n, 1.0);
    if (shape_ == ProposalShape::dense)
      for (std::size_t i = 0; i < n; ++i)
        numbers[static_cast<std::size_t>(layout_.dense(0)) + i * (n + 1)] = 1;
  }
  for (auto* numbers : {&mu_, &error_, &mean_, &updates_, &late_}) numbers->assign(num_groups_, 0.0);
  search_.assign(num_groups_, Search::none);
  first_.resize(plans.size() * n);
  sum_.resize(first_.size());
  count_.resize(plans.size());
  cross_.resize(num_groups_ * n * (shape_ == ProposalShape::dense ? n : 1));
  if (blocks.traits.length() == device::TrajectoryLength::learnt) length_.emplace(layout_, num_groups_);
  if (blocks.traits.length() == device::TrajectoryLength::bounded)
    is_bounded_.assign(1, warmup > 0 ? 1.0 : 0.0);
  begin_warmup(warmup);
  if (warmup > 0) begin_search();
}

double* TrajectoryAdaptation::numbers_of(std::size_t group) {
  return adapted_.data() + group * static_cast<std::size_t>(layout_.size());
}

double& TrajectoryAdaptation::log_step(std::size_t group) { return numbers_of(group)[layout_.scale(0)]; }

// Leapfrogs are fitted to the metric once it has been learnt, and then have a longest time.
bool TrajectoryAdaptation::has_metric(std::size_t group) const {
  const auto at =
      group * static_cast<std::size_t>(layout_.size()) + static_cast<std::size_t>(layout_.has_metric());
  return adapted_[at] != 0;
}
double TrajectoryAdaptation::greatest_log_step(std::size_t group) const {
  return has_metric(group) ? std::log(device::kLongestFitted) : kGreatestLogStep;
}

void TrajectoryAdaptation::begin_warmup(std::int64_t warmup) {
  warmup_ = warmup;
  windows_ = metric_windows(warmup);
  std::fill(late_.begin(), late_.end(), kNan);
  for (std::size_t g = 0; g < num_groups_; ++g) begin_averaging(g);
  if (length_) length_->begin_mean();
  forget_points();
}

std::vector<std::int64_t> TrajectoryAdaptation::window_ends(std::int64_t warmup) const {
  std::vector<std::int64_t> ends;
  if (length_) {
    for (std::int64_t end = 1; end <= warmup; ++end) ends.push_back(end);
    return ends;
  }
  const MetricWindows metric = metric_windows(warmup);
  const std::int64_t last = metric.ends.empty() ? 0 : metric.ends.back();
  std::vector<std::int64_t> borders{metric.begin};
  borders.insert(borders.end(), metric.ends.begin(), metric.ends.end());
  borders.insert(borders.end(), {last + (warmup - last) / 2, warmup});
  std::sort(borders.begin(), borders.end());
  std::int64_t at = 0, anew = 0;
  for (const std::int64_t border : borders) {
    while (at < border) {
      const auto length = static_cast<std::int64_t>(kWindowGrowth * static_cast<double>(at - anew));
      at = std::min(border, at + std::max<std::int64_t>(1, length));
      ends.push_back(at);
    }
    if (std::find(metric.ends.begin(), metric.ends.end(), border) != metric.ends.end()) anew = border;
  }
  return ends;
}

std::int64_t TrajectoryAdaptation::steps_of_window(std::int64_t end) const {
  if (length_) return 1;
  std::int64_t begin = 0;
  for (const std::int64_t other : window_ends(warmup_))
    if (other < end) begin = other;
  return end - begin;
}

std::int64_t TrajectoryAdaptation::stride(std::int64_t begin, std::int64_t end) const {
  if (length_) return 1;  // the centre is that of all points
  const auto points = (end - begin) * static_cast<std::int64_t>(count_.size());
  return std::max<std::int64_t>(1, points / kPointsPerWindow);
}

void TrajectoryAdaptation::begin_search() { std::fill(search_.begin(), search_.end(), Search::first); }

bool TrajectoryAdaptation::is_trying() const {
  return std::any_of(search_.begin(), search_.end(), [](Search s) { return s != Search::none; });
}

// The step size for the draws after a warm-up.
double TrajectoryAdaptation::final_log_step(std::size_t group) {
  const double adapted = updates_[group] < static_cast<double>(kFewestUpdates)
                             ? mu_[group] - std::log(kLargerFirst)
                             : mean_[group];
  const double half_turn = std::log(kHalfTurnOfThree);
  const bool overshoots =
      has_trees_ && has_metric(group) && adapted < half_turn && adapted >= half_turn - std::log(kMostRaised);
  return overshoots ? half_turn : adapted;
}

// Doubles or halves the step size until the mean acceptance of single leapfrogs crosses its bound (Hoffman
// and Gelman 2014, algorithm 4).
void TrajectoryAdaptation::tried(std::span<const double> acceptance) {
  for (std::size_t g = 0; g < num_groups_; ++g) {
    if (search_[g] == Search::none) continue;
    double sum = 0, chains = 0;
    for (std::size_t c = 0; c < group_of_chain_.size(); ++c)
      if (group_of_chain_[c] == g) {
        sum += acceptance[c];
        chains += 1;
      }
    const bool easy = sum > kAcceptanceOfTrials * chains;
    const Search way = easy ? Search::longer : Search::shorter;
    const bool crossed = search_[g] != Search::first && search_[g] != way;
    const double next = log_step(g) + (easy ? 1 : -1) * std::log(2.0);
    if (crossed || next < kLeastLogStep || next > greatest_log_step(g)) {
      search_[g] = Search::none;
      begin_averaging(g);
    } else {
      search_[g] = way;
      log_step(g) = next;
    }
  }
}

// Bounds the length before there is a metric, because an integration time of pi in the units of the identity
// can be thousands of leapfrogs.
void TrajectoryAdaptation::bound_length(std::size_t group) {
  if (is_bounded_.empty()) return;
  double& longest = numbers_of(group)[layout_.length()];
  longest = is_bounded_[0] == 0
                ? device::kLongestTime
                : std::min(device::kLongestTime, kMostWithoutMetric * std::exp(log_step(group)));
}

void TrajectoryAdaptation::begin_averaging(std::size_t group) {
  mu_[group] = std::log(kLargerFirst) + log_step(group);
  error_[group] = mean_[group] = updates_[group] = 0;
  bound_length(group);
  if (!length_) return;
  length_->follow(group, log_step(group));
  length_->write(group, numbers_of(group));
}

void TrajectoryAdaptation::average(std::size_t group, double acceptance) {
  const double t = updates_[group] += 1;
  const double eta = 1 / (t + kDelay);
  error_[group] = (1 - eta) * error_[group] + eta * (target_acceptance_ - acceptance);
  log_step(group) =
      std::min(mu_[group] - error_[group] * std::sqrt(t) / kShrinkage, greatest_log_step(group));
  const double weight = std::pow(t, -kForgetting);
  mean_[group] = weight * log_step(group) + (1 - weight) * mean_[group];
}

void TrajectoryAdaptation::add_point(int chain, std::span<const double> u, double /*log_density*/) {
  const auto c = static_cast<std::size_t>(chain);
  const std::size_t n = u.size(), group = group_of_chain_[c];
  if (length_) {
    length_->add_point(group, u);
    if (place_of_chain_[c] >= kLearntFrom) return;
  }
  const Eigen::VectorXd y = add_relative_point(c, u, first_, sum_, count_);
  if (shape_ == ProposalShape::dense)
    add_outer_product(cross_.data() + group * n * n, static_cast<int>(n), y.data());
  else
    Eigen::Map<Eigen::ArrayXd>(cross_.data() + group * n, y.size()) += y.array().square();
}

// Learns the metric from the variance within chains, because chains may be in different modes of a mixture.
// The regularisation is Stan's, except that the variance of the prior points is proportional to the typical
// variance, so that the units of a parameter do not matter.
void TrajectoryAdaptation::learn_metric(std::size_t group) {
  if (shape_ == ProposalShape::isotropic) return;
  const auto n = static_cast<Eigen::Index>(layout_.dim_unconstrained);
  const auto size = static_cast<std::size_t>(n);
  double points = 0, chains = 0;
  const bool dense = shape_ == ProposalShape::dense;
  Eigen::MatrixXd moments =
      dense ? Eigen::MatrixXd(Eigen::Map<const Eigen::MatrixXd>(cross_.data() + group * size * size, n, n))
            : Eigen::MatrixXd(Eigen::Map<const Eigen::VectorXd>(cross_.data() + group * size, n));
  for (std::size_t c = 0; c < count_.size(); ++c) {
    if (group_of_chain_[c] != group || count_[c] == 0) continue;
    const Eigen::Map<const Eigen::VectorXd> sum(sum_.data() + c * size, n);
    if (dense)
      moments -= sum * sum.transpose() / count_[c];
    else
      moments.array() -= sum.array().square() / count_[c];
    points += count_[c];
    chains += 1;
  }
  const double degrees = points - chains;
  if (!(degrees > 0)) return;
  moments /= degrees;
  const Eigen::VectorXd variances = dense ? Eigen::VectorXd(moments.diagonal()) : Eigen::VectorXd(moments);
  const double typical = std::exp(variances.array().log().mean());
  if (!(typical > 0) || !std::isfinite(typical)) return;
  moments *= points / (points + kPriorPoints);
  const double added = kPriorVariance * typical * kPriorPoints / (points + kPriorPoints);
  if (dense)
    moments.diagonal().array() += added;
  else
    moments.array() += added;
  write_metric(group, moments);
}

// Writes the metric. `moments` are the variances, or the covariance for a dense metric.
void TrajectoryAdaptation::write_metric(std::size_t group, const Eigen::MatrixXd& moments) {
  const auto n = static_cast<Eigen::Index>(layout_.dim_unconstrained);
  double* numbers = numbers_of(group);
  Eigen::Map<Eigen::ArrayXd> sds(numbers + layout_.sd(0), n);
  const Eigen::ArrayXd before = sds;
  if (shape_ == ProposalShape::dense) {
    const Eigen::LLT<Eigen::MatrixXd> factor(moments);
    if (factor.info() != Eigen::Success) return;
    Eigen::Map<Eigen::MatrixXd>(numbers + layout_.dense(0), n, n) = Eigen::MatrixXd(factor.matrixL());
    // The sds of a dense metric are read only if the length is learnt.
    if (length_) sds = moments.diagonal().array().sqrt();
  } else {
    sds = moments.array().sqrt();
  }
  numbers[layout_.has_metric()] = 1;
  log_step(group) = std::min(log_step(group), greatest_log_step(group));
  const auto size = static_cast<std::size_t>(n);
  if (length_) length_->change_metric(group, {before.data(), size}, {sds.data(), size});
}

double TrajectoryAdaptation::mean_acceptance(std::size_t group, const WindowCounts& counts,
                                             std::int64_t steps) const {
  if (length_) return harmonic_mean(counts.acceptance, group_of_chain_, group);
  double sum = 0, draws = 0;
  for (std::size_t c = 0; c < group_of_chain_.size(); ++c)
    if (group_of_chain_[c] == group) {
      sum += counts.acceptance[c];
      draws += static_cast<double>(steps);
    }
  return sum / draws;
}

// Learns the length. Before the first window chains still move to the posterior, where the criterion has no
// meaning.
void TrajectoryAdaptation::learn_length(std::size_t group, std::int64_t end, const WindowCounts& counts) {
  if (!length_) return;
  length_->move_centre(group);
  if (end <= windows_.begin) return length_->follow(group, log_step(group));
  std::vector<double> sizes;
  for (std::size_t c = 0; c < group_of_chain_.size(); ++c)
    if (group_of_chain_[c] == group) sizes.push_back(std::abs(counts.length_slope[c]));
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  const double bound = kMostOfMedian * *middle;
  double slope = 0, acceptance = 0;
  for (std::size_t c = 0; c < group_of_chain_.size(); ++c)
    if (group_of_chain_[c] == group) {
      slope += std::clamp(counts.length_slope[c], -bound, bound);
      acceptance += counts.acceptance[c];
    }
  length_->update(group, slope, acceptance, log_step(group));
}

void TrajectoryAdaptation::end_window(std::int64_t end, const WindowCounts& counts) {
  const std::int64_t steps = steps_of_window(end);
  const bool learns = std::find(windows_.ends.begin(), windows_.ends.end(), end) != windows_.ends.end();
  const std::int64_t last = windows_.ends.empty() ? 0 : windows_.ends.back();
  if (!is_bounded_.empty() && (learns || end == warmup_)) is_bounded_[0] = 0;
  for (std::size_t g = 0; g < num_groups_; ++g) {
    const double acceptance = mean_acceptance(g, counts, steps);
    if (std::isnan(acceptance)) continue;  // a group without chains
    average(g, acceptance);
    learn_length(g, end, counts);
    if (learns) learn_metric(g);
    if (end == last + (warmup_ - last) / 2) late_[g] = mean_[g];
    if (end == warmup_) log_step(g) = final_log_step(g);
    bound_length(g);
    if (!length_) continue;
    if (end == warmup_) length_->finish(g, log_step(g));
    length_->write(g, numbers_of(g));
  }
  if (length_ && learns) length_->begin_mean();
  if (learns || end == windows_.begin) forget_points();
  if (learns) begin_search();
}

std::vector<double> TrajectoryAdaptation::drift() const {
  double drift = kNan;
  for (std::size_t g = 0; g < num_groups_; ++g) {
    const double change = mean_[g] - late_[g];
    if (!(std::abs(change) <= std::abs(drift))) drift = change;
  }
  return {drift};
}

void TrajectoryAdaptation::forget_points() {
  for (auto* moments : {&first_, &sum_, &count_, &cross_}) std::fill(moments->begin(), moments->end(), 0.0);
}

std::vector<double> TrajectoryAdaptation::save() const {
  std::vector<double> saved;
  for (const auto* part : saved_parts(*this)) saved.insert(saved.end(), part->begin(), part->end());
  return saved;
}

void TrajectoryAdaptation::restore(std::span<const double> saved) {
  std::size_t needed = 0;
  for (const auto* part : saved_parts(*this)) needed += part->size();
  if (saved.size() != needed)
    throw InputError("checkpoint: the adaptation has " + std::to_string(saved.size()) + " numbers, not " +
                     std::to_string(needed) + "; it belongs to another configuration");
  auto at = saved.begin();
  for (auto* part : saved_parts(*this)) {
    std::copy_n(at, part->size(), part->begin());
    at += static_cast<std::ptrdiff_t>(part->size());
  }
  std::fill(search_.begin(), search_.end(), Search::none);
}

}  // namespace emomc

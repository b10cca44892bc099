#include "adaptation.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "emomc/core/errors.hpp"
#include "outer_product.hpp"
#include "relative_points.hpp"

namespace emomc {
namespace {

constexpr std::int64_t kFirstWindow = 10;
constexpr double kWindowGrowth = 0.05;
// The last step at which the shape is learnt, as a share of the warm-up. Earlier ones are at 1/2, 1/4, ... of
// this step.
constexpr double kLastShape = 0.8;
constexpr std::int64_t kFirstShape = 50;         // in steps
constexpr std::int64_t kPointsPerWindow = 2048;  // counted over all chains
// The number of points per window for windows that begin in the first half of the steps before the last fit;
// it is smaller because a point costs n^2 operations.
constexpr std::int64_t kPointsForAFirstFit = 512;
constexpr double kOptimalScale = 2.38;
constexpr double kAcceptanceOneDimension = 0.44;
// ShapeLearning::fitted fits no distribution before this share of the warm-up, while chains still move
// towards the posterior.
constexpr double kFirstFit = 0.25;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Scale of moves by the fitted distribution before their acceptance rate is known.
constexpr double kFirstBeta = 0.5;

// The steps after which the shape is learnt, in decreasing order.
std::vector<std::int64_t> shape_steps(std::int64_t warmup) {
  std::vector<std::int64_t> steps{static_cast<std::int64_t>(kLastShape * static_cast<double>(warmup))};
  while (steps.back() / 2 >= kFirstShape) steps.push_back(steps.back() / 2);
  return steps;
}

}  // namespace

bool Adaptation::learns_shape(const device::ProposalBlock& block) const {
  return blocks_.phase_of(block).learns == device::Learns::scale_and_shape;
}

std::vector<std::int64_t> window_ends(std::int64_t warmup) {
  std::vector<std::int64_t> ends;
  std::int64_t at = 0;
  while (at < warmup) {
    const auto length =
        std::max(kFirstWindow, static_cast<std::int64_t>(kWindowGrowth * static_cast<double>(at)));
    std::int64_t end = at + length;
    // Windows also end at the steps at which the shape is learnt.
    for (const std::int64_t shape : shape_steps(warmup))
      if (at < shape && shape < end) end = shape;
    at = std::min(end, warmup);
    ends.push_back(at);
  }
  return ends;
}

Adaptation::Adaptation(const ProposalBlocks& blocks, double target_acceptance,
                       const std::vector<ChainPlan>& plans, int dim_unconstrained, std::int64_t warmup,
                       std::size_t num_rows)
    : blocks_(blocks), target_acceptance_(target_acceptance), warmup_(warmup) {
  const bool dense = blocks.shape == ProposalShape::dense;
  layout_ = blocks.adapted_layout(dim_unconstrained);
  for (const auto& plan : plans) {
    group_of_chain_.push_back(plan.group);
    num_groups_ = std::max(num_groups_, plan.group + 1);
  }
  num_cross_ = static_cast<std::size_t>(dense ? blocks.num_dense : dim_unconstrained);
  const bool fitted_beside = blocks.traits.learning == device::ShapeLearning::as_asked_and_fitted;
  const auto num_fitted =
      static_cast<std::size_t>(dim_unconstrained) * static_cast<std::size_t>(dim_unconstrained);
  if (fitted_beside) {
    const auto first = static_cast<std::size_t>(blocks.first_move_by_fit());
    fitted_factor_ = blocks.blocks[first].dense_offset;
    fitted_moments_ = dense ? static_cast<std::size_t>(fitted_factor_) : num_cross_;
    if (!dense) num_cross_ += num_fitted;
  }
  adapted_.assign(static_cast<std::size_t>(num_groups_) * static_cast<std::size_t>(layout_.size()), 0.0);
  for (int g = 0; g < num_groups_; ++g) {
    double* numbers = adapted_.data() + g * layout_.size();
    for (int b = 0; b < layout_.num_blocks; ++b) {
      const auto& block = blocks_.blocks[static_cast<std::size_t>(b)];
      numbers[layout_.scale(b)] = std::log(kOptimalScale) - 0.5 * std::log(static_cast<double>(block.size)) -
                                  0.5 * std::log(1.0 + static_cast<double>(num_rows));
      if (dense && learns_shape(block))
        for (int i = 0; i < block.size; ++i)
          numbers[layout_.dense(block.dense_offset + i * block.size + i)] = 1;
    }
    std::fill_n(numbers + layout_.sd(0), dim_unconstrained, 1.0);
  }
  late_scales_.assign(static_cast<std::size_t>(num_groups_ * layout_.num_blocks), kNan);
  first_.resize(plans.size() * static_cast<std::size_t>(dim_unconstrained));
  sum_.resize(first_.size());
  count_.resize(plans.size());
  cross_.resize(static_cast<std::size_t>(num_groups_) * num_cross_);
  window_begin_.assign(plans.size(), kNan);
  window_end_ = window_begin_;
}

void Adaptation::begin_warmup(std::int64_t warmup) {
  warmup_ = warmup;
  fit_at_ = forgotten_at_ = 0;
  std::fill(late_scales_.begin(), late_scales_.end(), kNan);
  std::fill(window_begin_.begin(), window_begin_.end(), kNan);
  window_end_ = window_begin_;
  forget_points();
}

std::int64_t Adaptation::stride(std::int64_t begin, std::int64_t end) const {
  const auto points = (end - begin) * static_cast<std::int64_t>(count_.size());
  const bool early = blocks_.traits.learning == device::ShapeLearning::as_asked_and_fitted &&
                     2 * begin < shape_steps(warmup_)[0];
  return std::max<std::int64_t>(1, points / (early ? kPointsForAFirstFit : kPointsPerWindow));
}

void Adaptation::add_point(int chain, std::span<const double> u, double log_density) {
  const auto c = static_cast<std::size_t>(chain);
  if (std::isnan(window_begin_[c])) window_begin_[c] = log_density;
  window_end_[c] = log_density;
  const Eigen::VectorXd y = add_relative_point(c, u, first_, sum_, count_);
  double* cross = cross_.data() + static_cast<std::size_t>(group_of_chain_[c]) * num_cross_;
  if (blocks_.traits.learning == device::ShapeLearning::as_asked_and_fitted)
    add_outer_product(cross + fitted_moments_, layout_.dim_unconstrained, y.data());
  if (blocks_.shape != ProposalShape::dense) {
    Eigen::Map<Eigen::ArrayXd>(cross, y.size()) += y.array().square();
    return;
  }
  for (const auto& block : blocks_.blocks) {
    if (!learns_shape(block)) continue;
    const auto part = y.segment(block.begin, block.size);
    Eigen::Map<Eigen::MatrixXd>(cross + block.dense_offset, block.size, block.size).noalias() +=
        part * part.transpose();
  }
}

// The first gains are Newton steps towards the target rate; later gains are smaller, so that fluctuations
// average out.
double Adaptation::gain(std::int64_t step) const {
  const double done = static_cast<double>(step) / static_cast<double>(warmup_);
  return done < 0.5 ? 1.0 : std::max(0.15, 2 * (1 - done));
}

bool Adaptation::shape_due(std::int64_t end) const {
  const auto steps = shape_steps(warmup_);
  return std::find(steps.begin(), steps.end(), end) != steps.end();
}

void Adaptation::end_window(std::int64_t end, std::span<const std::uint64_t> accepted,
                            std::span<const std::uint64_t> proposed) {
  if (blocks_.traits.adapts_scale()) update_scales(accepted, proposed, gain(end));
  std::fill(window_begin_.begin(), window_begin_.end(), kNan);
  const bool every_window = blocks_.traits.learning == device::ShapeLearning::every_window;
  const bool due = shape_due(end);
  // At the steps that are due, earlier points, which may lie on the way from the start, are discarded.
  // Between these steps, a shape that changes in every window is learnt again once the steps since the last
  // discard are at least half as many as those before it.
  const bool again = every_window && 2 * (end - forgotten_at_) >= forgotten_at_;
  const bool has_shape = blocks_.shape != ProposalShape::isotropic || blocks_.traits.is_fitted();
  if (has_shape && (due || again)) {
    fit_at_ = end;
    update_shapes();
    if (due) {
      forget_points();
      forgotten_at_ = end;
    }
  }
  if (end == shape_steps(warmup_)[0]) keep_scales();
}

void Adaptation::keep_scales() {
  for (int g = 0; g < num_groups_; ++g)
    std::copy_n(adapted_.begin() + g * layout_.size() + layout_.scale(0), layout_.num_blocks,
                late_scales_.begin() + g * layout_.num_blocks);
}

std::vector<double> Adaptation::drift() const {
  std::vector<double> drift(static_cast<std::size_t>(layout_.num_blocks), kNan);
  for (std::size_t i = 0; i < late_scales_.size(); ++i) {
    const std::size_t g = i / drift.size(), b = i % drift.size();
    const double change = adapted_[g * static_cast<std::size_t>(layout_.size()) +
                                   static_cast<std::size_t>(layout_.scale(static_cast<int>(b)))] -
                          late_scales_[i];
    if (!(std::abs(change) <= std::abs(drift[b]))) drift[b] = change;
  }
  return drift;
}

// Whether the group's mean log density rose by more than it fluctuates in a stationary chain, where its sd is
// about sqrt(dimension / 2).
bool Adaptation::climbs(int group) const {
  double rise = 0, chains = 0;
  for (std::size_t c = 0; c < count_.size(); ++c)
    if (group_of_chain_[c] == group && std::isfinite(window_end_[c] - window_begin_[c])) {
      rise += window_end_[c] - window_begin_[c];
      chains += 1;
    }
  return rise > chains * (4 + 4 * std::sqrt(static_cast<double>(layout_.dim_unconstrained)));
}

void Adaptation::update_scales(std::span<const std::uint64_t> accepted,
                               std::span<const std::uint64_t> proposed, double gain) {
  const auto num_blocks = static_cast<std::size_t>(layout_.num_blocks);
  for (int g = 0; g < num_groups_; ++g) {
    const bool climbing = climbs(g);
    for (std::size_t b = 0; b < num_blocks; ++b) {
      double yes = 0, all = 0;
      for (std::size_t c = 0; c < count_.size(); ++c)
        if (group_of_chain_[c] == g) {
          yes += static_cast<double>(accepted[c * num_blocks + b]);
          all += static_cast<double>(proposed[c * num_blocks + b]);
        }
      const PhaseTraits& phase = blocks_.phase_of(blocks_.blocks[b]);
      if (all == 0 || phase.learns == device::Learns::nothing) continue;
      const double target = blocks_.blocks[b].size == 1 ? kAcceptanceOneDimension : target_acceptance_;
      const double rate = yes / all;
      // The derivative d rate / d log scale is about -1/2 near the usual targets; a very low rate needs a
      // larger change.
      double change = 2 * (rate - target);
      if (rate < 0.2 * target) change -= 1.5 * (1 - rate / (0.2 * target));
      // On a slope half of all proposals are accepted, however short they are, so the rate is no measure of
      // the scale.
      if (climbing && rate > 0.5 * target) change = std::log(2.0);
      double* numbers = adapted_.data() + g * layout_.size();
      double& scale = numbers[layout_.scale(static_cast<int>(b))];
      scale += gain * change;
      if (phase.moves_by_fit && is_fitted(numbers)) scale = std::min(scale, 0.0);
    }
  }
}

void Adaptation::update_shapes() {
  const auto dim = static_cast<std::size_t>(layout_.dim_unconstrained);
  for (int g = 0; g < num_groups_; ++g) {
    double* numbers = adapted_.data() + g * layout_.size();
    double* cross = cross_.data() + static_cast<std::size_t>(g) * num_cross_;
    double degrees = 0;
    for (std::size_t c = 0; c < count_.size(); ++c)
      if (group_of_chain_[c] == g && count_[c] > 1) degrees += count_[c] - 1;
    if (degrees < 10) continue;
    if (blocks_.traits.learning == device::ShapeLearning::fitted &&
        static_cast<double>(fit_at_) >= kFirstFit * static_cast<double>(warmup_)) {
      fit(g, degrees);
      continue;
    }
    if (blocks_.traits.learning == device::ShapeLearning::as_asked_and_fitted) {
      const bool is_first = !is_fitted(numbers);
      fit(g, degrees);
      if (is_first && is_fitted(numbers))
        for (int b = 0; b < layout_.num_blocks; ++b)
          if (blocks_.phase_of(blocks_.blocks[static_cast<std::size_t>(b)]).moves_by_fit)
            numbers[layout_.scale(b)] = std::log(kFirstBeta);
    }
    if (blocks_.shape == ProposalShape::isotropic) continue;
    // Moments are within chains, because chains may be in different modes of a mixture.
    const auto within = [&](const device::ProposalBlock& block, int i, int j, double moment) {
      for (std::size_t c = 0; c < count_.size(); ++c)
        if (group_of_chain_[c] == g && count_[c] > 0)
          moment -= sum_[c * dim + static_cast<std::size_t>(block.begin + i)] *
                    sum_[c * dim + static_cast<std::size_t>(block.begin + j)] / count_[c];
      return moment / degrees;
    };
    for (int b = 0; b < layout_.num_blocks; ++b) {
      const auto& block = blocks_.blocks[static_cast<std::size_t>(b)];
      if (!learns_shape(block)) continue;
      const int n = block.size;
      // log_change is the mean log ratio of new to old sds; it is compensated in the scale, so that the
      // volume of the increments is preserved.
      double log_change = 0;
      if (blocks_.shape == ProposalShape::diagonal) {
        Eigen::VectorXd variance(n);
        for (int i = 0; i < n; ++i) variance[i] = within(block, i, i, cross[block.begin + i]);
        const double typical = variance.mean();
        if (!(typical > 0) || !std::isfinite(typical)) continue;
        for (int i = 0; i < n; ++i) {
          double& sd = numbers[layout_.sd(block.begin + i)];
          const double learnt = std::sqrt((degrees * variance[i] + 5 * 1e-3 * typical) / (degrees + 5));
          log_change += std::log(learnt / sd) / n;
          sd = learnt;
        }
      } else {
        Eigen::Map<Eigen::MatrixXd> moments(cross + block.dense_offset, n, n);
        Eigen::MatrixXd covariance(n, n);
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) covariance(i, j) = within(block, i, j, moments(i, j));
        const double typical = covariance.diagonal().mean();
        if (!(typical > 0) || !std::isfinite(typical)) continue;
        // The covariance is shrunk towards its diagonal, because `degrees` correlated points are few for n (n
        // + 1) / 2 elements.
        const double trust = degrees / (degrees + 5.0 * n);
        const Eigen::VectorXd diagonal = covariance.diagonal();
        covariance *= trust;
        covariance.diagonal() = diagonal.array() + 1e-3 * typical / (degrees + 5);
        const Eigen::LLT<Eigen::MatrixXd> factor(covariance);
        if (factor.info() != Eigen::Success) continue;
        Eigen::Map<Eigen::MatrixXd> stored(numbers + layout_.dense(block.dense_offset), n, n);
        const Eigen::MatrixXd lower = factor.matrixL();
        log_change = (lower.diagonal().array().log() - stored.diagonal().array().log()).mean();
        stored = lower;
      }
      numbers[layout_.scale(b)] -= log_change;
    }
  }
}

bool Adaptation::is_fitted(const double* numbers) const {
  const int n = layout_.dim_unconstrained;
  return numbers[layout_.fitted() + n * n + n] != 0;
}

// Fits the distribution from which blocks propose: mean and covariance of the points of all chains of the
// group.
void Adaptation::fit(int group, double degrees) {
  const int n = layout_.dim_unconstrained;
  double* numbers = adapted_.data() + group * layout_.size();
  const auto row = [&](const std::vector<double>& of, std::size_t c) {
    return Eigen::Map<const Eigen::VectorXd>(of.data() + c * static_cast<std::size_t>(n), n);
  };
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(n);
  double points = 0;
  for (std::size_t c = 0; c < count_.size(); ++c)
    if (group_of_chain_[c] == group) {
      mean += count_[c] * row(first_, c) + row(sum_, c);
      points += count_[c];
    }
  mean /= points;
  // Moments are about each chain's first point.
  const double* cross = cross_.data() + static_cast<std::size_t>(group) * num_cross_ + fitted_moments_;
  Eigen::MatrixXd covariance = Eigen::Map<const Eigen::MatrixXd>(cross, n, n).selfadjointView<Eigen::Lower>();
  for (std::size_t c = 0; c < count_.size(); ++c)
    if (group_of_chain_[c] == group) {
      const Eigen::VectorXd offset = row(first_, c) - mean;
      covariance += row(sum_, c) * offset.transpose() + offset * row(sum_, c).transpose() +
                    count_[c] * offset * offset.transpose();
    }
  covariance /= points;
  const double typical = covariance.diagonal().mean();
  const Eigen::VectorXd diagonal = covariance.diagonal();
  covariance *= degrees / (degrees + 5.0 * n);
  covariance.diagonal() = diagonal.array() + 1e-3 * typical / (degrees + 5);
  const Eigen::LLT<Eigen::MatrixXd> cholesky(covariance);
  if (!(typical > 0) || !std::isfinite(typical) || cholesky.info() != Eigen::Success) return;
  const Eigen::MatrixXd lower = cholesky.matrixL();
  Eigen::Map<Eigen::MatrixXd>(numbers + layout_.dense(fitted_factor_), n, n) = lower;
  double* fitted = numbers + layout_.fitted();
  Eigen::Map<Eigen::MatrixXd>(fitted, n, n) =
      lower.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd::Identity(n, n));
  Eigen::Map<Eigen::VectorXd>(fitted + n * n, n) = mean;
  fitted[n * n + n] = 1;
}

void Adaptation::forget_points() {
  for (auto* moments : {&first_, &sum_, &count_, &cross_}) std::fill(moments->begin(), moments->end(), 0.0);
}

std::vector<double> Adaptation::save() const {
  std::vector<double> saved;
  for (const auto* part : saved_parts(*this)) saved.insert(saved.end(), part->begin(), part->end());
  saved.push_back(static_cast<double>(forgotten_at_));
  return saved;
}

void Adaptation::restore(std::span<const double> saved) {
  std::size_t needed = 1;  // forgotten_at_
  for (const auto* part : saved_parts(*this)) needed += part->size();
  if (saved.size() != needed)
    throw InputError("checkpoint: the adaptation has " + std::to_string(saved.size()) + " numbers, not " +
                     std::to_string(needed) + "; it belongs to another configuration");
  auto at = saved.begin();
  for (auto* part : saved_parts(*this)) {
    std::copy_n(at, part->size(), part->begin());
    at += static_cast<std::ptrdiff_t>(part->size());
  }
  if (!(*at >= 0 && *at <= 1e15)) throw InputError("checkpoint: the adaptation has an impossible step");
  forgotten_at_ = static_cast<std::int64_t>(*at);
}

}  // namespace emomc

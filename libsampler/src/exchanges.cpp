#include "exchanges.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "emomc/core/errors.hpp"
#include "emomc/device/random.hpp"
#include "emomc/sampler/run_chains.hpp"

namespace emomc {
namespace {

// The ladder changes after these shares of the warm-up. In the last third, scales and shapes are learnt for
// the final powers.
constexpr std::array<double, 6> kLadderShares{0.05, 0.1, 0.2, 1.0 / 3, 0.5, 2.0 / 3};
// At this share of the warm-up, the point of most mass has reached the cold rung, and most of the warm-up is
// left for hot rungs.
constexpr double kAnewShare = 0.2;
// Lower bound of a pair's rejection, so that powers stay apart if all exchanges are accepted.
constexpr double kLeastRejection = 1e-3;
// The exponent 1/5 of the interpolation is the inverse of the exponent of first_betas().
constexpr double kPower = 5;
// The random numbers of exchanges have step numbers from this one on, which no step of a chain reaches.
constexpr std::uint64_t kStepOfExchanges = std::uint64_t{1} << 48;
constexpr double kMostCount = 1e15;

// The path of a point so far: unknown, has been at the cold rung, or has been at the last rung since.
constexpr double kUnknown = 0, kFromCold = 1, kFromLast = 2;

// The number of evaluations between exchanges; an exchange takes one evaluation.
constexpr std::int64_t kEvaluationsBetween = 4;

}  // namespace

std::int64_t exchange_interval(const Tempering& tempering, const ProposalBlocks& blocks) {
  if (tempering.every > 0) return tempering.every;
  if (blocks.traits.gradient()) return 1;
  const std::int64_t of_step = std::max(1, blocks.num_evaluations());
  return (kEvaluationsBetween + of_step - 1) / of_step;
}

std::vector<double> even_ladder(std::span<const double> betas, std::span<const double> rejection) {
  std::vector<double> sums{0}, places;
  for (const double beta : betas) places.push_back(std::pow(beta, 1 / kPower));
  for (const double r : rejection) sums.push_back(sums.back() + std::max(r, kLeastRejection));
  std::vector<double> even(betas.begin(), betas.end());
  const double pairs = static_cast<double>(rejection.size());
  std::size_t k = 0;
  for (std::size_t i = 1; i + 1 < betas.size(); ++i) {
    const double wanted = sums.back() * static_cast<double>(i) / pairs;
    while (k + 2 < sums.size() && sums[k + 1] <= wanted) ++k;
    const double share = (wanted - sums[k]) / (sums[k + 1] - sums[k]);
    even[i] = std::pow(places[k] + share * (places[k + 1] - places[k]), kPower);
  }
  return even;
}

Exchanges::Exchanges(const Tempering& tempering, std::vector<std::uint64_t> ids, std::uint64_t seed,
                     std::int64_t every)
    : adaptive_(tempering.is_adaptive()),
      ids_(std::move(ids)),
      seed_(seed),
      every_(every),
      betas_(first_betas(tempering)) {
  for (auto* counts : {&tried_, &rejected_, &attempts_, &acceptance_}) counts->assign(betas_.size() - 1, 0.0);
  way_.assign(ids_.size(), kUnknown);
}

bool Exchanges::decide(std::int64_t step, std::size_t rung, std::size_t replica,
                       std::span<const double> log_likelihood) {
  const std::size_t cold = rung * num_replicas() + replica, hot = cold + num_replicas();
  const double log_ratio = (betas_[rung] - betas_[rung + 1]) * (log_likelihood[hot] - log_likelihood[cold]);
  const double probability = log_ratio >= 0 ? 1.0 : std::exp(log_ratio);
  tried_[rung] += 1;
  rejected_[rung] += 1 - probability;
  attempts_[rung] += 1;
  acceptance_[rung] += probability;
  const device::RandomSource random{seed_, kStepOfExchanges + static_cast<std::uint64_t>(step),
                                    static_cast<device::u32>(ids_[cold])};
  return random.uniform(device::Purpose::acceptance, 0) < probability;
}

void Exchanges::follow(std::size_t rung, std::size_t replica) {
  double& way = way_[rung * num_replicas() + replica];
  if (rung == 0) {
    if (way == kFromLast) round_trips_ += 1;
    way = kFromCold;
  } else if (rung + 1 == num_rungs() && way == kFromCold) {
    way = kFromLast;
  }
}

std::vector<std::size_t> Exchanges::exchange(std::int64_t step, std::span<const double> log_likelihood) {
  std::vector<std::size_t> source(ids_.size());
  for (std::size_t c = 0; c < source.size(); ++c) source[c] = c;
  const auto first = static_cast<std::size_t>((step / every_) % 2);
  for (std::size_t rung = first; rung + 1 < num_rungs(); rung += 2)
    for (std::size_t replica = 0; replica < num_replicas(); ++replica) {
      if (!decide(step, rung, replica, log_likelihood)) continue;
      const std::size_t cold = rung * num_replicas() + replica, hot = cold + num_replicas();
      std::swap(source[cold], source[hot]);
      std::swap(way_[cold], way_[hot]);
    }
  for (std::size_t replica = 0; replica < num_replicas(); ++replica)
    for (const std::size_t rung : {std::size_t{0}, num_rungs() - 1}) follow(rung, replica);
  return source;
}

// Returns whether `step` is the first exchange after this share of the warm-up.
bool Exchanges::is_due(double share, std::int64_t step, std::int64_t begin, std::int64_t warmup) const {
  const std::int64_t at = begin + static_cast<std::int64_t>(share * static_cast<double>(warmup));
  return at > begin && step - every_ < at && at <= step;
}

bool Exchanges::begins_anew(std::int64_t step, std::int64_t begin, std::int64_t warmup) const {
  return !reaches_prior() && is_due(kAnewShare, step, begin, warmup);
}

bool Exchanges::learn(std::int64_t step, std::int64_t begin, std::int64_t warmup) {
  if (!adaptive_ || step <= begin || step > begin + warmup) return false;
  const bool due = std::any_of(kLadderShares.begin(), kLadderShares.end(),
                               [&](double share) { return is_due(share, step, begin, warmup); });
  // Each pair takes part in every other exchange.
  if (!due || std::find(tried_.begin(), tried_.end(), 0.0) != tried_.end()) return false;
  std::vector<double> rejection;
  for (std::size_t k = 0; k < tried_.size(); ++k) rejection.push_back(rejected_[k] / tried_[k]);
  betas_ = even_ladder(betas_, rejection);
  std::fill(tried_.begin(), tried_.end(), 0.0);
  std::fill(rejected_.begin(), rejected_.end(), 0.0);
  return true;
}

void Exchanges::count_prior_draw(bool is_finite) {
  prior_draws_ += 1;
  finite_prior_draws_ += is_finite ? 1 : 0;
}

void Exchanges::begin_phase() {
  std::fill(attempts_.begin(), attempts_.end(), 0.0);
  std::fill(acceptance_.begin(), acceptance_.end(), 0.0);
  std::fill(way_.begin(), way_.end(), kUnknown);
  round_trips_ = prior_draws_ = finite_prior_draws_ = 0;
}

std::vector<double> Exchanges::save() const {
  std::vector<double> saved{static_cast<double>(num_rungs()), round_trips_, prior_draws_,
                            finite_prior_draws_};
  for (const auto* part : {&betas_, &attempts_, &acceptance_, &tried_, &rejected_, &way_})
    saved.insert(saved.end(), part->begin(), part->end());
  return saved;
}

void Exchanges::restore(std::span<const double> saved) {
  const std::size_t rungs = num_rungs(), needed = 4 + rungs + 4 * (rungs - 1) + way_.size();
  if (saved.size() != needed || saved[0] != static_cast<double>(rungs))
    throw InputError("checkpoint: it has other rungs than this configuration");
  auto at = saved.begin() + 1;
  for (double* count : {&round_trips_, &prior_draws_, &finite_prior_draws_}) *count = *at++;
  for (auto* part : {&betas_, &attempts_, &acceptance_, &tried_, &rejected_, &way_}) {
    std::copy_n(at, part->size(), part->begin());
    at += static_cast<std::ptrdiff_t>(part->size());
  }
  bool fits = betas_[0] == 1 && betas_.back() >= 0;
  for (std::size_t k = 1; k < rungs; ++k) fits = fits && betas_[k] < betas_[k - 1];
  for (const auto* counts : {&attempts_, &acceptance_, &tried_, &rejected_, &way_})
    for (const double count : *counts) fits = fits && count >= 0 && count <= kMostCount;
  if (!fits) throw InputError("checkpoint: it has an impossible ladder");
}

TemperingSummary Exchanges::summary_of(std::span<const double> saved) {
  TemperingSummary summary;
  if (saved.empty()) return summary;
  const bool sane = saved[0] >= 2 && saved[0] <= kMostRungs && std::floor(saved[0]) == saved[0];
  const std::size_t rungs = sane ? static_cast<std::size_t>(saved[0]) : 0;
  if (!sane || saved.size() < 4 + rungs + 4 * (rungs - 1))
    throw InputError("checkpoint: it has an impossible ladder");
  for (std::size_t i = 1; i < 4; ++i)
    if (!(saved[i] >= 0 && saved[i] <= kMostCount))
      throw InputError("checkpoint: it has impossible counts of exchanges");
  summary.round_trips = static_cast<std::uint64_t>(saved[1]);
  summary.prior_draws = static_cast<std::uint64_t>(saved[2]);
  summary.finite_prior_draws = static_cast<std::uint64_t>(saved[3]);
  const auto betas = saved.subspan(4, rungs), attempts = saved.subspan(4 + rungs, rungs - 1),
             acceptance = saved.subspan(4 + rungs + (rungs - 1), rungs - 1);
  summary.betas.assign(betas.begin(), betas.end());
  for (std::size_t k = 0; k + 1 < rungs; ++k)
    summary.swap_rates.push_back(attempts[k] > 0 ? acceptance[k] / attempts[k]
                                                 : std::numeric_limits<double>::quiet_NaN());
  return summary;
}

TemperingSummary tempering_summary(const SamplerState& state) {
  return Exchanges::summary_of(state.tempering);
}

}  // namespace emomc

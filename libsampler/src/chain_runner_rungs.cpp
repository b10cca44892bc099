// The part of ChainRunner for tempering: exchanges of points between segments, and draws of many rungs.
#include <algorithm>
#include <cmath>

#include "chain_runner.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/sampler/starts.hpp"

namespace emomc {

void ChainRunner::upload_betas() {
  std::vector<double> betas;
  for (std::size_t c = 0; c < plans_.size(); ++c) betas.push_back(exchanges_->beta_of(c));
  ensemble_->upload_betas(share_.mine(betas, 1));
}

void ChainRunner::set_points(const std::vector<double>& u) {
  upload_points(u);
  evaluate_current();
  if (counts_)
    counts_->add_evaluations(plans_.size());
  else
    evaluations_ += plans_.size();
}

bool ChainRunner::draw_from_prior(std::size_t chain, std::span<double> u) const {
  // The attempts of starting points have small numbers, which must not be used again.
  constexpr std::uint64_t kAttemptsOfExchanges = std::uint64_t{1} << 48;
  try {
    const auto id = static_cast<std::uint32_t>(plans_[chain].id);
    const std::uint64_t attempt = kAttemptsOfExchanges + static_cast<std::uint64_t>(step_);
    target_.unconstrain(target_.draw_from_prior(options_.seed, id, attempt), u);
    target_.draw_lengths(options_.seed, id, attempt, u);
  } catch (const InputError&) {  // rounding has moved the point to the edge of the support
    return false;
  }
  return std::all_of(u.begin(), u.end(), [](double x) { return std::isfinite(x); });
}

// Components are numbered as in the first chain, so that a rung's chains can adapt together.
void ChainRunner::begin_anew(std::vector<double>& u) const {
  const auto dim_u = static_cast<std::size_t>(target_.dim_unconstrained());
  const std::size_t replicas = exchanges_->num_replicas();
  std::vector<double> reference, theta(static_cast<std::size_t>(target_.dim()));
  for (std::size_t replica = 0; replica < replicas; ++replica) {
    const std::span<double> cold(u.data() + replica * dim_u, dim_u);
    target_.constrain(cold, theta);
    if (replica == 0) reference = theta;
    const std::vector<double> numbered = aligned(target_, reference, theta);
    if (numbered != theta) target_.unconstrain(numbered, cold);
    for (std::size_t c = replica + replicas; c < plans_.size(); c += replicas)
      std::copy_n(cold.begin(), dim_u, u.begin() + static_cast<std::ptrdiff_t>(c * dim_u));
  }
}

// Everything is uploaded at each exchange, even if no points have moved, so that the bits depend on the step
// alone.
void ChainRunner::exchange() {
  const auto dim_u = static_cast<std::size_t>(target_.dim_unconstrained());
  const auto& current = ensemble_->view().current;
  const std::vector<double> before = all_points();
  const auto source = exchanges_->exchange(step_, all_scalars(current.log_likelihood));
  std::vector<double> u(before.size());
  const auto point = [&](std::vector<double>& of, std::size_t c) {
    return std::span<double>(of.data() + c * dim_u, dim_u);
  };
  for (std::size_t c = 0; c < source.size(); ++c)
    std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(source[c] * dim_u), dim_u, point(u, c).begin());
  if (exchanges_->begins_anew(step_, warmup_begin_, warmup_)) begin_anew(u);
  if (exchanges_->learn(step_, warmup_begin_, warmup_)) upload_betas();
  if (!exchanges_->reaches_prior()) {
    set_points(u);
    return;
  }
  std::vector<double> fresh = u;
  std::vector<std::size_t> drawn;
  for (std::size_t c = plans_.size() - exchanges_->num_replicas(); c < plans_.size(); ++c) {
    if (draw_from_prior(c, point(fresh, c)))
      drawn.push_back(c);
    else
      std::copy_n(point(u, c).begin(), dim_u, point(fresh, c).begin());
  }
  set_points(fresh);
  const auto log_likelihood = all_scalars(current.log_likelihood), log_prior = all_scalars(current.log_prior),
             log_jacobian = all_scalars(current.log_jacobian);
  bool all_finite = true;
  for (const std::size_t c : drawn) {
    const bool is_finite = std::isfinite(log_likelihood[c] + log_prior[c] + log_jacobian[c]);
    exchanges_->count_prior_draw(is_finite);
    if (is_finite) continue;
    all_finite = false;
    std::copy_n(point(u, c).begin(), dim_u, point(fresh, c).begin());
  }
  if (!all_finite) set_points(fresh);
}

void ChainRunner::send(const SegmentResult& segment, bool warmup, std::int64_t row, std::int64_t count,
                       std::int64_t first_step) {
  const auto chains = static_cast<std::int64_t>(plans_.size()),
             dim = static_cast<std::int64_t>(target_.dim());
  DrawBatch batch;
  batch.warmup = warmup;
  batch.num_chains = static_cast<int>(chains);
  batch.dim = target_.dim();
  batch.thin = options_.thin;
  batch.num_draws = static_cast<int>(count);
  batch.first_step = first_step;
  batch.theta = segment.theta + row * chains * dim;
  batch.log_prior = segment.log_prior + row * chains;
  batch.log_likelihood = segment.log_likelihood + row * chains;
  batch.statistics = segment.statistics ? segment.statistics + row * chains : nullptr;
  if (!exchanges_) {
    handler_.on_draws(batch);
    return;
  }
  handler_.on_rungs({warmup, batch.num_draws, batch.num_chains, first_step, options_.thin, batch.log_prior,
                     batch.log_likelihood});
  // The chains of the cold rung come first in each row.
  const auto cold = static_cast<std::int64_t>(exchanges_->num_replicas());
  batch.num_chains = static_cast<int>(cold);
  cold_.resize(static_cast<std::size_t>(count * cold * (dim + 2)));
  double *theta = cold_.data(), *log_prior = theta + count * cold * dim,
         *log_likelihood = log_prior + count * cold;
  cold_statistics_.resize(batch.statistics ? static_cast<std::size_t>(count * cold) : 0);
  for (std::int64_t i = 0; i < count; ++i) {
    std::copy_n(batch.theta + i * chains * dim, cold * dim, theta + i * cold * dim);
    std::copy_n(batch.log_prior + i * chains, cold, log_prior + i * cold);
    std::copy_n(batch.log_likelihood + i * chains, cold, log_likelihood + i * cold);
    if (batch.statistics)
      std::copy_n(batch.statistics + i * chains, cold, cold_statistics_.data() + i * cold);
  }
  batch.theta = theta;
  batch.log_prior = log_prior;
  batch.log_likelihood = log_likelihood;
  if (batch.statistics) batch.statistics = cold_statistics_.data();
  handler_.on_draws(batch);
}

}  // namespace emomc

#include "emomc/sampler/convergence.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "draw_matrix.hpp"
#include "mixing_tests.hpp"

namespace emomc {
namespace {

constexpr std::size_t kFewestDraws = 8;  // the same as in test_mixing

QuantitySummary summarize_one(const DrawSet& draws, std::size_t q) {
  QuantitySummary summary = summarize(draws.view(q));
  if (draws.chains_per_superchain > 1) summary.rhat = rhat_nested(draws.view(q), draws.chains_per_superchain);
  return summary;
}

double least_ess_of(const QuantitySummary& s) { return s.ess_tail < s.ess_bulk ? s.ess_tail : s.ess_bulk; }

// Components are first sorted by relabel_by_order, so that no result depends on the labels of the draws.
void number_components(DrawDiagnostics& run, const MixtureNames& mixture, Numbering numbering,
                       ThreadPool& threads) {
  DrawSet& draws = run.draws;
  std::vector<double> sampled;
  if (numbering == Numbering::raw) sampled = draws.values;
  apply(relabel_by_order(draws, mixture), draws);
  append_label_free(draws, mixture);
  if (numbering == Numbering::raw) std::copy(sampled.begin(), sampled.end(), draws.values.begin());
  if (numbering != Numbering::mended) return;
  const MatchedComponents matched = match_components(draws, mixture, threads);
  apply(matched.relabelling, draws);
  run.numbered_by = matched.numbered_by;
  run.overlap = {matched.overlap, matched.first, matched.second};
  run.labels = matched.overlap > run.bounds.overlap ? Labels::unmended : Labels::relabelled;
}

template <class Selected>
FailedQuantities failures(const DrawDiagnostics& run, Selected selected) {
  FailedQuantities found;
  for (std::size_t q = 0; q < run.draws.num_quantities(); ++q) {
    if (!selected(q) || !run.is_judged(q)) continue;
    if (run.has_high_rhat(q)) found.rhat.push_back(q);
    if (run.has_low_ess(q)) found.ess.push_back(q);
    if (run.has_trend(q)) found.trend.push_back(q);
  }
  const auto by = [&](auto value) {
    return [&run, value](std::size_t a, std::size_t b) { return value(run, a) > value(run, b); };
  };
  std::stable_sort(found.rhat.begin(), found.rhat.end(),
                   by([](const DrawDiagnostics& r, std::size_t q) { return r.summaries[q].rhat; }));
  std::stable_sort(found.ess.begin(), found.ess.end(),
                   by([](const DrawDiagnostics& r, std::size_t q) { return -least_ess_of(r.summaries[q]); }));
  std::stable_sort(found.trend.begin(), found.trend.end(),
                   by([](const DrawDiagnostics& r, std::size_t q) { return -r.tests[q].p_trend; }));
  return found;
}

// Returns the factor by which the number of draws must grow. It is derived from the ESS if only the ESS is
// too small, and is at least 2 if chains differ or have a trend.
double growth_of(const DrawDiagnostics& run, const ConvergenceVerdict& verdict) {
  constexpr double kDifferent = 2, kMargin = 1.1, kFewDraws = 10;
  if (verdict.converged()) return 1;
  if (verdict.too_few_draws) return kFewDraws;
  double growth = kMargin;
  for (const FailedQuantities* found : {&verdict.label_free, &verdict.parameters}) {
    if (!found->rhat.empty() || !found->trend.empty()) growth = std::max(growth, kDifferent);
    for (std::size_t q : found->ess)
      if (const double ess = least_ess_of(run.summaries[q]); ess > 0)
        growth = std::max(growth, kMargin * run.least_ess() / ess);
  }
  return growth;
}

// There are three checks: chains that differ, a trend, and an ESS that is too small.
constexpr double kChecks = 3;

double level_of(const DrawDiagnostics& run) {
  return run.bounds.false_alarms / kChecks / static_cast<double>(std::max<std::size_t>(run.num_judged, 1));
}

// Replaces draws of an angle by the equal angles within pi of the mean direction of all draws. If draws lie
// on both sides of pi, their mean and sd would otherwise have no meaning.
void turn_to_mean_directions(DrawSet& draws) {
  const std::size_t total = draws.num_chains() * draws.num_draws;
  std::size_t q = draws.num_log_densities;
  for (const ParameterBlock& block : draws.layout.blocks) {
    const auto end = q + static_cast<std::size_t>(block.size());
    for (; q < end; ++q) {
      if (block.support != Support::circular) continue;
      double* values = draws.values.data() + q * total;
      double sine = 0, cosine = 0;
      for (std::size_t i = 0; i < total; ++i) {
        sine += std::sin(values[i]);
        cosine += std::cos(values[i]);
      }
      const double mean = std::atan2(sine, cosine);
      for (std::size_t i = 0; i < total; ++i)
        values[i] = mean + std::remainder(values[i] - mean, 2 * std::numbers::pi);
    }
  }
}

}  // namespace

bool DrawDiagnostics::is_constant(std::size_t q) const {
  const auto size = draws.num_chains() * draws.num_draws;
  const double* x = draws.values.data() + q * size;
  return equal_to_rounding(x, size);
}

bool DrawDiagnostics::is_judged(std::size_t q) const {
  return !is_constant(q) && !(std::isnan(summaries[q].rhat) && std::isnan(summaries[q].ess_bulk));
}

double DrawDiagnostics::least_ess() const {
  const bool together = draws.chains_per_ensemble > 1 || draws.chains_per_superchain > 1;
  return together ? bounds.ess
                  : std::max(bounds.ess, bounds.ess_per_chain * static_cast<double>(draws.num_chains()));
}

double DrawDiagnostics::rhat_bound(std::size_t q) const {
  if (draws.chains_per_superchain > 1 || draws.chains_per_ensemble > 1 || !(tests[q].ess_within > 0))
    return bounds.rhat;
  return std::max(bounds.rhat, rhat_of_alike_chains(draws.num_chains(), draws.num_draws, tests[q].ess_within,
                                                    level_of(*this)));
}

bool DrawDiagnostics::has_high_rhat(std::size_t q) const {
  return summaries[q].rhat > bounds.rhat && tests[q].p_chains < level_of(*this);
}
bool DrawDiagnostics::has_trend(std::size_t q) const { return tests[q].p_trend < level_of(*this); }

bool DrawDiagnostics::has_low_ess(std::size_t q) const {
  if (least_ess_of(summaries[q]) >= least_ess()) return false;
  // If there are fewer draws than the target, no test is needed.
  const auto size = static_cast<double>(draws.num_chains() * draws.num_draws);
  return size < least_ess() || !(summaries[q].ess_bulk > 0) || tests[q].p_ess < level_of(*this);
}

bool DrawDiagnostics::is_converged(std::size_t q) const {
  return is_constant(q) || (is_judged(q) && !has_high_rhat(q) && !has_low_ess(q) && !has_trend(q));
}

DrawDiagnostics diagnose_draws(DrawSet draws, Numbering numbering, bool ordered_by_prior,
                               ThreadPool& threads) {
  DrawDiagnostics run;
  run.draws = std::move(draws);
  turn_to_mean_directions(run.draws);
  const auto mixture = find_mixture(run.draws);
  run.first_label_free = run.draws.num_quantities();
  if (mixture) {
    const bool is_numbered = numbering == Numbering::mended && ordered_by_prior;
    number_components(run, *mixture, is_numbered ? Numbering::raw : numbering, threads);
  }
  run.summaries.resize(run.draws.num_quantities());
  run.tests.resize(run.draws.num_quantities());
  threads.for_each(run.summaries.size(), [&](std::size_t q, int) {
    run.summaries[q] = summarize_one(run.draws, q);
    run.tests[q] = test_mixing(run.draws.view(q), run.least_ess());
  });
  for (std::size_t q = 0; q < run.draws.num_quantities(); ++q) run.num_judged += run.is_judged(q);
  return run;
}

ConvergenceVerdict judge_convergence(const DrawDiagnostics& run) {
  ConvergenceVerdict verdict;
  const bool is_foreign = run.draws.layout.blocks.empty();
  verdict.too_few_draws = run.draws.num_draws < kFewestDraws;
  if (!verdict.too_few_draws)
    verdict.label_free = failures(run, [&](std::size_t q) { return is_foreign || run.is_label_free(q); });
  if (!verdict.too_few_draws && verdict.label_free.none() && !is_foreign) {
    verdict.labels_unmended = run.labels == Labels::unmended;
    verdict.parameters = failures(run, [&](std::size_t q) { return !run.is_label_free(q); });
  }
  verdict.required_growth = growth_of(run, verdict);
  verdict.reaches_ess = !verdict.too_few_draws;
  for (std::size_t q = 0; q < run.draws.num_quantities(); ++q)
    if (run.is_judged(q) && !(least_ess_of(run.summaries[q]) >= run.least_ess())) verdict.reaches_ess = false;
  verdict.reaches_rhat = !verdict.too_few_draws;
  const bool is_plain = run.draws.chains_per_superchain <= 1 && run.draws.chains_per_ensemble <= 1;
  for (std::size_t q = 0; is_plain && q < run.draws.num_quantities(); ++q)
    if (run.is_judged(q) && (run.is_label_free(q) || !verdict.labels_unmended) &&
        run.summaries[q].rhat > run.bounds.rhat)
      verdict.reaches_rhat = false;
  return verdict;
}

}  // namespace emomc

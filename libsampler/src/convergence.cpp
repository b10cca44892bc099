#include "emomc/sampler/convergence.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "draw_matrix.hpp"

namespace emomc {
namespace {

constexpr std::size_t kFewestDraws = 8;

QuantitySummary summarize_one(const DrawSet& draws, std::size_t q) {
  QuantitySummary summary = summarize(draws.view(q));
  if (draws.chains_per_superchain > 1) summary.rhat = rhat_nested(draws.view(q), draws.chains_per_superchain);
  return summary;
}

// Components in the order of relabel_by_order first, so that nothing computed depends on the labels of the
// draws.
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
    if (!selected(q) || run.is_constant(q)) continue;
    const QuantitySummary& s = run.summaries[q];
    if (std::isnan(s.rhat) && std::isnan(s.ess_bulk)) continue;  // draws that are not finite
    if (s.rhat > run.bounds.rhat) found.rhat.push_back(q);
    if (!(s.ess_bulk >= run.least_ess()) || !(s.ess_tail >= run.least_ess())) found.ess.push_back(q);
  }
  const auto by = [&](auto value) {
    return [&run, value](std::size_t a, std::size_t b) {
      return value(run.summaries[a]) > value(run.summaries[b]);
    };
  };
  std::stable_sort(found.rhat.begin(), found.rhat.end(), by([](const QuantitySummary& s) { return s.rhat; }));
  std::stable_sort(found.ess.begin(), found.ess.end(),
                   by([](const QuantitySummary& s) { return -std::min(s.ess_bulk, s.ess_tail); }));
  return found;
}

}  // namespace

bool DrawDiagnostics::is_constant(std::size_t q) const {
  const auto size = draws.num_chains() * draws.num_draws;
  const double* x = draws.values.data() + q * size;
  return equal_to_rounding(x, size);
}

double DrawDiagnostics::least_ess() const {
  constexpr std::size_t kFewChains = 16;
  constexpr double kEssPerChain = 100;
  const bool together = draws.chains_per_ensemble > 1 || draws.chains_per_superchain > 1;
  const std::size_t chains = together || draws.num_chains() > kFewChains ? 1 : draws.num_chains();
  return std::max(bounds.ess, kEssPerChain * static_cast<double>(chains));
}

bool DrawDiagnostics::is_converged(std::size_t q) const {
  if (is_constant(q)) return true;
  const QuantitySummary& s = summaries[q];
  const bool has_rhat = draws.num_chains() > 1 || draws.num_draws > 3;
  return (!has_rhat || s.rhat <= bounds.rhat) && s.ess_bulk >= least_ess() && s.ess_tail >= least_ess();
}

DrawDiagnostics diagnose_draws(DrawSet draws, Numbering numbering, bool ordered_by_prior,
                               ThreadPool& threads) {
  DrawDiagnostics run;
  run.draws = std::move(draws);
  const auto mixture = find_mixture(run.draws);
  run.first_label_free = run.draws.num_quantities();
  if (mixture) {
    const bool is_numbered = numbering == Numbering::mended && ordered_by_prior;
    number_components(run, *mixture, is_numbered ? Numbering::raw : numbering, threads);
  }
  run.summaries.resize(run.draws.num_quantities());
  threads.for_each(run.summaries.size(),
                   [&](std::size_t q, int) { run.summaries[q] = summarize_one(run.draws, q); });
  return run;
}

ConvergenceVerdict judge_convergence(const DrawDiagnostics& run) {
  ConvergenceVerdict verdict;
  const bool is_foreign = run.draws.layout.blocks.empty();
  verdict.too_few_draws = run.draws.num_draws < kFewestDraws;
  if (!verdict.too_few_draws)
    verdict.label_free = failures(run, [&](std::size_t q) { return is_foreign || run.is_label_free(q); });
  if (verdict.too_few_draws || !verdict.label_free.none() || is_foreign) return verdict;
  verdict.labels_unmended = run.labels == Labels::unmended;
  verdict.parameters = failures(run, [&](std::size_t q) { return !run.is_label_free(q); });
  return verdict;
}

}  // namespace emomc

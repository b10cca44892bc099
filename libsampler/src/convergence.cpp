#include "emomc/sampler/convergence.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace emomc {
namespace {

constexpr std::size_t kFewestDraws = 8;

QuantitySummary summarize_one(const DrawSet& draws, std::size_t q) {
  QuantitySummary summary = summarize(draws.view(q));
  if (draws.chains_per_superchain > 1) summary.rhat = rhat_nested(draws.view(q), draws.chains_per_superchain);
  return summary;
}

double worst_rhat(const std::vector<QuantitySummary>& summaries, std::size_t begin, std::size_t end) {
  double worst = 0;
  for (std::size_t q = begin; q < end; ++q)
    if (!std::isnan(summaries[q].rhat)) worst = std::max(worst, summaries[q].rhat);
  return worst;
}

// The most frequent numbering of each chain is not the same in all.
bool chains_differ(const Relabelling& relabelling, std::size_t num_chains) {
  const auto K = static_cast<std::ptrdiff_t>(relabelling.num_components);
  const auto draws = static_cast<std::ptrdiff_t>(relabelling.permutation.size()) / K;
  const auto per_chain = draws / static_cast<std::ptrdiff_t>(num_chains);
  std::vector<int> first;
  for (std::ptrdiff_t begin = 0; begin < draws; begin += per_chain) {
    std::map<std::vector<int>, int> counts;
    for (std::ptrdiff_t i = begin; i < begin + per_chain; ++i) {
      const auto at = relabelling.permutation.begin() + i * K;
      ++counts[std::vector<int>(at, at + K)];
    }
    const auto& most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
                         return a.second < b.second;
                       })->first;
    if (first.empty()) first = most;
    if (most != first) return true;
  }
  return false;
}

void mend_labels(DrawDiagnostics& run, const MixtureNames& mixture, ThreadPool& threads) {
  DrawSet& draws = run.draws;
  const std::size_t begin = draws.num_log_densities, end = run.first_label_free;
  const Relabelling relabelling = relabel_by_classification(draws, mixture, threads);
  const auto size = static_cast<std::ptrdiff_t>(draws.num_chains() * draws.num_draws);
  const auto first = draws.values.begin() + static_cast<std::ptrdiff_t>(begin) * size,
             last = draws.values.begin() + static_cast<std::ptrdiff_t>(end) * size;
  std::vector<double> sampled(first, last);
  apply(relabelling, draws);
  std::vector<QuantitySummary> summaries = run.summaries;
  threads.for_each(end - begin,
                   [&](std::size_t i, int) { summaries[begin + i] = summarize_one(draws, begin + i); });
  if (worst_rhat(summaries, begin, end) <= run.bounds.rhat) {
    run.labels = Labels::relabelled;
    run.summaries = std::move(summaries);
    return;
  }
  if (chains_differ(relabelling, draws.num_chains())) run.labels = Labels::unmended;
  std::copy(sampled.begin(), sampled.end(), first);
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
  return std::all_of(x, x + size, [&](double value) { return value == x[0]; });
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
  if (mixture && numbering == Numbering::by_order) apply(relabel_by_order(run.draws, *mixture), run.draws);
  if (mixture) append_label_free(run.draws, *mixture);
  run.summaries.resize(run.draws.num_quantities());
  threads.for_each(run.summaries.size(),
                   [&](std::size_t q, int) { run.summaries[q] = summarize_one(run.draws, q); });
  run.worst_raw_rhat = worst_rhat(run.summaries, run.draws.num_log_densities, run.first_label_free);
  if (mixture && numbering == Numbering::mended && !ordered_by_prior && run.worst_raw_rhat > run.bounds.rhat)
    mend_labels(run, *mixture, threads);
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

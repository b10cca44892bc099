// Decides whether the draws of several chains estimate their posterior. `emomc diagnose`, the marks in
// summary and report, and the decision to end a run use the same rule, so diagnose accepts the draws that
// ended a run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emomc/core/thread_pool.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "emomc/sampler/mixture_labels.hpp"

namespace emomc {

/// Targets of Vehtari et al. 2021, section 4, and the false-alarm rate for draws that reach them.
struct ConvergenceBounds {
  double rhat = 1.01;        ///< a smaller R-hat is accepted even if chains differ significantly
  double ess = 400;          ///< total over all chains
  double ess_per_chain = 5;  ///< for each chain, unless chains are superchains or ensembles
  /// Largest probability of a false alarm over all quantities and checks together.
  double false_alarms = 0.01;
  /// Two components whose MatchedComponents::overlap is larger than this cannot be distinguished.
  double overlap = 0.02;
};

/// The rule by which the components of a mixture are numbered.
enum class Numbering {
  mended,    ///< matched so that all draws of all chains agree, whatever their labels
  raw,       ///< as sampled
  by_order,  ///< sorted in each draw by the mean of the first column
};

/// The state of the components' labels after diagnose_draws.
enum class Labels {
  as_sampled,  ///< components were not matched: there is no mixture, the prior numbers the components, or the
               ///< Numbering is not `mended`
  relabelled,  ///< the components of every draw were matched to those of all draws
  unmended,    ///< components were matched, but two of them cannot be distinguished
};

/// Two components that are nearly interchangeable in a share of the draws (MatchedComponents::overlap).
struct ComponentOverlap {
  double share = 0;
  int first = -1, second = -1;
};

/// p-values of tests of one quantity. The null hypothesis is that chains are stationary and have one
/// distribution (docs/statistics.md, "The verdict").
struct MixingTests {
  double p_chains = 1;  ///< chains, halves of chains or superchains differ in location or scale
  double p_ess = 1;     ///< means of batches vary more than they would with the required ESS
  double p_trend = 1;   ///< early draws of all chains differ from late ones, where that biases the mean
  /// Mean normal score of early less that of late draws, for the split with the smallest p_trend: about the
  /// difference in posterior sds. If that test is one of scale, the scores are those of distances from the
  /// median.
  double trend = 0;
  double trend_share = 0;          ///< share of the draws that are early in that split
  bool trend_is_of_scale = false;  ///< whether that test is one of scale
  double ess_within = 0;           ///< ESS from the autocorrelation within chains alone
};

/// Draws and the diagnostics of each quantity.
struct DrawDiagnostics {
  /// The draws, renumbered by relabel_by_order for Numbering::by_order and by match_components for
  /// Numbering::mended; label-free quantities follow the parameters.
  DrawSet draws;
  Labels labels = Labels::as_sampled;
  std::string numbered_by;   ///< MatchedComponents::numbered_by, if components were matched
  ComponentOverlap overlap;  ///< the pair with the largest share, if components were matched
  /// Index of the first quantity that append_label_free derived; no quantity from this index on depends on
  /// labels.
  std::size_t first_label_free = 0;
  std::vector<QuantitySummary> summaries;  ///< [draws.num_quantities()]; nested R-hat with superchains
  std::vector<MixingTests> tests;          ///< [draws.num_quantities()]
  std::size_t num_judged = 0;              ///< number of quantities with is_judged
  ConvergenceBounds bounds;

  /// Whether a quantity does not depend on how components are numbered.
  bool is_label_free(std::size_t q) const { return q < draws.num_log_densities || q >= first_label_free; }
  /// Whether all draws are equal up to rounding. Constants have neither R-hat nor ESS and are not judged.
  bool is_constant(std::size_t q) const;
  /// Whether the quantity is not constant and has an R-hat or an ESS; draws that are not finite have neither.
  bool is_judged(std::size_t q) const;
  /// Whether early and late draws differ by more than chance.
  bool has_trend(std::size_t q) const;
  /// Whether R-hat is above its bound and chains differ by more than chance.
  bool has_high_rhat(std::size_t q) const;
  /// Whether the bulk or tail ESS is below least_ess() by more than chance.
  bool has_low_ess(std::size_t q) const;
  /// Whether the quantity is constant, or judged and without high R-hat, low ESS or trend.
  bool is_converged(std::size_t q) const;
  /// The bulk and tail ESS that every quantity must have.
  double least_ess() const;
  /// The largest R-hat that chance explains for chains of one distribution; at least bounds.rhat.
  double rhat_bound(std::size_t q) const;
};

/// Appends the label-free quantities of a mixture to `draws`, renumbers the components according to
/// `numbering` and summarises every quantity. `ordered_by_prior`: whether the prior numbers the components,
/// by an order or by different priors; Numbering::mended then renumbers nothing. Otherwise the results of
/// Numbering::mended and of Numbering::by_order do not depend on the labels that the draws had. No numbering
/// changes the label-free quantities.
DrawDiagnostics diagnose_draws(DrawSet draws, Numbering numbering, bool ordered_by_prior,
                               ThreadPool& threads);

/// Quantities that fail a check, the worst first, as indices into DrawDiagnostics::draws.names.
struct FailedQuantities {
  std::vector<std::size_t> rhat, ess, trend;
  bool none() const { return rhat.empty() && ess.empty() && trend.empty(); }
};

/// The reasons why draws are rejected.
struct ConvergenceVerdict {
  bool too_few_draws = false;   ///< too few draws of each chain for any diagnostic
  FailedQuantities label_free;  ///< failures among quantities that do not depend on labels, or among all
                                ///< quantities if the layout is not known
  FailedQuantities parameters;  ///< failures among the other quantities, which are judged only if the
                                ///< label-free ones pass
  /// Whether two components cannot be distinguished. This is not a defect of the draws and more draws do not
  /// change it, but the summaries of these components depend on how they are matched.
  bool labels_unmended = false;
  /// Estimate of the factor by which the number of draws must grow; 1 where draws have converged.
  double required_growth = 1;
  /// Whether every ESS estimate itself reaches the target; a run that chooses its length continues until
  /// then.
  bool reaches_ess = false;
  /// Whether every R-hat estimate is at most its bound, even if chance would explain a larger one. Always
  /// true for superchains and ensembles, whose R-hat chance alone keeps above the bound, and for the
  /// parameters of components that cannot be distinguished.
  bool reaches_rhat = false;

  bool converged() const { return !too_few_draws && label_free.none() && parameters.none(); }
};
/// Applies the bounds of `run` to its quantities.
ConvergenceVerdict judge_convergence(const DrawDiagnostics& run);

}  // namespace emomc

// Whether the draws of several chains estimate their posterior. One rule serves `emomc diagnose`, the marks
// of summary and report, and the decision to end a run; so what ends a run is what diagnose then says.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emomc/core/thread_pool.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "emomc/sampler/mixture_labels.hpp"

namespace emomc {

/// The targets of Vehtari et al. 2021, section 4, and the rate at which draws that reach them are rejected.
struct ConvergenceBounds {
  double rhat = 1.01;          ///< not a fault up to here, however surely chains differ
  double ess = 400;            ///< of all chains together
  double ess_per_chain = 5;    ///< of chains with starts of their own
  double false_alarms = 0.01;  ///< at most, of all quantities and checks together
  /// Of two components' shares of draws as in MatchedComponents; they cannot be told apart above it.
  double overlap = 0.02;
};

/// How the components of a mixture are to be numbered.
enum class Numbering {
  mended,    ///< so that all draws of all chains agree, whatever labels they have
  raw,       ///< as they were sampled
  by_order,  ///< in each draw by the first column's mean
};

enum class Labels {
  as_sampled,  ///< no mixture, or numbered by the prior, or not to be matched
  relabelled,  ///< every draw's components are matched to those of all draws
  unmended,    ///< they are, and two of them cannot be told apart
};

/// Two components that cannot be told apart in a share of the draws (MatchedComponents).
struct ComponentOverlap {
  double share = 0;
  int first = -1, second = -1;
};

/// Tests of one quantity against chains that are alike and stationary (docs/statistics.md, "The verdict").
struct MixingTests {
  double p_chains = 1;     ///< chains, halves of them, or superchains differ in place or width
  double p_ess = 1;        ///< means of batches vary more than with the ESS that is asked for
  double p_trend = 1;      ///< early draws of all chains differ from late ones, where that biases the mean
  double trend = 0;        ///< early less late, in units of the posterior sd; of the smallest p_trend
  double trend_share = 0;  ///< the share of the draws that is early
  double ess_within = 0;   ///< ESS from the autocorrelation within chains alone
};

/// Draws with the diagnostics of each quantity.
struct DrawDiagnostics {
  DrawSet draws;  ///< renumbered where labels says so; label-free quantities behind the parameters
  Labels labels = Labels::as_sampled;
  std::string numbered_by;           ///< where components are matched, as in MatchedComponents
  ComponentOverlap overlap;          ///< of the pair with the largest share; where components are matched
  std::size_t first_label_free = 0;  ///< quantities from here on were derived and do not depend on labels
  std::vector<QuantitySummary> summaries;  ///< [draws.num_quantities()]; rhat is nested with superchains
  std::vector<MixingTests> tests;          ///< [draws.num_quantities()]
  std::size_t num_judged = 0;              ///< quantities that are finite and not constant
  ConvergenceBounds bounds;

  /// Whether a quantity does not depend on how components are numbered.
  bool is_label_free(std::size_t q) const { return q < draws.num_log_densities || q >= first_label_free; }
  /// Constants have neither R-hat nor ESS and are not judged.
  bool is_constant(std::size_t q) const;
  bool is_judged(std::size_t q) const;
  bool has_trend(std::size_t q) const;
  /// R-hat above its bound, with chains that differ by more than chance.
  bool has_high_rhat(std::size_t q) const;
  /// An ESS that is below its target, and by more than chance.
  bool has_low_ess(std::size_t q) const;
  bool is_converged(std::size_t q) const;
  /// The bulk and tail ESS that a quantity is to have.
  double least_ess() const;
  /// What R-hat is at most, by chance, where chains are alike.
  double rhat_bound(std::size_t q) const;
};

/// Appends the label-free quantities of a mixture to `draws`, renumbers its components as `numbering` says
/// and summarises every quantity. `ordered_by_prior`: the prior numbers the components, by an order or by
/// different priors for them; nothing is renumbered. Otherwise nothing in the result of Numbering::mended and
/// Numbering::by_order depends on the labels that the draws had, and with any numbering the label-free
/// quantities do not.
DrawDiagnostics diagnose_draws(DrawSet draws, Numbering numbering, bool ordered_by_prior,
                               ThreadPool& threads);

/// Quantities that fail a bound, the worst first; indices into DrawDiagnostics::draws.names.
struct FailedQuantities {
  std::vector<std::size_t> rhat, ess, trend;
  bool none() const { return rhat.empty() && ess.empty() && trend.empty(); }
};

/// What keeps draws from being trusted.
struct ConvergenceVerdict {
  bool too_few_draws = false;   ///< for any diagnostic
  FailedQuantities label_free;  ///< among quantities that do not depend on labels; foreign draws: among all
  FailedQuantities parameters;  ///< among the others; judged only where the label-free ones pass
  /// Two components cannot be told apart: no fault of the draws, and more of them do not change it, but what
  /// is said of these components depends on how they are matched.
  bool labels_unmended = false;
  /// How many times as many draws would do, as far as that can be told: 1 where draws have converged.
  double required_growth = 1;
  /// Whether every ESS estimate is at least the target itself: what a run that goes on until then asks for.
  bool reaches_ess = false;

  bool converged() const { return !too_few_draws && label_free.none() && parameters.none(); }
};
ConvergenceVerdict judge_convergence(const DrawDiagnostics& run);

}  // namespace emomc

// Whether the draws of several chains estimate their posterior. One rule serves `emomc diagnose`, the marks
// of summary and report, and the decision to end a run; so what ends a run is what diagnose then says.
#pragma once

#include <cstddef>
#include <vector>

#include "emomc/core/thread_pool.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "emomc/sampler/mixture_labels.hpp"

namespace emomc {

/// The bounds of Vehtari et al. 2021, section 4.
struct ConvergenceBounds {
  double rhat = 1.01;
  double ess = 400;  ///< of all chains together; at least 100 for each of up to 16 chains
};

/// How the components of a mixture are to be numbered.
enum class Numbering {
  mended,    ///< as they were sampled; where chains do not agree, as they agree
  raw,       ///< as they were sampled
  by_order,  ///< in each draw by the first column's mean
};

enum class Labels {
  as_sampled,  ///< no mixture, or numbered alike in all chains or by the prior, or asked for raw
  relabelled,  ///< chains numbered them differently; the draws are renumbered
  unmended,    ///< they do, and renumbering does not make them agree
};

/// Draws with the diagnostics of each quantity.
struct DrawDiagnostics {
  DrawSet draws;  ///< renumbered where labels says so; label-free quantities behind the parameters
  Labels labels = Labels::as_sampled;
  double worst_raw_rhat = 0;         ///< of the parameters as they were sampled
  std::size_t first_label_free = 0;  ///< quantities from here on were derived and do not depend on labels
  std::vector<QuantitySummary> summaries;  ///< [draws.num_quantities()]; rhat is nested with superchains
  ConvergenceBounds bounds;

  /// Whether a quantity does not depend on how components are numbered.
  bool is_label_free(std::size_t q) const { return q < draws.num_log_densities || q >= first_label_free; }
  /// Constants have neither R-hat nor ESS and are not judged.
  bool is_constant(std::size_t q) const;
  bool is_converged(std::size_t q) const;
  /// The least bulk and tail ESS that a quantity needs.
  double least_ess() const;
};

/// Appends the label-free quantities of a mixture to `draws`, renumbers its components as `numbering` says
/// and summarises every quantity. `ordered_by_prior`: the prior numbers the components, nothing is
/// renumbered.
DrawDiagnostics diagnose_draws(DrawSet draws, Numbering numbering, bool ordered_by_prior,
                               ThreadPool& threads);

/// Quantities that fail a bound, the worst first; indices into DrawDiagnostics::draws.names.
struct FailedQuantities {
  std::vector<std::size_t> rhat, ess;
  bool none() const { return rhat.empty() && ess.empty(); }
};

/// What keeps draws from being trusted.
struct ConvergenceVerdict {
  bool too_few_draws = false;   ///< for any diagnostic
  FailedQuantities label_free;  ///< among quantities that do not depend on labels; foreign draws: among all
  FailedQuantities parameters;  ///< among the others; judged only where the label-free ones pass
  bool labels_unmended = false;

  bool converged() const {
    return !too_few_draws && label_free.none() && parameters.none() && !labels_unmended;
  }
};
ConvergenceVerdict judge_convergence(const DrawDiagnostics& run);

}  // namespace emomc

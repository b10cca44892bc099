// What is known of a run after it: its draws, what their diagnostics are, whether its labels agree.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "emomc/sampler/draw_set.hpp"
#include "emomc/sampler/mixture_labels.hpp"

namespace emomc::app {

/// What a manifest adds to the draws; empty where there is none.
struct RunFacts {
  std::string status;  ///< running, interrupted, finished, failed
  std::string order;   ///< block by which the prior orders components; empty: none
  std::optional<double> target_acceptance;
  std::vector<double> adaptation_drift;  ///< [num_blocks]; NaN: not known
  std::vector<double> scale_floor;       ///< [num_columns] in the data's units
  std::optional<double> faults, evaluations, rows, duplicate_rows;
};

/// The bounds of Vehtari et al. 2021, section 4.
struct Bounds {
  double rhat = 1.01;
  double ess = 400;  ///< in all; at least 100 for each of up to 16 chains
};

/// How a user wants a mixture's components numbered.
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

struct Inspection {
  DrawSet draws;  ///< renumbered where labels says so; label-free quantities behind the parameters
  RunFacts facts;
  Labels labels = Labels::as_sampled;
  double worst_raw_rhat = 0;  ///< of the parameters as they were sampled
  std::size_t first_label_free = 0;
  std::vector<QuantitySummary> summaries;  ///< [draws.num_quantities()]; rhat is nested with superchains
  Bounds bounds;

  bool is_label_free(std::size_t q) const { return q < draws.num_log_densities || q >= first_label_free; }
  /// What R-hat and ESS of a quantity have to be for trust; constants have neither and are not judged.
  bool is_constant(std::size_t q) const;
  bool is_converged(std::size_t q) const;
  double least_ess() const;
};

/// The runs of a command line: directories by themselves; CSV files together are the chains of one. Throws
/// InputError.
std::vector<Inspection> inspect(const std::vector<std::string>& paths, Numbering numbering);
/// What a manifest says, times and superchains into `draws`. One that is damaged is as good as none.
RunFacts read_facts(const std::filesystem::path& manifest, DrawSet& draws);
Inspection inspect_run(const std::filesystem::path& directory, Numbering numbering);

}  // namespace emomc::app

// Summaries of run directories, for `emomc summary` and for the end of `emomc run`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "emomc/posterior/inspection.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/posterior/trajectory_summary.hpp"
#include "emomc/sampler/diagnostics.hpp"

namespace emomc {

struct SummaryRow {
  std::string name, label;  ///< name as in chain files, and label with the names of columns
  QuantitySummary summary;
  std::optional<double> ess_bulk_per_second;  ///< per second of warm-up and sampling together
  bool is_label_free = false;                 ///< derived from a mixture's parameters, independent of labels
  bool is_constant = false;
  /// The quantity's place among those that the verdict names, from 0, the worst; kUnnamed: the verdict does
  /// not name it.
  std::size_t named = kUnnamed;
  static constexpr std::size_t kUnnamed = static_cast<std::size_t>(-1);
};

struct BlockAcceptance {
  std::string name;
  /// Acceptance rate of all chains together, and of the chains with the lowest and the highest rate.
  double rate, lowest, highest;
};

struct RunSummary {
  std::string source;
  bool is_selected = false;  ///< whether the rows were selected by patterns of names
  std::vector<SummaryRow> rows;
  std::vector<BlockAcceptance> acceptance;
  TrajectorySummaryOfRun trajectories;
  std::size_t num_chains = 0, num_draws = 0;  ///< num_draws is the number of draws of each chain
  Labels labels = Labels::as_sampled;
  ComponentOverlap overlap;
  std::string numbered_by, numbering_label;  ///< MatchedComponents::numbered_by, and its label for users
  std::size_t num_failed = 0;  ///< number of the quantities named by the verdict that fail one of its checks
  bool is_nested = false;      ///< R-hat is nested R-hat
  std::string warning;         ///< one line if a label-free quantity has not converged; otherwise empty
  std::optional<double> warmup_seconds, sampling_seconds;
  std::optional<TemperingSummary> tempering;
};

/// The key by which quantities are sorted: R-hat, the worst (largest) first. A quantity without R-hat, whose
/// draws are not finite or too few, is worse than any number; a constant is the best.
double badness(const QuantitySummary& summary, bool is_constant);

/// Summarises the quantities whose names or labels match `patterns` (shell globs); all if it is empty. Throws
/// InputError if none matches.
RunSummary summarize_run(const Inspection& run, const std::vector<std::string>& patterns);

nlohmann::ordered_json to_json(const RunSummary& summary);
std::string to_csv(const RunSummary& summary);
/// A text table of at most `max_rows` rows, no line wider than `width`. If there are more rows, it has the
/// log densities, the quantities that the verdict names and those with the largest R-hat.
std::string to_text(const RunSummary& summary, std::size_t max_rows, std::size_t width = kUnlimited);

}  // namespace emomc

// Summaries of run directories: shared by summary and by the end of run.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "emomc/sampler/diagnostics.hpp"
#include "inspection.hpp"

namespace emomc::app {

struct SummaryRow {
  std::string name;
  QuantitySummary summary;
  std::optional<double> ess_bulk_per_second;
  bool is_label_free = false;  ///< of a mixture, derived from its parameters
};

struct BlockAcceptance {
  std::string name;
  double rate, lowest, highest;  ///< over all chains, and of the chains
};

struct RunSummary {
  std::string source;
  bool is_selected = false;  ///< by patterns
  std::vector<SummaryRow> rows;
  std::vector<BlockAcceptance> acceptance;
  std::size_t num_chains = 0, num_draws = 0;  ///< draws per chain that all chains have
  Labels labels = Labels::as_sampled;
  ComponentOverlap overlap;
  std::string numbered_by;
  bool is_nested = false;  ///< R-hat is nested R-hat
  std::string warning;     ///< a line, where a label-free quantity has not converged
  std::optional<double> warmup_seconds, sampling_seconds;
};

/// Whether a name is one of `patterns` or matched by one (shell globs).
bool is_selected(const std::string& name, const std::vector<std::string>& patterns);

/// `patterns` select names (shell globs); empty: all.
RunSummary summarize_run(const Inspection& run, const std::vector<std::string>& patterns);

nlohmann::ordered_json to_json(const RunSummary& summary);
std::string to_csv(const RunSummary& summary);
/// A table for people; at most `max_rows` rows, those with the largest R-hat first if there are more.
std::string to_text(const RunSummary& summary, std::size_t max_rows);

}  // namespace emomc::app

// The components of a mixture that rows belong to, under the posterior of a run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "inspection.hpp"
#include "row_summaries.hpp"

namespace emomc::app {

struct MixturePrediction {
  int num_components = 0;
  std::size_t num_draws = 0;
  /// num_rows x num_components: the probability that a row is of a component. Components have the numbers
  /// that summary gives them.
  std::vector<RowSummary> probabilities;

  /// [num_rows] the component of each row in the best partition (sampler/best_partition.hpp).
  std::vector<int> partition;
  std::size_t num_candidates = 0, num_partition_draws = 0;  ///< how it was searched for
  /// The expected share of the pairs of rows that are together in one of partition and truth and apart in the
  /// other.
  double pairs_that_differ = 0;
  /// Whether the best partition is the one that has each row in its most probable component.
  bool is_most_probable = false;

  Labels labels = Labels::as_sampled;
  std::string overlap;  ///< overlap_text() where components cannot be told apart; empty: they can

  std::size_t num_rows() const { return partition.size(); }
};

/// Predicts the rows of `files`, or those of the run where there are none, from `most_draws` draws at equal
/// distances over all chains. Shows progress. Throws InputError where the run is not of a mixture of two or
/// more components, or the rows do not have its columns or are not those of the run.
MixturePrediction predict_mixture(const std::filesystem::path& directory,
                                  const std::vector<std::string>& files, std::size_t most_draws);

}  // namespace emomc::app

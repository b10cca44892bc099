// Predicts the components of a mixture to which rows belong, under the posterior of a run.
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
  /// [num_rows x num_components] the probability that a row belongs to a component. Components have the same
  /// numbers as in the output of summary.
  std::vector<RowSummary> probabilities;

  /// [num_rows] the component of each row in the best partition (sampler/best_partition.hpp).
  std::vector<int> partition;
  std::size_t num_candidates = 0, num_partition_draws = 0;  ///< size of the search
  /// The expected share of pairs of rows that are together in the partition and apart in the true one, or the
  /// other way round.
  double pairs_that_differ = 0;
  /// Whether the best partition is the one in which each row is in its most probable component.
  bool is_most_probable = false;

  Labels labels = Labels::as_sampled;
  std::string overlap;  ///< overlap_text() if components cannot be told apart; empty: they can

  std::size_t num_rows() const { return partition.size(); }
};

/// Predicts the rows of `files`, or those of the run if `files` is empty, from `most_draws` draws at equal
/// distances over all chains. Shows progress. Throws InputError if the run's model is not a mixture of two or
/// more components, or if the rows lack its columns or are not those of the run.
MixturePrediction predict_mixture(const std::filesystem::path& directory,
                                  const std::vector<std::string>& files, std::size_t most_draws);

}  // namespace emomc::app

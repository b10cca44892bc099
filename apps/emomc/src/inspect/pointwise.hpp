// Computes pointwise log likelihoods of a run's data from its directory alone.
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "emomc/likelihood/engines.hpp"

namespace emomc::app {

/// The groups of rows that are left out together.
struct Grouping {
  std::string by;  ///< "row", a column of the data, or "file" for the input files if no column has this name
  std::size_t num_groups = 0;
  std::vector<std::string> names;  ///< [num_groups] the values of the column; empty where `by` is row, file
                                   ///< or utterance
  std::size_t smallest = 1, largest = 1;  ///< numbers of rows in the smallest and the largest group
};

struct PointwiseRequest {
  std::filesystem::path directory;
  /// "row", "file" or any column of the data. Rows with equal texts in this column form a group, or rows with
  /// equal numbers if all its texts are numbers. Empty: "utterance" if the data have this column, else "row".
  std::string by;
  std::size_t most_draws = 1000;  ///< upper bound; the draws are at equal distances over all chains
  /// Upper bound of draws x groups. pointwise() throws InputError, before any evaluation, if there are more.
  std::size_t most_values = std::numeric_limits<std::size_t>::max();
};

struct PointwiseRun {
  std::string data_sha256;
  Grouping grouping;
  std::size_t num_draws = 0;
  /// Bulk ESS of the log likelihood divided by the number of draws used, and at most 1.
  double relative_efficiency = 1;
  std::vector<std::string> label_columns;  ///< the label columns of the data
  /// Whether the likelihood has an index by the column of the groups, so that a group has parameters of its
  /// own.
  bool groups_have_parameters = false;
  std::string weights;  ///< the column by which log densities of rows are multiplied; empty: there is none
};

/// Calls `use` for every group in turn, with its log likelihoods [num_draws] and their relative efficiency.
/// Only some groups of large data are in memory at a time. Throws InputError if the data are missing, are not
/// those of the run (by SHA-256) or lack the column. Shows progress.
PointwiseRun pointwise(const PointwiseRequest& request,
                       const std::function<void(std::span<const double>, double)>& use);

}  // namespace emomc::app

// Log likelihoods of the parts of a run's data, from its directory alone.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "emomc/likelihood/engines.hpp"

namespace emomc::app {

/// The model that has such parameters.
ModelSpec model_of(const ParameterLayout& layout);
/// The first blocks of a chain's layout, those that the likelihood has; behind them stand arguments of
/// priors. Throws InputError, naming `run`, where they are not the model's in `dim` columns.
ParameterLayout layout_of_likelihood(const ParameterLayout& layout, const ModelSpec& model, int dim,
                                     const std::string& run);

/// What is left out together.
struct Grouping {
  std::string by;  ///< row, file, or a label column of the data (utterance, speaker, ...)
  std::size_t num_groups = 0;
};

struct PointwiseRequest {
  std::filesystem::path directory;
  std::string by;                 ///< empty: utterance where the data have it, else row
  std::size_t most_draws = 1000;  ///< at equal distances over all chains
};

struct PointwiseRun {
  std::string data_sha256;
  Grouping grouping;
  std::size_t num_draws = 0;
  double relative_efficiency = 1;          ///< bulk ESS of the log likelihood per draw taken, at most 1
  std::vector<std::string> label_columns;  ///< that the data have
};

/// Calls `use(log likelihoods [draws], relative_efficiency)` for every group, in order; of large data some
/// groups at a time are in memory. Throws InputError where the data are gone or are not those of the run, or
/// have no such column.
PointwiseRun pointwise(const PointwiseRequest& request,
                       const std::function<void(std::span<const double>, double)>& use);

}  // namespace emomc::app

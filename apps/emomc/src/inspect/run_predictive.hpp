// Simulates replicates of a run's data from its directory alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "emomc/posterior/predictive.hpp"
#include "emomc/posterior/run_data.hpp"

namespace emomc::app {

/// Draws the data of a run anew; `drawn` is the layout of its chains. Throws InputError as RowSimulator does.
RowSimulator simulator_of_run(const std::filesystem::path& directory, const ParameterLayout& drawn,
                              const Table& data);

/// Draws from the prior of a run, which its config.yaml states. Throws InputError if that file is missing,
/// because another program that uses the library made the run.
PriorPredictive prior_predictive_of_run(const std::filesystem::path& directory, const Table& data,
                                        std::uint64_t seed, const PredictiveOptions& options);

/// Returns those of the run's columns for which its likelihood is a density.
std::vector<std::string> observed_columns_of_run(const std::filesystem::path& directory,
                                                 const std::vector<std::string>& columns);

}  // namespace emomc::app

// Posterior predictive checks (Gelman, Meng and Stern 1996), which compare the data with replicates that are
// simulated from the posterior.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace emomc::app {

/// One statistic of one column: its value for the data and for replicated data sets of the same size.
struct PredictiveCheck {
  std::string column,
      statistic;  ///< mean, sd, skewness, kurtosis (0 for a normal), minimum, q5, q50, q95, maximum
  double observed, mean, q5, q95;  ///< mean, q5 and q95 are over the replicates
  double p;  ///< share of replicates whose statistic is larger than the observed one; ties count half
};

/// Returns the checks for every statistic of every column. `replicates` draws at equal distances are used, or
/// fewer, but at least 20, if the data are large. Throws InputError if the data are missing, are not those of
/// the run or exceed 2 GB.
std::vector<PredictiveCheck> predictive_checks(const std::filesystem::path& directory, int replicates = 200);

}  // namespace emomc::app

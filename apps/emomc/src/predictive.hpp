// Posterior predictive checks (Gelman, Meng and Stern 1996): whether data that the posterior would make look
// like the data there are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace emomc::app {

/// One statistic of one column, of the data and of replicated data sets of the same size.
struct PredictiveCheck {
  std::string column, statistic;   ///< mean, sd, skewness, q5, q50, q95
  double observed, mean, q5, q95;  ///< the last three of the replicates
  double p;                        ///< share of replicates whose statistic is larger; a half of ties
};

/// Of `replicates` draws at equal distances, at least 20; fewer where the data are large. Throws InputError
/// where the data are gone or are not those of the run.
std::vector<PredictiveCheck> predictive_checks(const std::filesystem::path& directory, int replicates = 200);

}  // namespace emomc::app

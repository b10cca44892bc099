// Compares a run with the summary of another program's draws.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emomc/sampler/diagnostics.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc::testing {

/// Returns the values of a function of each draw's parameters, one chain after another.
template <class F>
std::vector<double> of_draws(const std::vector<ChainDraws>& chains, const F& function) {
  std::vector<double> values;
  for (const auto& chain : chains) {
    const auto dim = static_cast<std::size_t>(chain.header.layout.dim());
    for (std::size_t i = 0; i < static_cast<std::size_t>(chain.num_draws); ++i)
      values.push_back(function(chain.parameters.data() + i * dim));
  }
  return values;
}

inline DrawsView view_of(const std::vector<double>& values, const std::vector<ChainDraws>& chains) {
  const auto draws = static_cast<std::size_t>(chains[0].num_draws);
  return {values.data(), draws, chains.size(), 1, static_cast<std::ptrdiff_t>(draws)};
}

/// Returns our name of an element of a mixture in one column: means[2] in Stan is means[1,0] here.
inline std::string name_of_stans(const std::string& theirs) {
  const auto bracket = theirs.find('[');
  if (bracket == std::string::npos) return theirs;
  const std::string block = theirs.substr(0, bracket),
                    index = std::to_string(std::stoi(theirs.substr(bracket + 1)) - 1);
  const bool by_column = block == "means" || block == "scales";
  return block + "[" + index + (by_column ? ",0]" : "]");
}

/// Expects that every mean, sd, 5 %, 50 % and 95 % quantile of the parameters in `file` differs from the
/// run's by at most z combined Monte Carlo standard errors. our_name translates a name in the file into the
/// name in the run. Returns the number of comparisons.
template <class Name>
int expect_reference_posterior(const std::filesystem::path& run, const std::filesystem::path& file, double z,
                               const Name& our_name) {
  std::ifstream stream(file);
  const auto reference = nlohmann::json::parse(stream);
  const auto chains = read_chains(run);
  const auto names = element_names(chains[0].header.layout);
  int num_compared = 0;
  for (const auto& theirs : reference["parameters"]) {
    const std::string name = our_name(theirs["name"].get<std::string>());
    EXPECT_LT(theirs["rhat"].get<double>(), 1.01) << name;
    EXPECT_GT(std::min(theirs["ess_bulk"].get<double>(), theirs["ess_tail"].get<double>()), 1000) << name;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) continue;
    const auto p = found - names.begin();
    const auto values = of_draws(chains, [&](const double* theta) { return theta[p]; });
    const DrawsView view = view_of(values, chains);
    const auto compare = [&](const char* what, double ours, double our_error, const char* error_name) {
      const double difference = ours - theirs[what].get<double>();
      const double error = std::hypot(our_error, theirs[error_name].get<double>());
      EXPECT_LT(std::abs(difference), z * error)
          << name << " " << what << ": " << ours << ", reference " << theirs[what] << ", error " << error;
      ++num_compared;
    };
    compare("mean", draws_mean(view), mcse_mean(view), "mcse_mean");
    compare("sd", draws_sd(view), mcse_sd(view), "mcse_sd");
    compare("q5", draws_quantile(view, 0.05), mcse_quantile(view, 0.05), "mcse_q5");
    compare("q50", draws_quantile(view, 0.5), mcse_quantile(view, 0.5), "mcse_q50");
    compare("q95", draws_quantile(view, 0.95), mcse_quantile(view, 0.95), "mcse_q95");
    EXPECT_GT(ess_bulk(view), 100) << name;  // else the comparison would be too weak
  }
  return num_compared;
}

}  // namespace emomc::testing

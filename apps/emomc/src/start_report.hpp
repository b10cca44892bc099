// A description of the chains' starting points, for the log, `emomc check` and the manifest.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace emomc::app {

/// Whether none of `num_followed` independent draws would be at an optimum of this share of the posterior
/// mass with a probability below 1 %, even if Laplace's approximation gives three times the right share.
bool is_lost(double share, double num_draws, double num_followed);

struct StartReport {
  struct Place {
    double log_posterior = 0;   ///< log likelihood plus log prior, in the units of the files
    double share = 0;           ///< share of the approximate mass of all optima
    std::size_t num_fits = 0;   ///< number of fits that reached it
    std::vector<int> chains;    ///< numbers of the chains that start there
    std::size_t num_draws = 0;  ///< number of the num_followed draws of the run that EM takes to this optimum
  };
  std::string init;            ///< sampler.init; empty: the starts are unknown
  std::size_t num_points = 0;  ///< number of distinct starting points
  std::size_t num_fits = 0, num_degenerate = 0;
  bool only_degenerate = false;  ///< chains start at a degenerate optimum, since there is no other
  double best_degenerate = 0;    ///< its log posterior, if num_degenerate > 0
  /// Those of at least 1 % of the mass, the heaviest first; empty: starts are not from fits.
  std::vector<Place> optima;
  std::size_t num_followed = 0;  ///< number of draws that were followed to an optimum; 0: none was
  /// A sentence on how the components of a parameter file were renumbered; empty: they were not.
  std::string renumbered;
};

/// Lines for the log: information, and warnings.
struct StartLines {
  std::vector<std::string> said, warned;
};
StartLines describe(const StartReport& report);
/// One line for each optimum that the run has lost (LostOptimum); empty where there is none.
std::vector<std::string> describe_lost(const StartReport& report);
nlohmann::ordered_json to_json(const StartReport& report);
/// The optima of a manifest's "starts", without the draws that an earlier end of the run has followed to
/// them; nothing that is not there or has another type.
StartReport start_report_of(const nlohmann::ordered_json& json);
/// Adds the counts of follow_draws_to_optima to to_json's result.
void add_followed(const StartReport& report, nlohmann::ordered_json& json);
/// Takes these counts away.
void remove_followed(nlohmann::ordered_json& json);

}  // namespace emomc::app

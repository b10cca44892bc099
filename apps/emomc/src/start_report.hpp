// What is known of the places where chains started: for the log, `check` and the manifest.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace emomc::app {

/// Whether none of `num_followed` independent draws would be at an optimum of this share of the posterior
/// mass with a probability below 1 %, even if Laplace's approximation gives three times the right share.
bool is_lost(double share, double num_draws, double num_followed);

struct StartReport {
  struct Place {
    double log_posterior = 0;   ///< log likelihood and log prior, in the units of the files
    double share = 0;           ///< of the approximate mass of all optima
    std::size_t num_fits = 0;   ///< that reached it
    std::vector<int> chains;    ///< that start there
    std::size_t num_draws = 0;  ///< of num_followed draws of the run, those that EM takes to this optimum
  };
  std::string init;            ///< sampler.init; empty: nothing is known
  std::size_t num_points = 0;  ///< distinct starting points
  std::size_t num_fits = 0, num_degenerate = 0;
  bool only_degenerate = false;  ///< chains start at a degenerate optimum, there being no other
  double best_degenerate = 0;    ///< its log posterior, where num_degenerate > 0
  std::vector<Place> optima;     ///< of 1 % of the mass and more, the heaviest first; empty: not from fits
  std::size_t num_followed = 0;  ///< 0: no draw was followed to an optimum
  std::string renumbered;        ///< how the components of a parameter file were renumbered, in words
};

/// Lines for the log, and those of them that are warnings.
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

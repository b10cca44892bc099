// Describes the chains' starting points for the log, `emomc check` and the manifest.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace emomc {

/// Whether at most `num_draws` of `num_followed` independent draws would be at an optimum of this share of
/// the posterior mass with a probability below 1 %, even if Laplace's approximation gives three times the
/// right share.
bool is_lost(double share, double num_draws, double num_followed);

struct StartReport {
  struct Place {
    double log_posterior = 0;  ///< log likelihood plus log prior, in the units of the files
    double share = 0;          ///< share of the approximate mass of all optima
    std::size_t num_fits = 0;  ///< number of fits that reached it
    std::vector<int> chains;   ///< numbers of the chains that start there
    /// Number of the num_followed draws of the run that EM takes to this optimum. Where a draw at an optimum
    /// with a component without rows is recognised without EM: number of the num_examined draws.
    std::size_t num_draws = 0;
    int num_empty = 0;             ///< number of components without rows
    std::size_t num_examined = 0;  ///< 0: the number is StartReport::num_followed
    double recognised = 1;         ///< share of the draws at this optimum that are recognised
  };
  std::string init;            ///< sampler.init; empty: the starts are unknown
  std::size_t num_points = 0;  ///< number of distinct starting points
  std::size_t num_fits = 0, num_degenerate = 0;
  bool only_degenerate = false;  ///< chains start at a degenerate optimum, since there is no other
  double best_degenerate = 0;    ///< log posterior of the best degenerate optimum, if num_degenerate > 0
  /// The optima with at least 1 % of the mass, the heaviest first; empty: the starts are not from fits.
  std::vector<Place> optima;
  /// Number of draws that were followed to an optimum; 0: no draw was followed.
  std::size_t num_followed = 0;
  /// A sentence on how the components of a parameter file were renumbered; empty: they were not.
  std::string renumbered;
};

/// Whether the run has lost this optimum: its draws are too rare (with a component without rows), or none of
/// the num_followed draws is at it.
bool is_lost(const StartReport::Place& place, std::size_t num_followed);

/// Lines for the log: information (`said`) and warnings (`warned`).
struct StartLines {
  std::vector<std::string> said, warned;
};
StartLines describe(const StartReport& report);
/// One line for each optimum that the run has lost (LostOptimum); empty if no optimum is lost.
std::vector<std::string> describe_lost(const StartReport& report);
nlohmann::ordered_json to_json(const StartReport& report);
/// The optima of a manifest's "starts", without the counts of draws that were followed at an earlier end of
/// the run. The report has no optima if the values are missing or have another type.
StartReport start_report_of(const nlohmann::ordered_json& json);
/// Adds the counts of follow_draws_to_optima to the result of to_json.
void add_followed(const StartReport& report, nlohmann::ordered_json& json);
/// Removes the counts that add_followed adds.
void remove_followed(nlohmann::ordered_json& json);

}  // namespace emomc

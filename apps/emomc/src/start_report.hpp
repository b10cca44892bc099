// A description of the chains' starting points, for the log, `emomc check` and the manifest.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace emomc::app {

struct StartReport {
  struct Place {
    double log_posterior = 0;  ///< log likelihood plus log prior, in the units of the files
    double share = 0;          ///< share of the approximate mass of all optima
    std::size_t num_fits = 0;  ///< number of fits that reached it
    std::vector<int> chains;   ///< numbers of the chains that start there
  };
  std::string init;            ///< sampler.init; empty: the starts are unknown
  std::size_t num_points = 0;  ///< number of distinct starting points
  std::size_t num_fits = 0, num_degenerate = 0;
  bool only_degenerate = false;  ///< chains start at a degenerate optimum, since there is no other
  double best_degenerate = 0;    ///< its log posterior, if num_degenerate > 0
  /// Those of at least 1 % of the mass, the heaviest first; empty: starts are not from fits.
  std::vector<Place> optima;
  /// A sentence on how the components of a parameter file were renumbered; empty: they were not.
  std::string renumbered;
};

/// Lines for the log: information, and warnings.
struct StartLines {
  std::vector<std::string> said, warned;
};
StartLines describe(const StartReport& report);
nlohmann::ordered_json to_json(const StartReport& report);

}  // namespace emomc::app

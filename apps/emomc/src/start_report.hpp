// What is known of the places where chains started: for the log, `check` and the manifest.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace emomc::app {

struct StartReport {
  struct Place {
    double log_posterior = 0;  ///< log likelihood and log prior, in the units of the files
    double share = 0;          ///< of the approximate mass of all optima
    std::size_t num_fits = 0;  ///< that reached it
    std::vector<int> chains;   ///< that start there
  };
  std::string init;            ///< sampler.init; empty: nothing is known
  std::size_t num_points = 0;  ///< distinct starting points
  std::size_t num_fits = 0, num_degenerate = 0;
  bool only_degenerate = false;  ///< chains start at a degenerate optimum, there being no other
  double best_degenerate = 0;    ///< its log posterior, where num_degenerate > 0
  std::vector<Place> optima;     ///< of 1 % of the mass and more, the heaviest first; empty: not from fits
  std::string renumbered;        ///< how the components of a parameter file were renumbered, in words
};

/// Lines for the log, and those of them that are warnings.
struct StartLines {
  std::vector<std::string> said, warned;
};
StartLines describe(const StartReport& report);
nlohmann::ordered_json to_json(const StartReport& report);

}  // namespace emomc::app

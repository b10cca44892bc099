// Fits of mixtures by EM from many starts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emomc/likelihood/mixture_fit.hpp"
#include "emomc/posterior/run_setup.hpp"

namespace emomc {

/// Starting points of the fits, and the number of short fits that each represents.
struct FitStarts {
  std::vector<std::vector<double>> points;
  std::vector<std::size_t> num_fits;
  std::size_t num_short_fits = 0;  ///< 0: there were none
  std::size_t num_degenerate = 0;  ///< of the short fits; these are not followed
};

/// Starts from a pool of short fits, the best first, at most `most`. Those that are degenerate are among them
/// only where all are.
FitStarts fit_starts(const RunConfig& config, const RunSetup& setup, int most);

/// The result that is returned, and facts about the others.
struct ChosenFit {
  FitResult best;
  std::string degenerate;          ///< the reason why the best result is degenerate; empty: it is not
  std::size_t num_reached = 0;     ///< number of starts, or of short fits, that reached it
  std::size_t num_degenerate = 0;  ///< number of those that reached a degenerate point
};

/// The best of `results`, which are fits from starts.points; one that is not degenerate where there is one.
ChosenFit choose_fit(const std::vector<FitResult>& results, const FitStarts& starts, const RunConfig& config,
                     const RunSetup& setup);

}  // namespace emomc

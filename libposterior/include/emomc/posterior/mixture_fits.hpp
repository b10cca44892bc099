// Fits mixtures by EM from many starts, for `emomc fit` and for fit().
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emomc/likelihood/mixture_fit.hpp"
#include "emomc/posterior/rank_team.hpp"
#include "emomc/posterior/run_setup.hpp"

namespace emomc {

/// set_up() for fits, which need one engine with all rows, here on the first GPU. Throws InputError in the
/// cases of set_up(), and if config.devices names several GPUs and the backend is not cuda.
RunSetup set_up_fits(const RunConfig& config, const Table* table = nullptr);

/// The starting points of the fits, and the number of short fits that each point represents.
struct FitStarts {
  std::vector<std::vector<double>> points;
  std::vector<std::size_t> num_fits;
  std::size_t num_short_fits = 0;  ///< 0: the starts are not from short fits
  /// Number of degenerate short fits, which are not followed; 0 if all short fits are degenerate.
  std::size_t num_degenerate = 0;
};

/// At most `most` starts from a pool of short fits, the best first. Degenerate fits are included only if all
/// fits are degenerate.
FitStarts fit_starts(const RunConfig& config, const RunSetup& setup, int most);

/// At most `most` fitters of the data of `setup`: one on setup.device, and, if the backend is cuda, others on
/// the further GPUs of `config`. `setup` must come from set_up_fits() and outlive the fitters. Throws
/// InputError if the model has no EM.
std::unique_ptr<RankTeam<MixtureFitter>> make_fitters(const RunConfig& config, const RunSetup& setup,
                                                      std::size_t most);

/// Called after each fit, by one thread at a time; `done` fits have ended so far.
using FitFinished = std::function<void(std::size_t done, const FitResult& result, double seconds)>;

/// Fits from each of `starts`. Each fit is done by a fitter that is free; the results do not depend on which
/// one. Throws the exception of the first fitter or call of `finished` that failed; the other fitters finish
/// their current fit first.
std::vector<FitResult> fits_from(const std::vector<std::vector<double>>& starts,
                                 RankTeam<MixtureFitter>& fitters, const FitOptions& options,
                                 const FitFinished& finished);

/// The result that is returned, and facts about the others.
struct ChosenFit {
  FitResult best;
  std::string degenerate;          ///< the reason why the best result is degenerate; empty: it is not
  std::size_t num_reached = 0;     ///< number of starts, or of short fits, that reached it
  std::size_t num_degenerate = 0;  ///< number of those that reached a degenerate point
};

/// The best of `results`, which are fits from starts.points. The best result is degenerate only if all
/// results are.
ChosenFit choose_fit(const std::vector<FitResult>& results, const FitStarts& starts, const RunConfig& config,
                     const RunSetup& setup);

}  // namespace emomc

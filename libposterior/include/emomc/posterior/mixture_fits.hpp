// Fits of mixtures by EM from many starts.
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

/// set_up() for fits, which need one engine with all rows: on the first GPU alone. Throws InputError as that
/// does, and where config.devices names several GPUs and the backend is another than cuda.
RunSetup set_up_fits(const RunConfig& config, const Table* table = nullptr);

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

/// Fitters of the data of `setup`, `most` at most: on setup.device, and on the further GPUs of `config` where
/// the backend is cuda. `setup`, of set_up_fits(), must outlive them. Throws InputError where the model has
/// no EM.
std::unique_ptr<RankTeam<MixtureFitter>> make_fitters(const RunConfig& config, const RunSetup& setup,
                                                      std::size_t most);

/// A fit that has ended, among `done` ones; from one thread at a time.
using FitFinished = std::function<void(std::size_t done, const FitResult& result, double seconds)>;

/// A fit from each of `starts`, by whichever fitter is free, on which results do not depend. Throws the
/// exception of the first fitter or call of `finished` that failed; the others end after their present fit.
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

/// The best of `results`, which are fits from starts.points; one that is not degenerate where there is one.
ChosenFit choose_fit(const std::vector<FitResult>& results, const FitStarts& starts, const RunConfig& config,
                     const RunSetup& setup);

}  // namespace emomc

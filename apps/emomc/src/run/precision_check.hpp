// Measures, before a run, how far mixed precision is from float64 for a likelihood of the user's own.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "emomc/posterior/run_setup.hpp"
#include "emomc/posterior/start_report.hpp"
#include "progress.hpp"
#include "run_config.hpp"

namespace emomc::app {

/// The errors of differences of log densities, on which alone a decision to accept depends.
struct PrecisionError {
  /// False if the precision is float64, the likelihood is not an expression, the run is resumed, or GPUs of
  /// this process divide the rows.
  bool is_measured = false;
  bool fits = true;                ///< whether a second engine fitted in memory
  std::size_t num_pairs = 0;       ///< neighbouring points whose densities are finite in float64
  std::size_t num_not_finite = 0;  ///< pairs among these whose densities are not finite in mixed precision
  double rms = 0, largest = 0;     ///< RMS and largest error of the other pairs
  double mean = 0;  ///< mean absolute error; the share of decisions that differ is at most this
};

/// Compares setup.engine, if it has mixed precision, with a float64 engine of the same backend, which is
/// freed again. From the best of `starts` (rows of setup.target->dim() numbers), sweeps over the coordinates
/// lead to the mode, at first on a sample of the rows. About the point where they end, pairs of points are
/// 2.38 / sqrt(p) posterior sds apart in each of p directions, as in the test of mixtures
/// (docs/statistics.md); the sds follow from the curvature at that point. The number of evaluations is
/// bounded. The result is a function of configuration, data and engine. `setup` is unchanged except for
/// memory of the engine, which a run allocates anew. Nothing is measured if GPUs of this process divide the
/// rows.
PrecisionError measure_mixed_precision(const RunConfig& config, RunSetup& setup,
                                       std::span<const double> starts, Verbosity verbosity);

/// Returns lines for the log; none if nothing was measured.
StartLines describe(const PrecisionError& error);
/// Returns null if nothing was measured.
nlohmann::ordered_json to_json(const PrecisionError& error);

}  // namespace emomc::app

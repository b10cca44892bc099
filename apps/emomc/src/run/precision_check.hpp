// How far mixed precision is from float64 for a likelihood of the user's own, measured before a run.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "emomc/posterior/run_setup.hpp"
#include "emomc/posterior/start_report.hpp"
#include "progress.hpp"
#include "run_config.hpp"

namespace emomc::app {

/// The errors of differences of log densities: a decision to accept depends on nothing else.
struct PrecisionError {
  /// False: precision is float64, the likelihood is no expression, or the run goes on.
  bool is_measured = false;
  bool fits = true;                ///< whether a second engine fitted in memory
  std::size_t num_pairs = 0;       ///< neighbouring points whose densities are finite in float64
  std::size_t num_not_finite = 0;  ///< pairs of these that are not finite in mixed precision
  double rms = 0, largest = 0;     ///< of the errors of the finite ones
  double mean = 0;  ///< mean absolute error; the share of decisions that differ is at most this
};

/// Compares setup.engine, if it is of mixed precision, with a float64 engine of the same backend, which is
/// freed again. From the best of `starts` (rows of setup.target->dim() numbers) sweeps over the coordinates,
/// at first of a sample of the rows, lead to the mode. About the point where they end, pairs of points are
/// 2.38 / sqrt(p) posterior sds apart in each of p directions, as in the test of mixtures
/// (docs/statistics.md); sds are those of the curvature there. The number of evaluations is bounded. The
/// result is a function of configuration, data and engine. Nothing changes in `setup` but memory of the
/// engine, which a run allocates anew. Not measured where GPUs of this process divide the rows.
PrecisionError measure_mixed_precision(const RunConfig& config, RunSetup& setup,
                                       std::span<const double> starts, Verbosity verbosity);

/// Lines for the log; none where nothing was measured.
StartLines describe(const PrecisionError& error);
/// Null where nothing was measured.
nlohmann::ordered_json to_json(const PrecisionError& error);

}  // namespace emomc::app

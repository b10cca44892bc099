// One measurement of `emomc bench`: the time of an engine's evaluations and of chain steps that use it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emomc/likelihood/engines.hpp"
#include "emomc/posterior/run_config.hpp"
#include "emomc/sampler/run_chains.hpp"

namespace emomc::app {

struct BenchCase {
  Backend backend = Backend::cpu;
  Precision precision = Precision::mixed;
  std::size_t rows = 10'000;
  int dim = 13, components = 8, chains = 1;
  int threads = 0;
  double seconds = 0.5;  ///< minimum duration of a measurement
  std::string model = ModelSpec{}.name, covariance = ModelSpec{}.covariance;
  std::string proposal = "random_walk";  ///< whose step is measured
  bool gradient = false;                 ///< evaluations without and with gradients, no steps
  StepKernels kernels = StepKernels::fastest;
};

struct BenchResult {
  double microseconds_per_evaluation = 0;  ///< for one parameter vector, with `chains` of them in a call
  /// One evaluation with its gradient, where that is asked for and the engine has gradients.
  std::optional<double> microseconds_per_gradient;
  double microseconds_per_step = 0;         ///< one step of `proposal`, divided by the number of chains
  double microseconds_per_sweep = 0;        ///< one component_wise sweep, divided by the number of chains
  std::string step_kernels, sweep_kernels;  ///< how a GPU ran them, as RunResult::stepping
  std::string device;
};

/// The times of evaluations of a likelihood of the user's own without and with gradients, on the data of its
/// configuration and at a draw from its prior; steps are not measured. `bench.rows` becomes the number of
/// rows.
BenchResult measure(BenchCase& bench, const RunConfig& config);

/// Simulates data from a mixture and repeats evaluations and steps until `seconds` have passed.
BenchResult measure(const BenchCase& bench);

/// Evaluations where rows are divided over ranks, which are threads of this process, each with a GPU of its
/// own or with an equal part of the processor's threads.
struct SharedRowsResult {
  double microseconds_per_evaluation =
      0;  ///< of one parameter vector, or of a gradient where that is asked for
  /// Of that, what an engine with a rank's number of rows takes less: nodes, their gather, waiting for other
  /// ranks.
  double communication = 0;
  std::string device, way;  ///< as DeviceRanks::way(); empty with one rank
};
/// For each of these numbers of ranks, on the same simulated data.
std::vector<SharedRowsResult> measure_shared_rows(const BenchCase& bench, const std::vector<int>& num_ranks);

}  // namespace emomc::app

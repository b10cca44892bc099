// Measurements of `emomc bench`: the time of an engine's evaluations and of the chain steps that use the
// engine.
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
  std::string proposal = "random_walk";  ///< proposal whose step is measured
  bool gradient = false;                 ///< measures evaluations without and with gradients instead of steps
  StepKernels kernels = StepKernels::fastest;
};

struct BenchResult {
  double microseconds_per_evaluation = 0;  ///< for one of the `chains` points of a call
  /// Time of one evaluation with its gradient; empty unless gradients are measured and the engine has them.
  std::optional<double> microseconds_per_gradient;
  double microseconds_per_step = 0;         ///< one step of `proposal`, divided by the number of chains
  double microseconds_per_sweep = 0;        ///< one component_wise sweep, divided by the number of chains
  std::string step_kernels, sweep_kernels;  ///< forms of the kernels, RunResult::stepping
  std::string device;
};

/// Measures evaluations of a likelihood of the user's own without and with gradients, on the data of its
/// configuration and at a draw from its prior; steps are not measured. Sets `bench.rows` to the number of
/// rows.
BenchResult measure(BenchCase& bench, const RunConfig& config);

/// Simulates data from a mixture and repeats evaluations and steps until `seconds` have passed.
BenchResult measure(const BenchCase& bench);

/// The time of evaluations with rows divided among ranks. The ranks are threads of this process, each with a
/// GPU of its own or with an equal part of the processor's threads.
struct SharedRowsResult {
  double microseconds_per_evaluation =
      0;  ///< for one parameter vector, with its gradient if BenchCase::gradient is set
  /// The part of this time by which an engine with only a rank's number of rows is faster: nodes, their
  /// gather, and waiting for other ranks.
  double communication = 0;
  std::string device, way;  ///< `way` is DeviceRanks::way(), and empty with one rank
};
/// Measures each number of ranks in `num_ranks` on the same simulated data.
std::vector<SharedRowsResult> measure_shared_rows(const BenchCase& bench, const std::vector<int>& num_ranks);

}  // namespace emomc::app

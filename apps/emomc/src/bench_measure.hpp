// One timing of `emomc bench`: evaluations of an engine, and steps of chains on it.
#pragma once

#include <string>

#include "emomc/likelihood/engines.hpp"

namespace emomc::app {

struct BenchCase {
  Backend backend = Backend::cpu;
  Precision precision = Precision::mixed;
  std::size_t rows = 10'000;
  int dim = 13, components = 8, chains = 1;
  int threads = 0;
  double seconds = 0.5;  ///< least time of a measurement
  std::string model = "gaussian_mixture", covariance = "diagonal";
  std::string proposal = "random_walk";  ///< of a step
};

struct BenchResult {
  double microseconds_per_evaluation = 0;  ///< of one parameter vector, `chains` of them per call
  double microseconds_per_step = 0;        ///< one step of `proposal` of one chain of `chains`
  double microseconds_per_sweep = 0;       ///< one component_wise sweep of one chain of `chains`
  std::string device;
};

/// Data drawn from a mixture; evaluations and steps repeated until `seconds` have passed.
BenchResult measure(const BenchCase& bench);

}  // namespace emomc::app

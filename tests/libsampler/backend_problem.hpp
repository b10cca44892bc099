// Provides a mixture posterior that the engines sample, and fixtures for tests that do so. The fixtures are
// instantiated in backends_test.cpp and also used in resident_steps_test.cpp.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "keeper.hpp"
#include "liblikelihood/random_mixture.hpp"
#include "mixture_target.hpp"

namespace emomc::testing {

inline std::string name_of(Backend backend) {
  return backend == Backend::reference ? "reference" : backend == Backend::cpu ? "cpu" : "cuda";
}

/// Returns the kinds of proposals that run on the engine of a backend.
inline std::vector<std::string> kinds_on(Backend backend) {
  const MixtureProblem mixture = random_problem(2, 1, 10, 21);
  const auto device = make_device(backend);
  return proposal_names(
      *make_engine(backend, {"gaussian_mixture", 2}, Precision::float64, mixture.data, *device));
}

class OnBackend : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::cuda && !has_gpu()) GTEST_SKIP() << "no GPU";
  }
};

// Each proposal is a test of its own: a GPU compiles kernels for each, so that the tests are best run in
// parallel.
class OnBackendWithProposal : public ::testing::TestWithParam<std::tuple<Backend, std::string>> {
 protected:
  void SetUp() override {
    if (backend() == Backend::cuda && !has_gpu()) GTEST_SKIP() << "no GPU";
    for (const Backend one : {backend(), Backend::reference}) {
      const auto kinds = kinds_on(one);
      if (std::find(kinds.begin(), kinds.end(), kind()) == kinds.end())
        GTEST_SKIP() << kind() << " needs gradients, which " << name_of(one) << " does not have";
    }
  }
  static Backend backend() { return std::get<0>(GetParam()); }
  static std::string kind() { return std::get<1>(GetParam()); }
  /// Returns the reason why steps never run in one kernel, or an empty text if they do.
  static std::string why_launched() {
    if (backend() != Backend::cuda) return "there are no kernels";
    if (proposal_use(kind()).gradient) return kind() + " takes leapfrogs, which are always launched";
    const bool apart = proposal_use(kind()).other_chains || kind() == "delayed_rejection";
    return apart ? kind() + " needs other chains or two tries and is always launched" : "";
  }
};

// Returns enough chains for the moves of a kind of proposal with 14 free parameters.
inline std::uint64_t chains_for(const std::string& kind) { return proposal_use(kind).other_chains ? 30 : 4; }

// A mixture posterior in two columns, by default with three components.
struct BackendProblem {
  MixtureProblem mixture;
  ModelSpec model;
  Target target;
  ProposalSpec proposal;
  std::vector<ChainPlan> plans;
  RunOptions options;
  std::vector<double> starts;

  explicit BackendProblem(const std::vector<int>& segments = {0}, std::uint64_t chains = 4,
                          int components = 3, std::size_t rows = 3000, int columns = 2)
      : mixture(random_problem(components, columns, rows, 21)),
        model{"gaussian_mixture", components},
        target(mixture_layout(components, columns), mixture_prior(),
               std::vector<double>(static_cast<std::size_t>(columns), 1.0)) {
    for (std::uint64_t c = 0; c < chains; ++c) {
      plans.push_back({c, segments, 1.0, 0});
      const auto start = neighbour(mixture, 5, static_cast<std::uint32_t>(c));
      starts.insert(starts.end(), start.begin(), start.end());
    }
    options.warmup = 200;
    options.draws = 100;
    options.thin = 2;
    options.seed = 5;
    // The variable is set for racecheck, which cannot interpret the resident kernel (scripts/test-gpu.sh).
    if (std::getenv("EMOMC_TEST_LAUNCHED") != nullptr) options.kernels = StepKernels::launched;
  }
  RunResult run(Backend backend, Precision precision, DrawHandler& handler,
                const SamplerState* resume = nullptr) const {
    const auto device = make_device(backend);
    const auto engine = make_engine(backend, model, precision, mixture.data, *device);
    return run_chains(*engine, target, proposal, plans, options, starts, handler, resume);
  }
};

}  // namespace emomc::testing

// A likelihood engine for any function of theta, on any host-like device, to test samplers without
// liblikelihood and without a GPU.
#pragma once

#include <functional>
#include <utility>

#include "emomc/core/likelihood_engine.hpp"

namespace emomc::testing {

class FunctionEngine final : public LikelihoodEngine {
 public:
  using Function = std::function<double(const double* theta)>;
  FunctionEngine(Device& device, ParameterLayout layout, Function log_likelihood, bool components = false)
      : device_(device),
        layout_(std::move(layout)),
        function_(std::move(log_likelihood)),
        components_(components) {}

  std::string name() const override { return "function"; }
  const ParameterLayout& layout() const override { return layout_; }
  Capabilities capabilities() const override { return {components_, false}; }
  Device& device() const override { return device_; }
  std::size_t num_segments() const override { return 1; }
  std::size_t num_rows() const override { return 1; }
  MemoryPlan plan(const std::vector<ChainPlan>&, ComponentCaches) const override { return {}; }
  void allocate(const std::vector<ChainPlan>&, ComponentCaches) override {}

  void evaluate(EnsembleView candidate, ActiveSet active) override {
    for (int i = 0; i < active.count; ++i) {
      const int chain = active.chains ? active.chains[i] : i;
      candidate.log_likelihood[chain] =
          function_(candidate.theta + static_cast<std::ptrdiff_t>(chain) * candidate.ld);
    }
    ++num_full;
  }
  void evaluate_component(EnsembleView candidate, const int* component, ActiveSet active) override {
    components_seen.push_back(component[0]);
    evaluate(candidate, active);
    --num_full;
  }
  void commit(const std::uint8_t*, ActiveSet) override { ++num_commits; }
  void rebuild_caches(EnsembleView, ActiveSet) override {}
  void sums_by_segment(const double*, int, double*) override {}
  void evaluate_rows(const double*, double*) override {}

  int num_full = 0, num_commits = 0;
  std::vector<int> components_seen;

 private:
  Device& device_;
  ParameterLayout layout_;
  Function function_;
  bool components_;
};

}  // namespace emomc::testing

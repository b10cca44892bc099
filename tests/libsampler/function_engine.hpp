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
  /// Returns the log likelihood, and writes the gradient [dim] if `gradient` is not null.
  using GradientFunction = std::function<double(int chain, const double* theta, double* gradient)>;
  FunctionEngine(Device& device, ParameterLayout layout, Function log_likelihood, bool components = false)
      : device_(device),
        layout_(std::move(layout)),
        function_(std::move(log_likelihood)),
        components_(components) {}
  FunctionEngine(Device& device, ParameterLayout layout, GradientFunction log_likelihood)
      : device_(device), layout_(std::move(layout)), gradient_function_(std::move(log_likelihood)) {}

  std::string name() const override { return "function"; }
  const ParameterLayout& layout() const override { return layout_; }
  Capabilities capabilities() const override { return {components_, static_cast<bool>(gradient_function_)}; }
  Device& device() const override { return device_; }
  std::size_t num_segments() const override { return 1; }
  std::size_t num_rows() const override { return 1; }
  MemoryPlan plan(const std::vector<ChainPlan>&, ComponentCaches) const override { return {}; }
  void allocate(const std::vector<ChainPlan>&, ComponentCaches) override {}

  void evaluate(EnsembleView candidate, ActiveSet active) override {
    for (int i = 0; i < active.count; ++i) {
      const int chain = active.chains ? active.chains[i] : i;
      const double* theta = candidate.theta + static_cast<std::ptrdiff_t>(chain) * candidate.ld;
      candidate.log_likelihood[chain] =
          gradient_function_ ? gradient_function_(chain, theta, nullptr) : function_(theta);
    }
    ++num_full;
  }
  void evaluate_with_gradient(EnsembleView candidate, GradientView gradient, ActiveSet active) override {
    for (int i = 0; i < active.count; ++i) {
      const int chain = active.chains ? active.chains[i] : i;
      candidate.log_likelihood[chain] =
          gradient_function_(chain, candidate.theta + static_cast<std::ptrdiff_t>(chain) * candidate.ld,
                             gradient.gradient + static_cast<std::ptrdiff_t>(chain) * gradient.ld);
    }
    num_gradients += active.count;
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
  std::int64_t num_gradients = 0;  ///< number of points with a gradient
  std::vector<int> components_seen;

 private:
  Device& device_;
  ParameterLayout layout_;
  Function function_;
  GradientFunction gradient_function_;
  bool components_ = false;
};

}  // namespace emomc::testing

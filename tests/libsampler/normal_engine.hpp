// A likelihood engine for a density whose arithmetic has the same bits on a GPU and on the host, with
// gradients, to test samplers on GPUs without liblikelihood.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <utility>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/device/macros.hpp"

namespace emomc::testing {

/// The task of an evaluation, which the kernel receives by value.
struct NormalTask {
  EnsembleView points;
  GradientView gradient;
  ActiveSet active;
};

/// Writes the log density and the gradient at a chain's theta, for normal numbers with means 0.3, 0.4, ...
/// and precisions 1, 1.5, .... Outputs that are not requested are NaN.
EMOMC_HD inline void evaluate_normal(const NormalTask& task, int index) {
  const int chain = task.active.chains ? task.active.chains[index] : index;
  const double* theta = task.points.theta + static_cast<std::ptrdiff_t>(chain) * task.points.ld;
  double* gradient = task.gradient.gradient
                         ? task.gradient.gradient + static_cast<std::ptrdiff_t>(chain) * task.gradient.ld
                         : nullptr;
  const bool wanted = !task.gradient.wanted || task.gradient.wanted[chain] != 0;
  const double unwanted = __builtin_nan("");
  double sum = 0;
  for (int i = 0; i < task.points.dim; ++i) {
    const double precision = 1 + 0.5 * (i % 4), distance = theta[i] - (0.3 + 0.1 * (i % 7));
    sum -= 0.5 * precision * distance * distance;
    if (gradient) gradient[i] = wanted ? -precision * distance : unwanted;
  }
  task.points.log_likelihood[chain] = wanted ? sum : unwanted;
}

#ifdef EMOMC_TEST_CUDA
void enqueue_normal(const NormalTask& task, Stream stream);
#else
inline void enqueue_normal(const NormalTask&, Stream) { throw std::logic_error("a build without CUDA"); }
#endif

class NormalEngine final : public LikelihoodEngine {
 public:
  NormalEngine(Device& device, ParameterLayout layout) : device_(device), layout_(std::move(layout)) {}

  std::string name() const override { return "normal"; }
  const ParameterLayout& layout() const override { return layout_; }
  Capabilities capabilities() const override { return {false, true}; }
  Device& device() const override { return device_; }
  std::size_t num_segments() const override { return 1; }
  std::size_t num_rows() const override { return 1; }
  MemoryPlan plan(const std::vector<ChainPlan>&, ComponentCaches) const override { return {}; }
  void allocate(const std::vector<ChainPlan>&, ComponentCaches) override {}

  void evaluate(EnsembleView candidate, ActiveSet active) override { enqueue({candidate, {}, active}); }
  void evaluate_with_gradient(EnsembleView candidate, GradientView gradient, ActiveSet active) override {
    enqueue({candidate, gradient, active});
  }
  void evaluate_component(EnsembleView candidate, const int*, ActiveSet active) override {
    evaluate(candidate, active);
  }
  void commit(const std::uint8_t*, ActiveSet) override {}
  void rebuild_caches(EnsembleView, ActiveSet) override {}
  void sums_by_segment(const double*, int, double*) override {}
  void evaluate_rows(const double*, double*) override {}

 private:
  void enqueue(const NormalTask& task) {
    if (device_.kind() == DeviceKind::cuda)
      enqueue_normal(task, device_.stream());
    else
      for (int i = 0; i < task.active.count; ++i) evaluate_normal(task, i);
  }

  Device& device_;
  ParameterLayout layout_;
};

}  // namespace emomc::testing

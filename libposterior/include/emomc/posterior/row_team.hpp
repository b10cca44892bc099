// Divides the rows of a likelihood among several devices of this process.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/posterior/rank_team.hpp"

namespace emomc {

/// A likelihood engine that consists of one engine for each of several devices, which are ranks of this
/// process; each engine has a part of the rows. The results are bit for bit those of one engine with all
/// rows. Functions that return results, such as sums_by_segment(), run on all devices. Functions that only
/// enqueue work on a device throw std::logic_error; call them inside together().
class RowTeam final : public LikelihoodEngine {
 public:
  /// The engine of one rank's rows on its device.
  using Maker = std::function<std::unique_ptr<LikelihoodEngine>(Device&, Communicator&)>;

  /// Makes all engines at the same time, each in its own thread. `first`, which must outlive the object, is
  /// the device of rank 0; `further` are the devices of the other ranks, at least one. Throws the exceptions
  /// of `make`.
  RowTeam(Device& first, std::vector<std::unique_ptr<Device>> further, const Maker& make);

  int size() const { return team_.size(); }
  /// Calls `work` with each engine and its rank, as RankTeam::together() does. Each call of `work` must make
  /// the same calls of its engine.
  void together(const std::function<void(LikelihoodEngine&, Communicator&)>& work);

  // These describe the engine of rank 0, which has as many rows as any other.
  std::string name() const override { return team_.first().name(); }
  const ParameterLayout& layout() const override { return team_.first().layout(); }
  Capabilities capabilities() const override { return team_.first().capabilities(); }
  Device& device() const override { return team_.first().device(); }
  std::size_t num_segments() const override { return team_.first().num_segments(); }
  std::size_t num_rows() const override { return team_.first().num_rows(); }
  MemoryPlan plan(const std::vector<ChainPlan>& chains, ComponentCaches caches) const override {
    return team_.first().plan(chains, caches);
  }

  void allocate(const std::vector<ChainPlan>& chains, ComponentCaches caches) override;
  void allocate_gradients() override;
  void sums_by_segment(const double* theta, int num_draws, double* out) override;
  void evaluate_rows(const double* theta, double* out) override;

  void evaluate(EnsembleView candidate, ActiveSet active) override;
  void evaluate_with_gradient(EnsembleView candidate, GradientView gradient, ActiveSet active) override;
  void evaluate_component(EnsembleView candidate, const int* component, ActiveSet active) override;
  void commit(const std::uint8_t* accepted, ActiveSet active) override;
  void rebuild_caches(EnsembleView current, ActiveSet active) override;

 private:
  std::vector<std::unique_ptr<Device>> further_;
  RankTeam<LikelihoodEngine> team_;
};

}  // namespace emomc

// Keeps the draws of a run in memory and decides when there are enough draws.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "emomc/posterior/inspection.hpp"
#include "emomc/posterior/run_end.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/posterior/written_draws.hpp"

namespace emomc {

class DrawCollector final : public DrawHandler {
 public:
  /// `config` and `setup` must outlive the object. `on_progress` may be empty.
  DrawCollector(const RunConfig& config, const RunSetup& setup,
                std::function<bool(const Progress&)> on_progress);

  void on_draws(const DrawBatch& draws) override;
  void on_rungs(const RungBatch& draws) override;
  Continue on_progress(const Progress& progress) override;
  Decision on_decision(std::int64_t num_draws) override;
  void on_longer_warmup(std::int64_t end) override;

  /// The draws so far with their diagnostics. Throws InputError if there are no draws after the warm-up.
  Inspection inspect(RunFacts facts) const;
  /// The number of draws of each chain after the warm-up.
  std::int64_t num_draws() const;
  const RunEnd& end() const { return end_; }
  /// The log likelihoods of all rungs of a run with tempering that ended in `state`.
  RungDraws rung_draws(const SamplerState& state) const;
  /// Moves the chains to the caller; the object has no chains afterwards.
  std::vector<ChainDraws> take_chains();
  /// Stores the counts of accepted and proposed moves in the chains.
  void set_acceptance(const SamplerState& state);
  /// Stores the durations, in seconds, in the chains.
  void set_seconds(double warmup, double sampling);

 private:
  const RunConfig& config_;
  const RunSetup& setup_;
  std::function<bool(const Progress&)> tell_;
  std::chrono::steady_clock::time_point started_;
  std::vector<ChainDraws> chains_;
  /// Draws of all rungs except the cold one, in the order of tempered_plans().
  std::vector<ChainDraws> rungs_;
  WrittenDraws written_;
  RunEnd end_;
  std::optional<double> warmup_seconds_, sampling_seconds_;
};

}  // namespace emomc

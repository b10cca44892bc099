// Decides when a run ends: after its last draw, when its draws have converged, or after a given time.
#pragma once

#include <cstdint>
#include <string>

#include "emomc/posterior/run_config.hpp"
#include "emomc/sampler/convergence.hpp"
#include "emomc/sampler/run_chains.hpp"

namespace emomc {

/// The number of draws of each chain before which `sampler.until.seconds` does not end a run.
inline constexpr std::int64_t kFirstDecision = 100;

/// Decides when a run ends. Every receiver of draws (DrawHandler) has such an object, so that a run ends at
/// the same draw wherever the draws are stored.
class RunEnd {
 public:
  /// `sampler` must outlive the object.
  explicit RunEnd(const SamplerConfig& sampler);

  /// Continues after a checkpoint.
  void resume(const SamplerState& state);
  std::int64_t warmup() const { return warmup_; }  ///< number of steps of the last warm-up
  /// The absolute step at which the last warm-up ends.
  std::int64_t warmup_end() const { return warmup_end_; }

  /// Ends the run if sampler.until.seconds have passed. `seconds` is the time since the beginning of the run,
  /// including earlier parts.
  void check_time(std::int64_t step, double seconds);
  /// The decision that DrawHandler::on_decision returns about the draws so far.
  Decision decide(const DrawDiagnostics& draws);
  /// Implements DrawHandler::on_longer_warmup: a warm-up of twice the length begins after the step `end`.
  void begin_longer_warmup(std::int64_t end);

  /// Whether a condition that ends the run was met.
  bool is_reached() const { return !ended_by_.empty(); }
  /// The reason why a run with this result ended before its last draw: "converged", "ess" or "seconds"; empty
  /// if it has all its draws.
  std::string ended_by(const RunResult& result) const;

 private:
  const SamplerConfig& sampler_;
  std::int64_t warmup_, warmup_end_;
  std::string ended_by_;  ///< the first condition that was met
};

}  // namespace emomc

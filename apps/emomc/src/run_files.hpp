// Writes a run directory as the run goes on: draws in the data's own units, checkpoints, the manifest.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "progress.hpp"
#include "run_identity.hpp"
#include "run_setup.hpp"

namespace emomc::app {

class RunFiles final : public DrawHandler {
 public:
  RunFiles(const RunConfig& config, const RunSetup& setup, Verbosity verbosity, RunIdentity identity);

  /// Checks what a checkpoint has committed, before anything is written. Throws InputError where a chain file
  /// is damaged.
  void check(const Checkpoint& checkpoint);
  /// Opens the chain files: new ones, or those of `checkpoint`, checked before, cut to what it committed.
  void open(const Checkpoint* checkpoint);

  void on_draws(const DrawBatch& draws) override;
  Continue on_progress(const Progress& progress) override;
  Decision on_decision(std::int64_t num_draws) override;
  void on_longer_warmup(std::int64_t end) override;
  bool wants_state(std::int64_t step) override;
  void on_state(const SamplerState& state) override;

  /// What is worth a line of the log while the run goes on; nothing is called by default.
  void tell_to(std::function<void(const std::string&)> tell) { tell_ = std::move(tell); }

  /// Why a run with this result ended before its last draw: "converged", "ess", "seconds"; empty: it did not.
  std::string ended_by(const RunResult& result) const;

  void write_manifest(const std::string& status, const RunResult* result, double startup_seconds);
  /// The manifest's "starts"; null where nothing is known.
  nlohmann::ordered_json& starts() { return starts_; }
  void end_progress() { progress_.end(); }

 private:
  void append_acceptance(std::size_t chain, const SamplerState& state);
  /// Of this process so far: {warm-up, sampling}.
  std::pair<double, double> seconds_so_far() const;
  bool is_ensemble() const;
  ChainHeader header_of(std::size_t chain) const;

  const RunConfig& config_;
  const RunSetup& setup_;
  std::filesystem::path directory_;
  RunIdentity identity_;
  std::vector<ChainWriter> writers_;
  std::vector<ChainEnd> ends_;                      ///< of what a checkpoint has committed
  std::vector<std::uint64_t> accepted_, proposed_;  ///< at the last acceptance record
  DataUnitMap data_units_;
  double log_likelihood_offset_ = 0;
  ProgressLine progress_;
  std::chrono::steady_clock::time_point started_, last_checkpoint_;
  std::optional<std::chrono::steady_clock::time_point> sampling_began_;
  double warmup_before_ = 0, sampling_before_ = 0;  ///< seconds of earlier parts of a resumed run
  std::string started_at_;
  nlohmann::ordered_json starts_;     ///< where the chains started; of a run that goes on, from its manifest
  std::int64_t warmup_, warmup_end_;  ///< of the last warm-up: its length, and the absolute step after it
  std::function<void(const std::string&)> tell_ = [](const std::string&) {};
  std::string ended_by_;  ///< the first condition that was met
};

}  // namespace emomc::app

// Writes a run directory as the run goes on: draws in the data's own units, checkpoints, the manifest.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/sampler/mixture_labels.hpp"
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
  Continue on_decision(std::int64_t num_draws) override;
  bool wants_state(std::int64_t step) override;
  void on_state(const SamplerState& state) override;

  /// Why a run with this result ended before its last draw: "ess", "seconds" (sampler.until); empty: it did
  /// not.
  std::string ended_by(const RunResult& result) const;

  void write_manifest(const std::string& status, const RunResult* result, double startup_seconds);
  void end_progress() { progress_.end(); }

 private:
  void watch(double log_prior, double log_likelihood, std::span<const double> theta);
  void watch_what_is_written();
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
  nlohmann::ordered_json starts_;  ///< where the chains started; of a run that goes on, from its manifest
  // Where sampler.until.ess needs them: draws x chains, log prior and log likelihood, then what else does not
  // depend on labels.
  LabelFreePoint label_free_;
  std::vector<std::vector<double>> watched_;
  std::string ended_by_;  ///< the first condition of sampler.until that was met
};

}  // namespace emomc::app

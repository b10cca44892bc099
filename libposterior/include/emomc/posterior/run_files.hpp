// Writes a run directory during a run: draws in the data's own units, checkpoints and the manifest.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "emomc/posterior/run_end.hpp"
#include "emomc/posterior/run_identity.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/posterior/written_draws.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc {

/// Raises the limit of open files to allow `count` files; each chain and rung has its own file, and all files
/// are open at once. Throws MachineError if the system does not allow that.
void allow_open_files(std::size_t count);

/// Receives the draws of a run and keeps them in config.output.directory, whose lock the caller holds.
class RunFiles : public DrawHandler {
 public:
  /// The files of a run. `config` and `setup` must outlive the object. `on_progress` is called with the
  /// progress of the run and ends it by Continue::stop; it may be empty.
  RunFiles(const RunConfig& config, const RunSetup& setup, RunIdentity identity,
           std::function<Continue(const Progress&)> on_progress = {});
  /// The files of chains of many posteriors, whose targets are in the data's own units.
  RunFiles(const RunConfig& config, const SampledChains& chains, DataFacts data, RunIdentity identity,
           std::function<Continue(const Progress&)> on_progress = {});

  /// Checks the draws that a checkpoint has committed, before anything is written. Throws InputError if a
  /// chain file is damaged.
  void check(const Checkpoint& checkpoint);
  /// Opens the chain files: new ones, or those of `checkpoint`, already checked, cut to what the checkpoint
  /// has committed.
  void open(const Checkpoint* checkpoint);

  void on_draws(const DrawBatch& draws) override;
  void on_rungs(const RungBatch& draws) override;
  Continue on_progress(const Progress& progress) override;
  Decision on_decision(std::int64_t num_draws) override;
  void on_longer_warmup(std::int64_t end) override;
  bool wants_state(std::int64_t step) override;
  void on_state(const SamplerState& state) override;

  /// Sets the results of measurements before the first draw, for the manifest.
  void set_precision(nlohmann::ordered_json precision) { precision_ = std::move(precision); }
  /// Sets the function that receives messages for the log during the run; by default they are dropped.
  void tell_to(std::function<void(const std::string&)> tell) { tell_ = std::move(tell); }

  /// The reason why a run with this result ended before its last draw: "converged", "ess" or "seconds"; empty
  /// if it did not.
  std::string ended_by(const RunResult& result) const { return end_.ended_by(result); }

  /// Writes the manifest. `status` is running, interrupted, failed, finished, or sampled. The status sampled
  /// means that results follow the draws (RunIdentity::kind is not "run"); mark_finished() is called after
  /// them. `result` is the result of a run that has ended, else nullptr.
  void write_manifest(const std::string& status, const RunResult* result, double startup_seconds);
  /// The status of a run that has all its draws.
  std::string status_of_sampled() const { return identity_.kind == "run" ? "finished" : "sampled"; }
  /// The manifest's "starts"; null if nothing is known about the starts.
  nlohmann::ordered_json& starts() { return starts_; }

 private:
  /// The headers of all files of draws: first those of the chains, then those of the rungs, rung after rung.
  std::vector<ChainHeader> headers() const;
  void append_acceptance(std::size_t chain, const SamplerState& state);
  /// Durations in this process so far, in seconds: {warm-up, sampling}.
  std::pair<double, double> seconds_so_far() const;
  bool is_ensemble() const;

  RunFiles(const RunConfig& config, const SampledChains& chains, DataFacts data, const StartReport* found,
           WrittenDraws written, RunIdentity identity, std::function<Continue(const Progress&)> on_progress);

  const RunConfig& config_;
  const SampledChains& chains_;
  DataFacts data_;
  const StartReport* found_;  ///< where the chains start; nullptr: the manifest does not describe the starts
  std::filesystem::path directory_;
  RunIdentity identity_;
  std::vector<ChainWriter> writers_;  ///< one for each of headers()
  std::vector<ChainEnd> ends_;        ///< ends of the part of each file that a checkpoint has committed
  std::vector<std::uint64_t> accepted_, proposed_;  ///< counts at the last acceptance record
  WrittenDraws written_;
  std::function<Continue(const Progress&)> on_progress_;
  std::chrono::steady_clock::time_point started_, last_checkpoint_;
  std::optional<std::chrono::steady_clock::time_point> sampling_began_;
  double warmup_before_ = 0, sampling_before_ = 0;  ///< seconds, from earlier parts of a resumed run
  std::string started_at_;
  nlohmann::ordered_json starts_;     ///< description of the starts; a resumed run reads it from its manifest
  nlohmann::ordered_json precision_;  ///< the manifest's "mixed_precision"; null: nothing was measured
  std::function<void(const std::string&)> tell_ = [](const std::string&) {};
  RunEnd end_;
};

/// The current time, as "2026-01-31T23:59:59Z".
std::string utc_now();

/// Sets the status in `directory`/manifest.json to finished, when the results of an evaluation or of a model
/// are in their files. Throws MachineError where the manifest cannot be read or written.
void mark_finished(const std::filesystem::path& directory);

}  // namespace emomc

// Common parts of the evaluation and training of regressions on functionals by several ranks: progress,
// checks that the ranks have the same input, and the files that end an evaluation.
#pragma once

#include <spdlog/spdlog.h>

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "emomc/emotion/corpus_features.hpp"
#include "emomc/speech/softmax_evaluation.hpp"
#include "progress.hpp"
#include "ranks.hpp"
#include "signals.hpp"

namespace emomc::app {

/// Shows progress over all stages, and measures the duration of each stage.
class SoftmaxStages {
 public:
  /// `folds` is the number of posteriors, and `sets` the number of training sets that are fitted, including
  /// those of inner folds; both count the work of all ranks. `clock` returns seconds since a fixed time.
  SoftmaxStages(const SoftmaxSettings& settings, std::size_t folds, std::size_t sets, Verbosity verbosity,
                std::function<double()> clock = steady_seconds);
  /// Prints the progress, first after two seconds, then every five seconds, with an estimate of the remaining
  /// time from the duration of the completed units. The estimate is left out until a unit is completed, and
  /// while the current unit has already taken longer than the whole estimate. Throws Interrupted after a
  /// signal.
  void report(const std::string& stage, std::size_t done, std::size_t all);
  const std::map<std::string, double>& seconds() const { return seconds_; }

 private:
  static double steady_seconds();
  std::vector<std::string> names_;
  Verbosity verbosity_;
  std::function<double()> clock_;
  double began_, since_, advanced_;  // times at which the work, the stage and the present unit began
  double shown_ = 0;
  std::vector<double> cost_;        // [stages] expected cost of a unit
  std::vector<std::size_t> count_;  // [stages] number of units of this rank
  std::size_t at_ = 0, done_ = 0;   // index of the present stage, and number of its completed units
  std::map<std::string, double> seconds_;
};

/// Throws InputError if this rank has another configuration, reads other data or computes other functionals
/// than rank 0. Collective, in phase `apart`.
void refuse_other_corpora(const EvaluationConfig& config, const CorpusFeatures& corpus);

/// Returns the result of work(report), in which all ranks work together and whose progress stages.report()
/// shows; nothing if a signal has stopped one of the ranks. Collective, in phase `apart`.
template <class Stages, class Work>
auto work_together(Stages& stages, const Work& work) {
  std::optional<decltype(work(SoftmaxReport()))> result;
  enter(RankPhase::sampling);
  try {
    result = work([&](const std::string& stage, std::size_t done, std::size_t all) {
      stages.report(stage, done, all);
    });
  } catch (const Interrupted&) {
  } catch (const StoppedElsewhere&) {
  }
  enter(RankPhase::apart);
  return result;
}

/// The manifest of a directory of a regression; `kind` is "evaluation" or "model".
nlohmann::ordered_json regression_manifest(const EvaluationConfig& config, const CorpusFeatures& corpus,
                                           const std::string& kind, const std::string& started_at);

/// Writes scores.json, `manifest` and the report, and logs the durations of the stages.
void end_evaluation(const std::filesystem::path& directory, const nlohmann::ordered_json& scores,
                    const nlohmann::ordered_json& manifest, spdlog::logger& logger);

}  // namespace emomc::app

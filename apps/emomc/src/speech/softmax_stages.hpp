// Regressions of utterances by all ranks: progress, what they must have in common, and the end of a
// directory.
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

/// Progress over all stages, and the time that each took.
class SoftmaxStages {
 public:
  /// `folds` and `sets`: posteriors, and all training sets with those that are fitted for inner folds, of all
  /// ranks. `clock`: seconds since some time.
  SoftmaxStages(const SoftmaxSettings& settings, std::size_t folds, std::size_t sets, Verbosity verbosity,
                std::function<double()> clock = steady_seconds);
  /// Prints a line after the first two seconds and then every five. Throws Interrupted after a signal. What
  /// is left is estimated by the time that the units before took; it is not said before there are any, nor
  /// where a unit takes longer than all that was expected to be left.
  void report(const std::string& stage, std::size_t done, std::size_t all);
  const std::map<std::string, double>& seconds() const { return seconds_; }

 private:
  static double steady_seconds();
  std::vector<std::string> names_;
  Verbosity verbosity_;
  std::function<double()> clock_;
  double began_, since_, advanced_;  // the beginning of all, of the stage, and the end of the last unit
  double shown_ = 0;
  std::vector<double> cost_;
  std::vector<std::size_t> count_;  // of this rank
  std::size_t at_ = 0, done_ = 0;   // the stage that is under way, and its units
  std::map<std::string, double> seconds_;
};

/// Collective, while apart. Throws InputError where this rank has another configuration, reads other data or
/// computes other functionals than rank 0.
void refuse_other_corpora(const EvaluationConfig& config, const CorpusFeatures& corpus);

/// Collective, while apart. The result of work(report), in which all ranks work together, and which
/// stages.report shows; nothing if a signal has stopped one of them.
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

/// The manifest of a directory of the kind "evaluation" or "model".
nlohmann::ordered_json regression_manifest(const EvaluationConfig& config, const CorpusFeatures& corpus,
                                           const std::string& kind, const std::string& started_at);

/// Writes scores.json, the manifest, which says that the evaluation has finished, and the report, and logs
/// how long the stages took.
void end_evaluation(const std::filesystem::path& directory, const nlohmann::ordered_json& scores,
                    const nlohmann::ordered_json& manifest, spdlog::logger& logger);

}  // namespace emomc::app

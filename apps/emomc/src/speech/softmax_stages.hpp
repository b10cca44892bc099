// Progress of softmax regression, and the manifest of its directories.
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "emomc/emotion/corpus_features.hpp"
#include "emomc/speech/softmax_evaluation.hpp"
#include "progress.hpp"

namespace emomc::app {

/// Progress over all stages, and the time that each took.
class SoftmaxStages {
 public:
  /// `folds` and `sets`: posteriors, and all training sets with those that are fitted for inner folds.
  SoftmaxStages(const SoftmaxSettings& settings, std::size_t folds, std::size_t sets, Verbosity verbosity);
  /// Prints a line after the first two seconds and then every five. Throws Interrupted after a signal.
  void report(const std::string& stage, std::size_t done, std::size_t all);
  const std::map<std::string, double>& seconds() const { return seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<std::string> names_;
  Verbosity verbosity_;
  Clock::time_point began_, since_;
  double shown_ = 0;
  std::vector<double> cost_;
  std::vector<std::size_t> count_;
  std::map<std::string, double> seconds_;
};

/// The manifest of a directory of the kind "evaluation" or "model".
nlohmann::ordered_json softmax_manifest(const EvaluationConfig& config, const CorpusFeatures& corpus,
                                        const std::string& kind, const std::string& started_at);

}  // namespace emomc::app

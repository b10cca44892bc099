// Evaluates and trains regressions of numbers on functionals, into directories.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "emomc/emotion/evaluation_config.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "progress.hpp"
#include "softmax_run.hpp"

namespace emomc::app {

/// Collective; the first rank writes and has `scores`. Evaluates and writes predictions.csv, scores.json,
/// report.html, config.yaml, manifest.json and run.log. There is nothing to resume: with ExistingRun::resume
/// it begins again. Returns false if a signal stopped it, and nothing but the log is then written. Throws
/// InputError.
bool evaluate_regression_into(const SoftmaxJob& job, ExistingRun policy, Verbosity verbosity,
                              nlohmann::ordered_json& scores);

/// Collective. Trains a regression on the corpus of `config` and writes the model that `emomc classify`
/// reads. Returns an exit code. Throws InputError.
int train_regression_into(const EvaluationConfig& config, const std::filesystem::path& directory,
                          ExistingRun policy, Verbosity verbosity);

}  // namespace emomc::app

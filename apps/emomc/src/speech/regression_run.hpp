// Evaluates and trains regressions of numbers on functionals, and writes the results to directories.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "emomc/emotion/evaluation_config.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "progress.hpp"
#include "softmax_run.hpp"

namespace emomc::app {

/// Evaluates a regression and writes predictions.csv, scores.json, report.html, config.yaml, manifest.json
/// and run.log. Collective; only the first rank writes files and receives `scores`. There is nothing to
/// resume: with ExistingRun::resume the evaluation begins again. Returns false if a signal stopped the
/// evaluation, of which only the log is then written. Throws InputError.
bool evaluate_regression_into(const SoftmaxJob& job, ExistingRun policy, Verbosity verbosity,
                              nlohmann::ordered_json& scores);

/// Trains a regression on the corpus of `config` and writes the model, which `emomc classify` reads.
/// Collective. Returns an exit code. Throws InputError.
int train_regression_into(const EvaluationConfig& config, const std::filesystem::path& directory,
                          ExistingRun policy, Verbosity verbosity);

}  // namespace emomc::app

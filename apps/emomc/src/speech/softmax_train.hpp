// Trains softmax regression on a whole corpus into a model directory.
#pragma once

#include <filesystem>

#include "emomc/sampler/run_directory.hpp"
#include "evaluation_config.hpp"
#include "progress.hpp"

namespace emomc::app {

/// Reads the corpus, trains and writes model.json, draws.npy, rotation.npy, config.yaml, manifest.json and
/// run.log. There is nothing to resume: with ExistingRun::resume it begins again. Returns an exit code: 0,
/// or that of a signal, after which nothing but the log is written. Throws InputError.
int train_softmax_into(const EvaluationConfig& config, const std::filesystem::path& directory,
                       ExistingRun policy, Verbosity verbosity);

}  // namespace emomc::app

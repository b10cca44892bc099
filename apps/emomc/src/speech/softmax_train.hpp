// Trains softmax regression on a whole corpus and writes a model directory.
#pragma once

#include <filesystem>

#include "emomc/sampler/run_directory.hpp"
#include "evaluation_config.hpp"
#include "progress.hpp"

namespace emomc::app {

/// Reads the corpus, trains and writes model.json, draws.npy, rotation.npy, config.yaml, manifest.json and
/// run.log. There is nothing to resume: with ExistingRun::resume the training begins again. Collective.
/// Returns an exit code: 0, or the code of a signal, after which only the log is written. Throws InputError.
int train_softmax_into(const EvaluationConfig& config, const std::filesystem::path& directory,
                       ExistingRun policy, Verbosity verbosity);

}  // namespace emomc::app

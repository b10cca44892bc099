// What a run with a likelihood of the user's own needs beside its draws: the expressions, from its
// configuration.
#pragma once

#include <filesystem>
#include <memory>

#include "emomc/likelihood/expression.hpp"
#include "emomc/sampler/draw_set.hpp"

namespace emomc::app {

/// The likelihood of the run, from its config.yaml and manifest; null where the run has a model, or where
/// these files are not there. Throws InputError where they are damaged.
std::shared_ptr<const Expression> expression_of_run(const std::filesystem::path& directory);

/// The draws of one phase with the quantities that the run derives from them.
DrawSet read_run_draws(const std::filesystem::path& directory, Phase phase = Phase::sampling);
/// The same for chains that have been read already.
DrawSet run_draws_of(const std::vector<ChainDraws>& chains, const std::filesystem::path& directory,
                     Phase phase = Phase::sampling);

}  // namespace emomc::app

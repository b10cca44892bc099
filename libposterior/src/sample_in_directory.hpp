// Implements sample() with a run directory.
#pragma once

#include "emomc/posterior.hpp"

namespace emomc {

/// Implements sample() if options.directory is not empty; `config` is with_options() of the posterior's
/// configuration.
Draws sample_in_directory(const Posterior& posterior, const RunConfig& config, const SampleOptions& options);

}  // namespace emomc

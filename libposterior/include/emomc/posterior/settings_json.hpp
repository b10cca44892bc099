// The settings of a run as JSON, for the identity of run directories that sample() writes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "emomc/posterior/run_config.hpp"

namespace emomc {

/// Everything in `config` on which draws may depend: data.columns and standardize, likelihood, priors and
/// sampler. The result does not include the data files, the backend, the number of threads, the checkpoints
/// and the number of draws.
nlohmann::ordered_json settings_json(const RunConfig& config);

/// One line `section.key: value` for each value of nested objects; lists are values.
std::string flat_lines(const nlohmann::ordered_json& json);

}  // namespace emomc

// Reports the exchanges between rungs to users, files and the verdict.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "emomc/posterior/diagnose.hpp"
#include "emomc/sampler/tempering.hpp"

namespace emomc {

nlohmann::ordered_json to_json(const TemperingSummary& summary);
/// Reads the summary that to_json() wrote; empty if `betas` or `swap_rates` are missing or do not fit. The
/// values may be untrusted.
std::optional<TemperingSummary> tempering_of(const nlohmann::json& json);
/// A sentence for users about rungs, exchange probabilities and round trips.
std::string describe(const TemperingSummary& summary);

/// Adds findings about the exchanges of a run with `num_chains` chains.
void check_exchanges(const TemperingSummary& summary, std::size_t num_chains, std::vector<Finding>& findings);

}  // namespace emomc

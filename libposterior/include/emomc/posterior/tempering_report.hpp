// What exchanges between rungs have come to, for people, files and the verdict.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "emomc/posterior/diagnose.hpp"
#include "emomc/sampler/tempering.hpp"

namespace emomc {

nlohmann::ordered_json to_json(const TemperingSummary& summary);
/// The same as to_json() has it; empty where they are not there. The values may be untrusted.
std::optional<TemperingSummary> tempering_of(const nlohmann::json& json);
/// A sentence for people.
std::string describe(const TemperingSummary& summary);

/// Adds what is wrong with the exchanges of a run of so many chains.
void check_exchanges(const TemperingSummary& summary, std::size_t num_chains, std::vector<Finding>& findings);

}  // namespace emomc

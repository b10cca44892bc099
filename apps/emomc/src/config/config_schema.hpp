// A JSON schema of configurations, for editors that complete and check keys.
#pragma once

#include <nlohmann/json.hpp>

namespace emomc::app {

/// The schema (draft-07) of configurations of run, check and fit. Names, meanings and defaults are those of
/// config_keys(); which kinds of values a key takes, and which words, is found by giving values to its
/// reader. Readers check more than a schema can say, such as ranges.
nlohmann::ordered_json config_schema();

}  // namespace emomc::app

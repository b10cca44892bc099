// Makes a JSON schema of configurations, for editors that complete and check keys.
#pragma once

#include <nlohmann/json.hpp>

namespace emomc::app {

/// Returns the schema (draft-07) of configurations of run, check and fit. Names, meanings and defaults are
/// those of config_keys(). The kinds of values and the words that a key accepts are found by passing values
/// to the key's reader. Readers check more than a schema can express, such as ranges.
nlohmann::ordered_json config_schema();

}  // namespace emomc::app

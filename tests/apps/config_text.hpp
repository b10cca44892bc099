// Helpers that several tests of the configuration share.
#pragma once

#include <string>
#include <vector>

#include "emomc/core/errors.hpp"
#include "run_config.hpp"

namespace emomc::app {

inline const std::string file_name = "configs/x.yaml";
inline const std::string data = "data: {file: a.csv, standardize: true}\n";
inline const std::string two = data + "likelihood: {model: two_gaussian}\n";

/// Returns the message of the InputError that a configuration causes, or an empty text if the configuration
/// is accepted.
inline std::string refusal(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  try {
    parse_run_config(yaml, file_name, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

inline RunConfig parsed(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  return parse_run_config(yaml, file_name, overrides);
}

}  // namespace emomc::app

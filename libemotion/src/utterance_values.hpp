// Reads the values that a table about recordings or speakers has for utterances.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "emomc/emotion/evaluation_plan.hpp"

namespace emomc {

/// The value of `column` for each utterance. Throws InputError, whose message begins with the key `key`, if
/// an utterance has no row.
std::vector<std::string> utterance_values(const LabelledFrames& frames, const std::filesystem::path& file,
                                          const std::string& column, const std::string& key);

}  // namespace emomc

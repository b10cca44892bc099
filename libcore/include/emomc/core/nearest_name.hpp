// Finds the known name that a mistyped name was probably meant to be, for the messages of input errors.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace emomc {

/// Optimal string alignment distance: the number of insertions, deletions, substitutions and transpositions
/// of neighbouring letters that turn `a` into `b`, where each letter is edited at most once. Case is ignored,
/// and `-` equals `_`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate closest to `name`, the first one in a tie. Empty if more than one letter and more than a
/// third of the longer name would have to change.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);

/// "did you mean NAME? ", or an empty string without a name.
std::string did_you_mean(const std::optional<std::string>& name);

}  // namespace emomc

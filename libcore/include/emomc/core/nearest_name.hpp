// Which known name a mistyped one was meant to be.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace emomc {

/// Number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`, each
/// letter edited at most once (optimal string alignment). Upper and lower case, `-` and `_` are equal.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate closest to `name`, the first among equals; none where more than a third of the longer
/// name would have to change.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);

/// "did you mean NAME? ", or nothing where there is no name.
std::string did_you_mean(const std::optional<std::string>& name);

}  // namespace emomc

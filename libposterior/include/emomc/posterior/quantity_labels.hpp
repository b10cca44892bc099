// Makes names of quantities for users: `means[0, waiting]` in place of `means[0,1]`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "emomc/sampler/draw_set.hpp"

namespace emomc {

/// A label for each quantity of `draws`: the quantity's name, with names of the data's columns in place of
/// indices that number columns. `first_label_free`: see DrawDiagnostics. If the layout or `columns` is
/// unknown, the labels are the names.
std::vector<std::string> labels_of(const DrawSet& draws, std::size_t first_label_free,
                                   std::span<const std::string> columns);

/// A label for MatchedComponents::numbered_by: `means[k, waiting]` for "means[k,1]". `labels` are the labels
/// of the quantities `names`.
std::string numbering_label(const std::string& numbered_by, std::span<const std::string> names,
                            std::span<const std::string> labels);

/// Whether a name or its label equals or matches one of `patterns` (shell globs). Blanks after commas are
/// ignored, and `[` also matches itself.
bool is_selected(const std::string& name, const std::string& label, std::span<const std::string> patterns);

}  // namespace emomc

// Names of quantities for readers: `means[0, waiting]` in place of `means[0,1]`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "emomc/sampler/draw_set.hpp"

namespace emomc {

/// A label for each quantity of `draws`: its name, with the names of the data's columns in place of indices
/// that count columns. `first_label_free`: see DrawDiagnostics. The names themselves where the layout or
/// `columns` is not known.
std::vector<std::string> labels_of(const DrawSet& draws, std::size_t first_label_free,
                                   std::span<const std::string> columns);

/// A label for MatchedComponents::numbered_by: `means[k, waiting]` for "means[k,1]". `labels` are those of
/// the quantities `names`.
std::string numbering_label(const std::string& numbered_by, std::span<const std::string> names,
                            std::span<const std::string> labels);

/// Whether a name or its label equals one of `patterns` or is matched by one (shell globs). Blanks after
/// commas do not matter, and `[` stands for itself too.
bool is_selected(const std::string& name, const std::string& label, std::span<const std::string> patterns);

}  // namespace emomc

// Likelihoods of the user's own as JSON, as manifests of runs have them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "emomc/likelihood/expression.hpp"
#include "emomc/posterior/json_value.hpp"

namespace emomc {

/// The members of `spec`, empty ones left out; of a header (spec.code) its type and columns, not its text.
nlohmann::ordered_json to_json(const ExpressionSpec& spec);

/// The likelihood that to_json wrote. Keys that messages name are those of configurations. Of a header the
/// file is "likelihood_source.hpp". Throws InputError, which names the file and the key, where it is damaged.
ExpressionSpec expression_spec_of(const JsonValue& json);

/// "real", "positive", "unit_interval" or "simplex"; of a covariance "matrix".
const char* name_of_support(Support support);

}  // namespace emomc

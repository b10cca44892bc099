// Writes user-defined likelihoods to the JSON of run manifests and reads them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "emomc/likelihood/expression.hpp"
#include "emomc/posterior/json_value.hpp"

namespace emomc {

/// The members of `spec` without empty ones. For a header (spec.code), they include its type and columns, but
/// not its text.
nlohmann::ordered_json to_json(const ExpressionSpec& spec);

/// Reads the likelihood that to_json wrote. Messages name the keys of configurations. The file of a header is
/// "likelihood_source.hpp". Throws InputError, with the names of the file and the key, if the JSON is
/// damaged.
ExpressionSpec expression_spec_of(const JsonValue& json);

/// The name of a support: "real", "positive", "unit_interval" or "simplex"; for a covariance "matrix".
const char* name_of_support(Support support);

}  // namespace emomc

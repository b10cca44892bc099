// Parameters as JSON, by the names and shapes of a layout: {"weights": [..], "means": [[..]], ...}.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/parameters.hpp"
#include "emomc/likelihood/engines.hpp"

namespace emomc {

/// theta [layout.dim()] from JSON text, covariances as symmetric matrices; `name` stands for the file in
/// messages. Throws InputError of one line naming file and key for what is missing, unknown, of another shape
/// or outside its support.
std::vector<double> parse_parameters(const std::string& json, const std::string& name,
                                     const ParameterLayout& layout);
std::vector<double> read_parameter_file(const std::filesystem::path& file, const ParameterLayout& layout);

/// The model of the given name with the sizes that a parameter file has: components from its weights,
/// covariance from the names and shapes of scales, covariance and covariances.
ModelSpec model_of_parameters(const std::string& json, const std::string& name, const std::string& model);

/// JSON text, numbers in the shortest form that reads back to the same bits.
std::string parameters_to_json(const ParameterLayout& layout, std::span<const double> theta);

}  // namespace emomc

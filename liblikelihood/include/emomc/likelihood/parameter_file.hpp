// Reads and writes parameter files: JSON with the names and shapes of a layout, {"weights": [..], "means":
// [[..]], ...}.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/parameters.hpp"
#include "emomc/likelihood/engines.hpp"

namespace emomc {

/// theta [layout.dim()] from JSON text, in which covariances are symmetric matrices; `name` is the file's
/// name in messages. Throws InputError, one line with file and key, where a key is missing or unknown, or a
/// value has another shape or lies outside its support.
std::vector<double> parse_parameters(const std::string& json, const std::string& name,
                                     const ParameterLayout& layout);
/// Reads theta from a file of at most 16 MiB. Throws InputError as parse_parameters() does.
std::vector<double> read_parameter_file(const std::filesystem::path& file, const ParameterLayout& layout);

/// The model `model` with the sizes of a parameter file: the number of components is the length of its first
/// block by component (a mixture's weights), and the covariance is the one whose blocks agree most with the
/// names and ranks of the file's parameters. Throws InputError where the text is no JSON object or the block
/// by component is no list.
ModelSpec model_of_parameters(const std::string& json, const std::string& name, const std::string& model);

/// theta as JSON text; numbers have the shortest form that reads back to the same bits.
std::string parameters_to_json(const ParameterLayout& layout, std::span<const double> theta);
/// JSON text of values [layout.dim()] in the written form (to_written), or of numbers that belong to such
/// values one by one, such as standard errors.
std::string written_to_json(const ParameterLayout& layout, std::span<const double> written);

}  // namespace emomc

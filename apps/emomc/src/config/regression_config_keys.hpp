// The keys of regressions of numbers: the dimensions that are predicted, and the prior.
#pragma once

#include "evaluation_config_keys.hpp"

namespace emomc::app {

/// Returns whether the classifier of a configuration has classes. kOfClasses names such classifiers in
/// messages.
bool has_classes(const EvaluationConfig& config);
inline constexpr const char* kOfClasses = "classifiers of classes";

/// Reads a number above 0 and at most `most`.
double number_above_zero(const YamlValue& value, double most);
/// Reads a list of one or more numbers above 0 and at most `most`.
std::vector<double> read_positive_numbers(const YamlValue& value, double most);
std::string write_numbers(const std::vector<double>& numbers);

EvaluationKey dimensions_key();
EvaluationKey dimensions_file_key();
std::vector<EvaluationKey> regression_keys();

/// Refuses, with place and key, a regression whose configuration does not say what to predict. `root` is the
/// root of the configuration.
void refuse_without_dimensions(const YamlNode& root, const EvaluationConfig& config);

}  // namespace emomc::app

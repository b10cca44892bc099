// The keys of regressions of numbers: what is predicted, and its prior.
#pragma once

#include "evaluation_config_keys.hpp"

namespace emomc::app {

/// Whether a configuration has classes, and what says so in messages.
bool has_classes(const EvaluationConfig& config);
inline constexpr const char* kOfClasses = "classifiers of classes";

/// A number above 0 and at most `most`.
double number_above_zero(const YamlValue& value, double most);
/// A list of one such number or more.
std::vector<double> read_positive_numbers(const YamlValue& value, double most);
std::string write_numbers(const std::vector<double>& numbers);

EvaluationKey dimensions_key();
EvaluationKey dimensions_file_key();
std::vector<EvaluationKey> regression_keys();

/// Refuses a regression without what it predicts, with place and key. `root`: of the configuration.
void refuse_without_dimensions(const YamlNode& root, const EvaluationConfig& config);

}  // namespace emomc::app

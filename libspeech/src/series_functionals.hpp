// Computes functionals of one series of numbers. docs/functionals.md has the formulas.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace emomc {

/// The names mean, sd, skewness, kurtosis, percentiles 5, 20, 50, 80, 95, and ranges of the middle 60 and 90
/// %.
const std::vector<std::string>& distribution_names();
/// Appends these functionals; all are NaN if fewer than three numbers are defined (not NaN).
void append_distribution(std::span<const double> series, std::vector<double>& to);

/// The names slope, curvature and residual_sd of regressions on time, which runs from -1 at the first defined
/// number to 1 at the last.
const std::vector<std::string>& trend_names();
/// Appends these functionals; all are NaN if fewer than five numbers are defined.
void append_trend(std::span<const double> series, std::vector<double>& to);

/// The names of functionals of steps from number to number and of extremes of the smoothed series.
const std::vector<std::string>& movement_names();
/// Appends these functionals of the defined numbers, with gaps closed; all are NaN if fewer than four are
/// defined.
void append_movement(std::span<const double> series, std::vector<double>& to);

/// The regression slope over five frames within each stretch of defined numbers, with the ends of the stretch
/// repeated; NaN where the number is undefined (Young et al., The HTK Book, 5.9).
std::vector<double> delta_of(std::span<const double> series);

}  // namespace emomc

#include "series_functionals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace emomc {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeastSd = 1e-12;  // smaller sds give no skewness and kurtosis

std::vector<double> defined(std::span<const double> series) {
  std::vector<double> values;
  for (const double x : series)
    if (!std::isnan(x)) values.push_back(x);
  return values;
}

double mean_of(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

void append_undefined(const std::vector<std::string>& names, std::vector<double>& to) {
  to.insert(to.end(), names.size(), kNaN);
}

// Linear interpolation between order statistics, as in numpy.percentile.
double percentile(const std::vector<double>& sorted, double percent) {
  const double at = percent / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), sorted.size() - 2);
  const double part = at - static_cast<double>(below);
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

// The mean of each number and its two neighbours; at the ends, of two numbers.
std::vector<double> smoothed(const std::vector<double>& x) {
  std::vector<double> result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t first = i > 0 ? i - 1 : 0, last = std::min(i + 1, x.size() - 1);
    result[i] = mean_of(std::span(x).subspan(first, last - first + 1));
  }
  return result;
}

}  // namespace

const std::vector<std::string>& distribution_names() {
  static const std::vector<std::string> names{"mean", "sd",  "skewness", "kurtosis",     "p5",         "p20",
                                              "p50",  "p80", "p95",      "p80_less_p20", "p95_less_p5"};
  return names;
}

void append_distribution(std::span<const double> series, std::vector<double>& to) {
  std::vector<double> x = defined(series);
  if (x.size() < 3) return append_undefined(distribution_names(), to);
  const auto n = static_cast<double>(x.size());
  const double mean = mean_of(x);
  double second = 0, third = 0, fourth = 0;
  for (const double value : x) {
    const double d = value - mean;
    second += d * d / n;
    third += d * d * d / n;
    fourth += d * d * d * d / n;
  }
  const double sd = std::sqrt(second);
  std::sort(x.begin(), x.end());
  const double p5 = percentile(x, 5), p20 = percentile(x, 20), p80 = percentile(x, 80),
               p95 = percentile(x, 95);
  const bool varies = sd > kLeastSd;
  to.insert(to.end(), {mean, sd, varies ? third / (sd * sd * sd) : 0, varies ? fourth / (second * second) : 0,
                       p5, p20, percentile(x, 50), p80, p95, p80 - p20, p95 - p5});
}

const std::vector<std::string>& trend_names() {
  static const std::vector<std::string> names{"slope", "curvature", "residual_sd"};
  return names;
}

void append_trend(std::span<const double> series, std::vector<double>& to) {
  std::vector<double> at, x;
  for (std::size_t i = 0; i < series.size(); ++i)
    if (!std::isnan(series[i])) {
      at.push_back(static_cast<double>(i));
      x.push_back(series[i]);
    }
  if (x.size() < 5) return append_undefined(trend_names(), to);
  const double first = at.front(), last = at.back();
  for (double& t : at) t = 2 * (t - first) / (last - first) - 1;
  // Polynomials of degree 1 and 2 in time that are orthogonal over the defined numbers.
  const double mean_t = mean_of(at), mean_x = mean_of(x);
  double tt = 0, tx = 0, ttt = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double t = at[i] - mean_t;
    tt += t * t;
    ttt += t * t * t;
    tx += t * (x[i] - mean_x);
  }
  const double slope = tx / tt, mean_square = tt / static_cast<double>(x.size());
  double qq = 0, qx = 0, residual = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double t = at[i] - mean_t, q = t * t - ttt / tt * t - mean_square, rest = x[i] - mean_x - slope * t;
    qq += q * q;
    qx += q * x[i];
    residual += rest * rest;
  }
  to.insert(to.end(), {slope, qx / qq, std::sqrt(residual / static_cast<double>(x.size()))});
}

const std::vector<std::string>& movement_names() {
  static const std::vector<std::string> names{"step",      "rise",        "fall",        "rising_share",
                                              "peak_rate", "peak_height", "valley_depth"};
  return names;
}

void append_movement(std::span<const double> series, std::vector<double>& to) {
  const std::vector<double> x = defined(series);
  if (x.size() < 4) return append_undefined(movement_names(), to);
  double rises = 0, falls = 0;
  std::size_t num_rises = 0, num_falls = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    const double step = x[i] - x[i - 1];
    if (step > 0) {
      rises += step;
      ++num_rises;
    } else if (step < 0) {
      falls += step;
      ++num_falls;
    }
  }
  const auto steps = static_cast<double>(x.size() - 1);
  const std::vector<double> s = smoothed(x);
  const double mean = mean_of(s);
  double height = 0, depth = 0;
  std::size_t peaks = 0, valleys = 0;
  for (std::size_t i = 1; i + 1 < s.size(); ++i) {
    if (s[i] > s[i - 1] && s[i] >= s[i + 1] && s[i] > mean) {
      height += s[i] - mean;
      ++peaks;
    }
    if (s[i] < s[i - 1] && s[i] <= s[i + 1] && s[i] < mean) {
      depth += s[i] - mean;
      ++valleys;
    }
  }
  const auto mean_or_0 = [](double sum, std::size_t number) {
    return number > 0 ? sum / static_cast<double>(number) : 0;
  };
  to.insert(to.end(), {(rises - falls) / steps, mean_or_0(rises, num_rises), mean_or_0(falls, num_falls),
                       static_cast<double>(num_rises) / steps,
                       static_cast<double>(peaks) / static_cast<double>(x.size()), mean_or_0(height, peaks),
                       mean_or_0(depth, valleys)});
}

std::vector<double> delta_of(std::span<const double> series) {
  constexpr std::ptrdiff_t kReach = 2;
  constexpr double kSquares = 2 * (1 + 4);
  std::vector<double> result(series.size(), kNaN);
  for (std::size_t first = 0; first < series.size(); ++first) {
    if (std::isnan(series[first])) continue;
    std::size_t end = first;
    while (end < series.size() && !std::isnan(series[end])) ++end;
    const auto low = static_cast<std::ptrdiff_t>(first), high = static_cast<std::ptrdiff_t>(end) - 1;
    for (std::ptrdiff_t i = low; i <= high; ++i) {
      double sum = 0;
      for (std::ptrdiff_t k = 1; k <= kReach; ++k)
        sum += static_cast<double>(k) * (series[std::min(i + k, high)] - series[std::max(i - k, low)]);
      result[i] = sum / kSquares;
    }
    first = end;
  }
  return result;
}

}  // namespace emomc

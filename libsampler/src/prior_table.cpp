#include "prior_table.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

using device::Density;
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kLogSqrtTwoPi = 0.5 * std::log(2 * std::numbers::pi);

// log P(lower < X < upper) of a standard normal, accurate in the tails.
double log_normal_mass(double lower, double upper) {
  if (lower > 0) return log_normal_mass(-upper, -lower);
  const double below_upper = 0.5 * std::erfc(-upper / std::numbers::sqrt2);
  const double below_lower = 0.5 * std::erfc(-lower / std::numbers::sqrt2);
  return std::log(below_upper - below_lower);
}

std::string shape_text(const std::vector<int>& shape) {
  if (shape.empty()) return "one number";
  std::string text;
  for (int extent : shape) text += "[" + std::to_string(extent) + "]";
  return text;
}

}  // namespace

double broadcast_argument(const ParameterBlock& block, const PriorSpec& prior, std::size_t index, int i) {
  const ArrayArgument& argument = prior.arguments.at(index);
  if (argument.shape.empty()) return argument.values.at(0);
  const auto at = [&](int k) { return argument.values.at(static_cast<std::size_t>(k)); };
  if (argument.shape == block.shape) return at(i);
  if (argument.shape.size() == 1 && block.shape.size() == 2) {
    const int n = argument.shape[0], rows = block.shape[0], columns = block.shape[1];
    if (n == columns) return at(i % columns);
    if (n == rows) return at(i / columns);
  }
  throw InputError("prior." + block.name + "." + family_name(prior.family) + "." +
                   argument_names(prior.family).at(index) + ": shape " + shape_text(argument.shape) +
                   " does not fit; allowed: one number or " + shape_text(block.shape) +
                   (block.shape.size() == 2 ? ", [" + std::to_string(block.shape[1]) + "] per column, [" +
                                                  std::to_string(block.shape[0]) + "] per component"
                                            : ""));
}

double set_density(device::Element& e, PriorFamily family, std::span<const double> arguments, double lower,
                   double upper, const std::string& name) {
  const auto bounded = [&](double log_constant, double log_mass) {
    if (!std::isfinite(log_mass))
      throw InputError("prior." + name + ": " + family_name(family) + " has no mass above the lower bound " +
                       std::to_string(lower));
    return log_constant - log_mass;
  };
  const auto argument = [&](std::size_t i) { return arguments[i]; };
  switch (family) {
    case PriorFamily::normal:
    case PriorFamily::half_normal: {
      const double mean = family == PriorFamily::normal ? argument(0) : 0.0;
      const double sd = arguments.back();
      e.density = Density::normal;
      e.a = mean;
      e.b = 1 / sd;
      return bounded(-std::log(sd) - kLogSqrtTwoPi,
                     log_normal_mass((lower - mean) / sd, (upper - mean) / sd));
    }
    case PriorFamily::cauchy: {
      const auto below = [&](double x) {
        return 0.5 + std::atan((x - argument(0)) / argument(1)) / std::numbers::pi;
      };
      e.density = Density::student_t;
      e.a = argument(0);
      e.b = 1 / argument(1);
      e.c = 1;
      return bounded(-std::log(std::numbers::pi * argument(1)), std::log(below(upper) - below(lower)));
    }
    case PriorFamily::lognormal:
      e.density = Density::lognormal;
      e.a = argument(0);
      e.b = 1 / argument(1);
      return bounded(-std::log(argument(1)) - kLogSqrtTwoPi,
                     lower > 0 ? log_normal_mass((std::log(lower) - argument(0)) / argument(1), kInf) : 0.0);
    case PriorFamily::student_t: {
      const double df = argument(0), mean = argument(1), scale = argument(2);
      e.density = Density::student_t;
      e.a = mean;
      e.b = 1 / (scale * std::sqrt(df));
      e.c = 0.5 * (df + 1);
      const boost::math::students_t standard(df);
      return bounded(
          std::lgamma(0.5 * (df + 1)) - std::lgamma(0.5 * df) - 0.5 * std::log(df * std::numbers::pi) -
              std::log(scale),
          std::isfinite(lower) ? std::log(cdf(complement(standard, (lower - mean) / scale))) : 0.0);
    }
    case PriorFamily::gamma:
      e.density = Density::gamma;
      e.a = argument(0) - 1;
      e.b = argument(1);
      return bounded(argument(0) * std::log(argument(1)) - std::lgamma(argument(0)),
                     lower > 0 ? std::log(boost::math::gamma_q(argument(0), argument(1) * lower)) : 0.0);
    case PriorFamily::inverse_gamma:
      e.density = Density::inverse_gamma;
      e.a = argument(0) + 1;
      e.b = argument(1);
      return bounded(argument(0) * std::log(argument(1)) - std::lgamma(argument(0)),
                     lower > 0 ? std::log(boost::math::gamma_p(argument(0), argument(1) / lower)) : 0.0);
    case PriorFamily::exponential:
      e.density = Density::gamma;
      e.a = 0;
      e.b = argument(0);
      return bounded(std::log(argument(0)), lower > 0 ? -argument(0) * lower : 0.0);
    case PriorFamily::uniform: {
      e.density = Density::uniform;
      e.a = std::max(argument(0), lower);
      e.b = std::min(argument(1), upper);
      return bounded(0.0, e.b > e.a ? std::log(e.b - e.a) : -kInf);
    }
    case PriorFamily::beta:
      e.density = Density::beta;
      e.a = argument(0) - 1;
      e.b = argument(1) - 1;
      return std::lgamma(argument(0) + argument(1)) - std::lgamma(argument(0)) - std::lgamma(argument(1));
    case PriorFamily::dirichlet:
      e.density = Density::power;
      e.a = argument(0) - 1;
      return -std::lgamma(argument(0));  // lgamma of the sum is added once per block
    case PriorFamily::fixed:
      e.density = Density::flat;
      return 0.0;
  }
  throw std::logic_error("set_density: unknown family");
}

}  // namespace emomc

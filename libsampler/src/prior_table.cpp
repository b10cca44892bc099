#include "prior_table.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "emomc/core/errors.hpp"
#include "emomc/device/bessel_functions.hpp"

namespace emomc {
namespace {

using device::Density;
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kLogSqrtTwoPi = 0.5 * std::log(2 * std::numbers::pi);

// Returns log P(lower < X < upper) for a standard normal X, accurate in the tails.
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
    case PriorFamily::von_mises:
      e.density = Density::von_mises;
      e.a = argument(0);
      e.b = argument(1);
      return -std::log(2 * std::numbers::pi) -
             device::log_modified_bessel_first_kind_scaled(0.0, argument(1));
    case PriorFamily::lkj:
    case PriorFamily::fixed:
      e.density = Density::flat;
      return 0.0;
  }
  throw std::logic_error("set_density: unknown family");
}

bool has_sampled_argument(const PriorSpec& prior) {
  return std::any_of(prior.arguments.begin(), prior.arguments.end(),
                     [](const ArrayArgument& argument) { return argument.is_sampled; });
}

ArgumentRole argument_role(PriorFamily family, std::size_t index) {
  switch (family) {
    case PriorFamily::normal:
    case PriorFamily::cauchy:
    case PriorFamily::lognormal:
      return index == 0 ? ArgumentRole::location : ArgumentRole::scale;
    case PriorFamily::student_t:
      return index == 0 ? ArgumentRole::shape : index == 1 ? ArgumentRole::location : ArgumentRole::scale;
    case PriorFamily::half_normal:
    case PriorFamily::exponential:
      return ArgumentRole::scale;
    default:
      return ArgumentRole::shape;
  }
}

ParameterBlock sampled_argument(const ParameterBlock& block, PriorFamily family, std::size_t index) {
  const bool is_location = argument_role(family, index) == ArgumentRole::location;
  ParameterBlock result;
  result.name = block.name + "." + argument_names(family).at(index);
  result.support = is_location ? Support::real : Support::positive;
  result.influence = Influence::nothing;
  if (block.feature_axis >= 0) {
    result.shape = {block.shape[static_cast<std::size_t>(block.feature_axis)]};
    result.feature_axis = 0;
  }
  if (block.unit == DataUnit::none) return result;
  if (family == PriorFamily::lognormal)
    result.unit = is_location ? DataUnit::log_scale : DataUnit::none;
  else if (family == PriorFamily::exponential)
    result.unit = DataUnit::rate;
  else
    result.unit = is_location ? block.unit : DataUnit::scale;
  return result;
}

device::ConditionalElement conditional_density(PriorFamily family, double lower, const std::string& name) {
  device::ConditionalElement e{};
  e.from_location = e.from_scale = device::kConstant;
  e.lower = lower;
  const bool bounded = lower > -kInf;
  if (family == PriorFamily::normal || family == PriorFamily::half_normal) {
    e.density = device::ConditionalDensity::normal;
    e.constant = -kLogSqrtTwoPi;
  } else if (family == PriorFamily::lognormal) {
    e.density = device::ConditionalDensity::lognormal;
    e.constant = -kLogSqrtTwoPi;
  } else if (family == PriorFamily::exponential) {
    e.density = device::ConditionalDensity::exponential;
  } else if (!bounded && (family == PriorFamily::student_t || family == PriorFamily::cauchy)) {
    e.density = device::ConditionalDensity::student_t;
    e.df = 1;
    e.constant = -std::log(std::numbers::pi);
  } else {
    throw InputError(name + ": arguments of " + family_name(family) +
                     " cannot have a prior of their own here; allowed: those of " +
                     (bounded ? "half_normal, normal, lognormal, exponential" : "normal, student_t, cauchy"));
  }
  return e;
}

double log_lkj_constant(double eta, int d) {
  double sum = 0;
  for (int k = 1; k < d; ++k) {
    const double b = eta + 0.5 * (d - k - 1);
    sum += (d - k) * ((2 * eta - 2 + d - k) * std::numbers::ln2 + 2 * std::lgamma(b) - std::lgamma(2 * b));
  }
  return -sum;
}

}  // namespace emomc

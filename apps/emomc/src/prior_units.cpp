#include "prior_units.hpp"

#include <cmath>

namespace emomc::app {
namespace {

// Argument `index` of `family` under x -> shift + stretch x; NaN where the family has no such form.
double mapped(PriorFamily family, std::size_t index, double value, double shift, double stretch) {
  switch (family) {
    case PriorFamily::normal:
    case PriorFamily::cauchy:
      return index == 0 ? shift + stretch * value : stretch * value;
    case PriorFamily::student_t:
      return index == 0 ? value : index == 1 ? shift + stretch * value : stretch * value;
    case PriorFamily::uniform:
    case PriorFamily::fixed:
      return shift + stretch * value;
    case PriorFamily::half_normal:
      return shift == 0 ? stretch * value : std::nan("");
    case PriorFamily::lognormal:
      return shift != 0 ? std::nan("") : index == 0 ? value + std::log(stretch) : value;
    case PriorFamily::gamma:
      return shift != 0 ? std::nan("") : index == 0 ? value : value / stretch;
    case PriorFamily::inverse_gamma:
      return shift != 0 ? std::nan("") : index == 0 ? value : value * stretch;
    case PriorFamily::exponential:
      return shift == 0 ? value / stretch : std::nan("");
    case PriorFamily::beta:
    case PriorFamily::dirichlet:
    case PriorFamily::lkj:
      break;
  }
  return std::nan("");
}

}  // namespace

std::optional<PriorSpec> in_data_units(const PriorSpec& prior, const ParameterBlock& block,
                                       const ColumnUnits& units) {
  if (block.unit == DataUnit::none || units.is_identity()) return prior;
  const bool by_column = block.feature_axis >= 0;
  const int columns = by_column ? block.shape[static_cast<std::size_t>(block.feature_axis)] : 1;
  PriorSpec result{prior.family, {}};
  for (std::size_t a = 0; a < prior.arguments.size(); ++a) {
    const ArrayArgument& argument = prior.arguments[a];
    if (argument.is_sampled) {
      result.arguments.push_back(argument);
      continue;
    }
    const bool one_per_column =
        by_column && (argument.shape.empty() || (argument.shape.size() == 1 && argument.shape[0] == columns));
    ArrayArgument out;
    if (one_per_column) out.shape = {columns};
    if (!one_per_column && !argument.shape.empty()) out.shape = block.shape;
    int size = 1;
    for (int extent : out.shape) size *= extent;
    for (int i = 0; i < size; ++i) {
      const auto column = static_cast<std::size_t>(by_column ? i % columns : 0);
      std::size_t at = 0;
      if (!argument.shape.empty())
        at = static_cast<std::size_t>(argument.shape == out.shape    ? i
                                      : argument.shape[0] == columns ? i % columns
                                                                     : i / columns);
      const double sd = units.sd[column];
      const double shift = block.unit == DataUnit::location    ? units.mean[column]
                           : block.unit == DataUnit::log_scale ? std::log(sd)
                                                               : 0.0;
      const double stretch = block.unit == DataUnit::log_scale ? 1.0
                             : block.unit == DataUnit::rate    ? 1 / sd
                                                               : sd;
      out.values.push_back(mapped(prior.family, a, argument.values[at], shift, stretch));
      if (std::isnan(out.values.back())) return std::nullopt;
    }
    result.arguments.push_back(out);
  }
  return result;
}

}  // namespace emomc::app

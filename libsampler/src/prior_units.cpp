#include "emomc/sampler/prior_units.hpp"

#include <cmath>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

enum class Direction { to_data, to_sampler };

/// The map of a block's elements in one column between the two units.
class ColumnMap {
 public:
  ColumnMap(DataUnit unit, const ColumnUnits& units, std::size_t column, Direction direction)
      : unit_(unit), mean_(units.mean[column]), sd_(units.sd[column]), direction_(direction) {}

  bool has_shift() const { return unit_ == DataUnit::location || unit_ == DataUnit::log_scale; }
  double location(double x) const {
    if (unit_ == DataUnit::log_scale)
      return direction_ == Direction::to_data ? x + std::log(sd_) : x - std::log(sd_);
    if (unit_ != DataUnit::location) return stretched(x);
    return direction_ == Direction::to_data ? x * sd_ + mean_ : (x - mean_) / sd_;
  }
  /// Maps a width of the parameter.
  double stretched(double x) const {
    if (unit_ == DataUnit::log_scale) return x;
    return is_multiplied() ? x * sd_ : x / sd_;
  }
  /// Maps the reciprocal of a width.
  double shrunk(double x) const {
    if (unit_ == DataUnit::log_scale) return x;
    return is_multiplied() ? x / sd_ : x * sd_;
  }
  double log_stretch() const {
    if (unit_ == DataUnit::log_scale) return 0;
    return is_multiplied() ? std::log(sd_) : -std::log(sd_);
  }

 private:
  bool is_multiplied() const { return (direction_ == Direction::to_data) != (unit_ == DataUnit::rate); }

  DataUnit unit_;
  double mean_, sd_;
  Direction direction_;
};

// Returns argument `index` of `family` under the map; NaN if the family is not closed under the map.
double mapped(PriorFamily family, std::size_t index, double value, const ColumnMap& map) {
  switch (family) {
    case PriorFamily::normal:
    case PriorFamily::cauchy:
      return index == 0 ? map.location(value) : map.stretched(value);
    case PriorFamily::student_t:
      return index == 0 ? value : index == 1 ? map.location(value) : map.stretched(value);
    case PriorFamily::uniform:
    case PriorFamily::fixed:
      return map.location(value);
    case PriorFamily::half_normal:
    case PriorFamily::inverse_gamma:
    case PriorFamily::lognormal:
    case PriorFamily::gamma:
    case PriorFamily::exponential:
      break;
    case PriorFamily::beta:
    case PriorFamily::dirichlet:
    case PriorFamily::von_mises:
    case PriorFamily::lkj:
      return std::nan("");
  }
  if (map.has_shift()) return std::nan("");
  switch (family) {
    case PriorFamily::half_normal:
      return map.stretched(value);
    case PriorFamily::lognormal:
      return index == 0 ? value + map.log_stretch() : value;
    case PriorFamily::inverse_gamma:
      return index == 0 ? value : map.stretched(value);
    case PriorFamily::gamma:
      return index == 0 ? value : map.shrunk(value);
    default:  // exponential
      return map.shrunk(value);
  }
}

std::optional<PriorSpec> converted(const PriorSpec& prior, const ParameterBlock& block,
                                   const ColumnUnits& units, Direction direction) {
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
      const ColumnMap map(block.unit, units, column, direction);
      out.values.push_back(mapped(prior.family, a, argument.values.at(at), map));
      if (std::isnan(out.values.back())) return std::nullopt;
    }
    result.arguments.push_back(out);
  }
  return result;
}

// Calls f(block, prior) for each block that has a prior.
template <class F>
void for_each_prior(const PriorSet& stated, const ParameterLayout& layout, F f) {
  for (const ParameterBlock& whole : with_sampled_arguments(layout, stated).blocks)
    for (const ParameterBlock& block : prior_blocks(whole)) {
      const auto found = stated.blocks.find(block.name);
      if (found != stated.blocks.end()) f(block, found->second);
    }
}

PriorSet converted(const PriorSet& stated, const ParameterLayout& layout, const ColumnUnits& units,
                   Direction direction) {
  PriorSet result = stated;
  for_each_prior(stated, layout, [&](const ParameterBlock& block, const PriorSpec& prior) {
    const auto other = converted(prior, block, units, direction);
    if (!other)
      throw InputError("prior." + block.name + ": family " + family_name(prior.family) +
                       " cannot be stated in other units; use normal, student_t or uniform");
    result.blocks[block.name] = *other;
  });
  return result;
}

}  // namespace

std::optional<PriorSpec> in_data_units(const PriorSpec& prior, const ParameterBlock& block,
                                       const ColumnUnits& units) {
  return converted(prior, block, units, Direction::to_data);
}
std::optional<PriorSpec> in_sampler_units(const PriorSpec& prior, const ParameterBlock& block,
                                          const ColumnUnits& units) {
  return converted(prior, block, units, Direction::to_sampler);
}
PriorSet in_data_units(const PriorSet& stated, const ParameterLayout& layout, const ColumnUnits& units) {
  return converted(stated, layout, units, Direction::to_data);
}
PriorSet in_sampler_units(const PriorSet& stated, const ParameterLayout& layout, const ColumnUnits& units) {
  return converted(stated, layout, units, Direction::to_sampler);
}

double log_prior_offset(const PriorSet& stated, const ParameterLayout& layout, const ColumnUnits& units) {
  if (units.is_identity()) return 0;
  double offset = 0;
  for_each_prior(stated, layout, [&](const ParameterBlock& block, const PriorSpec& prior) {
    if (block.unit == DataUnit::none || prior.family == PriorFamily::fixed) return;
    const int columns =
        block.feature_axis >= 0 ? block.shape[static_cast<std::size_t>(block.feature_axis)] : 1;
    for (int i = 0; i < block.size(); ++i)
      offset -= ColumnMap(block.unit, units, static_cast<std::size_t>(i % columns), Direction::to_data)
                    .log_stretch();
  });
  return offset;
}

}  // namespace emomc

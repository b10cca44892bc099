#include "emomc/posterior/prior_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/posterior/text_table.hpp"
#include "prior_text.hpp"

namespace emomc {
namespace {

using Fault = std::optional<std::string>;

Fault fault_of_shape(const ArrayArgument& array, const PriorPart& part, PriorSizes sizes) {
  const auto rank = static_cast<int>(array.shape.size());
  const int max_rank =
      part.length > 0 ? 1 : static_cast<int>(part.by_component) + static_cast<int>(part.by_column);
  if (rank > max_rank) {
    static const std::array<std::string, 3> wanted{"one number", "a number or a list of numbers",
                                                   "a number, a list, or a list of lists"};
    return "nested " + std::to_string(rank) + " deep; allowed for " + part.name + ": " +
           wanted.at(static_cast<std::size_t>(max_rank));
  }
  if (rank == 0) return {};
  const std::string list = "a list of " + std::to_string(array.shape[0]) + "; allowed: one number or ";
  if (part.length > 0) {
    if (array.shape[0] == part.length) return {};
    return list + std::to_string(part.length) + ", one for each element of " + part.name;
  }
  const bool fits_components = part.by_component && array.shape[0] == sizes.components;
  const bool fits_columns =
      part.by_column && rank == 1 && (sizes.columns == 0 || array.shape[0] == sizes.columns);
  if (!fits_components && !fits_columns) {
    std::string allowed;
    if (part.by_component) allowed = std::to_string(sizes.components) + ", one for each component";
    if (part.by_column && rank == 1)
      allowed += (allowed.empty() ? "" : ", or ") + std::to_string(sizes.columns) + ", one for each column";
    return list + allowed;
  }
  if (rank == 2 && sizes.columns > 0 && array.shape[1] != sizes.columns)
    return "rows of " + std::to_string(array.shape[1]) + "; allowed: " + std::to_string(sizes.columns) +
           ", one for each column";
  return {};
}

Fault fault_unless_above_zero(const ArrayArgument& array) {
  for (const double number : array.values)
    if (!(number > 0)) return shortest_text(number) + " is out of range; allowed: numbers above 0";
  return {};
}

Fault fault_of_uniform(const PriorSpec& prior, Domain domain) {
  const ArrayArgument &lower = prior.arguments[0], &upper = prior.arguments[1];
  if (!lower.shape.empty() && !upper.shape.empty() && lower.shape != upper.shape)
    return "lower and upper are lists of different lengths; allowed: equal ones, or one number";
  for (std::size_t i = 0; i < std::max(lower.values.size(), upper.values.size()); ++i) {
    const double low = lower.values[lower.shape.empty() ? 0 : i];
    const double high = upper.values[upper.shape.empty() ? 0 : i];
    const std::string pair = "lower " + shortest_text(low) + ", upper " + shortest_text(high);
    if (!(low < high)) return pair + " is out of range; allowed: lower below upper";
    if (domain == Domain::positive && low < 0) return pair + " is out of range; allowed: lower of 0 or more";
    if (domain == Domain::unit && (low < 0 || high > 1))
      return pair + " is out of range; allowed: between 0 and 1";
  }
  return {};
}

Fault fault_of_fixed(const ArrayArgument& array, Domain domain, int components) {
  if (domain == Domain::real || domain == Domain::correlation) return {};
  if (domain == Domain::circular) {
    for (const double angle : array.values)
      if (!(std::abs(angle) <= std::numbers::pi))
        return shortest_text(angle) + " is out of range; allowed: -pi to pi, in radians";
    return {};
  }
  if (Fault fault = fault_unless_above_zero(array)) return fault;
  if (domain == Domain::unit && !(array.values[0] < 1))
    return shortest_text(array.values[0]) + " is out of range; allowed: between 0 and 1, both excluded";
  if (domain != Domain::simplex) return {};
  double sum = 0;
  for (const double weight : array.values) sum += weight;
  if (array.shape.empty()) sum *= components;
  constexpr double rounding = 1e-9;  // rounding of weights that are written with 10 digits or more
  if (std::abs(sum - 1) > rounding)
    return "the weights sum to " + shortest_text(sum) + "; they must sum to 1";
  return {};
}

/// Whether an argument differs between components. A list whose length could be [d] or [K] counts only if it
/// cannot be [d].
bool tells_components_apart(const ArrayArgument& array, const PriorPart& part) {
  const std::size_t max_rank = (part.by_component ? 1 : 0) + (part.by_column ? 1 : 0);
  if (!part.by_component || array.shape.empty() || array.shape.size() != max_rank) return false;
  const auto rows = static_cast<std::size_t>(array.shape[0]);
  const std::size_t row = array.values.size() / rows;
  for (std::size_t i = row; i < array.values.size(); ++i)
    if (array.values[i] != array.values[i % row]) return true;
  return false;
}

}  // namespace

PriorSizes prior_sizes(const LikelihoodConfig& likelihood, int columns) {
  if (likelihood.is_expression()) return {likelihood.components, columns};
  const int fixed = info_of(likelihood).fixed_components;
  return {fixed ? fixed : likelihood.components, columns};
}

PriorPart part_of_argument(const PriorPart& part, const std::string& argument) {
  const bool location = argument == "mean" || argument == "location" || argument == "meanlog";
  PriorPart result;
  result.name = part.name + "." + argument;
  result.domain = location ? Domain::real : Domain::positive;
  result.by_column = part.by_column;
  result.default_prior = location ? "{normal: {mean: 0, sd: 10}}" : "{half_normal: 1}";
  return result;
}

bool may_be_sampled(const PriorPart& part, PriorFamily family, const std::string& argument) {
  const auto sampled = sampled_argument_names(family);
  return part.name.find('.') == std::string::npos &&
         std::find(sampled.begin(), sampled.end(), argument) != sampled.end();
}

std::optional<PriorFault> find_fault(const PriorSpec& prior, const PriorPart& part, PriorSizes sizes) {
  const std::vector<std::string>& names = argument_names(prior.family);
  const std::vector<std::string> families = families_for(part.domain);
  if (std::find(families.begin(), families.end(), family_name(prior.family)) == families.end())
    return PriorFault{-1, family_name(prior.family) + " is no prior for " + part.name + "; allowed for " +
                              part.name + ": " + joined(families)};
  if (prior.arguments.size() != names.size())
    return PriorFault{-1, std::to_string(prior.arguments.size()) + " arguments; allowed in " +
                              family_name(prior.family) + ": " + joined(names)};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ArrayArgument& array = prior.arguments[i];
    const auto place = static_cast<int>(i);
    if (array.is_sampled) {
      if (may_be_sampled(part, prior.family, names[i])) continue;
      return PriorFault{place,
                        "a prior stands where a number is expected; allowed: a number or a list of them"};
    }
    if (std::any_of(array.values.begin(), array.values.end(), [](double x) { return !std::isfinite(x); }))
      return PriorFault{place, "a number that is not finite; allowed: finite numbers"};
    const bool is_matrix = part.domain == Domain::correlation && prior.family == PriorFamily::fixed;
    if (!is_matrix)
      if (Fault fault = fault_of_shape(array, part, sizes)) return PriorFault{place, *fault};
    static const std::array<std::string, 5> free_names{"mean", "location", "meanlog", "lower", "upper"};
    const bool free = std::find(free_names.begin(), free_names.end(), names[i]) != free_names.end();
    if (prior.family == PriorFamily::von_mises && names[i] == "concentration") {
      if (std::any_of(array.values.begin(), array.values.end(), [](double x) { return x < 0; }))
        return PriorFault{place, "a number below 0; allowed: 0, which is the whole circle alike, and above"};
      continue;
    }
    if (!free && prior.family != PriorFamily::fixed)
      if (Fault fault = fault_unless_above_zero(array)) return PriorFault{place, *fault};
  }
  if (prior.family == PriorFamily::uniform)
    if (Fault fault = fault_of_uniform(prior, part.domain)) return PriorFault{-1, *fault};
  if (prior.family == PriorFamily::fixed)
    if (Fault fault =
            fault_of_fixed(prior.arguments[0], part.domain, part.length > 0 ? part.length : sizes.components))
      return PriorFault{0, *fault};
  return {};
}

PriorSet default_prior(const LikelihoodConfig& likelihood) {
  PriorSet prior;
  for (const PriorPart& part : prior_parts(info_of(likelihood)))
    prior.blocks[part.name] = prior_of_text(part.default_prior);
  return prior;
}

PriorPart prior_part(const ExpressionSpec& spec, const std::string& parameter) {
  for (const ExpressionParameter& p : parameters_of(spec)) {
    if (p.name != parameter) continue;
    PriorPart part;
    part.name = p.name;
    part.domain = p.support == Support::positive        ? Domain::positive
                  : p.support == Support::unit_interval ? Domain::unit
                  : p.support == Support::simplex       ? Domain::simplex
                  : p.support == Support::circular      ? Domain::circular
                                                        : Domain::real;
    part.length = p.shape.empty() ? 0 : p.shape[0];
    part.default_prior = part.domain == Domain::positive   ? "{half_normal: 1}"
                         : part.domain == Domain::unit     ? "{beta: {a: 1, b: 1}}"
                         : part.domain == Domain::simplex  ? "{dirichlet: 1}"
                         : part.domain == Domain::circular ? "{von_mises: {mean: 0, concentration: 0}}"
                                                           : "{normal: {mean: 0, sd: 10}}";
    return part;
  }
  throw std::logic_error("prior_part: there is no parameter " + parameter);
}

std::string why_no_order(const ModelInfo& model, const PriorSet& prior, const std::string& key) {
  if (prior.blocks.at(model.ordered_by).family == PriorFamily::fixed)
    return key + " cannot order " + model.ordered_by + " that are fixed; allowed: none";
  const std::vector<PriorPart> parts = prior_parts(model);
  for (const auto& [block, spec] : prior.blocks) {
    // The prior of an argument is the same for all components.
    if (block.find('.') != std::string::npos) continue;
    const auto part =
        std::find_if(parts.begin(), parts.end(), [&](const PriorPart& p) { return p.name == block; });
    for (const ArrayArgument& argument : spec.arguments)
      if (tells_components_apart(argument, *part))
        return key + " needs the same prior for every component, and prior." + block +
               " differs between them; allowed here: none";
  }
  for (const PriorPart& part : parts) {
    const bool is_weight_of_first = part.domain == Domain::unit && part.influence == Influence::weights;
    if (is_weight_of_first && !is_symmetric_about_half(prior.blocks.at(part.name)))
      return key + " needs a prior of " + part.name + " that is the same for 1 - " + part.name +
             ", such as " + part.default_prior + "; allowed here: none";
  }
  return "";
}

namespace {

void check(const PriorSet& prior, const PriorPart& part, PriorSizes sizes) {
  const auto found = prior.blocks.find(part.name);
  if (found == prior.blocks.end())
    throw InputError("prior." + part.name + ": there is none; each parameter needs a prior, such as " +
                     part.default_prior);
  const PriorSpec& spec = found->second;
  if (const auto fault = find_fault(spec, part, sizes)) {
    std::string key = "prior." + part.name;
    if (fault->argument >= 0)
      key += "." + family_name(spec.family) + "." +
             argument_names(spec.family)[static_cast<std::size_t>(fault->argument)];
    throw InputError(key + ": " + fault->why);
  }
  for (std::size_t i = 0; i < spec.arguments.size(); ++i)
    if (spec.arguments[i].is_sampled)
      check(prior, part_of_argument(part, argument_names(spec.family)[i]), sizes);
}

}  // namespace

void check_priors(const LikelihoodConfig& likelihood, const PriorSet& prior, int columns) {
  std::vector<PriorPart> parts;
  if (likelihood.is_expression())
    for (const ExpressionParameter& p : parameters_of(likelihood.expression))
      parts.push_back(prior_part(likelihood.expression, p.name));
  else
    parts = prior_parts(info_of(likelihood));
  std::vector<std::string> names;
  for (const PriorPart& part : parts) names.push_back(part.name);
  for (const auto& [block, spec] : prior.blocks) {
    const std::string of = block.substr(0, block.find('.'));
    if (std::find(names.begin(), names.end(), of) == names.end())
      throw InputError("prior." + block + ": there is no such parameter; " +
                       did_you_mean(nearest_name(of, names)) + "allowed: " + joined(names));
  }
  const PriorSizes sizes = prior_sizes(likelihood, columns);
  for (const PriorPart& part : parts) check(prior, part, sizes);
}

}  // namespace emomc

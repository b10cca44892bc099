#include "emomc/sampler/prior.hpp"

#include <array>
#include <cmath>

#include "prior_table.hpp"

namespace emomc {
namespace {

struct FamilyEntry {
  PriorFamily family;
  std::string name;
  std::vector<std::string> arguments;
};

/// Returns the table of families, in the order of the enumeration.
const std::array<FamilyEntry, 14>& families() {
  static const std::array<FamilyEntry, 14> table{{
      {PriorFamily::normal, "normal", {"mean", "sd"}},
      {PriorFamily::half_normal, "half_normal", {"sd"}},
      {PriorFamily::student_t, "student_t", {"df", "mean", "scale"}},
      {PriorFamily::cauchy, "cauchy", {"location", "scale"}},
      {PriorFamily::lognormal, "lognormal", {"meanlog", "sdlog"}},
      {PriorFamily::gamma, "gamma", {"shape", "rate"}},
      {PriorFamily::inverse_gamma, "inverse_gamma", {"shape", "scale"}},
      {PriorFamily::exponential, "exponential", {"rate"}},
      {PriorFamily::uniform, "uniform", {"lower", "upper"}},
      {PriorFamily::beta, "beta", {"a", "b"}},
      {PriorFamily::dirichlet, "dirichlet", {"a"}},
      {PriorFamily::von_mises, "von_mises", {"mean", "concentration"}},
      {PriorFamily::lkj, "lkj", {"eta"}},
      {PriorFamily::fixed, "fixed", {"value"}},
  }};
  return table;
}

const FamilyEntry& entry(PriorFamily family) { return families().at(static_cast<std::size_t>(family)); }

}  // namespace

const std::vector<std::string>& argument_names(PriorFamily family) { return entry(family).arguments; }

std::vector<std::string> sampled_argument_names(PriorFamily family) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < argument_names(family).size(); ++i)
    if (argument_role(family, i) != ArgumentRole::shape) names.push_back(argument_names(family)[i]);
  return names;
}

const std::string& family_name(PriorFamily family) { return entry(family).name; }

std::optional<PriorFamily> family_from_name(const std::string& name) {
  for (const FamilyEntry& candidate : families()) {
    if (candidate.name == name) return candidate.family;
  }
  return std::nullopt;
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const FamilyEntry& family : families()) names.push_back(family.name);
  return names;
}

bool is_symmetric_about_half(const PriorSpec& prior) {
  const auto argument = [&](std::size_t i) { return prior.arguments.at(i).values.at(0); };
  switch (prior.family) {
    case PriorFamily::beta:
      return argument(0) == argument(1);
    case PriorFamily::uniform:
      return std::abs(argument(0) + argument(1) - 1) < 1e-12;
    case PriorFamily::fixed:
      return argument(0) == 0.5;
    default:
      return false;
  }
}

}  // namespace emomc

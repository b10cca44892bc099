// What a prior may be: families, arguments and shapes that a part of a model allows, and default priors.
#pragma once

#include <optional>
#include <string>

#include "emomc/likelihood/expression.hpp"
#include "emomc/posterior/model_priors.hpp"
#include "emomc/posterior/run_config.hpp"
#include "emomc/sampler/prior.hpp"

namespace emomc {

/// The sizes that lists of arguments have to fit.
struct PriorSizes {
  int components = 1;
  int columns = 0;  ///< 0: not known yet
};
/// The sizes of a model; those of an expression's parameters are in their PriorPart.
PriorSizes prior_sizes(const LikelihoodConfig& likelihood, int columns);

/// What is wrong with a prior, and with which of its arguments; -1: with the prior as a whole.
struct PriorFault {
  int argument = -1;
  std::string why;  ///< "a list of 3; allowed: one number or 2, one for each component"
};

/// The first fault of a prior of `part`, without the priors of its sampled arguments; empty: there is none.
std::optional<PriorFault> find_fault(const PriorSpec& prior, const PriorPart& part, PriorSizes sizes);
/// The rules for an argument of a prior that is itself a parameter, one for each column.
PriorPart part_of_argument(const PriorPart& part, const std::string& argument);
/// Whether this argument of a prior of `part` may have a prior of its own.
bool may_be_sampled(const PriorPart& part, PriorFamily family, const std::string& argument);

/// The priors of a model where none are stated. Throws InputError where there is no such model.
PriorSet default_prior(const LikelihoodConfig& likelihood);

/// What the prior of a parameter of the user's own may be. Throws std::logic_error where there is none.
PriorPart prior_part(const ExpressionSpec& spec, const std::string& parameter);

/// Why an order of the components by ModelInfo::ordered_by is not possible with these priors; empty where it
/// is. `key` names the order in the text.
std::string why_no_order(const ModelInfo& model, const PriorSet& prior, const std::string& key);

/// Throws InputError, which names the block, where a prior is not allowed, names no part, or is missing.
void check_priors(const LikelihoodConfig& likelihood, const PriorSet& prior, int columns);

}  // namespace emomc

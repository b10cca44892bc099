// Defines which priors are allowed: families, arguments and shapes for a part of a model, and default priors.
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
/// The sizes of a model. The sizes of an expression's parameters are in their PriorPart.
PriorSizes prior_sizes(const LikelihoodConfig& likelihood, int columns);

/// A fault of a prior. `argument` is the number of the faulty argument; -1: the fault concerns the prior as a
/// whole.
struct PriorFault {
  int argument = -1;
  std::string why;  ///< for example "a list of 3; allowed: one number or 2, one for each component"
};

/// The first fault of a prior of `part`; the priors of its sampled arguments are not examined. Empty: no
/// fault.
std::optional<PriorFault> find_fault(const PriorSpec& prior, const PriorPart& part, PriorSizes sizes);
/// The rules for a prior's argument that is itself a sampled parameter, with one number for each column.
PriorPart part_of_argument(const PriorPart& part, const std::string& argument);
/// Whether this argument of a prior of `part` may have a prior of its own.
bool may_be_sampled(const PriorPart& part, PriorFamily family, const std::string& argument);

/// The default priors of a model. Throws InputError if there is no such model.
PriorSet default_prior(const LikelihoodConfig& likelihood);

/// The rules for the prior of a user-defined parameter. Throws std::logic_error if there is no such
/// parameter.
PriorPart prior_part(const ExpressionSpec& spec, const std::string& parameter);

/// The reason why these priors do not allow the components to be ordered by ModelInfo::ordered_by; empty if
/// they do. `key` names the order in the text.
std::string why_no_order(const ModelInfo& model, const PriorSet& prior, const std::string& key);

/// Throws InputError, with the name of the block, if a prior is not allowed, names no part, or is missing.
void check_priors(const LikelihoodConfig& likelihood, const PriorSet& prior, int columns);

}  // namespace emomc

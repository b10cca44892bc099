// Lists the parts of a model that have priors of their own, derived from the model's blocks.
#pragma once

#include <string>
#include <vector>

#include "emomc/likelihood/model_info.hpp"

namespace emomc {

enum class Domain { simplex, real, positive, unit, correlation, circular };

/// A part of a model with a prior of its own: a block, or the standard deviations or the correlations of a
/// covariance.
struct PriorPart {
  std::string name;  ///< the key is "prior." and this name
  Domain domain = Domain::real;
  bool by_component = false, by_column = false;  ///< whether an argument may be [K], [d], or with both [K][d]
  std::string default_prior;                     ///< in the syntax of configurations; also used in messages
  DataUnit unit = DataUnit::none;
  Influence influence = Influence::everything;
  int length = 0;  ///< length of a user-defined parameter that is a list; an argument may then be [length]
};

/// The parts of `model` that have priors, in the order of the model's blocks.
std::vector<PriorPart> prior_parts(const ModelInfo& model);
/// The part with this name. Throws std::logic_error if the model has no such part.
PriorPart prior_part(const ModelInfo& model, const std::string& name);

/// A name of a part, and the models that have a part of this name; `part` is the part of the first of these
/// models.
struct SharedPart {
  PriorPart part;
  std::vector<const ModelInfo*> models;
};
/// The parts of all models, each name once, in the order of known_models().
std::vector<SharedPart> all_prior_parts();

/// The names of the families that a prior of this domain may have, in the order of the documentation.
std::vector<std::string> families_for(Domain domain);

}  // namespace emomc

// The parts of a model that have priors of their own, from the blocks of its header.
#pragma once

#include <string>
#include <vector>

#include "emomc/likelihood/model_info.hpp"

namespace emomc {

enum class Domain { simplex, real, positive, unit, correlation, circular };

/// A block, or the standard deviations or the correlations of a covariance.
struct PriorPart {
  std::string name;  ///< the key is "prior." and this name
  Domain domain = Domain::real;
  bool by_component = false, by_column = false;  ///< whether an argument may be [K], [d], or with both [K][d]
  std::string default_prior;                     ///< as the configuration writes it, also for messages
  DataUnit unit = DataUnit::none;
  Influence influence = Influence::everything;
  int length = 0;  ///< of a parameter of the user's own that is a list; an argument may then be [length]
};

/// In the order of the model's blocks.
std::vector<PriorPart> prior_parts(const ModelInfo& model);
/// The part of that name. Throws std::logic_error where the model has none.
PriorPart prior_part(const ModelInfo& model, const std::string& name);

/// A name of a part, and the models that have one of this name; `part` is that of the first of them.
struct SharedPart {
  PriorPart part;
  std::vector<const ModelInfo*> models;
};
/// The parts of all models, each name once, in the order of known_models().
std::vector<SharedPart> all_prior_parts();

/// The names of the families that a prior of this domain may have, in the order of the documentation.
std::vector<std::string> families_for(Domain domain);

}  // namespace emomc

#include "emomc/posterior/model_priors.hpp"

#include <algorithm>
#include <stdexcept>

#include "emomc/sampler/target.hpp"

namespace emomc {
namespace {

Domain domain_of(Support support) {
  switch (support) {
    case Support::simplex:
      return Domain::simplex;
    case Support::positive:
      return Domain::positive;
    case Support::unit_interval:
      return Domain::unit;
    case Support::covariance:
      return Domain::correlation;
    case Support::circular:
      return Domain::circular;
    case Support::real:
      break;
  }
  return Domain::real;
}

}  // namespace

std::vector<PriorPart> prior_parts(const ModelInfo& model) {
  // The sizes do not matter here, only the presence of axes.
  const int columns = std::max(1, model.fixed_dim);
  const ParameterLayout layout = model_layout({model.name, 1, model.covariance}, columns);
  std::vector<PriorPart> result;
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const device::BlockDescription& described = model.blocks[b];
    for (const ParameterBlock& part : prior_blocks(layout.blocks[b])) {
      const bool correlations = part.support == Support::covariance;
      result.push_back({part.name, domain_of(part.support), part.component_axis >= 0, part.feature_axis >= 0,
                        correlations ? described.correlation_prior : described.prior, part.unit,
                        part.influence});
    }
  }
  return result;
}

PriorPart prior_part(const ModelInfo& model, const std::string& name) {
  for (PriorPart& part : prior_parts(model))
    if (part.name == name) return std::move(part);
  throw std::logic_error("prior_part: model " + model.name + " has no " + name);
}

std::vector<SharedPart> all_prior_parts() {
  std::vector<SharedPart> all;
  for (const ModelInfo& model : known_models())
    for (PriorPart& part : prior_parts(model)) {
      const auto known = std::find_if(all.begin(), all.end(),
                                      [&](const SharedPart& other) { return other.part.name == part.name; });
      if (known != all.end())
        known->models.push_back(&model);
      else
        all.push_back({std::move(part), {&model}});
    }
  return all;
}

std::vector<std::string> families_for(Domain domain) {
  switch (domain) {
    case Domain::simplex:
      return {"dirichlet", "fixed"};
    case Domain::real:
      return {"normal", "student_t", "cauchy", "uniform", "fixed"};
    case Domain::positive:
      return {"half_normal", "lognormal", "gamma",  "inverse_gamma", "exponential",
              "normal",      "student_t", "cauchy", "uniform",       "fixed"};
    case Domain::correlation:
      return {"lkj", "fixed"};
    case Domain::circular:
      return {"von_mises", "fixed"};
    case Domain::unit:
      break;
  }
  return {"beta", "uniform", "fixed"};
}

}  // namespace emomc

#include "emomc/sampler/target.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "emomc/core/errors.hpp"
#include "emomc/device/constrain.hpp"
#include "emomc/device/log_prior.hpp"
#include "prior_table.hpp"

namespace emomc {
namespace {

using device::Transform;
constexpr double kInf = std::numeric_limits<double>::infinity();

// Where an element's values lie, and the transform that maps the real line there.
void set_transform(device::Element& e, const ParameterBlock& block, int i, int u_begin, double floor,
                   bool ordered) {
  e.source = u_begin + i;
  const int stride = ordered ? block.size() / block.shape[0] : 1;
  const bool first_coordinate = ordered && i % stride == 0;
  if (first_coordinate) {
    e.rank = i / stride;
    e.stride = stride;
  }
  switch (block.support) {
    case Support::real:
      e.transform = first_coordinate ? Transform::ordered : Transform::identity;
      break;
    case Support::positive:
      e.transform = first_coordinate ? Transform::ordered_above : Transform::lower_bound;
      e.bound = floor;
      break;
    case Support::unit_interval:
      e.transform = Transform::interval;
      e.width = 1;
      break;
    case Support::simplex:
      e.transform = Transform::simplex;
      e.source = u_begin;
      e.rank = i;
      e.width = i > 0 ? 1 / std::sqrt(i * (i + 1.0)) : 0.0;
      break;
  }
}

}  // namespace

Target::Target(ParameterLayout layout, const PriorSet& prior, std::span<const double> column_sd)
    : layout_(std::move(layout)) {
  const auto names = element_names(layout_);
  for (const auto& [name, _] : prior.blocks)
    if (std::none_of(layout_.blocks.begin(), layout_.blocks.end(), [&](auto& b) { return b.name == name; }))
      throw InputError("prior." + name + ": the model has no parameter of that name");
  for (std::size_t b = 0; b < layout_.blocks.size(); ++b) {
    const ParameterBlock& block = layout_.blocks[b];
    const auto found = prior.blocks.find(block.name);
    if (found == prior.blocks.end())
      throw InputError("prior." + block.name + ": this parameter has no prior");
    const PriorSpec& spec = found->second;
    const bool fixed = spec.family == PriorFamily::fixed;
    const bool ordered = !fixed && block.name == prior.order;
    if (ordered) {
      const bool possible =
          block.component_axis == 0 && (block.support == Support::real || block.support == Support::positive);
      if (!possible) throw InputError("prior.order: the components cannot be ordered by " + block.name);
      ordered_block_ = b;
      log_prior_constant_ += std::lgamma(block.shape[0] + 1.0);
    }
    const int begin = static_cast<int>(elements_.size()), size = block.size();
    double alpha_sum = 0, fixed_sum = 0;
    for (int i = 0; i < size; ++i) {
      const std::string& name = names[static_cast<std::size_t>(begin + i)];
      std::size_t column = 0;
      if (block.feature_axis >= 0)
        column = static_cast<std::size_t>(
            block.feature_axis + 1 == static_cast<int>(block.shape.size()) ? i % block.shape.back() : 0);
      const double floor = block.support == Support::positive && column < column_sd.size()
                               ? prior.scale_floor * column_sd[column]
                               : 0.0;
      const double lower = block.support == Support::real ? -kInf : floor;
      const double upper =
          block.support == Support::unit_interval || block.support == Support::simplex ? 1.0 : kInf;
      device::Element e{};
      std::vector<double> arguments;
      for (std::size_t a = 0; a < spec.arguments.size(); ++a)
        arguments.push_back(broadcast_argument(block, spec, a, i));
      log_prior_constant_ += set_density(e, spec.family, arguments, lower, upper, name);
      if (fixed) {
        e.transform = Transform::fixed;
        e.bound = arguments.at(0);
        fixed_sum += e.bound;
        const bool inside = std::isfinite(e.bound) && (block.support == Support::real ||
                                                       (block.support == Support::positive && e.bound > 0) ||
                                                       (upper == 1.0 && e.bound >= 0 && e.bound <= 1));
        if (!inside)
          throw InputError("prior." + name + ".fixed: " + std::to_string(e.bound) + " is not allowed");
      } else {
        set_transform(e, block, i, dim_unconstrained_, floor, ordered);
        if (spec.family == PriorFamily::dirichlet) alpha_sum += arguments.at(0);
      }
      elements_.push_back(e);
    }
    if (fixed && block.support == Support::simplex && std::abs(fixed_sum - 1) > 1e-9)
      throw InputError("prior." + block.name + ".fixed: the weights sum to " + std::to_string(fixed_sum) +
                       ", not to 1");
    if (spec.family == PriorFamily::dirichlet) log_prior_constant_ += std::lgamma(alpha_sum);
    if (!prior.order.empty() && block.component_axis == 0) refuse_different_components(b, begin);
    int num_free = fixed ? 0 : size;
    if (!fixed && block.support == Support::simplex) {
      num_free = size - 1;
      simplices_.push_back({begin, size, dim_unconstrained_, 0.5 * std::log(size)});
    }
    ranges_.push_back({dim_unconstrained_, num_free});
    dim_unconstrained_ += num_free;
  }
}

void Target::refuse_different_components(std::size_t b, int begin) const {
  const ParameterBlock& block = layout_.blocks[b];
  const int slice = block.size() / block.shape[0];
  for (int i = slice; i < block.size(); ++i) {
    const device::Element& here = elements_[static_cast<std::size_t>(begin + i)];
    const device::Element& first = elements_[static_cast<std::size_t>(begin + i % slice)];
    if (here.density != first.density || here.a != first.a || here.b != first.b || here.c != first.c ||
        here.bound != first.bound)
      throw InputError("prior.order: the prior of " + block.name +
                       " differs between components, which an order needs to be alike; allowed here: none");
  }
}

device::ParameterTable Target::table() const {
  return {
      elements_.data(),   simplices_.data(), dim(), dim_unconstrained_, static_cast<int>(simplices_.size()),
      log_prior_constant_};
}

double Target::constrain(std::span<const double> u, std::span<double> theta) const {
  return device::constrain(device::HostTeam{}, table(), u.data(), theta.data());
}

double Target::log_prior(std::span<const double> theta) const {
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    const device::Element& e = elements_[i];
    if (device::is_bounded_below(e.transform) && !(theta[i] > e.bound)) return -kInf;
    if (device::is_ordered(e.transform) && e.rank > 0 &&
        !(theta[i] > theta[i - static_cast<std::size_t>(e.stride)]))
      return -kInf;
  }
  return device::log_prior(device::HostTeam{}, table(), theta.data());
}

void Target::unconstrain(std::span<const double> theta, std::span<double> u) const {
  const auto names = element_names(layout_);
  const auto refuse = [&](std::size_t i, const std::string& allowed) {
    throw InputError("parameter " + names[i] + ": " + std::to_string(theta[i]) +
                     " is outside its support; allowed: " + allowed);
  };
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    const device::Element& e = elements_[i];
    const double x = theta[i];
    if (!std::isfinite(x)) refuse(i, "finite numbers");
    const auto source = static_cast<std::size_t>(e.source);
    switch (e.transform) {
      case Transform::fixed:
      case Transform::simplex:
        break;
      case Transform::identity:
        u[source] = x;
        break;
      case Transform::lower_bound:
        if (!(x > e.bound)) refuse(i, "above " + std::to_string(e.bound));
        u[source] = device::log(x - e.bound);
        break;
      case Transform::interval:
        if (!(x > e.bound && x < e.bound + e.width)) refuse(i, "strictly between its bounds");
        u[source] = device::log((x - e.bound) / (e.bound + e.width - x));
        break;
      case Transform::ordered:
      case Transform::ordered_above: {
        if (e.rank == 0) {
          if (e.transform == Transform::ordered_above && !(x > e.bound))
            refuse(i, "above " + std::to_string(e.bound));
          u[source] = e.transform == Transform::ordered ? x : device::log(x - e.bound);
          break;
        }
        const double previous = theta[i - static_cast<std::size_t>(e.stride)];
        if (!(x > previous)) refuse(i, "above its predecessor " + std::to_string(previous));
        u[source] = device::log(x - previous);
        break;
      }
    }
  }
  for (const auto& block : simplices_) {
    const double* w = theta.data() + block.begin;
    double sum = 0;
    for (int k = 0; k < block.size; ++k) {
      if (!(w[k] > 0)) refuse(static_cast<std::size_t>(block.begin + k), "above 0");
      sum += w[k];
    }
    if (std::abs(sum - 1) > 1e-6) refuse(static_cast<std::size_t>(block.begin), "weights that sum to 1");
    // u = V' log w: column j of the Helmert basis.
    double head = 0;
    for (int j = 1; j < block.size; ++j) {
      head += device::log(w[j - 1]);
      u[static_cast<std::size_t>(block.source + j - 1)] =
          (head - j * device::log(w[j])) / std::sqrt(j * (j + 1.0));
    }
  }
}

}  // namespace emomc

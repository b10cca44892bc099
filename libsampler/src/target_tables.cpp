#include "target_tables.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "emomc/core/errors.hpp"
#include "emomc/device/angle.hpp"
#include "prior_table.hpp"

namespace emomc {
namespace {

using device::Transform;
constexpr double kInf = std::numeric_limits<double>::infinity();

double lower_bound(Support support, double floor) {
  if (support == Support::circular) return -device::kPi;
  return support == Support::real ? -kInf : floor;
}
double upper_bound(Support support) {
  if (support == Support::circular) return device::kPi;
  return support == Support::unit_interval || support == Support::simplex ? 1.0 : kInf;
}

class Builder {
 public:
  Builder(const ParameterLayout& layout, const PriorSet& prior, std::span<const double> column_sd)
      : layout_(layout), prior_(prior), column_sd_(column_sd), names_(element_names(layout)) {}

  BuiltTarget build() {
    for (std::size_t b = 0; b < layout_.blocks.size(); ++b) {
      const ParameterBlock& block = layout_.blocks[b];
      const int begin_u = built_.dim_unconstrained;
      built_.free_scales.push_back(0);
      if (block.support == Support::covariance)
        add_covariances(block);
      else
        add_block(b);
      built_.ranges.push_back({begin_u, built_.dim_unconstrained - begin_u});
    }
    return std::move(built_);
  }

 private:
  const PriorSpec& prior_of(const std::string& name) const {
    const auto found = prior_.blocks.find(name);
    if (found == prior_.blocks.end()) throw InputError("prior." + name + ": this parameter has no prior");
    return found->second;
  }

  double floor_of(const ParameterBlock& block, int i) const {
    std::size_t column = 0;
    if (block.feature_axis >= 0)
      column = static_cast<std::size_t>(
          block.feature_axis + 1 == static_cast<int>(block.shape.size()) ? i % block.shape.back() : 0);
    const bool is_scale = block.support == Support::positive && block.unit == DataUnit::scale &&
                          block.influence != Influence::nothing;
    return is_scale && column < column_sd_.size() ? prior_.scale_floor * column_sd_[column] : 0.0;
  }

  // Sets the coordinates of an element in u and the transform from the real line to its support.
  void set_transform(device::Element& e, const ParameterBlock& block, int i, int begin_u, double floor,
                     bool ordered, ListOrder order) const {
    e.source = begin_u + i;
    const int stride = ordered ? block.size() / block.shape[0] : 1;
    const bool first_coordinate = (ordered && i % stride == 0) || order != ListOrder::none;
    if (first_coordinate) {
      // In a decreasing list, u_0 belongs to the last value.
      e.rank = order == ListOrder::decreasing ? block.size() - 1 - i : i / stride;
      e.stride = order == ListOrder::decreasing ? -1 : stride;
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
        e.transform = first_coordinate ? Transform::ordered_interval : Transform::interval;
        e.width = 1;
        break;
      case Support::simplex:
        e.transform = Transform::simplex;
        e.source = begin_u;
        e.rank = i;
        e.width = i > 0 ? 1 / std::sqrt(i * (i + 1.0)) : 0.0;
        break;
      case Support::circular:
        e.transform = Transform::angle;
        e.source = begin_u + 2 * i;
        break;
      case Support::covariance:
        break;  // see add_covariances
    }
  }

  // Returns element `i` of `block` with its density. `at` is its index in theta or, if it is the scale of a
  // covariance row, the index of that row.
  device::Element element(const ParameterBlock& block, const PriorSpec& spec, int i, const std::string& name,
                          int at, bool is_row) {
    device::Element e{};
    const double floor = floor_of(block, i);
    const double lower = lower_bound(block.support, floor);
    const double upper = upper_bound(block.support);
    if (has_sampled_argument(spec)) {
      e.density = device::Density::flat;
      built_.tables.conditionals.push_back(conditional(block, spec, i, lower, at, is_row));
      return e;
    }
    std::vector<double> arguments;
    for (std::size_t a = 0; a < spec.arguments.size(); ++a)
      arguments.push_back(broadcast_argument(block, spec, a, i));
    built_.tables.log_prior_constant += set_density(e, spec.family, arguments, lower, upper, name);
    if (spec.family == PriorFamily::fixed) {
      e.transform = Transform::fixed;
      e.bound = arguments.at(0);
      const bool inside =
          std::isfinite(e.bound) &&
          (block.support == Support::real || (block.support == Support::positive && e.bound > 0) ||
           (block.support == Support::circular && std::abs(e.bound) <= device::kPi) ||
           (upper == 1.0 && e.bound >= 0 && e.bound <= 1));
      if (!inside)
        throw InputError("prior." + name + ".fixed: " + std::to_string(e.bound) + " is not allowed");
    }
    return e;
  }

  device::ConditionalElement conditional(const ParameterBlock& block, const PriorSpec& spec, int i,
                                         double lower, int at, bool is_row) const {
    device::ConditionalElement e = conditional_density(spec.family, lower, "prior." + block.name);
    e.element = at;
    e.is_row = is_row ? 1 : 0;
    const auto& names = argument_names(spec.family);
    for (std::size_t a = 0; a < spec.arguments.size(); ++a) {
      const ArgumentRole role = argument_role(spec.family, a);
      int from = device::kConstant;
      double value = 0;
      if (spec.arguments[a].is_sampled) {
        const std::string name = block.name + "." + names[a];
        std::size_t b = 0;
        while (layout_.blocks.at(b).name != name) ++b;
        from = layout_.offset(b);
        if (!layout_.blocks[b].shape.empty()) from += i % layout_.blocks[b].shape[0];
      } else {
        value = broadcast_argument(block, spec, a, i);
      }
      if (role == ArgumentRole::location) {
        e.from_location = from;
        e.location = value;
      } else if (role == ArgumentRole::scale) {
        e.from_scale = from;
        e.scale = value;
      } else {
        e.df = value;
        e.constant = std::lgamma(0.5 * (value + 1)) - std::lgamma(0.5 * value) -
                     0.5 * std::log(value * std::numbers::pi);
      }
    }
    return e;
  }

  ListOrder order_of(const ParameterBlock& block) const {
    const auto found = prior_.list_orders.find(block.name);
    if (found == prior_.list_orders.end()) return ListOrder::none;
    const bool possible = block.shape.size() == 1 && block.component_axis < 0 &&
                          (block.support == Support::real || block.support == Support::positive ||
                           block.support == Support::unit_interval);
    if (!possible)
      throw InputError(
          block.name +
          ": its values cannot be ordered; allowed: a list of real or positive numbers, or of an "
          "interval's");
    return found->second;
  }

  /// Whether elements of one block have different priors. `first_conditional` is the index of the first
  /// conditional element of the block, if there is one.
  bool differs_within(int begin, int size, std::size_t first_conditional) const {
    const auto& elements = built_.tables.elements;
    const device::Element& first = elements[static_cast<std::size_t>(begin)];
    for (int i = 1; i < size; ++i) {
      const device::Element& e = elements[static_cast<std::size_t>(begin + i)];
      if (e.a != first.a || e.b != first.b || e.c != first.c) return true;
    }
    const auto& conditionals = built_.tables.conditionals;
    for (std::size_t i = first_conditional + 1; i < conditionals.size(); ++i) {
      const auto &e = conditionals[i], &other = conditionals[first_conditional];
      if (e.location != other.location || e.scale != other.scale || e.df != other.df) return true;
    }
    return false;
  }

  void check_order_of_fixed(const ParameterBlock& block, int begin, ListOrder order) const {
    for (int i = 1; i < block.size(); ++i) {
      const double before = built_.tables.elements[static_cast<std::size_t>(begin + i - 1)].bound,
                   here = built_.tables.elements[static_cast<std::size_t>(begin + i)].bound;
      if (order == ListOrder::increasing ? !(here > before) : !(here < before))
        throw InputError("prior." + block.name + ".fixed: the values are not " +
                         (order == ListOrder::increasing ? "increasing" : "decreasing") +
                         ", which is the order of this list");
    }
  }

  void add_block(std::size_t b) {
    const ParameterBlock& block = layout_.blocks[b];
    const PriorSpec& spec = prior_of(block.name);
    const bool fixed = spec.family == PriorFamily::fixed;
    const bool ordered = !fixed && block.name == prior_.order;
    auto& tables = built_.tables;
    if (ordered) {
      const bool possible =
          block.component_axis == 0 && (block.support == Support::real || block.support == Support::positive);
      if (!possible) throw InputError("prior.order: the components cannot be ordered by " + block.name);
      built_.ordered_block = b;
      tables.log_prior_constant += std::lgamma(block.shape[0] + 1.0);
    }
    const ListOrder order = order_of(block);
    const bool is_list_ordered = order != ListOrder::none && !fixed;
    if (is_list_ordered) {
      built_.ordered_lists.push_back(b);
      tables.log_prior_constant += std::lgamma(block.size() + 1.0);
    }
    const int begin = static_cast<int>(tables.elements.size()), size = block.size();
    const int begin_u = built_.dim_unconstrained;
    const std::size_t first_conditional = tables.conditionals.size();
    double fixed_sum = 0, alpha_sum = 0;
    for (int i = 0; i < size; ++i) {
      device::Element e =
          element(block, spec, i, names_[static_cast<std::size_t>(begin + i)], begin + i, false);
      if (fixed)
        fixed_sum += e.bound;
      else
        set_transform(e, block, i, begin_u, floor_of(block, i), ordered, order);
      if (spec.family == PriorFamily::dirichlet) alpha_sum += broadcast_argument(block, spec, 0, i);
      tables.elements.push_back(e);
    }
    if (is_list_ordered && differs_within(begin, size, first_conditional))
      throw InputError(
          "prior." + block.name +
          ": it differs between the values of a list that has an order; allowed: the same prior for "
          "all of them");
    if (fixed && order != ListOrder::none) check_order_of_fixed(block, begin, order);
    const bool simplex = block.support == Support::simplex;
    if (fixed && simplex && std::abs(fixed_sum - 1) > 1e-9)
      throw InputError("prior." + block.name + ".fixed: the weights sum to " + std::to_string(fixed_sum) +
                       ", not to 1");
    if (spec.family == PriorFamily::dirichlet) tables.log_prior_constant += std::lgamma(alpha_sum);
    if (block.support == Support::unit_interval && !is_symmetric_about_half(spec))
      built_.components_differ = true;
    if (block.component_axis == 0)
      compare_components(block, first_conditional,
                         [&](int i) { return tables.elements[static_cast<std::size_t>(begin + i)]; });
    if (!fixed && simplex) tables.simplices.push_back({begin, size, begin_u, 0.5 * std::log(size)});
    built_.dim_unconstrained += fixed                                ? 0
                                : simplex                            ? size - 1
                                : block.support == Support::circular ? 2 * size
                                                                     : size;
  }

  // Adds all matrices of a block. For each matrix, u has the scales first and then the partial correlations,
  // row by row.
  void add_covariances(const ParameterBlock& block) {
    const int d = block.matrix_dim(), triangle = d * (d + 1) / 2, count = block.size() / triangle;
    const auto parts = prior_blocks(block);
    const PriorSpec& scales = prior_of(parts.at(0).name);
    const PriorSpec& correlations = prior_of(parts.at(1).name);
    const bool free_scales = scales.family != PriorFamily::fixed;
    const bool free_correlations = correlations.family == PriorFamily::lkj;
    if (block.name == prior_.order)
      throw InputError("prior.order: the components cannot be ordered by " + block.name);
    const double eta = free_correlations ? broadcast_argument(parts[1], correlations, 0, 0) : 1;
    if (!(eta > 0)) throw InputError("prior.correlations.lkj: " + std::to_string(eta) + "; allowed: above 0");
    const Eigen::MatrixXd factor =
        free_correlations ? Eigen::MatrixXd::Identity(d, d) : fixed_factor(correlations, d);
    auto& tables = built_.tables;
    if (free_correlations) tables.log_prior_constant += count * log_lkj_constant(eta, d);
    const auto first_row = tables.covariance_rows.size(), first_conditional = tables.conditionals.size();
    const auto scale_names = element_names({{parts[0]}});
    for (int k = 0; k < count; ++k) {
      const int begin_u = built_.dim_unconstrained;
      for (int i = 0; i < d; ++i) {
        device::CovarianceRow row{};
        const int row_index = static_cast<int>(tables.covariance_rows.size());
        row.begin = static_cast<int>(tables.elements.size());
        row.row = i;
        row.below = d - 1 - i;
        row.lkj = free_correlations ? 2 * (eta - 1) : 0.0;
        row.correlations = free_correlations ? begin_u + (free_scales ? d : 0) + i * (i - 1) / 2
                                             : device::kFixedCorrelations;
        const int at = k * d + i;
        row.scale = element(parts[0], scales, at, scale_names[static_cast<std::size_t>(at)], row_index, true);
        if (free_scales) {
          row.scale.transform = Transform::lower_bound;
          row.scale.bound = floor_of(parts[0], at);
          row.scale.source = begin_u + i;
        }
        for (int j = 0; j <= i; ++j) {
          device::Element e{};
          e.transform = Transform::covariance;
          e.density = device::Density::flat;
          e.bound = factor(i, j);
          tables.elements.push_back(e);
        }
        tables.covariance_rows.push_back(row);
      }
      built_.dim_unconstrained += (free_scales ? d : 0) + (free_correlations ? triangle - d : 0);
    }
    built_.free_scales.back() = free_scales ? d : 0;
    if (block.component_axis == 0)
      compare_components(parts[0], first_conditional, [&](int i) {
        return tables.covariance_rows[first_row + static_cast<std::size_t>(i)].scale;
      });
  }

  static Eigen::MatrixXd fixed_factor(const PriorSpec& correlations, int d) {
    const ArrayArgument& given = correlations.arguments.at(0);
    if (given.shape != std::vector<int>{d, d})
      throw InputError("prior.correlations.fixed: allowed: a correlation matrix of " + std::to_string(d) +
                       " x " + std::to_string(d) + " numbers");
    const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> matrix(
        given.values.data(), d, d);
    const Eigen::LLT<Eigen::MatrixXd> cholesky(matrix);
    const bool is_correlation = (matrix - matrix.transpose()).cwiseAbs().maxCoeff() == 0 &&
                                (matrix.diagonal().array() == 1).all() && cholesky.info() == Eigen::Success;
    if (!is_correlation)
      throw InputError(
          "prior.correlations.fixed: not a correlation matrix; allowed: a symmetric positive "
          "definite one with ones on its diagonal");
    return cholesky.matrixL();
  }

  // Finds whether the prior differs between components; throws InputError if there is an order as well.
  // `first_conditional` is the index of the block's first conditional element, if there is one.
  template <class F>
  void compare_components(const ParameterBlock& block, std::size_t first_conditional, const F& element_at) {
    const int slice = block.size() / block.shape[0];
    const auto refuse = [&] {
      built_.components_differ = true;
      if (!prior_.order.empty())
        throw InputError("prior.order: the prior of " + block.name +
                         " differs between components, which an order needs to be alike; allowed here: none");
    };
    const auto& conditionals = built_.tables.conditionals;
    for (std::size_t i = first_conditional + static_cast<std::size_t>(slice); i < conditionals.size(); ++i) {
      const auto& here = conditionals[i];
      const auto& other = conditionals[i - static_cast<std::size_t>(slice)];
      if (here.location != other.location || here.scale != other.scale || here.df != other.df) refuse();
    }
    for (int i = slice; i < block.size(); ++i) {
      const device::Element here = element_at(i), first = element_at(i % slice);
      if (here.density != first.density || here.a != first.a || here.b != first.b || here.c != first.c ||
          here.bound != first.bound)
        refuse();
    }
  }

  const ParameterLayout& layout_;
  const PriorSet& prior_;
  std::span<const double> column_sd_;
  std::vector<std::string> names_;
  BuiltTarget built_;
};

}  // namespace

BuiltTarget build_target(const ParameterLayout& layout, const PriorSet& prior,
                         std::span<const double> column_sd) {
  return Builder(layout, prior, column_sd).build();
}

std::vector<ParameterBlock> prior_blocks(const ParameterBlock& block) {
  if (block.support != Support::covariance) return {block};
  std::vector<int> rows(block.shape.begin(), block.shape.end() - 1);
  const int feature_axis = static_cast<int>(rows.size()) - 1;
  const std::vector<int> matrix(2, block.matrix_dim());
  return {{"scales", rows, Support::positive, DataUnit::scale, block.influence, block.component_axis,
           feature_axis},
          {"correlations", matrix, Support::covariance, DataUnit::none, block.influence, -1, -1}};
}

ParameterLayout with_sampled_arguments(ParameterLayout layout, const PriorSet& prior) {
  const std::vector<ParameterBlock> blocks = layout.blocks;
  for (const ParameterBlock& whole : blocks)
    for (const ParameterBlock& block : prior_blocks(whole)) {
      const auto found = prior.blocks.find(block.name);
      if (found == prior.blocks.end()) continue;
      const PriorSpec& spec = found->second;
      for (std::size_t a = 0; a < spec.arguments.size(); ++a)
        if (spec.arguments[a].is_sampled) layout.blocks.push_back(sampled_argument(block, spec.family, a));
    }
  return layout;
}

}  // namespace emomc

#include "function_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "generate.hpp"
#include "plan.hpp"

namespace emomc::expression {
namespace {

/// The arguments of a function that a GPU calls: their types in C, and their values, from `theta`, a row `x`
/// and a list `out`.
struct DeviceArguments {
  std::string types, values;
};
DeviceArguments device_arguments(const ExpressionPlan& plan, const std::vector<std::string>& names) {
  DeviceArguments result;
  const auto add = [&](const std::string& types, const std::string& values) {
    const char* const comma = result.types.empty() ? "" : ", ";
    result.types += comma + types;
    result.values += comma + values;
  };
  const auto add_list = [&](const std::string& first, int size) {
    add("void*, void*, long, long, const double*, long, long",
        fmt::format("nullptr, nullptr, {0}, 8, {1}, {0}, 8", size, first));
  };
  for (const std::string& name : names) {
    const auto column = std::find(plan.code.columns.begin(), plan.code.columns.end(), name);
    std::size_t b = 0;
    while (b < plan.layout.blocks.size() && plan.layout.blocks[b].name != name) ++b;
    if (name == "out")
      add_list("out", plan.layout.dim());
    else if (b < plan.layout.blocks.size() && !plan.layout.blocks[b].shape.empty())
      add_list(fmt::format("theta + {}", plan.layout.offset(b)), plan.layout.blocks[b].size());
    else if (b < plan.layout.blocks.size())
      add("double", fmt::format("theta[{}]", plan.layout.offset(b)));
    else if (column != plan.code.columns.end())
      add("double", fmt::format("static_cast<double>(x[{}])", column - plan.code.columns.begin()));
    else
      throw std::logic_error("log_density: the argument " + name + " is no column and no parameter");
  }
  return result;
}

/// A row's derivatives in kernels, written to out[], from theta[] and x.
std::string device_derivatives(const ExpressionPlan& plan, const std::string& density) {
  if (plan.code.gradient_by == FunctionGradient::function)
    return fmt::format(
        "    EMOMC_UNROLL\n    for (int i = 0; i < {}; ++i) out[i] = 0;\n    emomc_row_gradient({});\n",
        plan.layout.dim(), device_arguments(plan, plan.code.gradient_arguments).values);
  std::string text;
  for (std::size_t b = 0; b < plan.layout.blocks.size(); ++b) {
    const ParameterBlock& block = plan.layout.blocks[b];
    const char* const step = block.support == Support::positive || block.support == Support::simplex ? "value"
                             : block.support == Support::unit_interval ? "fmin(value, 1 - value)"
                                                                       : "fmax(1.0, fabs(value))";
    text += fmt::format(
        R"(    for (int i = {0}; i < {1}; ++i) {{
      const double value = theta[i], step = {2} * {3}, above = value + step, below = value - step;
      theta[i] = above;
      const double at_above = {4};
      theta[i] = below;
      out[i] = (at_above - {4}) / (above - below);
      theta[i] = value;
    }}
)",
        plan.layout.offset(b), plan.layout.offset(b) + block.size(), kRelativeStep, step, density);
  }
  return text;
}

/// The part of the generated likelihood that has the gradient, as density.hpp describes it: the coefficients
/// are theta, and the adjoints of a row are its derivatives.
std::string device_gradient(const ExpressionPlan& plan, const std::string& density,
                            const std::string& weight) {
  return fmt::format(
      R"(
  static constexpr int num_adjoints = {0}, num_gradient_sums = {0} + 1;
  static constexpr int num_product_tiles = 0, num_plain_adjoints = {0}, num_gathers = 0, num_gathered_sums = 0;
  EMOMC_HD static constexpr emomc::device::GradientTile product_tile(int) {{ return {{}}; }}
  EMOMC_HD static constexpr emomc::device::PlainSum plain_adjoint(int i) {{ return {{i, i}}; }}
  EMOMC_HD static constexpr emomc::device::GatheredSum gather(int) {{ return {{}}; }}
  template <class T, class Coefficients, class Row, class Sums>
  EMOMC_HD T log_density_and_adjoints(const Coefficients& c, const Row& x, const Sums&, T* a) const {{
    double theta[{0}], out[{0}];
    EMOMC_UNROLL
    for (int i = 0; i < {0}; ++i) theta[i] = c[i];
{1}    EMOMC_UNROLL
    for (int i = 0; i < {0}; ++i) a[i] = static_cast<T>({2}out[i]);
    return log_density<T>(c, x);
  }}
  template <int kRows, class Rows, class T>
  EMOMC_HD static void add_adjoints(const Rows&, const T (*a)[kRows], int num_rows, double* sums) {{
    for (int i = 0; i < {0}; ++i) sums[i] += emomc::device::sum_of_rows(a[i], num_rows);
  }}
  template <class Team>
  EMOMC_HD void prepare_gradient(const Team& team, const double*, const double* sums, double* gradient) const {{
    for (int i = team.rank(); i < {0}; i += team.size()) gradient[i] = sums[i];
    team.sync();
  }}
)",
      plan.layout.dim(), device_derivatives(plan, density), weight);
}

}  // namespace

std::string function_header(const ExpressionPlan& plan) {
  const CodeSource& code = plan.code;
  std::string parameters;
  for (const ParameterBlock& block : plan.layout.blocks)
    parameters += fmt::format("{}{{\"p{}\", emomc::device::Support::{}, {}}}", parameters.empty() ? "" : ", ",
                              &block - plan.layout.blocks.data(), name_of(block.support),
                              block.shape.empty() ? 0 : block.size());
  const bool has_weights = plan.weights >= 0;
  const DeviceArguments arguments = device_arguments(plan, code.arguments);
  const std::string density = fmt::format("emomc_row_density({})", arguments.values),
                    weight = has_weights ? fmt::format("x[{}] * ", code.columns.size()) : "";
  const bool has_gradient = code.gradient_by != FunctionGradient::none;
  return fmt::format(
      R"(// Generated for a function.
#ifndef EMOMC_GENERATED_LIKELIHOOD_HPP
#define EMOMC_GENERATED_LIKELIHOOD_HPP

#include "emomc/device/density.hpp"

extern "C" __device__ double emomc_row_density({0});
{7}
namespace emomc_generated {{
struct Likelihood {{
  static constexpr const char* name = "function";
  static constexpr int num_columns = {1};
  static constexpr emomc::device::ParameterDescription parameters[] = {{{2}}};
  template <class T, class Coefficients, class Row>
  EMOMC_HD T log_density(const Coefficients& c, const Row& x) const {{
    double theta[{3}];
    EMOMC_UNROLL
    for (int i = 0; i < {3}; ++i) theta[i] = c[i];
    return static_cast<T>({4}{5});
  }}{6}}};
}}  // namespace emomc_generated

#endif
)",
      arguments.types, code.columns.size() + (has_weights ? 1 : 0), parameters, plan.layout.dim(), weight,
      density, has_gradient ? device_gradient(plan, density, weight) : "\n",
      code.gradient_by == FunctionGradient::function
          ? fmt::format("extern \"C\" __device__ void emomc_row_gradient({});\n",
                        device_arguments(plan, code.gradient_arguments).types)
          : "");
}

}  // namespace emomc::expression

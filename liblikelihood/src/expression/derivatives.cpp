#include "derivatives.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>

#include "definitions.hpp"
#include "lower.hpp"

namespace emomc::expression {

namespace {

// The partial derivatives of the primitives, written in the language itself. NAME_by_x, NAME_by_y and
// NAME_by_z are the derivatives with respect to the first, second and third argument; the last argument of a
// formula is the function's value. Formulas avoid cancellation where the derivative is small. Derivatives of
// tails with respect to the shape have no short formula: they are central differences of order eight, with
// steps that are a small part of the length on which the tail changes, so that the error is about 1e-11 of
// the tail's logarithm.
constexpr const char* kDerivatives = R"(
abs_by_x(x, v) = if_else(x > 0, 1, if_else(x < 0, -1, 0))
acos_by_x(x, v) = -1 / sqrt((1 - x) * (1 + x))
asin_by_x(x, v) = 1 / sqrt((1 - x) * (1 + x))
atan_by_x(x, v) = 1 / (1 + square(x))
cbrt_by_x(x, v) = 1 / (3 * square(v))
ceil_by_x(x, v) = 0
check_finite_by_x(x, v) = 1
check_nonnegative_by_x(x, v) = 1
check_positive_by_x(x, v) = 1
check_unit_by_x(x, v) = 1
cos_by_x(x, v) = -sin(x)
cosh_by_x(x, v) = sinh(x)
digamma_by_x(x, v) = trigamma(x)
erf_by_x(x, v) = 1.12837916709551257389615890312 * exp(-square(x))
erfc_by_x(x, v) = -1.12837916709551257389615890312 * exp(-square(x))
exp_by_x(x, v) = v
exp2_by_x(x, v) = 0.693147180559945309417232121458 * v
expm1_by_x(x, v) = exp(x)
floor_by_x(x, v) = 0
inv_logit_by_x(x, v) = v * inv_logit(-x)
inv_Phi_by_x(x, v) = 2.50662827463100050241576528481 * exp(0.5 * square(v))
lgamma_by_x(x, v) = digamma(x)
log_by_x(x, v) = 1 / x
log10_by_x(x, v) = 0.434294481903251827651128918917 / x
log1m_by_x(x, v) = -1 / (1 - x)
log1m_exp_by_x(x, v) = -1 / expm1(-x)
log1m_inv_logit_by_x(x, v) = -inv_logit(x)
log1p_by_x(x, v) = 1 / (1 + x)
log1p_exp_by_x(x, v) = inv_logit(x)
log2_by_x(x, v) = 1.44269504088896340735992468100 / x
log_inv_logit_by_x(x, v) = inv_logit(-x)
logit_by_x(x, v) = 1 / (x * (1 - x))
modified_bessel_ratio_by_x(x, v) =
    if_else(x == 0, 0.5, if_else(abs(x) < 300, 1 - v / x - square(v), (0.5 + (0.25 + (0.375 + (0.78125 +
    2.03125 / abs(x)) / abs(x)) / abs(x)) / abs(x)) / square(x)))
Phi_by_x(x, v) = 0.398942280401432677939946059934 * exp(-0.5 * square(x))
round_by_x(x, v) = 0
sin_by_x(x, v) = cos(x)
sinh_by_x(x, v) = cosh(x)
sqrt_by_x(x, v) = 0.5 / v
square_by_x(x, v) = 2 * x
std_normal_lccdf_by_x(x, v) = -normal_hazard(x, v)
std_normal_lcdf_by_x(x, v) = normal_hazard(-x, v)
tan_by_x(x, v) = 1 + square(v)
tanh_by_x(x, v) = 1 / square(cosh(x))
trigamma_by_x(x, v) =
    (0.8 * (trigamma(1.02 * x) - trigamma(0.98 * x)) - 0.2 * (trigamma(1.04 * x) - trigamma(0.96 * x)) +
    (trigamma(1.06 * x) - trigamma(0.94 * x)) * 4 / 105 - (trigamma(1.08 * x) - trigamma(0.92 * x)) / 280)
    / (0.02 * x)
trunc_by_x(x, v) = 0
atan2_by_x(x, y, v) = y / (square(x) + square(y))
atan2_by_y(x, y, v) = -x / (square(x) + square(y))
fmax_by_x(x, y, v) = if_else(x >= y, 1, 0)
fmax_by_y(x, y, v) = if_else(x >= y, 0, 1)
fmin_by_x(x, y, v) = if_else(x <= y, 1, 0)
fmin_by_y(x, y, v) = if_else(x <= y, 0, 1)
fmod_by_x(x, y, v) = 1
fmod_by_y(x, y, v) = -trunc(x / y)
digamma_difference_by_y(x, y, v) = trigamma(x + y)
lbeta_by_x(x, y, v) = -digamma_difference(x, y)
lbeta_by_y(x, y, v) = -digamma_difference(y, x)
lchoose_by_x(x, y, v) = digamma_difference(x - y + 1, y)
lchoose_by_y(x, y, v) = digamma_difference(y + 1, x - 2 * y)
log_diff_exp_by_x(x, y, v) = -1 / expm1(y - x)
log_diff_exp_by_y(x, y, v) = -1 / expm1(x - y)
log_gamma_difference_by_x(x, y, v) = digamma_difference(x, y)
log_gamma_difference_by_y(x, y, v) = digamma(x + y)
log_gamma_p_by_x(x, y, v) = log_gamma_p_by_shape(x, y, gamma_step(x, y, v))
log_gamma_p_by_y(x, y, v) = exp((x - 1) * log(y) - y - lgamma(x) - v)
log_gamma_q_by_x(x, y, v) = log_gamma_q_by_shape(x, y, gamma_step(x, y, v))
log_gamma_q_by_y(x, y, v) =
    if_else(y > fmax(1e4, 100 * x), (x - 1 - y + (1 - x) / (y + 3 - x - 2 * (2 - x) / (y + 5 - x))) / y,
    -exp((x - 1) * log(y) - y - lgamma(x) - v))
log_modified_bessel_first_kind_by_y(x, y, v) = bessel_ratio(x, y)
log_modified_bessel_first_kind_scaled_by_y(x, y, v) = bessel_ratio(x, y) - 1
log_skew_normal_cdf_by_x(x, y, v) =
    exp(-0.225791352644727432363097614947 - 0.5 * square(x) + std_normal_lcdf(y * x) - v)
log_skew_normal_cdf_by_y(x, y, v) =
    -exp(-0.5 * square(x) * (1 + square(y)) - v) / (3.14159265358979323846264338328 * (1 + square(y)))
log_student_t_tail_by_x(x, y, v) =
    -exp(log_gamma_difference(0.5 * y, 0.5) - 0.5 * log(y) - 0.572364942924700087071713675677 -
    0.5 * (y + 1) * log1p(square(x) / y) - v)
log_student_t_tail_by_y(x, y, v) = 
    log_student_t_tail_by_freedom(x, y, 0.02 * fmin(y, if_else(v > -1, 2 / log1p(square(x) / y), y)))
log_sum_exp_by_x(x, y, v) = if_else(x == y, 0.5, inv_logit(x - y))
log_sum_exp_by_y(x, y, v) = if_else(x == y, 0.5, inv_logit(y - x))
multiply_log_by_x(x, y, v) = log(y)
multiply_log_by_y(x, y, v) = if_else(x == 0, 0, x / y)
multiply_log1m_by_x(x, y, v) = log1m(y)
multiply_log1m_by_y(x, y, v) = if_else(x == 0, 0, -x / (1 - y))
pow_by_x(x, y, v) = if_else(y == 0, 0, y * pow(x, y - 1))
pow_by_y(x, y, v) = if_else(x == 0, 0, v * log(x))
log_inc_beta_by_x(x, y, z, v) = log_inc_beta_by_first(x, y, z, beta_step(x, y, z, v))
log_inc_beta_by_y(x, y, z, v) = log_inc_beta_by_second(x, y, z, beta_step(y, x, 1 - z, v))
log_inc_beta_by_z(x, y, z, v) = exp((x - 1) * log(z) + (y - 1) * log1m(z) - lbeta(x, y) - v)
log_inc_beta_complement_by_x(x, y, z, v) =
    log_inc_beta_complement_by_first(x, y, z, beta_step(x, y, z, v))
log_inc_beta_complement_by_y(x, y, z, v) =
    log_inc_beta_complement_by_second(x, y, z, beta_step(y, x, 1 - z, v))
log_inc_beta_complement_by_z(x, y, z, v) =
    -exp((x - 1) * log(z) + (y - 1) * log1m(z) - lbeta(x, y) - v)
log_mix_by_x(x, y, z, v) = exp(y - v) - exp(z - v)
log_mix_by_y(x, y, z, v) = x * exp(y - v)
log_mix_by_z(x, y, z, v) = (1 - x) * exp(z - v)
)";

// Functions that several formulas share.
constexpr const char* kShared = R"(
normal_hazard(t, v) =
    if_else(t > 200, t + 1 / t - 2 / (t * t * t), exp(-0.5 * square(t) - 0.918938533204672741780329736406 - v))
gamma_step(a, x, v) = tail_step(a, log(x / a), v)
beta_step(a, b, x, v) = tail_step(a, log(x * (1 + b / a)), v)
tail_step(a, rate, v) = 0.05 * fmin(0.4 * a, if_else(v > -1, fmin(sqrt(a), 1 / abs(rate)), sqrt(a)))
bessel_ratio(n, x) =
    if_else(n == 0, modified_bessel_ratio(x), if_else(x == 0, if_else(n == 1, positive_infinity(), 0),
    n / x + exp(log_modified_bessel_first_kind_scaled(n + 1, x) - log_modified_bessel_first_kind_scaled(n, x))))
)";

// The definition of NAME(arguments, h): a central difference of `function` in the argument `moved`, with step
// h.
std::string difference(const std::string& name, const std::string& function, const std::string& before,
                       const std::string& moved, const std::string& after, const std::string& arguments) {
  const auto pair = [&](const char* multiple) {
    const auto at = [&](const char* sign) {
      return function + "(" + before + moved + sign + multiple + " * h" + after + ")";
    };
    return "(" + at(" + ") + " - " + at(" - ") + ")";
  };
  return name + "(" + arguments + ", h) = (0.8 * " + pair("1") + " - 0.2 * " + pair("2") + " + " + pair("3") +
         " * 4 / 105 - " + pair("4") + " / 280) / h\n";
}

std::string text_of_differences() {
  return difference("log_gamma_p_by_shape", "log_gamma_p", "", "x", ", y", "x, y") +
         difference("log_gamma_q_by_shape", "log_gamma_q", "", "x", ", y", "x, y") +
         difference("log_student_t_tail_by_freedom", "log_student_t_tail", "x, ", "y", "", "x, y") +
         difference("log_inc_beta_by_first", "log_inc_beta", "", "x", ", y, z", "x, y, z") +
         difference("log_inc_beta_by_second", "log_inc_beta", "x, ", "y", ", z", "x, y, z") +
         difference("log_inc_beta_complement_by_first", "log_inc_beta_complement", "", "x", ", y, z",
                    "x, y, z") +
         difference("log_inc_beta_complement_by_second", "log_inc_beta_complement", "x, ", "y", ", z",
                    "x, y, z");
}

const std::map<std::string, Definition>& derivatives() {
  static const std::map<std::string, Definition> all =
      read_definitions("derivatives", std::string(kDerivatives) + kShared + text_of_differences());
  return all;
}

/// The definition of a partial derivative; nullptr where there is none.
const Definition* partial_of(const std::string& function, std::size_t argument) {
  static constexpr std::array<const char*, kMostArguments> kEnds{"_by_x", "_by_y", "_by_z"};
  const auto found = derivatives().find(function + kEnds.at(argument));
  return found == derivatives().end() ? nullptr : &found->second;
}

class Differentiation {
 public:
  explicit Differentiation(Graph& graph) : graph_(graph), lowering_(graph, {}) {
    lowering_.add_definitions(derivatives());
  }

  Adjoints run(std::span<const Seed> seeds) {
    std::vector<NodeId> roots;
    for (const Seed& seed : seeds) roots.push_back(seed.root);
    const std::vector<NodeId> order = needed_by(graph_, roots);
    adjoint_.assign(graph_.size(), kNoNode);
    in_branch_.assign(graph_.size(), 0);
    for (NodeId id : order) mark_branches(id);
    spread_branches(order);
    for (const Seed& seed : seeds) accumulate(seed.root, seed.weight);
    Adjoints result;
    for (auto id = order.rbegin(); id != order.rend() && result.why_not.empty(); ++id) {
      const NodeId adjoint = adjoint_[static_cast<std::size_t>(*id)];
      if (adjoint == kNoNode) continue;
      const Node node = graph_[*id];  // a copy, since nodes are added below
      if (node.operation == Operation::parameter)
        result.parameters.emplace_back(node.index, adjoint);
      else if (node.operation == Operation::product_sum)
        result.product_sums.emplace_back(node.index, adjoint);
      else if (node.operation == Operation::gather)
        gather(node, adjoint, result);
      else
        result.why_not = spread(*id, node, adjoint);
    }
    if (graph_.is_full()) result.why_not = "its derivatives have too many parts";
    std::sort(result.parameters.begin(), result.parameters.end());
    std::sort(result.product_sums.begin(), result.product_sums.end());
    std::reverse(result.gathered.begin(), result.gathered.end());
    return result;
  }

 private:
  bool varies(NodeId id) const { return (graph_[id].stage & kParameters) != 0; }

  void mark_branches(NodeId id) {
    const Node& node = graph_[id];
    if (node.operation == Operation::choose)
      for (std::size_t branch : {1U, 2U}) in_branch_[static_cast<std::size_t>(node.arguments[branch])] = 1;
    for (NodeId element : node.elements) in_branch_[static_cast<std::size_t>(element)] = 1;
  }
  void spread_branches(const std::vector<NodeId>& order) {
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      if (!in_branch_[static_cast<std::size_t>(*id)]) continue;
      const Node& node = graph_[*id];
      for (int a = 0; a < node.num_arguments; ++a)
        in_branch_[static_cast<std::size_t>(node.arguments[static_cast<std::size_t>(a)])] = 1;
    }
  }

  bool is(NodeId id, double value) const { return graph_.is_constant(id) && graph_[id].value == value; }
  NodeId negated(NodeId id) { return graph_.operate(Operation::negate, std::array{id}); }

  void accumulate(NodeId id, NodeId adjoint) {
    if (!varies(id) || is(adjoint, 0)) return;
    NodeId& sum = adjoint_[static_cast<std::size_t>(id)];
    sum = sum == kNoNode ? adjoint : graph_.add(sum, adjoint);
  }
  /// The adjoint times a partial derivative of node `id`. In a branch that is not taken the adjoint is 0, and
  /// the product is 0 even if the derivative is not finite.
  NodeId product(NodeId id, NodeId adjoint, NodeId derivative) {
    if (is(adjoint, 1)) return derivative;
    if (is(derivative, 1)) return adjoint;
    if (is(derivative, -1)) return negated(adjoint);
    if (is(derivative, 0)) return derivative;
    const NodeId result = graph_.multiply(adjoint, derivative);
    const bool is_finite = graph_.is_constant(derivative) && std::isfinite(graph_[derivative].value);
    if (!in_branch_[static_cast<std::size_t>(id)] || is_finite) return result;
    const NodeId zero = graph_.constant(0);
    return graph_.operate(
        Operation::choose,
        std::array{graph_.operate(Operation::equal, std::array{adjoint, zero}), zero, result});
  }

  /// Adds the adjoint of a node to the adjoints of its arguments; returns the reason if that is impossible.
  std::string spread(NodeId id, const Node& node, NodeId adjoint) {
    const auto argument = [&](std::size_t i) { return node.arguments[i]; };
    const NodeId one = graph_.constant(1), zero = graph_.constant(0);
    switch (node.operation) {
      case Operation::add:
        accumulate(argument(0), adjoint);
        accumulate(argument(1), adjoint);
        return {};
      case Operation::subtract:
        accumulate(argument(0), adjoint);
        if (varies(argument(1))) accumulate(argument(1), negated(adjoint));
        return {};
      case Operation::negate:
        accumulate(argument(0), negated(adjoint));
        return {};
      case Operation::multiply:
        if (varies(argument(0))) accumulate(argument(0), product(id, adjoint, argument(1)));
        if (varies(argument(1))) accumulate(argument(1), product(id, adjoint, argument(0)));
        return {};
      case Operation::divide: {
        const NodeId inverse = graph_.operate(Operation::divide, std::array{one, argument(1)});
        if (varies(argument(0))) accumulate(argument(0), product(id, adjoint, inverse));
        if (varies(argument(1)))
          accumulate(argument(1), product(id, adjoint, negated(graph_.multiply(id, inverse))));
        return {};
      }
      case Operation::choose:
        if (varies(argument(1)))
          accumulate(argument(1), graph_.operate(Operation::choose, std::array{argument(0), adjoint, zero}));
        if (varies(argument(2)))
          accumulate(argument(2), graph_.operate(Operation::choose, std::array{argument(0), zero, adjoint}));
        return {};
      case Operation::call:
        return call(id, node, adjoint);
      default:  // comparisons and held values count as constants
        return {};
    }
  }

  std::string call(NodeId id, const Node& node, NodeId adjoint) {
    const auto count = static_cast<std::size_t>(node.num_arguments);
    std::vector<NodeId> arguments(node.arguments.begin(), node.arguments.begin() + node.num_arguments);
    arguments.push_back(id);
    for (std::size_t a = 0; a < count; ++a) {
      if (!varies(node.arguments[a])) continue;
      const Definition* const partial = partial_of(std::string(info_of(node.function).name), a);
      if (partial == nullptr)
        return std::string(info_of(node.function).name) + " has no derivative with respect to its argument " +
               std::to_string(a + 1);
      accumulate(node.arguments[a], product(id, adjoint, lowering_.expand(*partial, arguments)));
    }
    return {};
  }

  void gather(const Node& node, NodeId adjoint, Adjoints& result) {
    if (is_run_of_parameters(graph_, node)) {
      result.gathered.push_back({graph_[node.elements.front()].index, static_cast<int>(node.elements.size()),
                                 node.arguments[0], adjoint});
      return;
    }
    for (std::size_t i = 0; i < node.elements.size(); ++i) {
      if (!varies(node.elements[i])) continue;
      const NodeId here = graph_.operate(
          Operation::equal, std::array{node.arguments[0], graph_.constant(static_cast<double>(i))});
      accumulate(node.elements[i],
                 graph_.operate(Operation::choose, std::array{here, adjoint, graph_.constant(0)}));
    }
  }

  Graph& graph_;
  Lowering lowering_;
  std::vector<NodeId> adjoint_;
  std::vector<char> in_branch_;  ///< whether a choice may leave the node out
};

}  // namespace

Adjoints differentiate(Graph& graph, std::span<const Seed> seeds) {
  return Differentiation(graph).run(seeds);
}

NodeId partial_derivative(Graph& graph, const std::string& function, int argument) {
  const Definition* const partial = partial_of(function, static_cast<std::size_t>(argument));
  if (partial == nullptr) return kNoNode;
  Lowering lowering(graph, {});
  lowering.add_definitions(derivatives());
  std::vector<NodeId> arguments;
  for (int i = 0; i <= info_of(primitive_named(function)).num_arguments; ++i)
    arguments.push_back(graph.parameter(i));
  return lowering.expand(*partial, arguments);
}

}  // namespace emomc::expression

// Samples the posterior of a line with a likelihood of one's own, and evaluates its density at a point.
#include <cmath>
#include <emomc/posterior.hpp>
#include <iostream>

int main() {
  std::vector<double> values;  // rows x columns, row-major
  for (int i = 0; i < 100; ++i) {
    const double x = 0.1 * i;
    values.insert(values.end(), {x, 1 + 2 * x + 0.5 * std::sin(7.0 * i)});
  }
  emomc::ExpressionModel model;
  model.likelihood.parameters = {emomc::parameter("a"), emomc::parameter("b"),
                                 emomc::parameter("s", emomc::Support::positive)};
  model.likelihood.log_density = {"log_density", "normal_lpdf(y, a + b * x, s)"};
  model.likelihood.derived = {{"ratio", {"derived.ratio", "a / b"}}};
  model.priors = {{"a", emomc::priors::normal(0, 5)},
                  {"b", emomc::priors::normal(0, 5)},
                  {"s", emomc::priors::half_normal(2)}};
  const emomc::Posterior posterior(model, emomc::make_table({"x", "y"}, values));

  const std::vector<double> u = posterior.initial(1);
  if (!std::isfinite(posterior.log_density_and_gradient(u).log_density)) return 1;
  const emomc::Draws draws = emomc::sample(posterior, {.chains = 4, .seed = 1, .proposal = "nuts"});
  std::cout << emomc::summary(draws, {"a", "b", "s", "ratio"});
  double slope = 0;
  for (const double b : draws.of("b")) slope += b / static_cast<double>(draws.of("b").size());
  return std::abs(slope - 2) < 0.1 && emomc::is_trusted(emomc::diagnose(draws)) ? 0 : 1;
}

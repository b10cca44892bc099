// Parses expressions of a likelihood. It must be possible to evaluate an accepted expression, to divide it,
// and to write it as C++. The first line is a binding, and the rest is the log density.

#include "emomc/likelihood/expression.hpp"

#include "emomc/core/errors.hpp"
#include "fuzz_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace emomc;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto end = text.find('\n');
  ExpressionSpec spec;
  spec.parameters = {{"a", "likelihood.parameters.a", Support::real, {}},
                     {"v", "likelihood.parameters.v", Support::positive, {3}}};
  if (end != std::string::npos) spec.where = {{"w", {"likelihood.where.w", text.substr(0, end)}}};
  spec.log_density = {"likelihood.log_density", end == std::string::npos ? text : text.substr(end + 1)};
  const auto read_or_refuse = [](const auto& read) {
    try {
      read();
    } catch (const InputError& error) {
      const std::string message = error.what();
      if (message.empty() || message.find('\n') != std::string::npos) __builtin_trap();
    }
  };
  const std::vector<double> theta{0.5, 1, 2, 3};
  read_or_refuse([&] {
    names_of_columns(spec);
    const Expression model(spec, {"x", "n", "not a name"});
    std::vector<double> rows(2 * model.used_columns().size(), 1.0), values(2);
    const Expression::Bound bound = model.bind(Backend::reference, rows);
    bound.model->log_densities(theta.data(), bound.data.values.data(), 2, values.data());
    model.column_kinds();
    model.unused_parameters();
  });
  read_or_refuse([&] {
    const Expression drawing(with_simulation(spec), {"x", "n", "not a name"});
    std::vector<double> rows(2 * drawing.used_columns().size(), 1.0), drawn(2 * drawing.simulated().size());
    drawing.simulate(theta.data(), rows, 1, 0, drawn.data());
  });
  return 0;
}

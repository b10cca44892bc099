#include "conversions.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "emomc/core/nearest_name.hpp"
#include "emomc/posterior/text_table.hpp"

namespace emomc::python {
namespace {

template <class Value>
Value one_of(const std::string& what, const std::string& name,
             const std::vector<std::pair<std::string, Value>>& known) {
  std::vector<std::string> names;
  std::string allowed;
  for (const auto& [other, value] : known) {
    if (other == name) return value;
    names.push_back(other);
    allowed += (allowed.empty() ? "" : ", ") + other;
  }
  throw InputError(what + ": " + name + " is unknown; " + did_you_mean(nearest_name(name, names)) +
                   "allowed: " + allowed);
}

std::vector<NamedExpression> named(const std::string& key, const NamedTexts& texts) {
  std::vector<NamedExpression> result;
  for (const auto& [name, text] : texts) result.push_back({name, {key + "." + name, text}});
  return result;
}

/// Returns a function that compiles a row function for a GPU by calling Python, from any thread. Every Python
/// exception becomes an InputError.
std::function<std::string(int, int)> lto_ir_of(const nb::object& compile) {
  if (!compile.is_valid() || compile.is_none()) return {};
  const std::shared_ptr<nb::object> kept(new nb::object(compile), [](nb::object* object) {
    if (!Py_IsInitialized()) return;
    const nb::gil_scoped_acquire gil;
    delete object;
  });
  return [kept](int major, int minor) {
    const nb::gil_scoped_acquire gil;
    try {
      const auto code = nb::cast<nb::bytes>((*kept)(major, minor));
      return std::string(code.c_str(), code.size());
    } catch (nb::python_error& error) {
      throw InputError(nb::str(error.value()).c_str());
    }
  };
}

/// Converts a RowFunction (emomc/_function.py).
CodeSource code_of(const nb::object& function) {
  const auto address_of = [](const nb::object& compiled) {
    return reinterpret_cast<RowFunction>(nb::cast<std::uintptr_t>(compiled.attr("address")));
  };
  const auto arguments_of = [](const nb::object& compiled) {
    return nb::cast<std::vector<std::string>>(compiled.attr("arguments"));
  };
  const nb::object density = function.attr("density"), gradient = function.attr("gradient");
  CodeSource code{
      .key = "log_density",
      .file = "log_density",
      .text = nb::cast<std::string>(function.attr("text")),
      .type = nb::cast<std::string>(function.attr("by")),
      .columns = nb::cast<std::vector<std::string>>(function.attr("columns")),
      .function = address_of(density),
      .lto_ir = lto_ir_of(density.attr("for_gpu")),
      .arguments = arguments_of(density),
      .gradient_by = one_of<FunctionGradient>("gradient", nb::cast<std::string>(function.attr("gradient_by")),
                                              {{"none", FunctionGradient::none},
                                               {"differences", FunctionGradient::differences},
                                               {"function", FunctionGradient::function}})};
  if (!gradient.is_none()) {
    code.gradient = address_of(gradient);
    code.gradient_lto_ir = lto_ir_of(gradient.attr("for_gpu"));
    code.gradient_arguments = arguments_of(gradient);
  }
  return code;
}

}  // namespace

PriorFamily family_of(const std::string& name, const std::string& place) {
  const std::optional<PriorFamily> family = family_from_name(name);
  if (!family)
    throw InputError(place + ": " + name + " is an unknown family; allowed: " + joined(family_names()));
  return *family;
}

Priors priors_of(const std::map<std::string, PriorTuple>& priors) {
  Priors result;
  for (const auto& [block, prior] : priors) {
    PriorSpec& spec = result[block];
    spec.family = family_of(prior.first, "prior." + block);
    for (const ArgumentTuple& argument : prior.second)
      if (argument)
        spec.arguments.push_back({.shape = argument->first, .values = argument->second});
      else
        spec.arguments.push_back({.shape = {}, .values = {}, .is_sampled = true});
  }
  return result;
}

Covariance covariance_of(const std::string& name) {
  std::vector<std::pair<std::string, Covariance>> known;
  for (const Covariance covariance :
       {Covariance::diagonal, Covariance::spherical, Covariance::tied, Covariance::full})
    known.emplace_back(covariance_name(covariance), covariance);
  return one_of("covariance", name, known);
}

Precision precision_of(const std::string& name) {
  return one_of<Precision>("precision", name, {{"mixed", Precision::mixed}, {"float64", Precision::float64}});
}

Backend backend_named(const std::string& name) {
  return one_of<Backend>("backend", name,
                         {{"auto", Backend::automatic},
                          {"reference", Backend::reference},
                          {"cpu", Backend::cpu},
                          {"cuda", Backend::cuda}});
}

ExpressionSpec spec_of(const ExpressionTexts& texts) {
  ExpressionSpec spec;
  for (const auto& [name, support, length, order] : texts.parameters) {
    const std::string key = "parameters." + name;
    spec.parameters.push_back(parameter(name,
                                        one_of<Support>(key, support,
                                                        {{"real", Support::real},
                                                         {"positive", Support::positive},
                                                         {"unit_interval", Support::unit_interval},
                                                         {"simplex", Support::simplex},
                                                         {"circular", Support::circular}}),
                                        length,
                                        one_of<ListOrder>(key, order,
                                                          {{"", ListOrder::none},
                                                           {"increasing", ListOrder::increasing},
                                                           {"decreasing", ListOrder::decreasing}})));
  }
  for (const auto& [name, intercept, columns, coefficients, offset] : texts.linear)
    spec.linear.push_back(
        {name, "linear." + name, intercept, columns, coefficients, {"linear." + name + ".offset", offset}});
  for (const auto& [name, shape, values] : texts.constants)
    spec.constants.push_back({name, "constants." + name, shape, values});
  if (!texts.function.is_valid() || texts.function.is_none())
    spec.log_density = {"log_density", texts.log_density};
  else
    spec.code = code_of(texts.function);
  spec.where = named("where", texts.where);
  spec.prepare = named("prepare", texts.prepare);
  spec.derived = named("derived", texts.derived);
  spec.rows = named("rows", texts.rows);
  spec.simulate = named("simulate", texts.simulate);
  spec.weights = texts.weights;
  return spec;
}

}  // namespace emomc::python

// Converts values of the package's Python code to the library's structs.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "emomc/posterior.hpp"

namespace emomc::python {

namespace nb = nanobind;

/// A vector and a row-major matrix of float64 in the host's memory.
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Shape and row-major values of a prior's argument; nullopt (None): the argument has a prior of its own.
using ArgumentTuple = std::optional<std::pair<std::vector<int>, std::vector<double>>>;
/// Family and arguments of a prior.
using PriorTuple = std::pair<std::string, std::vector<ArgumentTuple>>;
using NamedTexts = std::vector<std::pair<std::string, std::string>>;
/// Name, support, length (0: a number) and order ("", "increasing", "decreasing") of a parameter.
using ParameterTuple = std::tuple<std::string, std::string, int, std::string>;
/// Name, intercept (empty: none), columns, coefficients and offset of a linear predictor.
using LinearTuple = std::tuple<std::string, std::string, std::vector<std::string>, std::string, std::string>;
using ConstantTuple = std::tuple<std::string, std::vector<int>, std::vector<double>>;

/// Makes a table. `arrays` are columns, or arrays rows x columns, in the order of the names: arrays of NumPy
/// or DLPack, or, for a GPU, tuples (address, shape, strides in bytes or None, type, owner) with the values
/// of __cuda_array_interface__. Arrays on the host are copied once. Arrays on a GPU are not copied, and the
/// table keeps them alive. Throws InputError if names, shapes, types or memories do not fit.
Table table_of(const std::vector<std::string>& columns, const nb::list& arrays);
/// Throws InputError, which begins with `place`, if no family of priors has this name.
PriorFamily family_of(const std::string& name, const std::string& place);
/// Throws InputError if a family is unknown.
Priors priors_of(const std::map<std::string, PriorTuple>& priors);
Covariance covariance_of(const std::string& name);
Precision precision_of(const std::string& name);
Backend backend_named(const std::string& name);

struct ExpressionTexts {
  std::vector<ParameterTuple> parameters;
  std::string log_density;
  NamedTexts where, prepare, derived, rows, simulate;
  std::vector<LinearTuple> linear;
  std::vector<ConstantTuple> constants;
  std::string weights;
  /// The RowFunction (emomc/_function.py) that replaces log_density; None: log_density is an expression.
  nb::object function;
};
ExpressionSpec spec_of(const ExpressionTexts& texts);

}  // namespace emomc::python

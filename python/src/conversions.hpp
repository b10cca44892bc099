// Values of the package's Python code as the library's structs.
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

/// A vector of float64 in the host's memory, and rows of one.
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Shape and values of an argument; None: it has a prior of its own.
using ArgumentTuple = std::optional<std::pair<std::vector<int>, std::vector<double>>>;
/// Family and arguments of a prior.
using PriorTuple = std::pair<std::string, std::vector<ArgumentTuple>>;
using NamedTexts = std::vector<std::pair<std::string, std::string>>;
/// Name, support, length (0: a number) and order ("", "increasing", "decreasing").
using ParameterTuple = std::tuple<std::string, std::string, int, std::string>;
/// Name, intercept (empty: none), columns, coefficients, offset.
using LinearTuple = std::tuple<std::string, std::string, std::vector<std::string>, std::string, std::string>;
using ConstantTuple = std::tuple<std::string, std::vector<int>, std::vector<double>>;

/// `arrays` are columns, or rows x columns, in one order with the names: arrays of NumPy or DLPack, or, of a
/// GPU, tuples (address, shape, strides in bytes or None, type, owner) as __cuda_array_interface__ has them.
/// Those of the host are copied once; those of a GPU stay where they are, and the table keeps them alive.
Table table_of(const std::vector<std::string>& columns, const nb::list& arrays);
/// Throws InputError where a family is unknown.
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
  /// A RowFunction of emomc/_function.py in place of log_density; None: there is none.
  nb::object function;
};
ExpressionSpec spec_of(const ExpressionTexts& texts);

}  // namespace emomc::python

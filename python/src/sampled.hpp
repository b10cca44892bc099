// Draws as Python has them, and arrays of NumPy.
#pragma once

#include <utility>
#include <vector>

#include "conversions.hpp"

namespace emomc::python {

/// An array of NumPy that owns `values`.
template <class Value>
nb::object array_of(std::vector<Value> values, std::vector<std::size_t> shape) {
  auto* owned = new std::vector<Value>(std::move(values));
  const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<Value>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, Value>(owned->data(), shape.size(), shape.data(), owner));
}

inline nb::object vector_of(std::vector<double> values) {
  const std::size_t size = values.size();
  return array_of(std::move(values), {size});
}

/// The draws, and whether Ctrl-C has ended the run.
struct Sampled {
  Draws draws;
  bool interrupted = false;
};

/// Adds the class Draws and read_run to the module.
void add_draws(nb::module_& m);
/// Adds what Draws.predict is built on.
void add_prediction(nb::module_& m);
/// Adds what evaluate and Classifier are built on.
void add_emotion(nb::module_& m);
/// Adds what Regressor is built on.
void add_regression(nb::module_& m);

}  // namespace emomc::python

// Makes NumPy arrays, and declares the parts of the extension module.
#pragma once

#include <utility>
#include <vector>

#include "conversions.hpp"

namespace emomc::python {

/// Returns a NumPy array that owns `values`.
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

/// The draws of a run, and whether Ctrl-C has ended the run. The module's class Draws holds this struct.
struct Sampled {
  Draws draws;
  bool interrupted = false;
};

/// Adds the class Draws and read_run to the module.
void add_draws(nb::module_& m);
/// Adds the functions on which emomc.Draws.predict is built.
void add_prediction(nb::module_& m);
/// Adds the functions and classes on which emomc.evaluate, emomc.list_corpus and emomc.Classifier are built.
void add_emotion(nb::module_& m);
/// Adds the functions and classes on which emomc.Regressor is built.
void add_regression(nb::module_& m);

}  // namespace emomc::python

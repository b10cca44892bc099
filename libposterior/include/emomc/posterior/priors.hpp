// Constructs priors by name, such as emomc::priors::normal(0, 10). An argument is a number, or a list with
// one number for each element, component or column of the parameter.
#pragma once

#include <initializer_list>
#include <vector>

#include "emomc/sampler/prior.hpp"

namespace emomc::priors {

/// A number or a list of numbers.
struct Argument {
  Argument(double number) : array{.shape = {}, .values = {number}} {}  // NOLINT(google-explicit-constructor)
  Argument(std::vector<double> list)                                   // NOLINT(google-explicit-constructor)
      : array{.shape = {static_cast<int>(list.size())}, .values = std::move(list)} {}
  ArrayArgument array;
};

inline PriorSpec normal(const Argument& mean, const Argument& sd) {
  return {PriorFamily::normal, {mean.array, sd.array}};
}
inline PriorSpec half_normal(const Argument& sd) { return {PriorFamily::half_normal, {sd.array}}; }
inline PriorSpec student_t(const Argument& df, const Argument& mean, const Argument& scale) {
  return {PriorFamily::student_t, {df.array, mean.array, scale.array}};
}
inline PriorSpec cauchy(const Argument& location, const Argument& scale) {
  return {PriorFamily::cauchy, {location.array, scale.array}};
}
inline PriorSpec lognormal(const Argument& meanlog, const Argument& sdlog) {
  return {PriorFamily::lognormal, {meanlog.array, sdlog.array}};
}
inline PriorSpec gamma(const Argument& shape, const Argument& rate) {
  return {PriorFamily::gamma, {shape.array, rate.array}};
}
inline PriorSpec inverse_gamma(const Argument& shape, const Argument& scale) {
  return {PriorFamily::inverse_gamma, {shape.array, scale.array}};
}
inline PriorSpec exponential(const Argument& rate) { return {PriorFamily::exponential, {rate.array}}; }
inline PriorSpec uniform(const Argument& lower, const Argument& upper) {
  return {PriorFamily::uniform, {lower.array, upper.array}};
}
inline PriorSpec beta(const Argument& a, const Argument& b) {
  return {PriorFamily::beta, {a.array, b.array}};
}
inline PriorSpec dirichlet(const Argument& a) { return {PriorFamily::dirichlet, {a.array}}; }
/// The prior of an angle in radians. With concentration 0, all angles have the same density.
inline PriorSpec von_mises(const Argument& mean, const Argument& concentration) {
  return {PriorFamily::von_mises, {mean.array, concentration.array}};
}
inline PriorSpec lkj(const Argument& eta) { return {PriorFamily::lkj, {eta.array}}; }
/// A parameter that is not sampled but has this value.
inline PriorSpec fixed(const Argument& value) { return {PriorFamily::fixed, {value.array}}; }

}  // namespace emomc::priors

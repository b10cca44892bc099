// Finds functions of the language by name: functions that lowering implements (builtins), scalar functions
// (primitives), definitions in the language itself, and random numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "definitions.hpp"
#include "distributions.hpp"
#include "primitives.hpp"

namespace emomc::expression {

/// A function that makes or uses lists of numbers, or a constant.
struct Builtin {
  std::string_view name, signature;
};

// The next functions return nullptr where there is no such function.
const Builtin* builtin_of(const std::string& name);
const PrimitiveInfo* primitive_of(const std::string& name);
/// The distribution of a function of random numbers: "poisson" for "poisson_rng".
const DistributionInfo* distribution_of(const std::string& name);

/// The primitive with this name. Throws std::logic_error where there is none.
Primitive primitive_named(const std::string& name);
Primitive number_of(const PrimitiveInfo& info);

std::string signature_of(const Definition& definition);
std::string signature_of(const PrimitiveInfo& info);
std::string signature_of(const DistributionInfo& info);

bool is_function(const std::string& name);
std::vector<std::string> function_names();

}  // namespace emomc::expression

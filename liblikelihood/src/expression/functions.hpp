// The functions of the language by name: those that lowering knows (builtins), scalar functions (primitives),
// definitions in the language itself, and random numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "definitions.hpp"
#include "distributions.hpp"
#include "primitives.hpp"

namespace emomc::expression {

/// A function that makes lists of numbers or takes them apart, or a constant.
struct Builtin {
  std::string_view name, signature;
};

// Each is nullptr where there is no such function.
const Builtin* builtin_of(const std::string& name);
const PrimitiveInfo* primitive_of(const std::string& name);
/// "poisson" of "poisson_rng".
const DistributionInfo* distribution_of(const std::string& name);

/// The primitive of that name, which must be there.
Primitive primitive_named(const std::string& name);
Primitive number_of(const PrimitiveInfo& info);

std::string signature_of(const Definition& definition);
std::string signature_of(const PrimitiveInfo& info);
std::string signature_of(const DistributionInfo& info);

bool is_function(const std::string& name);
std::vector<std::string> function_names();

}  // namespace emomc::expression

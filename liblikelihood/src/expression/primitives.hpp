// The scalar functions of expression_primitives.hpp by number, for the interpreter; generated code calls the
// same functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emomc/device/expression_primitives.hpp"

namespace emomc::expression {

enum class Primitive {
#define EMOMC_ENUMERATOR(name, count) name##_,
  EMOMC_EXPRESSION_PRIMITIVES(EMOMC_ENUMERATOR)
#undef EMOMC_ENUMERATOR
};

struct PrimitiveInfo {
  std::string_view name;
  int num_arguments;
};
const std::vector<PrimitiveInfo>& primitives();
inline const PrimitiveInfo& info_of(Primitive p) { return primitives()[static_cast<std::size_t>(p)]; }

inline constexpr int kMostArguments = 3;
double apply(Primitive function, const double* arguments);

}  // namespace emomc::expression

#include <sstream>

#include "definitions.hpp"

namespace emomc::expression {
namespace {

constexpr const char* kText = R"(
normal_lpdf(x, mu, sigma) = -0.5 * square((x - mu) / sigma) - log(sigma) - 0.918938533204672741780329736406
square(x) = x * x
)";

}  // namespace

const std::map<std::string, Definition>& definitions() {
  static const std::map<std::string, Definition> all = [] {
    std::map<std::string, Definition> read;
    std::istringstream lines(kText);
    for (std::string line; std::getline(lines, line);)
      if (!line.empty()) {
        Definition definition = parse_definition({"densities", line});
        read[definition.name] = std::move(definition);
      }
    return read;
  }();
  return all;
}

}  // namespace emomc::expression

#include "emomc/posterior/own_code.hpp"

#include <cstdlib>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/density_model.hpp"

namespace emomc {
namespace {

bool is_on(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::string(value) == "1";
}

}  // namespace

HostBuild host_build() { return is_on(kDebugBuild) ? HostBuild::debug : HostBuild::release; }

ExpressionSpec with_code(const ExpressionSpec& spec) {
  if (spec.code.file.empty() || spec.code.function != nullptr) return spec;
  if (!is_on(kAllowCode))
    throw InputError(
        spec.code.key + ": " + spec.code.file +
        " is code, which runs with your rights; read it, and if you trust it, write --allow-code or "
        "set " +
        kAllowCode + "=1");
  ExpressionSpec result = spec;
  result.code.text = read_device_source(spec.code.file).text;
  return result;
}

std::filesystem::path code_file(const std::filesystem::path& directory) {
  return directory / "likelihood_source.hpp";
}

}  // namespace emomc

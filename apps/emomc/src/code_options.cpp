#include "code_options.hpp"

#include <cstdlib>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/density_model.hpp"

namespace emomc::app {
namespace {

constexpr const char *kAllow = "EMOMC_ALLOW_CODE", *kDebug = "EMOMC_DEBUG_BUILD";

bool is_on(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::string(value) == "1";
}

}  // namespace

void add_code_options(CLI::App& command) {
  command.add_flag_callback(
      "--allow-code", [] { ::setenv(kAllow, "1", 1); },
      std::string("Run the C++ header that likelihood.source names (or ") + kAllow + "=1)");
  command.add_flag_callback(
      "--debug-build", [] { ::setenv(kDebug, "1", 1); },
      std::string("Compile a likelihood of your own for a debugger, on the CPU (or ") + kDebug + "=1)");
}

HostBuild host_build() { return is_on(kDebug) ? HostBuild::debug : HostBuild::release; }

ExpressionSpec with_code(const ExpressionSpec& spec) {
  if (spec.code.file.empty()) return spec;
  if (!is_on(kAllow))
    throw InputError(
        spec.code.key + ": " + spec.code.file +
        " is code, which runs with your rights; read it, and if you trust it, write --allow-code or "
        "set " +
        kAllow + "=1");
  ExpressionSpec result = spec;
  result.code.text = read_device_source(spec.code.file).text;
  return result;
}

std::filesystem::path code_file(const std::filesystem::path& directory) {
  return directory / "likelihood_source.hpp";
}

}  // namespace emomc::app

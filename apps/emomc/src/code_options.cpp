#include "code_options.hpp"

#include <cstdlib>

namespace emomc::app {
void add_code_options(CLI::App& command) {
  command.add_flag_callback(
      "--allow-code", [] { ::setenv(kAllowCode, "1", 1); },
      std::string("Run the C++ header that likelihood.source names (or ") + kAllowCode + "=1)");
  command.add_flag_callback(
      "--debug-build", [] { ::setenv(kDebugBuild, "1", 1); },
      std::string("Compile a likelihood of your own for a debugger, on the CPU (or ") + kDebugBuild + "=1)");
}

}  // namespace emomc::app

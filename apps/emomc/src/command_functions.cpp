#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/likelihood/expression.hpp"

namespace emomc::app {
namespace {

void list(const std::string& pattern, bool json) {
  std::vector<std::string> found;
  for (const std::string& function : expression_functions())
    if (function.find(pattern) != std::string::npos) found.push_back(function);
  if (found.empty()) throw InputError("no function of the language has \"" + pattern + "\" in its name");
  if (json) {
    std::cout << nlohmann::json(found).dump(1) << '\n';
    return;
  }
  for (const std::string& function : found) std::cout << function << '\n';
}

}  // namespace

void add_functions(CLI::App& app, int&) {
  auto* command = app.add_subcommand("functions", "The functions that expressions of a likelihood may use");
  struct Options {
    std::string pattern;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  command->add_option("TEXT", options->pattern, "Only those with this text in their name or arguments");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example: emomc functions poisson");
  command->callback([options] { list(options->pattern, options->json); });
}

}  // namespace emomc::app

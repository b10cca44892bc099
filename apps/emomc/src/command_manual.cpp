#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "completions.hpp"
#include "config_schema.hpp"
#include "emomc/posterior/text_table.hpp"
#include "manual.hpp"

namespace emomc::app {

void add_manual(CLI::App& app, int&) {
  auto* command = app.add_subcommand("manual",
                                     "Print the manual page, completions for a shell, a schema of "
                                     "configurations, or explanations of errors");
  auto topic = std::make_shared<std::string>("page");
  command
      ->add_option(
          "TOPIC", *topic,
          "page (for man), bash, zsh, fish (completions), schema (JSON schema of configurations of run, "
          "check and fit), errors")
      ->check(CLI::IsMember({"page", "bash", "zsh", "fish", "schema", "errors"}))
      ->capture_default_str();
  command->footer(
      "Example: emomc manual page | man -l -\n"
      "         emomc manual schema >emomc.schema.json   # and in a configuration, for editors:\n"
      "         # yaml-language-server: $schema=emomc.schema.json");
  command->callback([&app, topic] {
    if (*topic == "page")
      std::cout << manual_page(app, EMOMC_VERSION);
    else if (*topic == "schema")
      std::cout << config_schema().dump(1) << '\n';
    else if (*topic == "errors")
      std::cout << about_errors(terminal_width(STDOUT_FILENO));
    else
      std::cout << completion(app, *topic);
  });
}

}  // namespace emomc::app

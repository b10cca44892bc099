#include "completions.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "command_tree.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "evaluation_config_keys.hpp"
#include "run_config_keys.hpp"

namespace emomc::app {
namespace {

bool is_set(const CLI::Option& option) { return option.check_lname("set"); }

bool has_set(const CLI::App& command) {
  const auto options = options_of(command);
  return std::any_of(options.begin(), options.end(),
                     [](const CLI::Option* option) { return is_set(*option); });
}

/// Returns the keys that --set of a command accepts, each followed by "=". `features` accepts only the keys
/// of its section.
std::vector<std::string> keys_of_set(const std::string& command) {
  std::vector<std::string> keys;
  const bool is_evaluation = command == "evaluate" || command == "train";
  if (command == "features") {
    const std::string section = "features.";
    for (const EvaluationKey& key : evaluation_keys())
      if (key.name.starts_with(section)) keys.push_back(key.name.substr(section.size()) + "=");
    return keys;
  }
  if (is_evaluation)
    for (const EvaluationKey& key : evaluation_keys()) keys.push_back(key.name + "=");
  for (const ConfigKey& key : config_keys())
    if (key.read != nullptr && !(is_evaluation && key.name.starts_with("data.")))
      keys.push_back(key.name + "=");
  return keys;
}

/// Returns the values of an option other than --set; empty if any value is possible.
std::vector<std::string> values_of(const CLI::Option& option) {
  std::vector<std::string> values = choices_of(option);
  // Where a configuration has the key `backend`, the configuration checks the value.
  if (values.empty() && option.check_lname("backend"))
    for (const Backend backend : {Backend::automatic, Backend::reference, Backend::cpu, Backend::cuda})
      values.push_back(backend_name(backend));
  return values;
}

/// Returns the commands whose --set accepts the same keys as that of `command`, in the order of the program.
std::vector<std::string> like(const CLI::App& app, const std::string& command) {
  std::vector<std::string> names;
  for (const CLI::App* other : commands_of(app))
    if (has_set(*other) && keys_of_set(other->get_name()) == keys_of_set(command))
      names.push_back(other->get_name());
  return names;
}

/// Returns the first command of each group of commands whose --set accepts the same keys.
std::vector<std::string> firsts_of_groups(const CLI::App& app) {
  std::vector<std::string> firsts;
  for (const CLI::App* command : commands_of(app))
    if (has_set(*command) && like(app, command->get_name()).front() == command->get_name())
      firsts.push_back(command->get_name());
  return firsts;
}

/// Returns the first line of a description as a word in single quotes.
std::string quoted(const std::string& description) {
  std::string text = "'";
  for (const char c : description.substr(0, description.find('\n')))
    if (c != '\'' && c != '\\') text += c;
  return text + "'";
}

/// Returns the lines of a `case` of bash or zsh that end in `act(values)`. The word of each case is "COMMAND
/// OPTION", or "COMMAND COMMAND" for the first positional argument.
template <class Act>
std::string cases_of_values(const CLI::App& app, const Act& act) {
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    for (const CLI::Option* option : options_of(*command))
      if (const auto choices = values_of(*option); !choices.empty() && takes_value(*option)) {
        std::string words;
        for (const std::string& name : names_of(*option))
          words += (words.empty() ? "'" : "|'") + command->get_name() + " " + name + "'";
        cases += "    " + words + ") " + act(choices) + " ;;\n";
      }
    const auto positionals = positionals_of(*command);
    if (positionals.empty()) continue;
    if (const auto choices = choices_of(*positionals.front()); !choices.empty())
      cases += "    '" + command->get_name() + " " + command->get_name() + "') " + act(choices) + " ;;\n";
  }
  for (const std::string& first : firsts_of_groups(app)) {
    std::string words;
    for (const std::string& name : like(app, first)) words += (words.empty() ? "'" : "|'") + name + " --set'";
    cases += "    " + words + ") " + act(keys_of_set(first)) + " ;;\n";
  }
  return cases;
}

std::string bash(const CLI::App& app) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    names.push_back(command->get_name());
    std::vector<std::string> options;
    for (const CLI::Option* option : options_of(*command))
      for (const std::string& name : names_of(*option)) options.push_back(name);
    cases += "    " + command->get_name() + ") words='" + joined_by(options, " ") + "' ;;\n";
  }
  return "# Completion of emomc for bash, made by `emomc manual bash`.\n"
         "_emomc() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=''\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help ]]; then\n"
         "    COMPREPLY=($(compgen -W '" +
         joined_by(names, " ") +
         " help version --help --version' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case \"${COMP_WORDS[1]} $before\" in\n" +
         cases_of_values(app,
                         [](const std::vector<std::string>& values) {
                           return "words='" + joined_by(values, " ") + "'";
                         }) +
         "  esac\n"
         "  if [[ -n $words && $current != -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "    [[ $before == --set ]] && compopt -o nospace 2>/dev/null\n"
         "    return 0\n"
         "  fi\n"
         "  [[ $current == -* ]] || return 0  # files\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _emomc emomc\n";
}

std::string zsh(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : commands_of(app)) {
    commands += "    " + command->get_name() + ":" + quoted(command->get_description()) + "\n";
    cases += "    " + command->get_name() + ")\n      options=(\n";
    for (const CLI::Option* option : options_of(*command))
      for (const std::string& name : names_of(*option))
        cases += "        " + name + ":" + quoted(option->get_description()) + "\n";
    cases += "      ) ;;\n";
  }
  return "#compdef emomc\n"
         "# Completion of emomc for zsh, made by `emomc manual zsh`.\n"
         "_emomc() {\n"
         "  local -a commands options values\n"
         "  commands=(\n" +
         commands +
         "    help:'About a command, or errors'\n"
         "    version:'The version'\n"
         "  )\n"
         "  if ((CURRENT == 2)) || [[ $words[2] == help ]]; then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  case \"$words[2] $words[CURRENT-1]\" in\n" +
         cases_of_values(app,
                         [](const std::vector<std::string>& values) {
                           return "values=(" + joined_by(values, " ") + ")";
                         }) +
         "  esac\n"
         "  if (($#values)) && [[ $words[CURRENT] != -* ]]; then\n"
         "    if [[ $words[CURRENT-1] == --set ]]; then\n"
         "      compadd -S '' -- $values\n"
         "    else\n"
         "      compadd -- $values\n"
         "    fi\n"
         "    return\n"
         "  fi\n"
         "  case $words[2] in\n" +
         cases +
         "  esac\n"
         "  if [[ $words[CURRENT] == -* ]]; then\n"
         "    _describe option options\n"
         "  else\n"
         "    _files\n"
         "  fi\n"
         "}\n"
         "_emomc \"$@\"\n";
}

std::string fish(const CLI::App& app) {
  std::string text =
      "# Completion of emomc for fish, made by `emomc manual fish`.\n"
      "# Whether the command is one of the arguments.\n"
      "function __emomc_is\n"
      "    set -l words (commandline -opc)\n"
      "    test (count $words) -gt 1; and contains -- $words[2] $argv\n"
      "end\n"
      "# Whether the command is the argument, and what is completed follows it.\n"
      "function __emomc_after\n"
      "    set -l words (commandline -opc)\n"
      "    test (count $words) -eq 2; and test $words[2] = $argv[1]\n"
      "end\n"
      "function __emomc_has_none\n"
      "    test (count (commandline -opc)) -eq 1\n"
      "end\n";
  const auto add_command = [&](const std::string& name, const std::string& about) {
    text += "complete -c emomc -f -n __emomc_has_none -a " + name + " -d " + about + "\n";
  };
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) {
    names.push_back(command->get_name());
    add_command(command->get_name(), quoted(command->get_description()));
  }
  add_command("help", "'About a command, or errors'");
  add_command("version", "'The version'");
  text += "complete -c emomc -f -n '__emomc_after help' -a '" + joined_by(names, " ") + " errors'\n";
  for (const CLI::App* command : commands_of(app)) {
    const std::string is = "complete -c emomc -n '__emomc_is " + command->get_name() + "'";
    for (const CLI::Option* option : options_of(*command)) {
      text += is;
      for (const std::string& name : option->get_snames()) text += " -s " + name;
      for (const std::string& name : option->get_lnames()) text += " -l " + name;
      const auto values = is_set(*option) ? keys_of_set(command->get_name()) : values_of(*option);
      if (takes_value(*option)) text += " -r";
      if (takes_value(*option) && !values.empty()) text += " -f -a '" + joined_by(values, " ") + "'";
      text += " -d " + quoted(option->get_description()) + "\n";
    }
    const auto positionals = positionals_of(*command);
    if (positionals.empty()) continue;
    if (const auto choices = choices_of(*positionals.front()); !choices.empty())
      text += "complete -c emomc -f -n '__emomc_after " + command->get_name() + "' -a '" +
              joined_by(choices, " ") + "'\n";
  }
  return text;
}

}  // namespace

std::string completion(const CLI::App& app, const std::string& shell) {
  return shell == "bash" ? bash(app) : shell == "zsh" ? zsh(app) : fish(app);
}

}  // namespace emomc::app

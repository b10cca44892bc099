#include "command_line.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "run_config_keys.hpp"

namespace emomc::app {
namespace {

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

bool is_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
}

// Words with the ending of a file are not further values of --vars and --by: a missing file should be refused
// as a missing file.
bool is_name(const std::string& word) {
  if (word.empty() || word[0] == '-' || word.find('/') != std::string::npos) return false;
  const std::string ending = std::filesystem::path(word).extension().string();
  return ending != ".csv" && ending != ".nc" && ending != ".yaml" && ending != ".yml";
}

// Whether `next` is a further value of `option`, one of --set, --vars and --by.
bool is_further_value(const std::string& option, const std::string& next) {
  if (option == "--set") return is_assignment(next) && !exists(next);
  if (option == "--vars") return is_name(next) && !exists(next);
  std::error_code error;  // a folder, such as `corpus`, may have the name of a column
  return is_name(next) && !std::filesystem::is_regular_file(next, error);
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Returns the options of a command, with their dashes.
std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// Returns the last part of a configuration key as an option, for example --keep_warmup for
// output.keep_warmup.
std::string as_option(const ConfigKey& key) { return "--" + key.name.substr(key.name.rfind('.') + 1); }

// Returns an advice that names what was probably meant by `option`: an option of the command, or a key of the
// configuration.
std::string proposal_for(const CLI::App& command, const std::vector<std::string>& known,
                         const std::string& option) {
  if (option.find_first_not_of('-') == std::string::npos || option.size() < 3) return "";
  // Short options are no candidates, because a mistyped word is near every single letter.
  std::vector<std::string> names;
  for (const std::string& candidate : known)
    if (candidate.starts_with("--")) names.push_back(candidate);
  const std::string& name = command.get_name();
  if (name == "run" || name == "check" || name == "fit")
    for (const ConfigKey& key : config_keys())
      if (key.read != nullptr) names.push_back(as_option(key));
  const auto nearest = nearest_name(option.starts_with("--") ? option : "-" + option, names);
  if (!nearest) return "";
  if (std::find(known.begin(), known.end(), *nearest) != known.end())
    return "; did you mean " + *nearest + "?";
  for (const ConfigKey& key : config_keys())
    if (as_option(key) == *nearest)
      return "; use --set " + key.name + "=" + (key.name == "sampler.draws" ? "500" : "VALUE");
  return "";
}

}  // namespace

std::vector<std::string> spread_values(const std::vector<std::string>& arguments) {
  std::vector<std::string> spread;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    spread.push_back(word);
    if (word == "--") {  // only positional arguments follow
      spread.insert(spread.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    const std::string option = word.substr(0, word.find('='));
    if (option != "--set" && option != "--vars" && option != "--by") continue;
    if (word == option && i + 1 < arguments.size()) spread.push_back(arguments[++i]);
    while (i + 1 < arguments.size() && is_further_value(option, arguments[i + 1])) {
      spread.push_back(option);
      spread.push_back(arguments[++i]);
    }
  }
  return spread;
}

void refuse_unknown_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].starts_with("-")) return;
  std::vector<std::string> names;
  for (const CLI::App* command : subcommands_of(app)) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), arguments[0]) != names.end()) return;
  names.insert(names.end(), {"version", "help"});
  // `emomc help NAME` has become `emomc NAME --help` here.
  if (arguments.size() == 2 && arguments[1] == "--help") names.emplace_back("errors");
  std::string allowed;
  for (const std::string& name : names) allowed += (allowed.empty() ? "" : ", ") + name;
  throw InputError(excerpt(arguments[0]) + ": there is no such command; " +
                   did_you_mean(nearest_name(arguments[0], names)) + "allowed: " + allowed +
                   " (see emomc --help)");
}

std::string unknown_option(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* command = &app;
  for (const CLI::App* candidate : subcommands_of(app))
    if (!arguments.empty() && candidate->get_name() == arguments[0]) command = candidate;
  const std::vector<std::string> known = options_of(*command);
  for (const std::string& word : arguments) {
    if (word == "--") break;
    if (word.size() < 2 || word[0] != '-') continue;
    const bool is_number = std::isdigit(static_cast<unsigned char>(word[1])) != 0 || word[1] == '.';
    const std::string option = word.substr(0, word.find('='));
    if (is_number || std::find(known.begin(), known.end(), option) != known.end()) continue;
    // -qv and -ofile are short options that other letters follow, but -output is --output with one dash.
    const bool lacks_dash = std::find(known.begin(), known.end(), "-" + option) != known.end();
    if (!lacks_dash && word[1] != '-' &&
        std::find(known.begin(), known.end(), word.substr(0, 2)) != known.end())
      continue;
    const std::string name = command == &app ? "emomc" : "emomc " + command->get_name();
    return excerpt(option) + ": " + name + " has no such option" + proposal_for(*command, known, option) +
           " (see " + name + " --help)";
  }
  return "";
}

}  // namespace emomc::app

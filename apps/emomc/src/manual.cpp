#include "manual.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

#include "run_config_keys.hpp"

namespace emomc::app {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// Options without positional arguments.
std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : command.get_options())
    if (option->nonpositional()) options.push_back(option);
  return options;
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& command) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional()) options.push_back(option);
  return options;
}

/// "-o", "--output", ...
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string joined_by(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::vector<std::string> keys_of_set() {
  std::vector<std::string> keys;
  for (const ConfigKey& key : config_keys())
    if (key.read != nullptr) keys.push_back(key.name);
  return keys;
}

bool has_set(const CLI::App& command) {
  const auto options = options_of(command);
  return std::any_of(options.begin(), options.end(),
                     [](const CLI::Option* option) { return option->check_lname("set"); });
}

/// Text for troff: backslashes, dashes, and lines that begin with a dot or an apostrophe.
std::string roff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool at_begin = result.empty() || result.back() == '\n';
    if (at_begin && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

std::string synopsis_of(const CLI::App& command) {
  std::string text = "\\fB" + roff(command.get_name()) + "\\fR";
  if (!options_of(command).empty()) text += " [\\fIOPTIONS\\fR]";
  for (const CLI::Option* option : positionals_of(command)) {
    const std::string name =
        "\\fI" + roff(option->get_name(true)) + "\\fR" + (option->get_items_expected_max() > 1 ? "..." : "");
    text += " " + (option->get_required() ? name : "[" + name + "]");
  }
  return text;
}

std::string entry_of(const CLI::Option& option) {
  std::string text = ".TP\n";
  if (option.get_positional() && !option.nonpositional()) {
    text += "\\fI" + roff(option.get_name(true)) + "\\fR\n";
  } else {
    std::vector<std::string> names;
    for (const std::string& name : names_of(option)) names.push_back("\\fB" + roff(name) + "\\fR");
    text += joined_by(names, ", ") + (takes_value(option) ? " \\fIVALUE\\fR" : "") + "\n";
  }
  std::string about = option.get_description();
  if (about.empty()) about = option.get_name();
  if (const std::string value = option.get_default_str(); !value.empty())
    about += " (default: " + value + ")";
  return text + roff(about) + "\n";
}

/// The first line of a description, without characters that shells or scripts read.
std::string short_text(const std::string& description) {
  std::string text = description.substr(0, description.find('\n'));
  for (char& c : text)
    if (std::string("'\"`$\\[]:").find(c) != std::string::npos) c = ' ';
  return text;
}

std::string bash(const CLI::App& app) {
  std::vector<std::string> names;
  std::string cases, with_set;
  for (const CLI::App* command : commands_of(app)) {
    names.push_back(command->get_name());
    std::vector<std::string> options;
    for (const CLI::Option* option : options_of(*command))
      for (const std::string& name : names_of(*option)) options.push_back(name);
    cases += "    " + command->get_name() + ") words='" + joined_by(options, " ") + "' ;;\n";
    if (has_set(*command)) with_set += (with_set.empty() ? "" : "|") + command->get_name();
  }
  return "# Completion of emomc for bash, made by `emomc manual bash`.\n"
         "_emomc() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=''\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W '" +
         joined_by(names, " ") +
         " help version --help --version' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  if [[ $before == --set && ${COMP_WORDS[1]} =~ ^(" +
         with_set +
         ")$ ]]; then\n"
         "    COMPREPLY=($(compgen -S = -W '" +
         joined_by(keys_of_set(), " ") +
         "' -- \"$current\"))\n"
         "    compopt -o nospace 2>/dev/null\n"
         "    return\n"
         "  fi\n"
         "  [[ $current == -* ]] || return  # files\n"
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
    commands += "    '" + command->get_name() + ":" + short_text(command->get_description()) + "'\n";
    cases += "    " + command->get_name() + ")\n      options=(\n";
    for (const CLI::Option* option : options_of(*command))
      for (const std::string& name : names_of(*option))
        cases += "        '" + name + ":" + short_text(option->get_description()) + "'\n";
    cases += "      ) ;;\n";
  }
  return "#compdef emomc\n"
         "# Completion of emomc for zsh, made by `emomc manual zsh`.\n"
         "_emomc() {\n"
         "  local -a commands options keys\n"
         "  commands=(\n" +
         commands +
         "  )\n"
         "  keys=(" +
         joined_by(keys_of_set(), " ") +
         ")\n"
         "  if ((CURRENT == 2)); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  case $words[2] in\n" +
         cases +
         "  esac\n"
         "  if [[ $words[CURRENT-1] == --set ]]; then\n"
         "    compadd -S = -- $keys\n"
         "  elif [[ $words[CURRENT] == -* ]]; then\n"
         "    _describe option options\n"
         "  else\n"
         "    _files\n"
         "  fi\n"
         "}\n"
         "_emomc \"$@\"\n";
}

std::string fish(const CLI::App& app) {
  std::string text = "# Completion of emomc for fish, made by `emomc manual fish`.\n";
  for (const CLI::App* command : commands_of(app))
    text += "complete -c emomc -f -n __fish_use_subcommand -a " + command->get_name() + " -d '" +
            short_text(command->get_description()) + "'\n";
  std::vector<std::string> keys;
  for (const std::string& key : keys_of_set()) keys.push_back(key + "=");
  for (const CLI::App* command : commands_of(app))
    for (const CLI::Option* option : options_of(*command)) {
      text += "complete -c emomc -n '__fish_seen_subcommand_from " + command->get_name() + "'";
      for (const std::string& name : option->get_snames()) text += " -s " + name;
      for (const std::string& name : option->get_lnames()) text += " -l " + name;
      if (takes_value(*option)) text += " -r";
      if (option->check_lname("set")) text += " -f -a '" + joined_by(keys, " ") + "'";
      text += " -d '" + short_text(option->get_description()) + "'\n";
    }
  return text;
}

/// `text` in lines of at most `width`, each after `indent`; words are not divided.
std::string wrapped(const std::string& text, const std::string& indent, std::size_t width) {
  std::istringstream words(text);
  std::string result, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > width) {
      result += indent + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return line.empty() ? result : result + indent + line + "\n";
}

/// Markdown's code marks and links taken away: `x` is x, [text](target) is text.
std::string plain(const std::string& markdown) {
  std::string text;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    const std::size_t middle = markdown[i] == '[' ? markdown.find("](", i) : std::string::npos;
    const std::size_t end = middle == std::string::npos ? middle : markdown.find(')', middle);
    // Brackets in code, as in [eruptions], are no links.
    if (end != std::string::npos && markdown.find('`', i) > middle) {
      text += plain(markdown.substr(i + 1, middle - i - 1));
      i = end;
    } else if (markdown[i] != '`') {
      text += markdown[i];
    }
  }
  return text;
}

/// The cells of a row of a Markdown table.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::string cell;
  bool in_code = false;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '`') in_code = !in_code;
    if (line[i] != '|' || in_code) {
      cell += line[i];
      continue;
    }
    const std::size_t begin = cell.find_first_not_of(' '), end = cell.find_last_not_of(' ');
    cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1));
    cell.clear();
  }
  return cells;
}

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& version) {
  std::string text = ".\\\" Made by `emomc manual page`.\n.TH EMOMC 1 \"\" \"emomc " + roff(version) +
                     "\" \"User commands\"\n.SH NAME\nemomc \\- " + roff(app.get_description()) +
                     "\n.SH SYNOPSIS\n";
  const auto commands = commands_of(app);
  for (const CLI::App* command : commands) text += "\\fBemomc\\fR " + synopsis_of(*command) + "\n.br\n";
  text +=
      ".SH DESCRIPTION\nemomc samples posteriors of mixture models and of likelihoods that you write "
      "yourself, "
      "says whether the draws can be trusted, and recognises emotion in speech with them. A configuration is "
      "a "
      "file of YAML; \\fBemomc manual schema\\fR describes its keys.\n.SH COMMANDS\n";
  for (const CLI::App* command : commands) {
    text += ".SS " + synopsis_of(*command) + "\n" + roff(command->get_description()) + ".\n";
    for (const CLI::Option* option : positionals_of(*command)) text += entry_of(*option);
    for (const CLI::Option* option : options_of(*command)) text += entry_of(*option);
    if (const std::string footer = command->get_footer(); !footer.empty()) {
      text += ".PP\n.nf\n" + roff(footer) + (footer.back() == '\n' ? "" : "\n") + ".fi\n";
    }
  }
  return text +
         ".SH EXIT STATUS\n.TP\n0\nThe work was done.\n.TP\n1\nThe command ran, and the check that it makes "
         "failed, as of \\fBemomc diagnose\\fR.\n.TP\n2\nBad input or usage; nothing was written.\n.TP\n3\nA "
         "fault in the machine: GPU, disk, memory.\n.TP\n128 + signal\nA signal stopped it.\n"
         ".SH ENVIRONMENT\n.TP\nEMOMC_ALLOW_CODE\n1: run the C++ header that likelihood.source names.\n"
         ".TP\nEMOMC_DEBUG_BUILD\n1: compile likelihoods for a debugger.\n"
         ".SH SEE ALSO\n\\fBemomc help errors\\fR explains messages.\n";
}

std::string completion(const CLI::App& app, const std::string& shell) {
  return shell == "bash" ? bash(app) : shell == "zsh" ? zsh(app) : fish(app);
}

std::string about_errors(std::size_t width) {
  width = std::clamp<std::size_t>(width, 40, 100);
  std::string text =
      "Exit codes: 0 done; 1 the command ran and its check failed, as of diagnose; 2 bad input, nothing\n"
      "written; 3 a fault in the machine; 128 + signal stopped.\n\n";
  std::istringstream lines(errors_section);
  std::string paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) text += wrapped(plain(paragraph), "", width) + "\n";
    paragraph.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) {
      if (line.empty()) end_paragraph();
      paragraph += line + " ";
      if (line.empty()) paragraph.clear();
      continue;
    }
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != 3 || cells[0] == "message" || cells[0].starts_with("---")) continue;
    text += wrapped(plain(cells[0]), "", width) + wrapped("cause: " + plain(cells[1]), "    ", width) +
            wrapped("remedy: " + plain(cells[2]), "    ", width) + "\n";
  }
  end_paragraph();
  return text;
}

}  // namespace emomc::app

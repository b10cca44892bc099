#include "manual.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

#include "command_tree.hpp"

namespace emomc::app {
namespace {

/// Escapes text for troff: backslashes, dashes, and lines that begin with a dot or an apostrophe.
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

/// Returns `text` in lines of at most `width` characters, each after `indent`; words are not divided.
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

/// Returns Markdown text without code marks and links: `x` becomes x, and [text](target) becomes text.
std::string plain(const std::string& markdown) {
  std::string text;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    const std::size_t middle = markdown[i] == '[' ? markdown.find("](", i) : std::string::npos;
    const std::size_t end = middle == std::string::npos ? middle : markdown.find(')', middle);
    // Brackets in code, such as [eruptions], are not links.
    if (end != std::string::npos && markdown.find('`', i) > middle) {
      text += plain(markdown.substr(i + 1, middle - i - 1));
      i = end;
    } else if (markdown[i] != '`') {
      text += markdown[i];
    }
  }
  return text;
}

/// Returns the cells of a row of a Markdown table.
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
         ".SH EXIT STATUS\n.TP\n0\nThe work was done.\n.TP\n1\nThe command ran, but its check failed, as in "
         "\\fBemomc diagnose\\fR.\n.TP\n2\nBad input or usage; nothing was written.\n.TP\n3\nA "
         "fault in the machine: GPU, disk, memory.\n.TP\n128 + signal\nThe command was stopped by a signal.\n"
         ".SH ENVIRONMENT\n.TP\nEMOMC_ALLOW_CODE\n1: run the C++ header that likelihood.source names.\n"
         ".TP\nEMOMC_DEBUG_BUILD\n1: compile likelihoods for a debugger.\n"
         ".SH SEE ALSO\n\\fBemomc help errors\\fR explains messages.\n";
}

std::string about_errors(std::size_t width) {
  width = std::clamp<std::size_t>(width, 40, 100);
  std::string text =
      "Exit codes: 0 done; 1 the command ran, but its check failed, as in diagnose; 2 bad input, "
      "nothing\nwritten; 3 a fault in the machine; 128 + signal: stopped by a signal.\n\n";
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

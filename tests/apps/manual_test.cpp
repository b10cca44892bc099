// Tests the manual page, completions for shells, the schema of configurations, and help about errors.
#include "manual.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "config_schema.hpp"
#include "emomc/core/errors.hpp"
#include "input_kind.hpp"
#include "program.hpp"
#include "run_config.hpp"
#include "yaml_reader.hpp"

namespace emomc {
namespace {

using app::YamlNode;
using nlohmann::json;
using testing::ProgramFolder;

bool is_there(const std::string& command) {
  return std::system(("command -v " + command + " >/dev/null 2>&1").c_str()) == 0;
}

/// Returns the commands that `emomc --help` lists.
std::vector<std::string> commands(const ProgramFolder& folder) {
  const std::string help = folder.run("--help").out;
  std::istringstream lines(help.substr(help.find("Subcommands:")));
  std::vector<std::string> names;
  const std::regex name("^  ([a-z]+) .*");
  for (std::string line; std::getline(lines, line);)
    if (std::smatch match; std::regex_match(line, match, name)) names.push_back(match[1]);
  EXPECT_GE(names.size(), 20u);
  return names;
}

TEST(Manual, ThePageHasEveryCommandAndOption) {
  const ProgramFolder folder;
  const std::string page = folder.run("manual page").out;
  for (const std::string& command : commands(folder)) {
    const auto section = page.find("\n.SS \\fB" + command + "\\fR");
    ASSERT_NE(section, std::string::npos) << command;
    const std::string own = page.substr(section, page.find("\n.S", section + 1) - section);
    const std::string help = folder.run(command + " --help").out;
    const std::regex option("--[a-z][a-z-]*");
    const std::string options =
        help.substr(help.find("Options:"), help.rfind("\nExample:") - help.find("Options:"));
    std::istringstream lines(options);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  -")) continue;
      std::smatch match;
      ASSERT_TRUE(std::regex_search(line, match, option)) << line;
      std::string name;
      for (const char c : match.str()) name += c == '-' ? "\\-" : std::string(1, c);
      EXPECT_NE(own.find("\\fB" + name + "\\fR"), std::string::npos) << command << " " << match.str();
    }
  }
  folder.write("emomc.1", page);
  if (!is_there("groff")) GTEST_SKIP() << "no groff to check the page with";
  const auto checked = folder.shell("groff -man -Tutf8 -ww -z emomc.1");
  EXPECT_EQ(checked.exit_code, 0);
  EXPECT_EQ(checked.err, "");
}

TEST(Manual, BashCompletesCommandsOptionsAndKeys) {
  const ProgramFolder folder;
  folder.write("emomc.bash", folder.run("manual bash").out);
  const auto completed = [&](const std::string& words) {
    const auto result = folder.shell(
        "bash -c 'source emomc.bash; COMP_WORDS=(" + words +
        "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _emomc; printf \"%s\\n\" \"${COMPREPLY[@]}\"'");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(completed("emomc ru"), "run\n");
  EXPECT_EQ(completed("emomc di"), "diagnose\n");
  EXPECT_EQ(completed("emomc run a.yaml --outp"), "--output\n");
  EXPECT_EQ(completed("emomc export --for"), "--format\n");
  EXPECT_EQ(completed("emomc run a.yaml --set sampler.dra"), "sampler.draws=\n");
  EXPECT_EQ(completed("emomc summary --set sampler.dra"), "\n");  // this command has no --set
  EXPECT_EQ(completed("emomc train a.yaml --set softmax.dra"), "softmax.draws=\n");
  EXPECT_EQ(completed("emomc features corpus --set num_f"), "num_filters=\n");
  EXPECT_EQ(completed("emomc run a.yaml --backend c"), "cpu\ncuda\n");
  EXPECT_EQ(completed("emomc manual z"), "zsh\n");
  EXPECT_EQ(completed("emomc help ru"), "run\n");
  EXPECT_EQ(completed("emomc run a"), "\n");  // the shell completes names of files
  EXPECT_NE(folder.read("emomc.bash").find("complete -o default -F _emomc emomc"), std::string::npos);
}

TEST(Manual, OtherShellsHaveEveryCommand) {
  const ProgramFolder folder;
  for (const char* shell : {"zsh", "fish"}) {
    const std::string script = folder.run(std::string("manual ") + shell).out;
    folder.write(shell, script);
    for (const std::string& command : commands(folder))
      EXPECT_NE(script.find(command), std::string::npos) << command;
    EXPECT_NE(script.find("sampler.draws"), std::string::npos);
    EXPECT_NE(script.find("corpus: softmax regression, mixtures, or a regression of numbers"),
              std::string::npos);
    EXPECT_NE(script.find("auto reference cpu cuda"), std::string::npos);
    if (is_there(shell)) {
      EXPECT_EQ(folder.shell(std::string(shell) + " -n " + shell).exit_code, 0);
    }
  }
  EXPECT_NE(folder.read("fish").find("complete -c emomc -n '__emomc_is run' -s o -l output -r"),
            std::string::npos);
  EXPECT_NE(folder.read("zsh").find("#compdef emomc"), std::string::npos);
}

TEST(Manual, FishCompletesCommandsOptionsAndValues) {
  if (!is_there("fish")) GTEST_SKIP() << "no fish to complete in";
  const ProgramFolder folder;
  folder.write("emomc.fish", folder.run("manual fish").out);
  const auto completed = [&](const std::string& line) {
    return folder.shell("fish --no-config -c 'source emomc.fish; complete -C\"" + line + "\"' | cut -f1").out;
  };
  EXPECT_EQ(completed("emomc dia"), "diagnose\n");
  EXPECT_EQ(completed("emomc run a.yaml --backend c"), "cpu\ncuda\n");
  EXPECT_EQ(completed("emomc train a.yaml --set softmax.dra"), "softmax.draws=\n");
  EXPECT_EQ(completed("emomc manual z"), "zsh\n");
  EXPECT_EQ(completed("emomc summary run --res"), "");  // run is a file here, and summary has no --resume
}

TEST(Manual, HelpErrorsHasTheWordsOfTheDocumentation) {
  const ProgramFolder folder;
  const auto said = folder.run("help errors");
  EXPECT_EQ(said.exit_code, 0);
  std::string text;  // the text without line breaks
  std::istringstream words(said.out);
  for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
  for (const char* part :
       {"2 bad input, nothing written", "the run directory is not empty; use --resume to go on",
        "cause: an earlier run is there remedy: one of the three",
        "cause: a column of text is taken for data",
        "likelihood.componets: unknown key; did you mean likelihood.components?"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << said.out;
  EXPECT_EQ(text.find('`'), std::string::npos);
  EXPECT_EQ(text.find("]("), std::string::npos);
  std::istringstream lines(said.out);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 140u) << line;  // a word may be long
  EXPECT_EQ(folder.run("manual nothing").exit_code, 2);
}

/// Returns an empty text if a YAML value matches the schema, and otherwise the reason why it does not.
std::string mismatch(const json& schema, const YamlNode& node, const std::string& where) {
  if (schema.contains("anyOf")) {
    std::string all;
    for (const json& one : schema["anyOf"]) {
      const std::string why = mismatch(one, node, where);
      if (why.empty()) return "";
      all += why + "; ";
    }
    return all;
  }
  const auto is_number = [&](const char* pattern) {
    return node.kind == YamlNode::Kind::scalar && !node.quoted &&
           std::regex_match(node.scalar, std::regex(pattern));
  };
  if (schema.contains("enum")) {
    for (const json& value : schema["enum"])
      if (node.kind == YamlNode::Kind::scalar && value == node.scalar) return "";
    return where + ": " + node.scalar + " is none of " + schema["enum"].dump();
  }
  if (!schema.contains("type")) return "";
  std::vector<std::string> types;
  if (schema["type"].is_array())
    types = schema["type"].get<std::vector<std::string>>();
  else
    types.push_back(schema["type"]);
  for (const std::string& type : types) {
    if (type == "null" && node.kind == YamlNode::Kind::null) return "";
    if (type == "array" && node.kind == YamlNode::Kind::list) return "";
    if (type == "string" && node.kind == YamlNode::Kind::scalar) return "";
    if (type == "boolean" && (node.scalar == "true" || node.scalar == "false")) return "";
    if (type == "integer" && is_number("[+-]?[0-9]+")) return "";
    if (type == "number" && is_number("[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?")) return "";
    if (type != "object" || node.kind != YamlNode::Kind::map) continue;
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      const std::string& key = node.keys[i].scalar;
      const std::string place = where.empty() ? key : where + "." + key;
      const bool known = schema.contains("properties") && schema["properties"].contains(key);
      const json other = schema.value("additionalProperties", json(true));
      if (!known && other == false) return place + ": not in the schema";
      if (known || other.is_object())
        if (std::string why = mismatch(known ? schema["properties"][key] : other, node.items[i], place);
            !why.empty())
          return why;
    }
    for (const json& key : schema.value("required", json::array()))
      if (node.find(key.get<std::string>()) == nullptr)
        return where + ": " + key.get<std::string>() + " is missing";
    return "";
  }
  return where + ": " + node.scalar + " is no " + schema["type"].dump();
}

std::string mismatch(const json& schema, const std::string& yaml) {
  return mismatch(schema, app::parse_yaml(yaml, {std::make_shared<std::string>("test"), 1}), "");
}

TEST(Schema, AcceptsEveryConfigurationOfTheProject) {
  const json schema = json::parse(app::config_schema().dump());
  std::size_t count = 0;
  for (const char* folder : {"/configs", "/docs/examples/likelihoods"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(EMOMC_SOURCE_DIR + std::string(folder))) {
      if (entry.path().extension() != ".yaml" || app::kind_of(entry.path()) != app::InputKind::run_config)
        continue;
      const std::string text = app::read_config_text(entry.path());
      EXPECT_EQ(mismatch(schema, text), "") << entry.path();
      ++count;
    }
  EXPECT_GE(count, 5u);
}

TEST(Schema, RefusesWhatTheProgramRefuses) {
  const json schema = json::parse(app::config_schema().dump());
  EXPECT_EQ(mismatch(schema, "data: {file: a.csv}"), "");
  EXPECT_EQ(
      mismatch(schema,
               "data: {file: [a.csv, b.csv], standardize: false}\nprior: {means: {normal: {mean: 0, sd: "
               "1}}}\nsampler: {draws: 100, until: {seconds: 1.5}}"),
      "");
  EXPECT_EQ(mismatch(schema, "data: {file: a.csv}\nlikelihood: {componets: 3}"),
            "likelihood.componets: not in the schema");
  EXPECT_EQ(mismatch(schema, "data: {files: a.csv}"), "data.files: not in the schema");
  EXPECT_EQ(mismatch(schema, "likelihood: {components: 3}"), ": data is missing");
  for (const char* wrong : {"sampler: {draws: many}", "sampler: {draws: 1.5}", "sampler: {chains: 1.5}",
                            "data: {file: a, header: 3}", "backend: gpu", "sampler: {proposal: {kind: nut}}",
                            "output: {keep_warmup: perhaps}", "likelihood: {covariance: round}"}) {
    const std::string text =
        std::string(wrong).starts_with("data") ? wrong : "data: {file: a}\n" + std::string(wrong);
    EXPECT_NE(mismatch(schema, text), "") << wrong;
    EXPECT_THROW(app::parse_run_config(text, "test"), InputError) << wrong;
  }
  // The schema has the allowed words, so that an editor refuses a wrong value as the program does.
  const json kinds = schema["properties"]["sampler"]["properties"]["proposal"]["properties"]["kind"];
  EXPECT_NE(kinds.dump().find("\"nuts\""), std::string::npos) << kinds;
  EXPECT_NE(kinds["description"].get<std::string>().find("docs/proposals.md"), std::string::npos);
}

}  // namespace
}  // namespace emomc

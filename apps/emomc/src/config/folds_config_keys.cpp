#include "folds_config_keys.hpp"

#include "name_list.hpp"
#include "regression_config_keys.hpp"
#include "run_config_keys.hpp"

namespace emomc::app {
namespace {

FoldsConfig read_file_folds(const YamlValue& value) {
  FoldsConfig folds;
  folds.kind = FoldsKind::file;
  const YamlNode& node = value.node();
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& name = node.keys[i].scalar;
    const YamlValue argument(node.items[i], value.key() + "." + name);
    if (name == "file")
      folds.file = argument.text("a path");
    else if (name == "column")
      folds.column = argument.text("a column");
    else if (name == "test")
      folds.test = read_some(argument, "values of the column", "value");
    else
      argument.refuse("this key is unknown; allowed beside folds.file: column and test");
  }
  return folds;
}

void read_folds(const YamlValue& value, EvaluationConfig& config) {
  const std::string allowed =
      "leave_one_speaker_out, {k_fold_by_speaker: 5}, {test_speakers: [A, B]}, or {file: folds.csv}";
  const YamlNode& node = value.node();
  if (node.kind == YamlNode::Kind::scalar && node.scalar == "leave_one_speaker_out") {
    config.folds = {};
    return;
  }
  if (node.kind == YamlNode::Kind::map && node.find("file") != nullptr) {
    config.folds = read_file_folds(value);
    return;
  }
  if (node.kind != YamlNode::Kind::map || node.keys.size() != 1) value.refuse_type(allowed);
  const std::string& name = node.keys[0].scalar;
  const YamlValue argument(node.items[0], value.key() + "." + name);
  if (name == "k_fold_by_speaker") {
    config.folds = {FoldsKind::k_fold_by_speaker, static_cast<int>(argument.integer(2, 10000)), {}};
  } else if (name == "test_speakers") {
    config.folds = {FoldsKind::test_speakers, 0, read_some(argument, "speakers", "speaker")};
  } else {
    value.refuse(excerpt(name) + " is unknown; allowed: " + allowed);
  }
}

std::string write_folds(const EvaluationConfig& config) {
  switch (config.folds.kind) {
    case FoldsKind::k_fold_by_speaker:
      return "{k_fold_by_speaker: " + std::to_string(config.folds.count) + "}";
    case FoldsKind::test_speakers:
      return "{test_speakers: " + write_list(config.folds.test_speakers) + "}";
    case FoldsKind::file: {
      const FoldsConfig& folds = config.folds;
      std::string text = "{file: " + yaml_text(folds.file.string());
      if (folds.column != FoldsConfig().column) text += ", column: " + yaml_text(folds.column);
      if (!folds.test.empty()) text += ", test: " + write_list(folds.test);
      return text + "}";
    }
    case FoldsKind::leave_one_speaker_out:
      break;
  }
  return "leave_one_speaker_out";
}

}  // namespace

std::vector<EvaluationKey> folds_keys() {
  return {
      {"folds",
       "leave_one_speaker_out | {k_fold_by_speaker: 5} | {test_speakers: [A, B]} | {file: folds.csv, column: "
       "fold, test: [A, B]}: a CSV with that column (fold) and recording, path, utterance or file, or "
       "speaker; each value is tested in turn, or those of test together",
       read_folds, write_folds},
  };
}

std::vector<EvaluationKey> group_keys() {
  return {
      {"by.columns",
       "columns by whose values scores are given beside all together: [gender]; of evaluate only",
       [](const YamlValue& v, EvaluationConfig& c) { c.by.columns = read_list(v, "columns"); },
       [](const EvaluationConfig& c) { return write_list(c.by.columns); }},
      {"by.file",
       "the CSV that has them, with a column recording, path, utterance or file, or speaker; \"\": the "
       "corpus's manifest",
       [](const YamlValue& v, EvaluationConfig& c) {
         const bool is_none = v.node().kind == YamlNode::Kind::scalar && v.node().scalar.empty();
         c.by.file = is_none ? "" : v.text("a path");
       },
       [](const EvaluationConfig& c) { return yaml_text(c.by.file.string()); },
       [](const EvaluationConfig& c) { return !c.by.columns.empty(); }, "scores by columns (by.columns)"},
  };
}

}  // namespace emomc::app

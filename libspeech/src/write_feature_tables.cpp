#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/speech/feature_set.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

using Group = std::vector<const UtteranceFrames*>;

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

void append_number(std::string& text, double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  text.append(buffer, end);
}

void check_label(const UtteranceFrames& utterance, const char* what, const std::string& label) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; };
  std::string shown = label;
  std::replace_if(shown.begin(), shown.end(), is_control, '?');
  if (label.empty() || label != shown || label.find('/') != std::string::npos)
    throw InputError("utterance '" + utterance.id + "': the " + what + " '" + shown +
                     "' cannot be part of a file's name; it must have characters, but no '/' and no control "
                     "character");
}

void check(const FeatureSet& features) {
  if (features.utterances.empty()) throw InputError("there are no utterances to write");
  for (const auto& column : features.columns)
    if (const auto& reserved = reserved_columns();
        std::find(reserved.begin(), reserved.end(), column) != reserved.end())
      throw InputError("the column name '" + column + "' is reserved for labels");
  std::set<std::string> ids;
  for (const auto& utterance : features.utterances) {
    check_label(utterance, "emotion", utterance.emotion);
    check_label(utterance, "speaker", utterance.speaker);
    if (utterance.id.empty()) throw InputError("an utterance has no id");
    if (!ids.insert(utterance.id).second)
      throw InputError("utterance '" + utterance.id + "': the id occurs twice");
    if (utterance.num_rows == 0)
      throw InputError("utterance '" + utterance.id + "': it has no rows, and a table cannot represent it");
  }
  for (std::size_t i = 0; i < features.values.size(); ++i)
    if (!std::isfinite(features.values[i]))
      throw InputError("row " + std::to_string(i / features.dim() + 1) + ": column " +
                       features.columns[i % features.dim()] + ": the value is not finite");
}

/// A character that occurs in no emotion and no speaker, so that a file's name can be parsed in only one way.
std::string separator_for(const FeatureSet& features) {
  for (const char separator : {'_', '-', '+', '~', '=', '@'}) {
    const auto occurs = [&](const UtteranceFrames& u) {
      return (u.emotion + u.speaker).find(separator) != std::string::npos;
    };
    if (std::none_of(features.utterances.begin(), features.utterances.end(), occurs))
      return std::string(1, separator);
  }
  throw InputError(
      "the names of emotions and speakers have all of _ - + ~ = @: none is left to separate them in a file's "
      "name; rename a label");
}

std::string table_text(const FeatureSet& features, const Group& utterances) {
  const std::string prefix = utterances[0]->emotion + '_' + utterances[0]->speaker + '_';
  const bool prefixed = std::all_of(utterances.begin(), utterances.end(), [&](const UtteranceFrames* u) {
    return u->id.size() > prefix.size() && u->id.starts_with(prefix);
  });
  std::string text = "utterance,frame";
  for (const auto& column : features.columns) text += ',' + quoted(column);
  text += '\n';
  for (const UtteranceFrames* utterance : utterances) {
    const std::string name = quoted(prefixed ? utterance->id.substr(prefix.size()) : utterance->id);
    for (std::size_t row = 0; row < utterance->num_rows; ++row) {
      text += name + ',' + std::to_string(row);
      const double* x = features.values.data() + (utterance->first_row + row) * features.dim();
      for (std::size_t j = 0; j < features.dim(); ++j) {
        text += ',';
        append_number(text, x[j]);
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace

std::string write_feature_tables(const FeatureSet& features, const fs::path& directory,
                                 std::set<std::string>* names) {
  check(features);
  const std::string separator = separator_for(features);
  std::map<std::string, Group> files;
  for (const auto& utterance : features.utterances)
    files[utterance.emotion + separator + utterance.speaker + ".csv"].push_back(&utterance);
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw MachineError(directory.string() + ": cannot be created: " + error.message());
  for (const auto& [name, utterances] : files) {
    const fs::path file = directory / name;
    if (names) names->insert(name);
    std::ofstream stream(file, std::ios::binary);
    stream << table_text(features, utterances);
    stream.close();
    if (!stream) throw MachineError(file.string() + ": writing failed: " + std::strerror(errno));
  }
  return "{emotion}" + separator + "{speaker}.csv";
}

}  // namespace emomc

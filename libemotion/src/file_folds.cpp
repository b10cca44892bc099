#include "file_folds.hpp"

#include <algorithm>
#include <map>

#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/posterior/excerpt.hpp"
#include "emomc/posterior/text_table.hpp"
#include "utterance_values.hpp"

namespace emomc {
namespace {

// The value of each speaker. A recording is standardised by all recordings of its speaker; a speaker in two
// folds would therefore be known in training.
std::vector<std::string> values_of_speakers(const LabelledFrames& frames, const FoldsConfig& folds,
                                            const std::vector<std::string>& values) {
  std::map<int, std::size_t> first;  // one utterance of each speaker
  for (std::size_t u = 0; u < values.size(); ++u) {
    const std::string& id = frames.features.utterances[u].id;
    if (values[u].empty())
      throw InputError("folds.file: " + folds.file.string() + ": the " + folds.column + " of " + excerpt(id) +
                       " is missing");
    const auto [at, is_new] = first.emplace(frames.speaker_of[u], u);
    if (!is_new && values[at->second] != values[u])
      throw InputError(
          "folds.file: " + folds.file.string() + ": speaker " +
          excerpt(frames.features.utterances[u].speaker) + " is in fold " + excerpt(values[at->second]) +
          " (" + excerpt(frames.features.utterances[at->second].id) + ") and in fold " + excerpt(values[u]) +
          " (" + excerpt(id) + "); all recordings of a speaker must be in one fold");
  }
  std::vector<std::string> of_speaker;
  for (std::size_t s = 0; s < frames.speakers.size(); ++s)
    of_speaker.push_back(values[first.at(static_cast<int>(s))]);
  return of_speaker;
}

}  // namespace

NamedFolds folds_of_file(const LabelledFrames& frames, const FoldsConfig& folds) {
  const std::vector<std::string> values = utterance_values(frames, folds.file, folds.column, "folds.file");
  const std::vector<std::string> of_speaker = values_of_speakers(frames, folds, values);
  std::map<std::string, std::vector<int>> found;
  for (std::size_t s = 0; s < of_speaker.size(); ++s) found[of_speaker[s]].push_back(static_cast<int>(s));
  std::vector<std::string> names;
  for (const auto& [name, of_fold] : found) names.push_back(name);
  NamedFolds result;
  if (folds.test.empty()) {
    if (found.size() < 2)
      throw InputError("folds.file: " + folds.file.string() + ": all recordings are in fold " +
                       excerpt(names[0]) + ", and nothing is left to train on");
    for (auto& [name, of_fold] : found) {
      result.names.push_back(name);
      result.tests.push_back(std::move(of_fold));
    }
    return result;
  }
  result.tests.emplace_back();
  for (const std::string& name : folds.test) {
    const auto at = found.find(name);
    if (at == found.end())
      throw InputError("folds.test: no recording has " + folds.column + " " + excerpt(name) + "; " +
                       did_you_mean(nearest_name(name, names)) + "found: " + joined(names));
    result.tests[0].insert(result.tests[0].end(), at->second.begin(), at->second.end());
  }
  std::sort(result.tests[0].begin(), result.tests[0].end());
  if (result.tests[0].size() == frames.speakers.size())
    throw InputError("folds.test: all of " + folds.file.string() +
                     " is listed, and nothing is left to train on");
  result.names.push_back(joined(folds.test));
  return result;
}

}  // namespace emomc

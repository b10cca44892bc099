// Lists corpora whose file names contain speaker and emotion; docs/corpora.md has the sources of the corpora.
#include <algorithm>
#include <map>
#include <regex>

#include "corpus_kinds.hpp"
#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

struct Convention {
  const char* kind;
  const char* form;    ///< an example of the names, for messages
  const char* speech;  ///< matches the path below the corpus without extension: 1 speaker, 2 emotion
  std::map<std::string, std::string> emotion_of;
  const char* speaker_prefix = "";
  const char* other = nullptr;  ///< matches recordings that are not speech; nullptr: the corpus has none
  const char* why_other = "";   ///< reason for leaving out recordings that `other` matches
};

const std::vector<Convention>& conventions() {
  static const std::vector<Convention> all{
      {.kind = "emodb",
       .form = "03a01Fa",
       .speech = R"((?:.*/)?(\d\d)[ab]\d\d([A-Z])[a-z]?)",
       .emotion_of = {{"W", "anger"},
                      {"L", "boredom"},
                      {"E", "disgust"},
                      {"A", "fear"},
                      {"F", "happiness"},
                      {"T", "sadness"},
                      {"N", "neutral"}}},
      {.kind = "ravdess",
       .form = "03-01-06-01-02-01-12",
       .speech = R"((?:.*/)?0[13]-01-(?=\d\d-\d\d-\d\d-\d\d-(\d\d)$)(\d\d)-.*)",
       .emotion_of = {{"01", "neutral"},
                      {"02", "calm"},
                      {"03", "happiness"},
                      {"04", "sadness"},
                      {"05", "anger"},
                      {"06", "fear"},
                      {"07", "disgust"},
                      {"08", "surprise"}},
       .speaker_prefix = "Actor_",
       .other = R"((?:.*/)?0[123]-02(?:-\d\d){5})",
       .why_other = "song (vocal channel 02), not speech"},
      {.kind = "cremad",
       .form = "1001_DFA_ANG_XX",
       .speech = R"((?:.*/)?(1\d\d\d)_[A-Z]{3}_([A-Z]{3})_[A-Z]{1,2})",  // 1040_ITH_SAD_X has one X
       .emotion_of = {{"ANG", "anger"},
                      {"DIS", "disgust"},
                      {"FEA", "fear"},
                      {"HAP", "happiness"},
                      {"NEU", "neutral"},
                      {"SAD", "sadness"}}},
      {.kind = "tess",
       .form = "OAF_back_angry",
       .speech = R"((?:.*/)?([OY]AF?)_[^_/]+_([a-z]+))",  // OA_bite_neutral lacks the F
       .emotion_of = {{"angry", "anger"},
                      {"disgust", "disgust"},
                      {"fear", "fear"},
                      {"happy", "happiness"},
                      {"ps", "surprise"},
                      {"sad", "sadness"},
                      {"neutral", "neutral"}}},
      {.kind = "savee",
       .form = "DC_a01 or DC/a01",
       .speech = R"((?:.*/)?(DC|JE|JK|KL)[_/]([a-z]{1,2})\d\d)",
       .emotion_of = {{"a", "anger"},
                      {"d", "disgust"},
                      {"f", "fear"},
                      {"h", "happiness"},
                      {"n", "neutral"},
                      {"sa", "sadness"},
                      {"su", "surprise"}}},
  };
  return all;
}

/// Fills in speaker and emotion from the id; returns the reason if it cannot, else an empty string.
std::string parse(const Convention& convention, const std::regex& speech, Utterance& utterance) {
  if (is_hidden(utterance.file)) return "a hidden file";
  std::smatch match;
  if (!std::regex_match(utterance.id, match, speech)) {
    if (convention.other && std::regex_match(utterance.id, std::regex(convention.other)))
      return convention.why_other;
    return std::string("the name is not of the form ") + convention.form;
  }
  const auto emotion = convention.emotion_of.find(match[2]);
  if (emotion == convention.emotion_of.end()) {
    std::string known;
    for (const auto& [code, word] : convention.emotion_of) known += (known.empty() ? "" : ", ") + code;
    return "the emotion '" + match[2].str() + "' is unknown; known are " + known;
  }
  utterance.emotion = emotion->second;
  utterance.speaker = convention.speaker_prefix + match[1].str();
  if (utterance.speaker == "OA" || utterance.speaker == "YA") utterance.speaker += 'F';
  return "";
}

}  // namespace

std::vector<std::string> kinds_by_file_name() {
  std::vector<std::string> kinds;
  for (const auto& convention : conventions()) kinds.emplace_back(convention.kind);
  return kinds;
}

std::string speaker_of_file(const std::string& kind, const fs::path& file) {
  const auto convention = std::find_if(conventions().begin(), conventions().end(),
                                       [&](const Convention& c) { return c.kind == kind; });
  if (convention == conventions().end())
    throw InputError("corpus kind '" + kind + "': its file names do not identify the speaker");
  // All forms end within the last folder; longer paths would only slow down the match.
  const std::string folder = file.parent_path().filename().string();
  Utterance utterance{(folder.empty() ? "" : folder + "/") + file.stem().string(), "", "", file};
  const std::string why = parse(*convention, std::regex(convention->speech), utterance);
  return why.empty() ? utterance.speaker : "";
}

CorpusListing list_by_file_names(const std::string& kind, const fs::path& root) {
  const auto& convention = *std::find_if(conventions().begin(), conventions().end(),
                                         [&](const Convention& c) { return c.kind == kind; });
  const std::regex speech(convention.speech);
  CorpusListing listing;
  // In some circulating copies of RAVDESS and TESS, every recording occurs twice: in a folder, and in another
  // folder inside it.
  std::map<std::pair<std::string, std::string>, fs::path> first_with;
  for (const auto& file : audio_files(root)) {
    Utterance utterance{utterance_id(file, root), "", "", file};
    std::string why = parse(convention, speech, utterance);
    if (why.empty()) {
      const auto [first, is_new] = first_with.try_emplace({utterance.speaker, file.stem().string()}, file);
      if (!is_new && first->second.parent_path() != file.parent_path())
        why = "the recording is there already: " + first->second.string();
    }
    if (why.empty())
      listing.utterances.push_back(std::move(utterance));
    else
      listing.unparsed.push_back({file, why});
  }
  return listing;
}

}  // namespace emomc

// Lists IEMOCAP (Busso et al. 2008): one text file for each dialogue has the emotion labels by majority vote.
#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "corpus_kinds.hpp"
#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::string>& emotions() {
  static const std::map<std::string, std::string> words{
      {"ang", "anger"},       {"dis", "disgust"},   {"exc", "excitement"}, {"fea", "fear"},
      {"fru", "frustration"}, {"hap", "happiness"}, {"neu", "neutral"},    {"oth", "other"},
      {"sad", "sadness"},     {"sur", "surprise"}};
  return words;
}

std::vector<fs::path> children(const fs::path& folder, const std::regex& name) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (std::regex_match(entry->path().filename().string(), name)) found.push_back(entry->path());
  std::sort(found.begin(), found.end());
  return found;
}

/// The labels of one dialogue. Label lines have the form
/// "[start - end]<tab>utterance<tab>emotion<tab>[valence, ...]"; other lines are ignored.
class LabelFile {
 public:
  LabelFile(const fs::path& root, const fs::path& session, const fs::path& file)
      : root_(root), recordings_(session / "sentences" / "wav" / file.stem()), file_(file) {}

  void list(CorpusListing& listing) {
    std::ifstream stream(file_);
    if (!stream) throw InputError(file_.string() + ": cannot be read");
    std::string line;
    for (std::size_t number = 1; std::getline(stream, line); ++number) {
      if (line.ends_with('\r')) line.pop_back();
      if (line.starts_with('['))
        list_line(line, file_.string() + ":" + std::to_string(number) + ": ", listing);
    }
  }

 private:
  void list_line(const std::string& line, const std::string& place, CorpusListing& listing) const {
    // The speaker is given by the letter before the turn's number, not by the letter in the dialogue's name.
    static const std::regex label(R"(\[[^\]]*\]\s+((Ses\d\d)[FM]_\S*_([FM])[A-Z]*\d+[a-z]*)\s+([a-z]+)\s.*)");
    std::smatch match;
    const bool is_long = line.size() > 1000;  // std::regex recurses once for each character
    if (is_long || !std::regex_match(line, match, label)) {
      listing.unparsed.push_back({file_, place + "not of the form [start - end], utterance, emotion"});
      return;
    }
    const fs::path recording = recordings_ / (match[1].str() + ".wav");
    const std::string code = match[4];
    const auto emotion = emotions().find(code);
    std::error_code error;
    if (!fs::exists(recording, error))
      listing.unparsed.push_back({recording, place + "there is no such recording"});
    else if (code == "xxx")
      listing.unparsed.push_back({recording, place + "those who labelled it do not agree (xxx)"});
    else if (emotion == emotions().end())
      listing.unparsed.push_back({recording, place + "the emotion '" + code + "' is unknown"});
    else
      listing.utterances.push_back(
          {utterance_id(recording, root_), match[2].str() + match[3].str(), emotion->second, recording});
  }

  fs::path root_, recordings_, file_;
};

}  // namespace

CorpusListing list_iemocap(const fs::path& root) {
  CorpusListing listing;
  const auto sessions = children(root, std::regex(R"(Session\d+)"));
  if (sessions.empty()) throw InputError(root.string() + ": there is no folder Session1 or the like");
  for (const auto& session : sessions) {
    for (const auto& file : children(session / "dialog" / "EmoEvaluation", std::regex(R"([^.].*\.txt)")))
      LabelFile(root, session, file).list(listing);
  }
  std::set<fs::path> seen;
  for (const auto& utterance : listing.utterances) seen.insert(utterance.file);
  for (const auto& unparsed : listing.unparsed) seen.insert(unparsed.file);
  for (const auto& session : sessions) {
    const fs::path recordings = session / "sentences" / "wav";
    std::error_code error;
    if (!fs::is_directory(recordings, error)) continue;
    for (const auto& file : audio_files(recordings))
      if (!seen.contains(file))
        listing.unparsed.push_back({file, is_hidden(file) ? "a hidden file" : "no label file names it"});
  }
  return listing;
}

}  // namespace emomc

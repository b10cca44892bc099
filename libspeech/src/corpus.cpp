#include "emomc/speech/corpus.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "corpus_kinds.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/core/utf8.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

CorpusListing list_files(const std::string& kind, const fs::path& path, ManifestLabels labels) {
  const auto kinds = corpus_kinds();
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    std::string known;
    for (const auto& name : kinds) known += (known.empty() ? "" : ", ") + name;
    throw InputError("corpus kind '" + kind + "': " + did_you_mean(nearest_name(kind, kinds)) + "known are " +
                     known);
  }
  std::error_code error;
  if (!fs::exists(path, error)) throw InputError(path.string() + ": there is no such file or folder");
  if (kind == "manifest") return list_manifest(path, labels);
  if (!fs::is_directory(path, error)) throw InputError(path.string() + ": this is a file, not a folder");
  if (kind == "iemocap") return list_iemocap(path);
  if (kind == "folders") return list_folders(path);
  return list_by_file_names(kind, path);
}

void refuse_doubled_ids(const std::vector<Utterance>& sorted) {
  const auto doubled = std::adjacent_find(sorted.begin(), sorted.end(),
                                          [](const auto& a, const auto& b) { return a.id == b.id; });
  if (doubled != sorted.end())
    throw InputError(doubled->file.string() + " and " + (doubled + 1)->file.string() +
                     ": both have the id '" + doubled->id + "', the path without extension");
}

// A label without its accented letters: bytes outside ASCII, and letters before a combining mark (U+0300 to
// U+036F), are replaced by '*'.
std::string without_accents(const std::string& label, bool& has_marks) {
  std::string text;
  for (std::size_t i = 0; i < label.size(); ++i) {
    const auto byte = static_cast<unsigned char>(label[i]);
    if (byte < 0x80) {
      text += label[i];
      continue;
    }
    const auto next = static_cast<unsigned char>(i + 1 < label.size() ? label[i + 1] : 0);
    const bool is_mark = byte == 0xcc || (byte == 0xcd && next < 0xb0);
    if (is_mark && !text.empty()) {
      has_marks = true;
      text.back() = '*';
    } else if (!is_mark) {
      text += '*';
    }
    while (i + 1 < label.size() && (static_cast<unsigned char>(label[i + 1]) & 0xc0) == 0x80) ++i;
  }
  return text;
}

// Unicode has two forms of an accented letter: one code point, or a letter and a combining mark. File systems
// and editors differ in the form that they write. Labels in both forms would be two classes, or two speakers.
void refuse_mixed_unicode_forms(const std::vector<Utterance>& utterances, std::string Utterance::*label,
                                const std::string& what) {
  std::map<std::string, std::pair<std::string, bool>> seen;
  for (const Utterance& utterance : utterances) {
    bool has_marks = false;
    const std::string& name = utterance.*label;
    const auto [other, is_new] = seen.try_emplace(without_accents(name, has_marks), name, has_marks);
    if (!is_new && other->second.first != name && other->second.second != has_marks)
      throw InputError(
          utterance.file.string() + ": the " + what + " '" + name + "' is '" + other->second.first +
          "' of other recordings in another Unicode form (accents composed and decomposed); write both "
          "in the same form");
  }
}

}  // namespace

std::vector<std::string> corpus_kinds() {
  auto kinds = kinds_by_file_name();
  for (const char* kind : {"iemocap", "folders", "manifest"}) kinds.emplace_back(kind);
  return kinds;
}

CorpusListing list_corpus(const std::string& kind, const fs::path& path, ManifestLabels labels) {
  CorpusListing listing = list_files(kind, path, labels);
  std::sort(listing.utterances.begin(), listing.utterances.end(),
            [](const auto& a, const auto& b) { return a.id != b.id ? a.id < b.id : a.file < b.file; });
  std::stable_sort(listing.unparsed.begin(), listing.unparsed.end(),
                   [](const auto& a, const auto& b) { return a.file < b.file; });
  refuse_doubled_ids(listing.utterances);
  refuse_mixed_unicode_forms(listing.utterances, &Utterance::emotion, "emotion");
  refuse_mixed_unicode_forms(listing.utterances, &Utterance::speaker, "speaker");
  for (const auto& utterance : listing.utterances)
    if (!is_utf8(utterance.id)) throw InputError(utterance.file.string() + ": the file's name is not UTF-8");
  if (listing.utterances.empty() && listing.unparsed.empty())
    throw InputError(path.string() + ": there are no recordings (.wav, .flac)");
  if (listing.utterances.empty())
    throw InputError(path.string() + ": none of " + std::to_string(listing.unparsed.size()) +
                     " recordings could be parsed as " + kind +
                     "; the first: " + listing.unparsed[0].file.string() + ": " + listing.unparsed[0].why);
  return listing;
}

std::vector<fs::path> audio_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::string extension = entry->path().extension().string();
    for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    std::error_code vanished;
    if ((extension == ".wav" || extension == ".flac") && entry->is_regular_file(vanished))
      files.push_back(entry->path());
  }
  if (error) throw InputError(folder.string() + ": cannot be read: " + error.message());
  std::sort(files.begin(), files.end());
  return files;
}

std::string utterance_id(const fs::path& file, const fs::path& root) {
  return file.lexically_relative(root).replace_extension().generic_string();
}

bool is_hidden(const fs::path& file) { return file.filename().string().starts_with('.'); }

}  // namespace emomc

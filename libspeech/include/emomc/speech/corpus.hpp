// Which recordings a corpus has, who speaks and what is felt, by the conventions of its file names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace emomc {

struct Utterance {
  std::string id;       ///< unique in the corpus: the file's path below the corpus without its extension
  std::string speaker;  ///< as the corpus writes it: "03", "Actor_12", "OAF"
  std::string
      emotion;  ///< a word in lower case: "anger", "neutral"; of folders, manifests and tables as written
  std::filesystem::path file;
};

struct UnparsedFile {
  std::filesystem::path file;
  std::string why;
};

struct CorpusListing {
  std::vector<Utterance> utterances;  ///< sorted by id
  std::vector<UnparsedFile> unparsed;
};

/// emodb, ravdess, cremad, tess, savee, iemocap, folders, manifest: what list_corpus knows.
std::vector<std::string> corpus_kinds();

/// The recordings (.wav, .flac) below `path`; for `manifest` `path` is a CSV with columns path, label,
/// speaker, its paths relative to its own folder. Files are not opened. Throws InputError where the kind is
/// unknown, the path does not exist, or nothing in it could be parsed.
CorpusListing list_corpus(const std::string& kind, const std::filesystem::path& path);

}  // namespace emomc

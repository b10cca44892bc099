// Which recordings a corpus has, who speaks and what is felt, by the conventions of its file names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace emomc {

struct Utterance {
  std::string id;       ///< unique in the corpus: the file's path below the corpus without its extension
  std::string speaker;  ///< as the corpus writes it: "03", "Actor_12", "OAF"
  std::string emotion;  ///< "anger", the same word in all corpora; of folders and manifests as written there
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

/// The recordings (.wav, .flac) below `path`; docs/corpora.md has the names that each kind expects. What has
/// another name, no one emotion (songs, labels without agreement), or is in the corpus a second time is
/// listed as unparsed. For `manifest` `path` is a CSV with columns path, label, speaker, its paths relative
/// to its own folder, of files of any extension. Files are not opened. Throws InputError where the kind is
/// unknown, the path does not exist, an id occurs twice, nothing could be parsed, or a manifest has a mistake
/// (its line).
CorpusListing list_corpus(const std::string& kind, const std::filesystem::path& path);

}  // namespace emomc

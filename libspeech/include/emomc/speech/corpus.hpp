// Lists the recordings of a corpus with speaker and emotion, by the naming convention of the corpus.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace emomc {

struct Utterance {
  std::string id;       ///< unique in the corpus: the file's path below the corpus without its extension
  std::string speaker;  ///< as written in the corpus: "03", "Actor_12", "OAF"
  /// Word such as "anger", the same in all corpora, except that folders and manifests keep their own words.
  std::string emotion;
  std::filesystem::path file;
};

/// A file that was left out, with the reason.
struct UnparsedFile {
  std::filesystem::path file;
  std::string why;
};

struct CorpusListing {
  std::vector<Utterance> utterances;  ///< sorted by id
  std::vector<UnparsedFile> unparsed;
};

/// Whether each recording of a manifest must have a label; a regression needs none.
enum class ManifestLabels { required, optional };

/// The kinds that list_corpus accepts: emodb, ravdess, cremad, tess, savee, iemocap, folders, manifest.
std::vector<std::string> corpus_kinds();

/// Lists the recordings (.wav, .flac) below `path`; docs/corpora.md has the file names that each kind
/// expects. A recording is listed as unparsed if its name has another form, if it has no single emotion
/// (songs, labels without agreement), or if the corpus contains it a second time. For the kind `manifest`,
/// `path` is a CSV file with the columns path, label and speaker; its paths are relative to its own folder,
/// and the files may have any extension. If labels are optional, the column label, or a label in it, may be
/// missing: the emotion is then empty. Audio files are not opened. Throws InputError if the kind is unknown,
/// the path does not exist, an id occurs twice, no recording could be parsed, or a manifest has an error (the
/// message names its line).
CorpusListing list_corpus(const std::string& kind, const std::filesystem::path& path,
                          ManifestLabels labels = ManifestLabels::required);

/// The speaker of a single recording, determined from its path (file name and folders, see docs/corpora.md).
/// Empty if the path does not have the form that the kind expects. Throws InputError if the kind is unknown
/// or its names do not contain speakers (iemocap, folders, manifest).
std::string speaker_of_file(const std::string& kind, const std::filesystem::path& file);

}  // namespace emomc

// Functions that list the recordings of one kind of corpus; list_corpus() sorts and checks their results.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "emomc/speech/corpus.hpp"

namespace emomc {

/// The kinds whose file names contain speaker and emotion.
std::vector<std::string> kinds_by_file_name();

CorpusListing list_by_file_names(const std::string& kind, const std::filesystem::path& root);
CorpusListing list_iemocap(const std::filesystem::path& root);
CorpusListing list_folders(const std::filesystem::path& root);
CorpusListing list_manifest(const std::filesystem::path& manifest, ManifestLabels labels);

/// The .wav and .flac files (extensions in any case) below a folder, sorted; links to folders are not
/// followed. Throws InputError if a folder cannot be read.
std::vector<std::filesystem::path> audio_files(const std::filesystem::path& folder);

/// The path of `file` below `root` without its extension, with "/" between folders.
std::string utterance_id(const std::filesystem::path& file, const std::filesystem::path& root);

/// Whether the name begins with a dot. Some systems create such a companion file for each recording, with the
/// recording's name.
bool is_hidden(const std::filesystem::path& file);

}  // namespace emomc

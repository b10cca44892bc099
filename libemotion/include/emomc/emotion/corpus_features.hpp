// Reads a corpus from disk and turns it into frames that a mixture can be fitted to.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/emotion/evaluation_config.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "emomc/speech/audio.hpp"
#include "emomc/speech/corpus.hpp"
#include "emomc/speech/feature_set.hpp"
#include "emomc/speech/functional_table.hpp"

namespace emomc {

struct CorpusFeatures {
  FeatureSet features;             ///< normalised, with deltas
  std::vector<std::string> notes;  ///< what was read, dropped and skipped, one line each
  DataFingerprint fingerprint;  ///< of the labels and the normalised values; its parts are utterances before
                                ///< normalisation
  ColumnUnits units;            ///< mean and sd of all frames, with deltas, before normalisation
  FunctionalTable functionals;  ///< a row for each utterance, in their order, where they were asked for
  FunctionalTable clips;        ///< of clips of recordings (speech/clips.hpp), beside their functionals
  double sample_rate = 0;       ///< of all recordings, in Hz; 0: they differ, or the corpus is tables
};

/// Whether functionals of recordings, or of tables of frames, are computed beside the frames.
enum class Functionals { none, wanted };

/// Called with the number of recordings that have been read and the number of all, first with none; by one
/// thread at a time, and not always by the same one. It may throw to end the work.
using OnRecording = std::function<void(std::size_t done, std::size_t all)>;

/// Reads tables, or recordings whose MFCCs it computes in parallel (`threads` 0: all), then appends deltas
/// and normalises. Throws InputError.
CorpusFeatures load_corpus_features(const CorpusConfig& corpus, const FeaturesConfig& features, int threads,
                                    const OnRecording& on_recording,
                                    Functionals functionals = Functionals::none);

/// What is read of a corpus whose functionals are a table of another program (features.table): its
/// recordings are listed and not opened, and each of them is a single frame of no meaning. Throws InputError,
/// also where a recording has no row, unless corpus.unparsed is skip.
CorpusFeatures read_table_of_utterances(const CorpusConfig& corpus, const FeaturesConfig& features);

/// Only the MFCCs of the recordings, without deltas and normalisation. This is what `emomc features` writes.
CorpusFeatures extract_corpus(const CorpusConfig& corpus, const FeaturesConfig& features, int threads,
                              const OnRecording& on_recording, Functionals functionals = Functionals::none);

/// Recordings with their labels, wherever they are.
struct GivenRecordings {
  std::vector<Utterance> utterances;  ///< ids are distinct; `file` is the name in messages
  /// Recording i; called by several threads at once. Throws InputError, which names the recording.
  std::function<Recording(std::size_t i)> read;
  bool refuse_unreadable = true;  ///< false: recordings that cannot be read, or repeat another, are left out
  std::string advice;             ///< how to leave them out, for messages
};

/// Does what load_corpus_features does for a corpus of recordings.
CorpusFeatures features_of_recordings(const GivenRecordings& recordings, const FeaturesConfig& features,
                                      int threads, const OnRecording& on_recording,
                                      Functionals functionals = Functionals::none);

}  // namespace emomc

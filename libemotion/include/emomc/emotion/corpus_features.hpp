// Reads a corpus from disk and computes from it the frames and functionals on which classifiers are trained.
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
  std::vector<std::string> notes;  ///< lines on what was read, dropped and skipped
  /// Fingerprint of the labels and the normalised values; its parts are utterances before normalisation.
  DataFingerprint fingerprint;
  ColumnUnits units;  ///< mean and sd of all frames, with deltas, before normalisation
  /// One row for each utterance, in the order of `features`; empty unless functionals are wanted.
  FunctionalTable functionals;
  /// Functionals of clips of recordings (speech/clips.hpp); empty unless functionals are wanted.
  FunctionalTable clips;
  /// Sample rate of all recordings, in Hz; 0: the rates differ, or the corpus is tables.
  double sample_rate = 0;
};

/// Whether functionals of recordings, or of tables of frames, are computed in addition to the frames.
enum class Functionals { none, wanted };

/// Called with the number of recordings that have been read and the number of all recordings, at first with
/// 0. The calls come from one thread at a time, but not always from the same one. An exception of the
/// function ends the work.
using OnRecording = std::function<void(std::size_t done, std::size_t all)>;

/// Reads a corpus of tables, or recordings, of which it computes the MFCCs in parallel (`threads` 0: all
/// threads). Then appends deltas and normalises. Throws InputError.
CorpusFeatures load_corpus_features(const CorpusConfig& corpus, const FeaturesConfig& features, int threads,
                                    const OnRecording& on_recording,
                                    Functionals functionals = Functionals::none);

/// Reads a corpus whose functionals are a table of another program (features.table). The recordings are
/// listed but not opened; each one is represented by a single frame without meaning. Throws InputError, also
/// if a recording has no row and corpus.unparsed is not skip.
CorpusFeatures read_table_of_utterances(const CorpusConfig& corpus, const FeaturesConfig& features);

/// Computes only the MFCCs of the recordings, without deltas and normalisation, for `emomc features`.
CorpusFeatures extract_corpus(const CorpusConfig& corpus, const FeaturesConfig& features, int threads,
                              const OnRecording& on_recording, Functionals functionals = Functionals::none);

/// Recordings from any source, with their labels.
struct GivenRecordings {
  std::vector<Utterance> utterances;  ///< ids are distinct; `file` is the name used in messages
  /// Returns recording i; called by several threads at once. Throws InputError, with the name of the
  /// recording.
  std::function<Recording(std::size_t i)> read;
  /// False: recordings that cannot be read, or that repeat another one, are left out.
  bool refuse_unreadable = true;
  std::string advice;  ///< text for messages on how to leave out recordings
};

/// Computes for given recordings what load_corpus_features computes for a corpus on disk.
CorpusFeatures features_of_recordings(const GivenRecordings& recordings, const FeaturesConfig& features,
                                      int threads, const OnRecording& on_recording,
                                      Functionals functionals = Functionals::none);

}  // namespace emomc

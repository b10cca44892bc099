// Reads a corpus from disk and turns it into frames that a mixture can be fitted to.
#pragma once

#include <string>
#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "emomc/speech/feature_set.hpp"
#include "emomc/speech/functional_table.hpp"
#include "evaluation_config.hpp"
#include "progress.hpp"

namespace emomc::app {

struct CorpusFeatures {
  FeatureSet features;             ///< normalised, with deltas
  std::vector<std::string> notes;  ///< what was read, dropped and skipped, one line each
  DataFingerprint fingerprint;  ///< of the labels and the normalised values; its parts are utterances before
                                ///< normalisation
  ColumnUnits units;            ///< mean and sd of all frames, with deltas, before normalisation
  FunctionalTable functionals;  ///< a row for each utterance, in their order, where they were asked for
  double sample_rate = 0;       ///< of all recordings, in Hz; 0: they differ, or the corpus is tables
};

/// Whether functionals of recordings are computed beside their frames.
enum class Functionals { none, wanted };

/// Reads tables, or recordings whose MFCCs it computes in parallel (`threads` 0: all), then appends deltas
/// and normalises. Throws InputError.
CorpusFeatures load_corpus_features(const CorpusConfig& corpus, const FeaturesConfig& features, int threads,
                                    Verbosity verbosity, Functionals functionals = Functionals::none);

/// What is read of a corpus whose functionals are a table of another program (features.table): its
/// recordings are listed and not opened, and each of them is a single frame of no meaning. Throws InputError,
/// also where a recording has no row, unless corpus.unparsed is skip.
CorpusFeatures read_table_of_utterances(const CorpusConfig& corpus, const FeaturesConfig& features);

/// Only the MFCCs of the recordings, without deltas and normalisation. This is what `emomc features` writes.
CorpusFeatures extract_corpus(const CorpusConfig& corpus, const FeaturesConfig& features, int threads,
                              Verbosity verbosity, Functionals functionals = Functionals::none);

}  // namespace emomc::app

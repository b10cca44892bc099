// From a corpus on disk to frames ready for a mixture.
#pragma once

#include <string>
#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "emomc/speech/feature_set.hpp"
#include "evaluation_config.hpp"
#include "progress.hpp"

namespace emomc::app {

struct CorpusFeatures {
  FeatureSet features;             ///< normalised, with deltas
  std::vector<std::string> notes;  ///< what was read, dropped and skipped, a line each
  DataFingerprint fingerprint;     ///< of labels and values; its parts, before normalisation, are utterances
  ColumnUnits units;               ///< of all frames before they were normalised, with deltas
  double sample_rate = 0;          ///< of all recordings; 0: they differ, or the corpus is tables
};

/// Reads tables, or recordings and their MFCCs in parallel (`threads` 0: all). Throws InputError.
CorpusFeatures load_corpus_features(const CorpusConfig& corpus, const FeaturesConfig& features, int threads,
                                    Verbosity verbosity);

/// The recordings' cepstra as they are, without normalisation and deltas: what `emomc features` writes.
CorpusFeatures extract_corpus(const CorpusConfig& corpus, const FeaturesConfig& features, int threads,
                              Verbosity verbosity);

}  // namespace emomc::app

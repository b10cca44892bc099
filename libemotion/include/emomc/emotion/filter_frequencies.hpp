// States when recordings of different sample rates cannot be compared.
#pragma once

#include <string>

#include "emomc/emotion/corpus_features.hpp"

namespace emomc {

/// A warning if `corpus` has recordings of different sample rates and the classifier uses cepstra whose
/// filters end at half the sample rate: one cepstrum then describes other frequencies in one recording than
/// in another. Empty otherwise; functionals always describe the frequencies up to 8 kHz.
std::string filters_warning(const EvaluationConfig& config, const CorpusFeatures& corpus);

}  // namespace emomc

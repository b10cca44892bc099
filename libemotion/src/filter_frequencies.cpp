#include "emomc/emotion/filter_frequencies.hpp"

namespace emomc {

std::string filters_warning(const EvaluationConfig& config, const CorpusFeatures& corpus) {
  const bool has_cepstra =
      config.classifier == ClassifierKind::mixtures || config.classifier == ClassifierKind::fused;
  if (!has_cepstra || config.corpus.kind == "tables" || corpus.sample_rate > 0 ||
      config.features.mfcc.high_hz > 0)
    return {};
  return "warning: sample rates differ, and with them the frequencies of the cepstra's filters; resample, or "
         "set features.high_hz";
}

}  // namespace emomc

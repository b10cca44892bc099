// Makes a corpus of rows in which two columns tell three classes apart.
#pragma once

#include <string>

#include "emomc/speech/softmax_evaluation.hpp"
#include "synthetic_voice.hpp"

namespace emomc::testing {

// Returns rows of speakers with offsets and scales of their own. Two of 30 columns tell the classes apart.
inline SoftmaxCorpus synthetic_corpus(int speakers = 5, int per_class = 6, double distance = 4) {
  SoftmaxCorpus corpus;
  corpus.num_classes = 3;
  corpus.num_speakers = speakers;
  for (int j = 0; j < 30; ++j) corpus.table.columns.push_back("x" + std::to_string(j));
  Noise noise;
  for (int s = 0; s < speakers; ++s)
    for (int k = 0; k < 3; ++k)
      for (int u = 0; u < per_class; ++u) {
        corpus.class_of.push_back(k);
        corpus.speaker_of.push_back(s);
        corpus.table.rows.push_back({"u" + std::to_string(s) + std::to_string(k) + std::to_string(u),
                                     "s" + std::to_string(s), "e" + std::to_string(k)});
        for (int j = 0; j < 30; ++j) {
          double x = 0;
          for (int i = 0; i < 6; ++i) x += noise.next();
          if (j == 0) x += distance * k;
          if (j == 1) x += distance * (k == 1);
          corpus.table.values.push_back(10 * s + (1 + s) * x);
        }
      }
  return corpus;
}

inline SoftmaxSettings quick_settings() {
  SoftmaxSettings settings;
  settings.prior_sds = {1, 4, 16};
  settings.chains = 2;
  settings.warmup = 60;
  settings.draws = 100;
  settings.inner_warmup = 40;
  settings.inner_draws = 30;
  return settings;
}

inline SoftmaxSettings quick_horseshoe() {
  SoftmaxSettings settings = quick_settings();
  settings.prior = SoftmaxPrior::horseshoe;
  settings.temperature = 1;
  settings.warmup = 120;
  settings.inner_warmup = 80;
  return settings;
}

}  // namespace emomc::testing

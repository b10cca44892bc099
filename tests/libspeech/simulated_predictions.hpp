// Makes predictions of three classes whose calibration is known.
#pragma once

#include <cmath>

#include "emomc/device/random.hpp"
#include "emomc/speech/scores.hpp"

namespace emomc::testing {

/// Returns n utterances of 3 classes and 5 speakers with random probabilities. The true classes are drawn
/// from these probabilities raised to the power `honesty` and normalised: 1 is calibrated, less is
/// overconfident.
inline Predictions simulated(int n, double honesty, std::uint64_t seed) {
  Predictions p{3, {}, {}, {}};
  for (int i = 0; i < n; ++i) {
    const device::RandomSource random{seed, static_cast<std::uint64_t>(i), 7};
    double logit[3], sum = 0, true_sum = 0;
    for (std::uint32_t c = 0; c < 3; ++c) {
      logit[c] = 1.5 * random.normal(device::Purpose::start, c);
      sum += std::exp(logit[c]);
      true_sum += std::exp(honesty * logit[c]);
    }
    double rest = true_sum * random.uniform(device::Purpose::acceptance, 0);
    int truth = 0;
    while (truth < 2 && (rest -= std::exp(honesty * logit[truth])) > 0) ++truth;
    p.truth.push_back(truth);
    p.speaker.push_back(i % 5);
    for (double l : logit) p.log_probability.push_back(l - std::log(sum));
  }
  return p;
}

}  // namespace emomc::testing

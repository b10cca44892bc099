// A small corpus with three speakers and two emotions, which is simulated quickly.
#pragma once

namespace emomc::testing {

/// The configuration for `emomc simulate`.
inline const char* const kSmallCorpus =
    "model: gaussian_mixture\n"
    "parameters: {weights: [0.5, 0.5], means: [[-2, 0], [2, 1]], scales: [[1, 1], [1, 1]]}\n"
    "seed: 5\n"
    "corpus:\n"
    "  speakers: [A, B, C]\n"
    "  utterances: 6\n"
    "  frames: 12\n"
    "  emotions:\n"
    "    calm: {weights: [0.7, 0.3], spread: 1, shift: [0, 0]}\n"
    "    glad: {weights: [0.4, 0.6], spread: 1.2, shift: [0.4, 0.3]}\n";

}  // namespace emomc::testing

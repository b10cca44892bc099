// Computes functionals of an utterance: one row of numbers from the descriptors of its frames.
// docs/functionals.md has the formulas.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "emomc/speech/descriptors.hpp"

namespace emomc {

/// The selection of functionals in a row, by descriptors or by functionals.
enum class FunctionalSet {
  cepstra,  ///< cepstral coefficients and band levels
  prosody,  ///< level, shape of the spectrum, voice, and timing of voiced stretches
  full,     ///< the functionals of cepstra and prosody
  compact,  ///< mean, sd, slope and sd of the delta of all descriptors, and the timing functionals
};

/// The names that functional_set() accepts: "cepstra", "prosody", "full", "compact".
std::vector<std::string> functional_set_names();
/// Throws InputError for an unknown name.
FunctionalSet functional_set(const std::string& name);
std::string functional_set_name(FunctionalSet set);

/// Raised whenever a functional of the same name changes its value.
inline constexpr int kFunctionalsVersion = 3;

/// The names of a set's functionals, "<descriptor>.<functional>" and the timing functionals "time.<name>", in
/// the order of functionals().
std::vector<std::string> functional_names(FunctionalSet set);

/// The functionals of one recording: [functional_names(set).size()]; NaN where a functional is not defined,
/// because too few frames have the descriptor.
std::vector<double> functionals(const FrameDescriptors& frames, FunctionalSet set);

}  // namespace emomc

// Reads settings in the form that data/make_mfcc.py writes.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "emomc/speech/mfcc.hpp"

namespace emomc::testing {

template <class E>
E choice(const nlohmann::json& name, const std::map<std::string, E>& choices) {
  return choices.at(name.get<std::string>());
}

/// Returns `settings` with the changes that data/make_mfcc.py names.
inline MfccSettings with(MfccSettings settings, const nlohmann::json& changes) {
  for (const auto& [key, value] : changes.items()) {
    if (key == "window_ms")
      settings.window_ms = value;
    else if (key == "hop_ms")
      settings.hop_ms = value;
    else if (key == "window_samples")
      settings.window_samples = value;
    else if (key == "hop_samples")
      settings.hop_samples = value;
    else if (key == "preemphasis")
      settings.preemphasis = value;
    else if (key == "periodic_window")
      settings.periodic_window = value;
    else if (key == "fft_size")
      settings.fft_size = value;
    else if (key == "num_filters")
      settings.num_filters = value;
    else if (key == "low_hz")
      settings.low_hz = value;
    else if (key == "high_hz")
      settings.high_hz = value;
    else if (key == "top_db")
      settings.top_db = value;
    else if (key == "num_coefficients")
      settings.num_coefficients = value;
    else if (key == "lifter")
      settings.lifter = value;
    else if (key == "window")
      settings.window = choice<Window>(
          value,
          {{"rectangular", Window::rectangular}, {"hamming", Window::hamming}, {"hann", Window::hann}});
    else if (key == "mel")
      settings.mel = choice<MelScale>(value, {{"htk", MelScale::htk}, {"slaney", MelScale::slaney}});
    else if (key == "height")
      settings.height =
          choice<FilterHeight>(value, {{"one", FilterHeight::one}, {"area", FilterHeight::area}});
    else if (key == "power")
      settings.power =
          choice<PowerKind>(value, {{"power", PowerKind::power}, {"magnitude", PowerKind::magnitude}});
    else if (key == "first")
      settings.first = choice<FirstCoefficient>(
          value, {{"cepstrum", FirstCoefficient::cepstrum}, {"log_energy", FirstCoefficient::log_energy}});
    else if (key == "framing")
      settings.framing =
          choice<Framing>(value, {{"pad_last", Framing::pad_last}, {"centred", Framing::centred}});
    else
      throw std::invalid_argument(key);
  }
  return settings;
}

}  // namespace emomc::testing

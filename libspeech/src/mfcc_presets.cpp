#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/speech/mfcc.hpp"

namespace emomc {
namespace {

// python_speech_features 0.6, mfcc(), with the FFT size of the function calculate_nfft.
MfccSettings python_speech_features() {
  MfccSettings settings;
  settings.window = Window::rectangular;
  settings.framing = Framing::pad_last;
  settings.corners = FilterCorners::fft_bins;
  settings.floor = FloorKind::zeros;
  settings.first = FirstCoefficient::log_energy;
  return settings;
}

// librosa 0.11, feature.mfcc(n_mfcc=13), at the recording's own sample rate.
MfccSettings librosa() {
  MfccSettings settings;
  settings.window_samples = 2048;
  settings.hop_samples = 512;
  settings.preemphasis = 0;
  settings.window = Window::hann;
  settings.periodic_window = true;
  settings.framing = Framing::centred;
  settings.power = PowerKind::power;
  settings.num_filters = 128;
  settings.mel = MelScale::slaney;
  settings.height = FilterHeight::area;
  settings.log = LogKind::decibel;
  settings.log_floor = 1e-10;
  settings.top_db = 80;
  settings.lifter = 0;
  return settings;
}

// The settings of the frames in the thesis that this project is based on.
MfccSettings thesis() {
  MfccSettings settings = python_speech_features();
  settings.window_ms = 20;
  settings.num_filters = 17;
  return settings;
}

}  // namespace

std::vector<std::string> mfcc_presets() { return {"emomc", "python_speech_features", "librosa", "thesis"}; }

MfccSettings mfcc_preset(const std::string& name) {
  if (name == "emomc") return {};
  if (name == "python_speech_features") return python_speech_features();
  if (name == "librosa") return librosa();
  if (name == "thesis") return thesis();
  std::string known;
  for (const auto& preset : mfcc_presets()) known += (known.empty() ? "" : ", ") + preset;
  throw InputError("MFCC preset: " + name + " is not known; " +
                   did_you_mean(nearest_name(name, mfcc_presets())) + "allowed: " + known);
}

}  // namespace emomc

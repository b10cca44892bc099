// Computes descriptors of each frame of a recording: its spectrum, its level and its voice.
// docs/functionals.md has the formulas.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emomc/speech/pitch.hpp"

namespace emomc {

/// The property that a descriptor describes.
enum class DescriptorKind {
  cepstral,  ///< coefficients and band levels of the mel spectrum
  level,     ///< level and shape of the spectrum as a whole
  voice,     ///< defined in voiced frames only
};

/// A descriptor's name and kind.
struct Descriptor {
  std::string name;
  DescriptorKind kind;
};

/// All descriptors, in the order of the columns of FrameDescriptors.
const std::vector<Descriptor>& descriptors();

/// The descriptors of a recording's frames, without frames of digital silence.
struct FrameDescriptors {
  std::size_t num_frames = 0;
  double hop_seconds = 0;
  /// Descriptors().size() x num_frames, one descriptor after another; NaN: undefined.
  std::vector<double> values;
  std::vector<bool> voiced;    ///< [num_frames]
  std::size_t num_silent = 0;  ///< number of frames left out because all their samples are equal
  std::span<const double> of(std::size_t descriptor) const {
    return {values.data() + descriptor * num_frames, num_frames};
  }
};

/// Computes the descriptors of recordings with one sample rate of 16 kHz or more. Frequencies above 8 kHz are
/// not used, so that descriptors of recordings at different rates are comparable. Several threads may use an
/// object at once.
class DescriptorExtractor {
 public:
  /// Throws InputError for a sample rate below 16 kHz or above 10 MHz.
  explicit DescriptorExtractor(double sample_rate);
  ~DescriptorExtractor();
  DescriptorExtractor(DescriptorExtractor&&) noexcept;
  DescriptorExtractor& operator=(DescriptorExtractor&&) noexcept;

  /// Computes the descriptors in windows of 25 ms every 10 ms; samples at the end that do not fill a window
  /// are ignored. `samples` must be finite. Multiplying all samples by a factor does not change the result.
  FrameDescriptors describe(std::span<const double> samples) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace emomc

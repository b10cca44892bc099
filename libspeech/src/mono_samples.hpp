// Reduces the samples of a recording, from a file or an array, to one checked channel.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace emomc {

/// Averages the channels of each frame.
class MonoSamples {
 public:
  /// `name` is the recording's name for messages; `num_channels` is 1 or more.
  MonoSamples(std::string name, std::size_t num_channels);
  /// Appends `interleaved`: num_frames x num_channels. Throws InputError for a sample that is not finite or
  /// beyond 1e100.
  void append(std::span<const double> interleaved);
  /// The number of frames so far.
  std::size_t count() const { return mono_.size(); }
  /// The samples. Throws InputError if channels cancel in their mean.
  std::vector<double> finish();

 private:
  std::string name_;
  std::size_t num_channels_;
  std::vector<double> mono_;
  double power_of_channels_ = 0, power_of_mean_ = 0;  // sums of squares
};

/// Throws InputError if there are no samples or all are equal. For floating-point samples, throws InputError
/// also if one is beyond 100 times full scale.
void require_sound(const std::string& name, std::span<const double> samples, bool is_floating);

}  // namespace emomc

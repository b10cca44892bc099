#include "own_level.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

namespace emomc {
namespace {

double mean_of(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

std::span<double> series(FrameDescriptors& frames, std::size_t descriptor) {
  return std::span(frames.values).subspan(descriptor * frames.num_frames, frames.num_frames);
}

std::size_t level_descriptor() {
  std::size_t d = 0;
  while (descriptors()[d].name != "level_db") ++d;
  return d;
}

// Divides the loudness by its mean, and lowers the levels of bands, which are natural logarithms.
void relate(FrameDescriptors& frames, double bands_db) {
  for (std::size_t d = 0; d < descriptors().size(); ++d) {
    const std::string& name = descriptors()[d].name;
    if (name == "loudness") {
      const double mean = mean_of(series(frames, d));
      for (double& x : series(frames, d)) x /= mean;
    } else if (name.starts_with("band_")) {
      for (double& x : series(frames, d)) x -= bands_db * std::numbers::ln10 / 10;
    }
  }
}

}  // namespace

void relate_to_own_level(FrameDescriptors& recording) {
  if (recording.num_frames > 0) relate(recording, mean_of(recording.of(level_descriptor())));
}

void relate_clip_to_own_level(const FrameDescriptors& recording, FrameDescriptors& clip) {
  if (clip.num_frames == 0) return;
  const std::size_t level = level_descriptor();
  relate(clip, mean_of(clip.of(level)) - mean_of(recording.of(level)));
  double power = 0;
  for (const double x : clip.of(level)) power += std::pow(10, x / 10) / static_cast<double>(clip.num_frames);
  for (double& x : series(clip, level)) x += 10 * std::log10(kMeanPower / power);
}

}  // namespace emomc

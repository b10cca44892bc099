#include <algorithm>
#include <cmath>

#include "emomc/speech/pitch.hpp"

namespace emomc {
namespace {

// The correlation of two stretches of `length` samples, from -1 to 1; 0 if one is constant.
double correlation(const double* a, const double* b, std::size_t length) {
  double sum_a = 0, sum_b = 0;
  for (std::size_t i = 0; i < length; ++i) {
    sum_a += a[i];
    sum_b += b[i];
  }
  const double mean_a = sum_a / static_cast<double>(length), mean_b = sum_b / static_cast<double>(length);
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < length; ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

// The length of the period that begins at `begin` and has about `expected` samples; 0 if the recording ends
// before.
double find_period(std::span<const double> samples, double begin, double expected) {
  const auto length = static_cast<std::size_t>(std::lround(expected));
  const auto lowest = static_cast<std::size_t>(0.8 * expected);
  const auto highest = static_cast<std::size_t>(std::ceil(1.25 * expected));
  const auto at = static_cast<std::size_t>(std::lround(begin));
  if (begin < 0 || lowest < 2 || at + length + highest + 2 > samples.size()) return 0;
  std::vector<double> r;  // correlations at lags from lowest - 1 to highest + 1
  for (std::size_t lag = lowest - 1; lag <= highest + 1; ++lag)
    r.push_back(correlation(samples.data() + at, samples.data() + at + lag, length));
  const auto best = static_cast<std::size_t>(std::max_element(r.begin() + 1, r.end() - 1) - r.begin());
  const double bend = r[best - 1] - 2 * r[best] + r[best + 1];
  double shift = bend < 0 ? 0.5 * (r[best - 1] - r[best + 1]) / bend : 0;
  if (std::abs(shift) > 1) shift = 0;  // the best lag is at an end
  return static_cast<double>(lowest - 1 + best) + shift;
}

}  // namespace

std::vector<Cycle> voice_cycles(std::span<const double> samples, double sample_rate, const PitchTrack& track,
                                std::span<const std::size_t> centres, std::size_t hop) {
  std::vector<Cycle> cycles;
  const std::size_t num_frames = centres.size();
  for (std::size_t first = 0; first < num_frames; ++first) {
    if (track.f0_hz[first] <= 0) continue;
    std::size_t last = first;
    while (last + 1 < num_frames && track.f0_hz[last + 1] > 0) ++last;
    const std::size_t half_hop = hop / 2;  // whole samples
    double begin = static_cast<double>(centres[first]) - static_cast<double>(half_hop);
    const double end = static_cast<double>(centres[last] + half_hop);
    bool begins_stretch = true;
    while (begin < end) {
      const double frames_on =
          std::round((begin - static_cast<double>(centres[first])) / static_cast<double>(hop));
      const std::size_t frame = std::min(last, first + static_cast<std::size_t>(std::max(0.0, frames_on)));
      const double expected = sample_rate / track.f0_hz[frame];
      const double period = find_period(samples, begin, expected);
      if (period == 0) break;
      const auto from = samples.begin() + std::lround(begin);
      const auto [low, high] = std::minmax_element(from, from + std::lround(expected));
      cycles.push_back({begin, period, *high - *low, begins_stretch});
      begins_stretch = false;
      begin += period;
    }
    first = last;
  }
  return cycles;
}

}  // namespace emomc

#include "mel_filters.hpp"

#include <cmath>

#include "emomc/core/errors.hpp"
#include "setting_error.hpp"

namespace emomc {
namespace {

// Slaney, Auditory Toolbox (1998): linear below 1 kHz; above, 27 steps for a factor of 6.4.
constexpr double kSlaneyHzPerMel = 200.0 / 3, kSlaneyBreakHz = 1000;
const double kSlaneyLogStep = std::log(6.4) / 27;

double mel_of_hz(MelScale scale, double hz) {
  if (scale == MelScale::htk) return 2595 * std::log10(1 + hz / 700);  // The HTK Book, 5.4
  if (hz < kSlaneyBreakHz) return hz / kSlaneyHzPerMel;
  return kSlaneyBreakHz / kSlaneyHzPerMel + std::log(hz / kSlaneyBreakHz) / kSlaneyLogStep;
}

double hz_of_mel(MelScale scale, double mel) {
  if (scale == MelScale::htk) return 700 * (std::pow(10.0, mel / 2595) - 1);
  const double break_mel = kSlaneyBreakHz / kSlaneyHzPerMel;
  if (mel < break_mel) return mel * kSlaneyHzPerMel;
  return kSlaneyBreakHz * std::exp(kSlaneyLogStep * (mel - break_mel));
}

// The num_filters + 2 corners of the filters, in units of FFT bins.
std::vector<double> corner_bins(const MfccSettings& settings, double sample_rate, int fft_size) {
  const double high_hz = settings.high_hz > 0 ? settings.high_hz : sample_rate / 2;
  const double low = mel_of_hz(settings.mel, settings.low_hz), high = mel_of_hz(settings.mel, high_hz);
  const int last = settings.num_filters + 1;
  std::vector<double> bins;
  for (int i = 0; i <= last; ++i) {
    const double mel = i == last ? high : low + i * ((high - low) / last);
    const double hz = hz_of_mel(settings.mel, mel);
    bins.push_back(settings.corners == FilterCorners::fft_bins ? std::floor((fft_size + 1) * hz / sample_rate)
                                                               : hz * fft_size / sample_rate);
  }
  return bins;
}

}  // namespace

MelFilters::MelFilters(const MfccSettings& settings, double sample_rate, int fft_size) {
  const auto corners = corner_bins(settings, sample_rate, fft_size);
  for (std::size_t i = 0; i + 2 < corners.size(); ++i) {
    const double left = corners[i], centre = corners[i + 1], right = corners[i + 2];
    const double height =
        settings.height == FilterHeight::one ? 1 : 2 / ((right - left) * sample_rate / fft_size);
    Range range{0, weights_.size(), 0};
    for (int bin = static_cast<int>(std::ceil(left)); bin < right && bin <= fft_size / 2; ++bin) {
      const double weight = bin < centre ? (bin - left) / (centre - left) : (right - bin) / (right - centre);
      if (!(weight > 0)) continue;  // the bin at the left corner has weight 0
      if (range.count++ == 0) range.first_bin = static_cast<std::size_t>(bin);
      weights_.push_back(height * weight);
    }
    if (range.count == 0)
      throw setting_error("num_filters", settings.num_filters,
                          "filters wider than the FFT's bins, which number " + std::to_string(i + 1) +
                              " is not; fewer filters or a larger fft_size than " + std::to_string(fft_size));
    ranges_.push_back(range);
  }
}

void MelFilters::apply(const double* spectrum, double* outputs) const {
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const double* x = spectrum + ranges_[i].first_bin;
    const double* w = weights_.data() + ranges_[i].first_weight;
    double sum = 0;
    for (std::size_t k = 0; k < ranges_[i].count; ++k) sum += w[k] * x[k];
    outputs[i] = sum;
  }
}

}  // namespace emomc

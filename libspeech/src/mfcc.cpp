#include "emomc/speech/mfcc.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <numeric>

#include "emomc/core/real_fft.hpp"
#include "frame_plan.hpp"
#include "mel_filters.hpp"

namespace emomc {
namespace {

// The buffers of one call of extract.
struct Workspace {
  explicit Workspace(std::size_t fft_size)
      : fft(fft_size), frame(fft_size), spectrum(fft.num_bins()), power(fft.num_bins()) {}
  RealFft fft;
  std::vector<double> frame;
  std::vector<std::complex<double>> spectrum;
  std::vector<double> power;
};

std::vector<double> window_weights(const MfccSettings& settings, std::size_t length) {
  const double period = static_cast<double>(settings.periodic_window ? length : length - 1);
  std::vector<double> weights(length, 1.0);
  for (std::size_t n = 0; n < length; ++n) {
    const double cosine = std::cos(2 * std::numbers::pi * static_cast<double>(n) / period);
    if (settings.window == Window::hamming) weights[n] = 0.54 - 0.46 * cosine;
    if (settings.window == Window::hann) weights[n] = 0.5 - 0.5 * cosine;
  }
  return weights;
}

// The orthonormal DCT-II, num_coefficients x num_filters, with rows scaled by the lifter.
std::vector<double> cepstrum_matrix(const MfccSettings& settings) {
  const int num_filters = settings.num_filters;
  std::vector<double> matrix;
  for (int n = 0; n < settings.num_coefficients; ++n) {
    const double lifter =
        settings.lifter > 0 ? 1 + settings.lifter / 2 * std::sin(std::numbers::pi * n / settings.lifter) : 1;
    const double scale = lifter * std::sqrt((n == 0 ? 1.0 : 2.0) / num_filters);
    for (int m = 0; m < num_filters; ++m)
      matrix.push_back(scale * std::cos(std::numbers::pi * n * (m + 0.5) / num_filters));
  }
  return matrix;
}

// 10 log10 of the variance of the samples [start, start + length), with zeros beyond the recording; -infinity
// if all samples are equal.
double variance_db(std::span<const double> samples, std::ptrdiff_t start, std::size_t length) {
  const auto size = static_cast<std::ptrdiff_t>(samples.size());
  const std::ptrdiff_t begin = std::clamp<std::ptrdiff_t>(start, 0, size);
  const std::ptrdiff_t end = std::clamp<std::ptrdiff_t>(start + static_cast<std::ptrdiff_t>(length), 0, size);
  const bool padded = end - begin < static_cast<std::ptrdiff_t>(length);
  double low = padded ? 0 : samples[begin], high = low, sum = 0;
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    low = std::min(low, samples[i]);
    high = std::max(high, samples[i]);
    sum += samples[i];
  }
  // The rounded mean of equal samples may differ from them, so the computed variance may differ from 0.
  if (low == high) return -std::numeric_limits<double>::infinity();
  const double mean = sum / static_cast<double>(length);
  double squares = static_cast<double>(length - (end - begin)) * mean * mean;
  for (std::ptrdiff_t i = begin; i < end; ++i) squares += (samples[i] - mean) * (samples[i] - mean);
  return 10 * std::log10(squares / static_cast<double>(length));
}

}  // namespace

struct MfccExtractor::Impl {
  Impl(const MfccSettings& given, double rate)
      : settings(given),
        sample_rate(rate),
        frames(plan_frames(given, rate)),
        window(window_weights(given, frames.window)),
        filters(given, rate, static_cast<int>(frames.fft_size)),
        cepstrum(cepstrum_matrix(given)) {}

  // Writes the preemphasised and windowed frame that begins at sample `start`, with zeros outside the
  // recording.
  void fill_frame(std::span<const double> samples, std::ptrdiff_t start, double* frame) const {
    const auto size = static_cast<std::ptrdiff_t>(samples.size());
    std::fill(frame, frame + frames.fft_size, 0.0);
    const std::ptrdiff_t begin = std::clamp<std::ptrdiff_t>(start, 0, size);
    const auto end = std::clamp<std::ptrdiff_t>(start + static_cast<std::ptrdiff_t>(frames.window), 0, size);
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      const double before = i > 0 ? samples[i - 1] : 0;
      frame[i - start] = (samples[i] - settings.preemphasis * before) * window[i - start];
    }
  }

  void find_power(Workspace& work) const {
    work.fft.forward(work.frame.data(), work.spectrum.data());
    const double scale =
        settings.power == PowerKind::power_over_fft_size ? 1 / static_cast<double>(frames.fft_size) : 1;
    for (std::size_t k = 0; k < work.power.size(); ++k) work.power[k] = scale * std::norm(work.spectrum[k]);
    if (settings.power == PowerKind::magnitude)
      for (double& power : work.power) power = std::sqrt(power);
  }

  double floored_log(double energy) const {
    if (settings.floor == FloorKind::zeros ? energy == 0 : energy < settings.log_floor)
      energy = settings.log_floor;
    return settings.log == LogKind::natural ? std::log(energy) : 10 * std::log10(energy);
  }

  MfccSettings settings;
  double sample_rate;
  FramePlan frames;
  std::vector<double> window;
  MelFilters filters;
  std::vector<double> cepstrum;
};

MfccExtractor::MfccExtractor(const MfccSettings& settings, double sample_rate)
    : impl_(std::make_unique<Impl>(settings, sample_rate)) {}
MfccExtractor::~MfccExtractor() = default;
MfccExtractor::MfccExtractor(MfccExtractor&&) noexcept = default;
MfccExtractor& MfccExtractor::operator=(MfccExtractor&&) noexcept = default;

int MfccExtractor::dim() const { return impl_->settings.num_coefficients; }
double MfccExtractor::sample_rate() const { return impl_->sample_rate; }

Frames MfccExtractor::extract(std::span<const double> samples, std::vector<double>* energy_db) const {
  const MfccSettings& settings = impl_->settings;
  const std::size_t num_frames = impl_->frames.num_frames(samples.size());
  const auto num_filters = static_cast<std::size_t>(settings.num_filters),
             dim = static_cast<std::size_t>(this->dim());
  Workspace work(impl_->frames.fft_size);
  std::vector<double> levels(num_frames * num_filters), log_energy(num_frames);
  if (energy_db) energy_db->assign(num_frames, 0);
  for (std::size_t t = 0; t < num_frames; ++t) {
    const std::ptrdiff_t start = impl_->frames.start(t);
    impl_->fill_frame(samples, start, work.frame.data());
    impl_->find_power(work);
    double* level = levels.data() + t * num_filters;
    impl_->filters.apply(work.power.data(), level);
    for (std::size_t m = 0; m < num_filters; ++m) level[m] = impl_->floored_log(level[m]);
    if (settings.first == FirstCoefficient::log_energy)
      log_energy[t] = impl_->floored_log(std::accumulate(work.power.begin(), work.power.end(), 0.0));
    if (energy_db) (*energy_db)[t] = variance_db(samples, start, impl_->frames.window);
  }
  if (settings.top_db > 0 && num_frames > 0) {
    const double lowest = *std::max_element(levels.begin(), levels.end()) - settings.top_db;
    for (double& level : levels) level = std::max(level, lowest);
  }
  Frames result{settings.num_coefficients, std::vector<double>(num_frames * dim)};
  for (std::size_t t = 0; t < num_frames; ++t) {
    const double* level = levels.data() + t * num_filters;
    for (std::size_t n = 0; n < dim; ++n)
      result.values[t * dim + n] =
          std::inner_product(level, level + num_filters, impl_->cepstrum.begin() + n * num_filters, 0.0);
    if (settings.first == FirstCoefficient::log_energy) result.values[t * dim] = log_energy[t];
  }
  return result;
}

}  // namespace emomc

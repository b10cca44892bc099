#include "emomc/speech/descriptors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "emomc/core/real_fft.hpp"
#include "mel_filters.hpp"
#include "own_level.hpp"
#include "setting_error.hpp"
#include "spectral_shape.hpp"

namespace emomc {
namespace {

constexpr double kWindowSeconds = 0.025, kHopSeconds = 0.010, kHighestHz = 8000;
constexpr int kNumFilters = 26, kNumCepstra = 14, kEveryBand = 3;
constexpr double kLeastBandPower = 1e-9;
constexpr double kPerturbationSeconds = 0.03;  // range of jitter and shimmer on each side of a frame's centre
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<Descriptor> make_descriptors() {
  std::vector<Descriptor> all;
  for (const char* name : {"level_db", "loudness", "zero_crossings", "centroid", "spread", "entropy",
                           "rolloff_25", "rolloff_75", "rolloff_90", "flux", "slope_0_500", "slope_500_1500",
                           "slope_0_5000", "alpha_ratio", "hammarberg", "flatness", "periodicity"})
    all.push_back({name, DescriptorKind::level});
  for (const char* name : {"f0", "hnr", "jitter", "shimmer", "h1_h2", "h1_high"})
    all.push_back({name, DescriptorKind::voice});
  for (int i = 1; i <= kNumCepstra; ++i) all.push_back({"c" + std::to_string(i), DescriptorKind::cepstral});
  for (int i = 1; i < kNumFilters; i += kEveryBand)
    all.push_back({"band_" + std::to_string(i + 1), DescriptorKind::cepstral});
  return all;
}

MfccSettings filter_settings() {
  MfccSettings settings;
  settings.num_filters = kNumFilters;
  settings.low_hz = 20;
  settings.high_hz = kHighestHz;
  return settings;
}

// The weight of each filter's output in the loudness: the equal-loudness curve of Hermansky 1990, "Perceptual
// linear predictive analysis of speech", equation 7, at the filter's centre, divided by its largest value.
std::vector<double> equal_loudness() {
  const auto mel = [](double hz) { return 2595 * std::log10(1 + hz / 700); };
  const double low = mel(20), high = mel(kHighestHz);
  std::vector<double> weights;
  for (int i = 1; i <= kNumFilters; ++i) {
    const double hz = 700 * (std::pow(10.0, (low + i * (high - low) / (kNumFilters + 1)) / 2595) - 1);
    const double squared = std::pow(2 * std::numbers::pi * hz, 2);
    weights.push_back((squared + 56.8e6) * squared * squared /
                      (std::pow(squared + 6.3e6, 2) * (squared + 0.38e9)));
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  for (double& weight : weights) weight /= largest;
  return weights;
}

// Writes the values of one frame in the order of descriptors().
class Row {
 public:
  Row(std::vector<double>& values, std::size_t num_frames, std::size_t frame)
      : values_(values), num_frames_(num_frames), frame_(frame) {}
  void add(double value) { values_[num_frames_ * next_++ + frame_] = value; }

 private:
  std::vector<double>& values_;
  std::size_t num_frames_, frame_, next_ = 0;
};

// Relative differences of neighbouring periods, and differences of their levels.
struct Perturbations {
  std::vector<double> at, period, level_db;  // at: position in samples
};

Perturbations perturbations(const std::vector<Cycle>& cycles) {
  Perturbations result;
  for (std::size_t i = 1; i < cycles.size(); ++i) {
    const Cycle &a = cycles[i - 1], &b = cycles[i];
    if (b.begins_stretch || a.amplitude <= 0 || b.amplitude <= 0) continue;
    result.at.push_back((a.begin + a.period / 2 + b.begin + b.period / 2) / 2);
    result.period.push_back(2 * std::abs(a.period - b.period) / (a.period + b.period));
    result.level_db.push_back(std::abs(20 * std::log10(b.amplitude / a.amplitude)));
  }
  return result;
}

// The mean of the `values` whose places are within `reach` samples of `centre`; NaN if there are none.
double mean_near(const std::vector<double>& places, const std::vector<double>& values, double centre,
                 double reach) {
  const auto begin = std::lower_bound(places.begin(), places.end(), centre - reach);
  const auto end = std::upper_bound(begin, places.end(), centre + reach);
  if (begin == end) return kNaN;
  const auto first = values.begin() + (begin - places.begin());
  const auto number = end - begin;
  return std::accumulate(first, first + number, 0.0) / static_cast<double>(number);
}

// The samples, scaled so that the mean power of the frames `kept`, each without its mean, is kMeanPower.
std::vector<double> at_common_level(std::span<const double> samples, const std::vector<std::size_t>& starts,
                                    const std::vector<std::size_t>& kept, std::size_t window) {
  double power = 0;
  for (const std::size_t t : kept) {
    const auto x = samples.subspan(starts[t], window);
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(window);
    for (const double value : x) power += (value - mean) * (value - mean);
  }
  std::vector<double> result(samples.begin(), samples.end());
  if (!(power > 0)) return result;
  const double factor = std::sqrt(kMeanPower * static_cast<double>(kept.size() * window) / power);
  for (double& x : result) x *= factor;
  return result;
}

}  // namespace

const std::vector<Descriptor>& descriptors() {
  static const std::vector<Descriptor> all = make_descriptors();
  return all;
}

struct DescriptorExtractor::Impl {
  static double checked(double rate) {
    if (!(rate >= 2 * kHighestHz && rate <= 1e7))
      throw setting_error("sample_rate", rate,
                          "16000 to 1e7 Hz for descriptors of voice and spectrum; resample the recordings");
    return rate;
  }
  explicit Impl(double rate)
      : sample_rate(checked(rate)),
        window(static_cast<std::size_t>(std::lround(kWindowSeconds * rate))),
        hop(static_cast<std::size_t>(std::lround(kHopSeconds * rate))),
        fft_size(std::bit_ceil(window)),
        fine_size(4 * fft_size),
        num_bins(static_cast<std::size_t>(kHighestHz / rate * static_cast<double>(fft_size) + 1e-9) + 1),
        filters(filter_settings(), rate, static_cast<int>(fft_size)),
        loudness_weights(equal_loudness()),
        shapes(rate / static_cast<double>(fft_size), num_bins),
        pitch(rate) {
    for (std::size_t n = 0; n < window; ++n) {
      taper.push_back(0.54 - 0.46 * std::cos(2 * std::numbers::pi * static_cast<double>(n) /
                                             static_cast<double>(window - 1)));
      taper_power += taper.back() * taper.back();
    }
    for (int n = 1; n <= kNumCepstra; ++n)
      for (int m = 0; m < kNumFilters; ++m)
        cosines.push_back(std::sqrt(2.0 / kNumFilters) *
                          std::cos(std::numbers::pi * n * (m + 0.5) / kNumFilters));
  }

  struct Workspace {
    explicit Workspace(const Impl& impl)
        : fft(impl.fft_size),
          fine_fft(impl.fine_size),
          frame(impl.fine_size),
          spectrum(fine_fft.num_bins()),
          power(impl.fft_size / 2 + 1),
          amplitude(impl.num_bins),
          before(impl.num_bins),
          bands(kNumFilters) {}
    RealFft fft, fine_fft;
    std::vector<double> frame;
    std::vector<std::complex<double>> spectrum;
    std::vector<double> power, amplitude, before, bands;
    bool has_before = false;  // whether `before` has the amplitudes of the previous frame
  };

  // Adds level_db to periodicity, then leaves the tapered frame in work.frame.
  void add_levels(std::span<const double> x, double periodicity, Workspace& work, Row& row) const;
  void add_voice(double f0_hz, double strength, double jitter, double shimmer, Workspace& work,
                 Row& row) const;
  void add_bands(const Workspace& work, Row& row) const;
  double flux(Workspace& work) const;

  double sample_rate;
  std::size_t window, hop, fft_size, fine_size, num_bins;
  MelFilters filters;
  std::vector<double> loudness_weights, taper, cosines;
  double taper_power = 0;
  SpectralShapes shapes;
  PitchTracker pitch;
};

// The Euclidean distance between the frame's amplitudes, divided by their sum, and those of the previous
// frame; 0 for the first frame.
double DescriptorExtractor::Impl::flux(Workspace& work) const {
  double sum = kLeastPower;
  for (std::size_t k = 0; k < num_bins; ++k) sum += work.amplitude[k] = std::sqrt(work.power[k]);
  double squares = 0;
  for (std::size_t k = 0; k < num_bins; ++k) {
    work.amplitude[k] /= sum;
    squares += std::pow(work.amplitude[k] - work.before[k], 2);
  }
  std::swap(work.amplitude, work.before);
  return std::exchange(work.has_before, true) ? std::sqrt(squares) : 0;
}

void DescriptorExtractor::Impl::add_levels(std::span<const double> x, double periodicity, Workspace& work,
                                           Row& row) const {
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(window);
  double squares = 0;
  std::size_t crossings = 0;
  std::fill(work.frame.begin(), work.frame.end(), 0.0);
  for (std::size_t n = 0; n < window; ++n) {
    const double centred = x[n] - mean;
    squares += centred * centred;
    if (n > 0 && (centred >= 0) != (x[n - 1] - mean >= 0)) ++crossings;
    work.frame[n] = centred * taper[n];
  }
  work.fft.forward(work.frame.data(), work.spectrum.data());
  for (std::size_t k = 0; k < work.power.size(); ++k)
    work.power[k] = std::norm(work.spectrum[k]) / taper_power;
  filters.apply(work.power.data(), work.bands.data());
  double loudness = 0;
  for (int m = 0; m < kNumFilters; ++m) loudness += std::pow(work.bands[m] * loudness_weights[m], 0.33);
  const SpectralShape shape = shapes.of({work.power.data(), num_bins});
  row.add(10 * std::log10(squares / static_cast<double>(window) + kLeastPower));
  row.add(loudness);
  row.add(static_cast<double>(crossings) / static_cast<double>(window - 1) * sample_rate);
  for (const double value : {shape.centroid_hz, shape.spread_hz, shape.entropy_bits, shape.rolloff_25_hz,
                             shape.rolloff_75_hz, shape.rolloff_90_hz})
    row.add(value);
  row.add(flux(work));
  for (const double value :
       {shape.slope_0_500, shape.slope_500_1500, shape.slope_0_5000, shape.alpha_ratio_db,
        shape.hammarberg_db, shape.flatness, std::clamp(periodicity, 0.0, 1.0)})
    row.add(value);
}

void DescriptorExtractor::Impl::add_voice(double f0_hz, double strength, double jitter, double shimmer,
                                          Workspace& work, Row& row) const {
  if (f0_hz <= 0) {
    for (int i = 0; i < 6; ++i) row.add(kNaN);
    return;
  }
  const double r = std::clamp(strength, 1e-6, 1 - 1e-6);
  row.add(12 * std::log2(f0_hz / 27.5));
  row.add(10 * std::log10(r / (1 - r)));
  row.add(jitter);
  row.add(shimmer);
  work.fine_fft.forward(work.frame.data(), work.spectrum.data());
  const double bin_hz = sample_rate / static_cast<double>(fine_size);
  const auto highest = [&](double low_hz, double high_hz) {
    double largest = 0;
    for (auto k = static_cast<std::size_t>(std::max(0.0, low_hz) / bin_hz);
         static_cast<double>(k) * bin_hz <= high_hz; ++k)
      largest = std::max(largest, std::norm(work.spectrum[k]));
    return 10 * std::log10(largest / taper_power + kLeastPower);
  };
  const double first = highest(0.8 * f0_hz, 1.2 * f0_hz);
  row.add(first - highest(1.8 * f0_hz, 2.2 * f0_hz));
  row.add(first - highest(2000, 4000));
}

void DescriptorExtractor::Impl::add_bands(const Workspace& work, Row& row) const {
  std::vector<double> logs;
  for (const double band : work.bands) logs.push_back(std::log(band + kLeastBandPower));
  for (int n = 0; n < kNumCepstra; ++n)
    row.add(std::inner_product(logs.begin(), logs.end(), cosines.begin() + n * kNumFilters, 0.0));
  for (int m = 1; m < kNumFilters; m += kEveryBand) row.add(logs[m]);
}

DescriptorExtractor::DescriptorExtractor(double sample_rate) : impl_(std::make_unique<Impl>(sample_rate)) {}
DescriptorExtractor::~DescriptorExtractor() = default;
DescriptorExtractor::DescriptorExtractor(DescriptorExtractor&&) noexcept = default;
DescriptorExtractor& DescriptorExtractor::operator=(DescriptorExtractor&&) noexcept = default;

FrameDescriptors DescriptorExtractor::describe(std::span<const double> samples) const {
  const Impl& impl = *impl_;
  std::vector<std::size_t> starts, centres;
  for (std::size_t start = 0; start + impl.window <= samples.size(); start += impl.hop) {
    starts.push_back(start);
    centres.push_back(start + impl.window / 2);
  }
  const PitchTrack track = impl.pitch.track(samples, centres);
  const Perturbations voice =
      perturbations(voice_cycles(samples, impl.sample_rate, track, centres, impl.hop));
  std::vector<std::size_t> kept;
  for (std::size_t t = 0; t < starts.size(); ++t) {
    const auto x = samples.subspan(starts[t], impl.window);
    if (std::any_of(x.begin(), x.end(), [&](double value) { return value != x[0]; })) kept.push_back(t);
  }
  FrameDescriptors result;
  result.num_frames = kept.size();
  result.num_silent = starts.size() - kept.size();
  result.hop_seconds = static_cast<double>(impl.hop) / impl.sample_rate;
  result.values.resize(kept.size() * descriptors().size());
  const std::vector<double> levelled = at_common_level(samples, starts, kept, impl.window);
  Impl::Workspace work(impl);
  const double reach = kPerturbationSeconds * impl.sample_rate;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::size_t t = kept[i];
    const auto centre = static_cast<double>(centres[t]);
    Row row(result.values, kept.size(), i);
    result.voiced.push_back(track.f0_hz[t] > 0);
    impl.add_levels(std::span(levelled).subspan(starts[t], impl.window), track.periodicity[t], work, row);
    impl.add_voice(track.f0_hz[t], track.strength[t], mean_near(voice.at, voice.period, centre, reach),
                   mean_near(voice.at, voice.level_db, centre, reach), work, row);
    impl.add_bands(work, row);
  }
  relate_to_own_level(result);
  return result;
}

}  // namespace emomc

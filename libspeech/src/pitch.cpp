#include "emomc/speech/pitch.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "emomc/core/real_fft.hpp"
#include "setting_error.hpp"

namespace emomc {
namespace {

struct Candidate {
  double f0_hz = 0;        // 0: unvoiced
  double strength = 0;     // strength in Boersma's equations 23 and 24, with the costs of octaves
  double correlation = 0;  // autocorrelation at the period
};

// Computes the autocorrelations of one frame, at lags from 0.
class Autocorrelation {
 public:
  Autocorrelation(std::size_t window, std::size_t num_lags)
      : fft_(RealFft::fast_size(window + num_lags)), frame_(fft_.size()), spectrum_(fft_.num_bins()) {}
  // The autocorrelations of `frame` [window], not divided by the value at lag 0; valid until the next call.
  const std::vector<double>& of(std::span<const double> frame) {
    std::fill(std::copy(frame.begin(), frame.end(), frame_.begin()), frame_.end(), 0.0);
    fft_.forward(frame_.data(), spectrum_.data());
    for (auto& bin : spectrum_) bin = std::norm(bin);
    fft_.inverse(spectrum_.data(), frame_.data());
    return frame_;
  }

 private:
  RealFft fft_;
  std::vector<double> frame_;
  std::vector<std::complex<double>> spectrum_;
};

double transition_cost(const PitchSettings& s, double from, double to) {
  if (from > 0 && to > 0) return s.octave_jump_cost * std::abs(std::log2(from / to));
  return from > 0 || to > 0 ? s.voiced_unvoiced_cost : 0;
}

}  // namespace

struct PitchTracker::Impl {
  Impl(double rate, const PitchSettings& given) : settings(given), sample_rate(rate) {
    if (!(settings.floor_hz >= 10 && settings.floor_hz < settings.ceiling_hz))
      throw setting_error("floor_hz", settings.floor_hz, "10 up to ceiling_hz");
    if (!(settings.ceiling_hz <= rate / 4))
      throw setting_error("ceiling_hz", settings.ceiling_hz, "up to a quarter of the sample rate");
    if (settings.num_candidates < 2)
      throw setting_error("num_candidates", settings.num_candidates, "2 or more");
    window = static_cast<std::size_t>(std::lround(3 * rate / settings.floor_hz));
    num_lags = static_cast<std::size_t>(rate / settings.floor_hz) + 2;
    first_lag = std::max<std::size_t>(2, static_cast<std::size_t>(rate / settings.ceiling_hz));
    for (std::size_t i = 0; i < window; ++i)
      taper.push_back(0.5 - 0.5 * std::cos(2 * std::numbers::pi * (static_cast<double>(i) + 0.5) /
                                           static_cast<double>(window)));
    Autocorrelation of_taper(window, num_lags);
    const auto& r = of_taper.of(taper);
    for (std::size_t lag = 0; lag < num_lags; ++lag) taper_correlation.push_back(r[lag] / r[0]);
  }

  // Copies the window around `centre` without its mean to `frame` and returns its largest magnitude.
  double fill(std::span<const double> samples, std::size_t centre, std::vector<double>& frame) const {
    const auto begin = static_cast<std::ptrdiff_t>(centre) - static_cast<std::ptrdiff_t>(window / 2);
    double sum = 0, peak = 0;
    for (std::size_t i = 0; i < window; ++i) {
      const std::ptrdiff_t at = begin + static_cast<std::ptrdiff_t>(i);
      frame[i] = at >= 0 && at < static_cast<std::ptrdiff_t>(samples.size()) ? samples[at] : 0;
      sum += frame[i];
    }
    const double mean = sum / static_cast<double>(window);
    for (double& x : frame) {
      x -= mean;
      peak = std::max(peak, std::abs(x));
    }
    return peak;
  }

  // The candidates of a frame with the normalised autocorrelation r [num_lags]. The unvoiced candidate is the
  // first.
  std::vector<Candidate> candidates(const std::vector<double>& r, double relative_peak) const {
    const PitchSettings& s = settings;
    std::vector<Candidate> found;
    for (std::size_t lag = first_lag; lag + 1 < num_lags; ++lag) {
      const double before = r[lag - 1], at = r[lag], after = r[lag + 1];
      if (!(at > before && at >= after) || at < 0.5 * s.voicing_threshold) continue;
      const double shift = 0.5 * (before - after) / (before - 2 * at + after);
      const double f0 = sample_rate / (static_cast<double>(lag) + shift);
      if (f0 < s.floor_hz || f0 > s.ceiling_hz) continue;
      double height = at - 0.25 * (before - after) * shift;
      if (height > 1) height = 1 / height;  // possible in short windows
      found.push_back({f0, height - s.octave_cost * std::log2(s.floor_hz / f0), height});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.strength > b.strength; });
    if (found.size() >= static_cast<std::size_t>(s.num_candidates)) found.resize(s.num_candidates - 1);
    const double unvoiced =
        s.voicing_threshold +
        std::max(0.0, 2 - relative_peak * (1 + s.voicing_threshold) / s.silence_threshold);
    found.insert(found.begin(), {0, unvoiced, 0});
    return found;
  }

  PitchSettings settings;
  double sample_rate;
  std::size_t window = 0, num_lags = 0, first_lag = 0;
  std::vector<double> taper, taper_correlation;
};

namespace {

// The path with the largest sum of strengths minus costs: an index into the candidates of each frame.
std::vector<std::size_t> best_path(const PitchSettings& settings,
                                   const std::vector<std::vector<Candidate>>& frames) {
  std::vector<double> gain;
  std::vector<std::vector<std::size_t>> from(frames.size());
  for (std::size_t t = 0; t < frames.size(); ++t) {
    std::vector<double> next(frames[t].size());
    from[t].resize(frames[t].size());
    for (std::size_t j = 0; j < frames[t].size(); ++j) {
      for (std::size_t i = 0; i < gain.size(); ++i) {
        const double value = gain[i] - transition_cost(settings, frames[t - 1][i].f0_hz, frames[t][j].f0_hz);
        if (i == 0 || value > next[j]) {
          next[j] = value;
          from[t][j] = i;
        }
      }
      next[j] += frames[t][j].strength;
    }
    gain = std::move(next);
  }
  std::vector<std::size_t> path(frames.size());
  if (frames.empty()) return path;
  path.back() = static_cast<std::size_t>(std::max_element(gain.begin(), gain.end()) - gain.begin());
  for (std::size_t t = frames.size() - 1; t > 0; --t) path[t - 1] = from[t][path[t]];
  return path;
}

}  // namespace

PitchTracker::PitchTracker(double sample_rate, const PitchSettings& settings)
    : impl_(std::make_unique<Impl>(sample_rate, settings)) {}
PitchTracker::~PitchTracker() = default;
PitchTracker::PitchTracker(PitchTracker&&) noexcept = default;
PitchTracker& PitchTracker::operator=(PitchTracker&&) noexcept = default;

PitchTrack PitchTracker::track(std::span<const double> samples, std::span<const std::size_t> centres) const {
  const Impl& p = *impl_;
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) /
                      static_cast<double>(std::max<std::size_t>(1, samples.size()));
  double loudest = 0;
  for (const double x : samples) loudest = std::max(loudest, std::abs(x - mean));
  Autocorrelation autocorrelation(p.window, p.num_lags);
  std::vector<double> frame(p.window), r(p.num_lags);
  std::vector<std::vector<Candidate>> frames;
  for (const std::size_t centre : centres) {
    const double peak = p.fill(samples, centre, frame);
    for (std::size_t i = 0; i < p.window; ++i) frame[i] *= p.taper[i];
    const auto& raw = autocorrelation.of(frame);
    for (std::size_t lag = 0; lag < p.num_lags; ++lag)
      r[lag] = raw[0] > 0 ? raw[lag] / raw[0] / p.taper_correlation[lag] : 0;
    frames.push_back(p.candidates(r, loudest > 0 ? peak / loudest : 0));
  }
  const std::vector<std::size_t> path = best_path(p.settings, frames);
  PitchTrack track;
  for (std::size_t t = 0; t < frames.size(); ++t) {
    const Candidate& chosen = frames[t][path[t]];
    track.f0_hz.push_back(chosen.f0_hz);
    track.strength.push_back(chosen.correlation);
    double best = 0;
    for (const Candidate& one : frames[t]) best = std::max(best, one.correlation);
    track.periodicity.push_back(best);
  }
  return track;
}

}  // namespace emomc

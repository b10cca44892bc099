#include "emomc/speech/functionals.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "series_functionals.hpp"

namespace emomc {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool is_of(FunctionalSet set, const Descriptor& descriptor) {
  return set == FunctionalSet::full || set == FunctionalSet::compact ||
         (set == FunctionalSet::cepstra) == (descriptor.kind == DescriptorKind::cepstral);
}

// Whether the descriptor's mean over a recording is always 1, so that the mean is not used as a functional.
bool is_relative_to_its_mean(const Descriptor& descriptor) { return descriptor.name == "loudness"; }

const std::vector<std::string>& voicing_names() {
  static const std::vector<std::string> names{"voiced_mean", "voiced_sd", "unvoiced_mean", "unvoiced_sd"};
  return names;
}

const std::vector<std::string>& time_names() {
  static const std::vector<std::string> names{"time.duration",     "time.voiced_share", "time.stretch_rate",
                                              "time.stretch_mean", "time.stretch_sd",   "time.gap_mean",
                                              "time.gap_sd"};
  return names;
}

struct MeanAndSd {
  double mean, sd;
};

MeanAndSd mean_and_sd(const std::vector<double>& x, double if_none) {
  if (x.empty()) return {if_none, if_none};
  const auto n = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  double squares = 0;
  for (const double value : x) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / n)};
}

void append_by_voicing(std::span<const double> series, const std::vector<bool>& voiced,
                       std::vector<double>& to) {
  for (const bool which : {true, false}) {
    std::vector<double> x;
    for (std::size_t t = 0; t < series.size(); ++t)
      if (voiced[t] == which) x.push_back(series[t]);
    const auto [mean, sd] = x.size() < 3 ? MeanAndSd{kNaN, kNaN} : mean_and_sd(x, kNaN);
    to.insert(to.end(), {mean, sd});
  }
}

// Appends statistics of voiced stretches and of the gaps between them; lengths are in seconds.
void append_times(const FrameDescriptors& frames, std::vector<double>& to) {
  std::vector<double> stretches, gaps;
  std::size_t num_voiced = 0, last_end = 0;
  for (std::size_t t = 0; t < frames.num_frames; ++t) {
    if (!frames.voiced[t]) continue;
    std::size_t end = t;
    while (end < frames.num_frames && frames.voiced[end]) ++end;
    if (!stretches.empty()) gaps.push_back(static_cast<double>(t - last_end) * frames.hop_seconds);
    stretches.push_back(static_cast<double>(end - t) * frames.hop_seconds);
    num_voiced += end - t;
    last_end = t = end;
  }
  const auto n = static_cast<double>(frames.num_frames);
  const double duration = n * frames.hop_seconds;
  const auto [stretch_mean, stretch_sd] = mean_and_sd(stretches, 0);
  const auto [gap_mean, gap_sd] = mean_and_sd(gaps, 0);
  to.insert(to.end(),
            {duration, static_cast<double>(num_voiced) / n, static_cast<double>(stretches.size()) / duration,
             stretch_mean, stretch_sd, gap_mean, gap_sd});
}

const std::vector<std::string>& set_names() {
  static const std::vector<std::string> names{"cepstra", "prosody", "full", "compact"};
  return names;
}

bool is_of_compact(const std::string& name) {
  const std::string functional = name.substr(name.find('.') + 1);
  return name.starts_with("time.") || functional == "mean" || functional == "sd" || functional == "slope" ||
         functional == "delta_sd";
}

std::vector<std::string> names_of_all(FunctionalSet set) {
  std::vector<std::string> names;
  for (const Descriptor& descriptor : descriptors()) {
    if (!is_of(set, descriptor)) continue;
    const auto add = [&](const std::vector<std::string>& of, const std::string& prefix) {
      for (const auto& name : of) names.push_back(descriptor.name + "." + prefix + name);
    };
    add(distribution_names(), "");
    if (is_relative_to_its_mean(descriptor)) std::erase(names, descriptor.name + ".mean");
    add(trend_names(), "");
    add(movement_names(), "");
    add(distribution_names(), "delta_");
    if (descriptor.kind != DescriptorKind::voice) add(voicing_names(), "");
  }
  if (set != FunctionalSet::cepstra) names.insert(names.end(), time_names().begin(), time_names().end());
  return names;
}

}  // namespace

std::vector<std::string> functional_set_names() { return set_names(); }

FunctionalSet functional_set(const std::string& name) {
  const auto at = std::find(set_names().begin(), set_names().end(), name);
  if (at == set_names().end())
    throw InputError("set: " + name + " is unknown; " + did_you_mean(nearest_name(name, set_names())) +
                     "allowed: cepstra, prosody, full, compact");
  return static_cast<FunctionalSet>(at - set_names().begin());
}

std::string functional_set_name(FunctionalSet set) { return set_names()[static_cast<std::size_t>(set)]; }

std::vector<std::string> functional_names(FunctionalSet set) {
  std::vector<std::string> names = names_of_all(set);
  if (set == FunctionalSet::compact) std::erase_if(names, std::not_fn(is_of_compact));
  return names;
}

std::vector<double> functionals(const FrameDescriptors& frames, FunctionalSet set) {
  std::vector<double> row;
  if (frames.num_frames == 0) return std::vector<double>(functional_names(set).size(), kNaN);
  for (std::size_t d = 0; d < descriptors().size(); ++d) {
    if (!is_of(set, descriptors()[d])) continue;
    const auto series = frames.of(d);
    const auto first = static_cast<std::ptrdiff_t>(row.size());
    append_distribution(series, row);
    if (is_relative_to_its_mean(descriptors()[d])) row.erase(row.begin() + first);
    append_trend(series, row);
    append_movement(series, row);
    append_distribution(delta_of(series), row);
    if (descriptors()[d].kind != DescriptorKind::voice) append_by_voicing(series, frames.voiced, row);
  }
  if (set != FunctionalSet::cepstra) append_times(frames, row);
  if (set != FunctionalSet::compact) return row;
  static const std::vector<std::string> names = names_of_all(FunctionalSet::full);
  std::vector<double> chosen;
  for (std::size_t j = 0; j < names.size(); ++j)
    if (is_of_compact(names[j])) chosen.push_back(row[j]);
  return chosen;
}

}  // namespace emomc

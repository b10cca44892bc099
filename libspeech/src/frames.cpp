// Drops frames and appends derivatives over time.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "emomc/speech/mfcc.hpp"
#include "setting_error.hpp"

namespace emomc {
namespace {

constexpr int kLongestReach = 100;

// d_t = sum_i i (c_{t+i} - c_{t-i}) / (2 sum_i i^2); The HTK Book, equation 5.16.
std::vector<double> regress(const std::vector<double>& rows, std::size_t dim, int reach) {
  const auto num_rows = static_cast<std::ptrdiff_t>(rows.size() / dim);
  double norm = 0;
  for (int i = 1; i <= reach; ++i) norm += 2.0 * i * i;
  std::vector<double> slopes(rows.size(), 0.0);
  for (std::ptrdiff_t t = 0; t < num_rows; ++t)
    for (int i = 1; i <= reach; ++i) {
      const double* after = rows.data() + std::min(t + i, num_rows - 1) * dim;
      const double* before = rows.data() + std::max<std::ptrdiff_t>(t - i, 0) * dim;
      for (std::size_t j = 0; j < dim; ++j) slopes[t * dim + j] += i * (after[j] - before[j]) / norm;
    }
  return slopes;
}

}  // namespace

Dropped drop_frames(Frames& frames, std::span<const double> energy_db, const VoiceActivity& gate) {
  if (!(gate.threshold_db >= 0 && std::isfinite(gate.threshold_db)))
    throw setting_error("threshold_db", gate.threshold_db, "0 (every frame is kept) or above");
  const std::size_t num_frames = frames.num_frames(), dim = static_cast<std::size_t>(frames.dim);
  assert(energy_db.size() == num_frames);
  constexpr double silence = -std::numeric_limits<double>::infinity();
  const double loudest = num_frames > 0 ? *std::max_element(energy_db.begin(), energy_db.end()) : 0;
  const double least = gate.threshold_db > 0 ? loudest - gate.threshold_db : silence;
  Dropped dropped;
  std::vector<double> kept;
  for (std::size_t t = 0; t < num_frames; ++t) {
    const double* row = frames.values.data() + t * dim;
    if (energy_db[t] == silence || (t > 0 && std::equal(row, row + dim, row - dim)))
      ++dropped.silent;
    else if (energy_db[t] < least)
      ++dropped.unvoiced;
    else
      kept.insert(kept.end(), row, row + dim);
  }
  frames.values = std::move(kept);
  return dropped;
}

void append_deltas(Frames& frames, int order, int reach) {
  if (order < 0 || order > 2) throw setting_error("deltas", order, "0, 1 or 2");
  if (reach < 1 || reach > kLongestReach)
    throw setting_error("delta_reach", reach, "1 to " + std::to_string(kLongestReach));
  if (order == 0 || frames.dim == 0) return;
  const auto dim = static_cast<std::size_t>(frames.dim);
  std::vector<std::vector<double>> parts{std::move(frames.values)};
  for (int i = 0; i < order; ++i) parts.push_back(regress(parts.back(), dim, reach));
  frames.values.clear();
  frames.values.reserve(parts[0].size() * parts.size());
  for (std::size_t at = 0; at < parts[0].size(); at += dim)
    for (const auto& part : parts) frames.values.insert(frames.values.end(), &part[at], &part[at] + dim);
  frames.dim *= order + 1;
}

}  // namespace emomc

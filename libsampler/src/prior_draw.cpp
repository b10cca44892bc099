// Draws from the prior for starting points.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "emomc/core/errors.hpp"
#include "emomc/core/von_mises.hpp"
#include "emomc/device/angle.hpp"
#include "emomc/device/random.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {
namespace {

using device::Density;
using device::Purpose;

// A sequence of random numbers from the counter-based source.
class Numbers {
 public:
  Numbers(std::uint64_t seed, std::uint32_t chain, std::uint64_t attempt) : source_{seed, attempt, chain} {}
  double uniform() { return source_.uniform(Purpose::start, next_++); }
  double normal() { return source_.normal(Purpose::start, 2 * next_++); }
  // Returns a gamma(shape) variate by the method of Marsaglia and Tsang (2000).
  double gamma(double shape) {
    if (shape < 1) return std::exp(log_gamma(shape));
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double z = normal(), v = std::pow(1 + c * z, 3);
      if (v > 0 && std::log(uniform()) < 0.5 * z * z + d - d * v + d * std::log(v)) return d * v;
    }
  }

  // Returns the logarithm of a gamma(shape) variate, which for small shapes may be below the range of a
  // double. A gamma(shape + 1) variate times U^(1 / shape) is a gamma(shape) variate (Marsaglia and Tsang,
  // section 6).
  double log_gamma(double shape) {
    if (!(shape < 1)) return std::log(gamma(shape));
    const double above = std::log(gamma(shape + 1));
    return above + std::log(uniform()) / shape;
  }

 private:
  device::RandomSource source_;
  std::uint32_t next_ = 0;
};

// Returns the element with its density's arguments set to their values in theta.
device::Element resolved(device::Element e, const device::ConditionalElement& c,
                         const std::vector<double>& theta) {
  const auto at = [&](int from, double constant) {
    return from == device::kConstant ? constant : theta[static_cast<std::size_t>(from)];
  };
  const double scale = at(c.from_scale, c.scale);
  e.a = at(c.from_location, c.location);
  e.b = 1 / scale;
  switch (c.density) {
    case device::ConditionalDensity::normal:
      e.density = Density::normal;
      break;
    case device::ConditionalDensity::student_t:
      e.density = Density::student_t;
      e.b = 1 / (scale * std::sqrt(c.df));
      e.c = 0.5 * (c.df + 1);
      break;
    case device::ConditionalDensity::lognormal:
      e.density = Density::lognormal;
      break;
    case device::ConditionalDensity::exponential:
      e.density = Density::gamma;
      e.a = 0;
      e.b = scale;
      break;
  }
  return e;
}

double draw_element(const device::Element& e, Numbers& numbers) {
  switch (e.density) {
    case Density::normal:
      return e.a + numbers.normal() / e.b;
    case Density::student_t: {
      if (e.c == 1) return e.a + std::tan(std::numbers::pi * (numbers.uniform() - 0.5)) / e.b;
      // z / sqrt(2 gamma(df / 2)) is t / sqrt(df); e.b contains the factor sqrt(df).
      const double z = numbers.normal();
      return e.a + z / std::sqrt(2 * numbers.gamma(e.c - 0.5)) / e.b;
    }
    case Density::lognormal:
      return std::exp(e.a + numbers.normal() / e.b);
    case Density::gamma:
      return (e.a == 0 ? -std::log(numbers.uniform()) : numbers.gamma(e.a + 1)) / e.b;
    case Density::inverse_gamma:
      return e.b / numbers.gamma(e.a - 1);
    case Density::uniform:
      return e.a + (e.b - e.a) * numbers.uniform();
    case Density::beta: {
      const double log_x = numbers.log_gamma(e.a + 1), log_y = numbers.log_gamma(e.b + 1);
      return 1 / (1 + std::exp(log_y - log_x));
    }
    case Density::power:
      return numbers.log_gamma(e.a + 1);  // logarithm of an unnormalised weight of the simplex
    case Density::von_mises:
      return std::remainder(
          e.a + draw_von_mises(
                    e.b, [&] { return numbers.uniform(); }, [&] { return numbers.normal(); }),
          2 * std::numbers::pi);
    case Density::flat:
      return e.bound;
  }
  return 0;
}

// Returns a standard normal variate above `lower` > 0 (Robert 1995, "Simulation of truncated normal
// variables", section 2.2): a shifted exponential variate that is accepted with the ratio of the densities.
double normal_above(double lower, Numbers& numbers) {
  const double rate = 0.5 * (lower + std::sqrt(lower * lower + 4));
  for (;;) {
    const double z = lower - std::log(numbers.uniform()) / rate;
    if (-2 * std::log(numbers.uniform()) > (z - rate) * (z - rate)) return z;
  }
}

// Draws an element without rejection if its lower bound is far out in a tail, which happens if the location
// has a prior of its own.
double draw_above_bound(const device::Element& e, Numbers& numbers) {
  constexpr double kFar = 2;  // in sds, or in means of the exponential
  if (e.density == Density::normal) {
    const double lower = (e.bound - e.a) * e.b;
    if (lower > kFar) return e.a + normal_above(lower, numbers) / e.b;
  } else if (e.density == Density::lognormal) {
    const double lower = (std::log(e.bound) - e.a) * e.b;
    if (lower > kFar) return std::exp(e.a + normal_above(lower, numbers) / e.b);
  } else if (e.density == Density::gamma && e.a == 0 && e.bound * e.b > kFar) {
    return e.bound + draw_element(e, numbers);
  }
  return draw_element(e, numbers);
}

// Draws an element inside its bounds; truncations not handled above use rejection. Throws InputError for a
// prior with almost no mass above its bound.
template <class Name>
double draw_inside(const device::Element& e, Numbers& numbers, const Name& name) {
  constexpr int kTries = 100000;
  for (int tries = 0; tries < kTries; ++tries) {
    const bool is_bounded = device::is_bounded_below(e.transform);
    const double x = is_bounded ? draw_above_bound(e, numbers) : draw_element(e, numbers);
    const bool inside = device::is_interval(e.transform) ? x > 0 && x < 1 : !is_bounded || x > e.bound;
    if (inside) return x;
  }
  throw InputError("prior." + name() + ": fewer than one draw in " + std::to_string(kTries) +
                   " lies above the lower bound; use init kmeans or a file");
}

// Writes row i of the Cholesky factor of diag(s) R diag(s) with R from LKJ(lkj / 2 + 1). The partial
// correlations r are independent; (1 + r) / 2 in column j is Beta(b, b) with b = eta + (d - 2 - j) / 2.
void draw_row(const device::CovarianceRow& row, double scale, const std::vector<device::Element>& elements,
              Numbers& numbers, std::vector<double>& theta) {
  double* values = theta.data() + row.begin;
  if (row.correlations == device::kFixedCorrelations) {
    for (int j = 0; j <= row.row; ++j)
      values[j] = scale * elements[static_cast<std::size_t>(row.begin + j)].bound;
    return;
  }
  const int d = row.row + 1 + row.below;
  double rest = 1;
  for (int j = 0; j < row.row; ++j) {
    const double b = 0.5 * row.lkj + 1 + 0.5 * (d - 2 - j);
    const double x = numbers.gamma(b), y = numbers.gamma(b);
    const double correlation = (x - y) / (x + y);
    values[j] = scale * rest * correlation;
    rest *= std::sqrt(1 - correlation * correlation);
  }
  values[row.row] = scale * rest;
}

}  // namespace

std::vector<double> Target::draw_from_prior(std::uint64_t seed, std::uint32_t chain,
                                            std::uint64_t attempt) const {
  Numbers numbers(seed, chain, attempt);
  const auto& [elements, simplices, rows, conditionals, _] = tables_;
  std::vector<double> theta(elements.size());
  const auto name_of = [&](std::size_t i) { return [this, i] { return element_names(layout_)[i]; }; };
  // Parameters without sampled arguments are drawn first, including the arguments of other priors.
  std::vector<const device::ConditionalElement*> of_element(elements.size()), of_row(rows.size());
  for (const auto& c : conditionals)
    (c.is_row ? of_row : of_element)[static_cast<std::size_t>(c.element)] = &c;
  for (std::size_t i = 0; i < elements.size(); ++i)
    if (!of_element[i] && elements[i].transform != device::Transform::covariance)
      theta[i] = draw_inside(elements[i], numbers, name_of(i));
  for (std::size_t i = 0; i < elements.size(); ++i)
    if (of_element[i])
      theta[i] = draw_inside(resolved(elements[i], *of_element[i], theta), numbers, name_of(i));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const device::Element scale = of_row[r] ? resolved(rows[r].scale, *of_row[r], theta) : rows[r].scale;
    draw_row(rows[r], draw_inside(scale, numbers, name_of(static_cast<std::size_t>(rows[r].begin))), elements,
             numbers, theta);
  }
  for (const auto& block : simplices) {
    // The weights are normalised gamma variates, computed from their logarithms.
    const std::span<double> weights(theta.data() + block.begin, static_cast<std::size_t>(block.size));
    const double top = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& w : weights) sum += w = std::exp(w - top);
    for (double& w : weights) w = std::max(w / sum, device::kLeastValue);
  }
  // The prior is the same for all values of such a list, so sorting gives a draw from the ordered prior.
  for (std::size_t b : ordered_lists_) sort_list(b, theta);
  if (ordered_block_) {
    // The prior is exchangeable, so sorting gives a draw from the ordered prior.
    std::vector<double> column;
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (device::is_ordered(elements[i].transform)) column.push_back(theta[i]);
    std::sort(column.begin(), column.end());
    std::size_t next = 0;
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (device::is_ordered(elements[i].transform)) theta[i] = column[next++];
  }
  return theta;
}

void Target::draw_lengths(std::uint64_t seed, std::uint32_t chain, std::uint64_t attempt,
                          std::span<double> u) const {
  constexpr std::uint32_t kFirst = std::uint32_t{1} << 31;  // draw_from_prior does not use numbers from this
                                                            // one on
  const device::RandomSource source{seed, attempt, chain};
  std::uint32_t next = kFirst;
  for (const device::Element& e : tables_.elements) {
    if (e.transform != device::Transform::angle) continue;
    const double length = std::exp(device::kSpread * source.normal(Purpose::start, next));
    next += 2;
    u[static_cast<std::size_t>(e.source)] *= length;
    u[static_cast<std::size_t>(e.source) + 1] *= length;
  }
}

}  // namespace emomc

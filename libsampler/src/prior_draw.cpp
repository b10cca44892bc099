// Draws from the prior, for starts.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "emomc/core/errors.hpp"
#include "emomc/device/random.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {
namespace {

using device::Density;
using device::Purpose;

// A stream of numbers out of the counter-based source.
class Numbers {
 public:
  Numbers(std::uint64_t seed, std::uint32_t chain, std::uint64_t attempt) : source_{seed, attempt, chain} {}
  double uniform() { return source_.uniform(Purpose::start, next_++); }
  double normal() { return source_.normal(Purpose::start, 2 * next_++); }
  // Marsaglia and Tsang (2000).
  double gamma(double shape) {
    if (shape < 1) return gamma(shape + 1) * std::pow(uniform(), 1 / shape);
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double z = normal(), v = std::pow(1 + c * z, 3);
      if (v > 0 && std::log(uniform()) < 0.5 * z * z + d - d * v + d * std::log(v)) return d * v;
    }
  }

 private:
  device::RandomSource source_;
  std::uint32_t next_ = 0;
};

double draw_element(const device::Element& e, Numbers& numbers) {
  switch (e.density) {
    case Density::normal:
      return e.a + numbers.normal() / e.b;
    case Density::student_t: {
      if (e.c == 1) return e.a + std::tan(std::numbers::pi * (numbers.uniform() - 0.5)) / e.b;
      const double z = numbers.normal();  // z / sqrt(2 gamma(df / 2)) is t / sqrt(df), and b has the sqrt(df)
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
      const double x = numbers.gamma(e.a + 1), y = numbers.gamma(e.b + 1);
      return x / (x + y);
    }
    case Density::power:
      return numbers.gamma(e.a + 1);
    case Density::flat:
      return e.bound;
  }
  return 0;
}

}  // namespace

std::vector<double> Target::draw_from_prior(std::uint64_t seed, std::uint32_t chain,
                                            std::uint64_t attempt) const {
  constexpr int kTries = 100000;
  Numbers numbers(seed, chain, attempt);
  std::vector<double> theta(elements_.size());
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    const device::Element& e = elements_[i];
    int tries = 0;
    do {
      // Truncation by rejection; a prior with next to no mass above its bound is the user's mistake.
      if (++tries > kTries)
        throw InputError("prior." + element_names(layout_)[i] + ": fewer than one draw in " +
                         std::to_string(kTries) + " lies above the lower bound; use init kmeans or a file");
      theta[i] = draw_element(e, numbers);
    } while ((device::is_bounded_below(e.transform) && !(theta[i] > e.bound)) ||
             (e.transform == device::Transform::interval && !(theta[i] > 0 && theta[i] < 1)));
  }
  for (const auto& block : simplices_) {
    double sum = 0;
    for (int k = 0; k < block.size; ++k) sum += theta[static_cast<std::size_t>(block.begin + k)];
    for (int k = 0; k < block.size; ++k) theta[static_cast<std::size_t>(block.begin + k)] /= sum;
  }
  if (ordered_block_) {
    // The prior is exchangeable, so sorting gives a draw of the ordered one.
    std::vector<double> column;
    for (std::size_t i = 0; i < elements_.size(); ++i)
      if (device::is_ordered(elements_[i].transform)) column.push_back(theta[i]);
    std::sort(column.begin(), column.end());
    std::size_t next = 0;
    for (std::size_t i = 0; i < elements_.size(); ++i)
      if (device::is_ordered(elements_[i].transform)) theta[i] = column[next++];
  }
  return theta;
}

}  // namespace emomc

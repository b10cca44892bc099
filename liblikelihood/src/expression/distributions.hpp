// Draws random numbers of the language, for likelihood.simulate: name_rng(arguments) draws from the
// distribution whose density is name_lpdf or name_lpmf.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "emomc/device/random.hpp"

namespace emomc::expression {

/// X(name, number of arguments)
#define EMOMC_EXPRESSION_DISTRIBUTIONS(X) \
  X(bernoulli, 1)                         \
  X(bernoulli_logit, 1)                   \
  X(beta, 2)                              \
  X(beta_binomial, 3)                     \
  X(binomial, 2)                          \
  X(binomial_logit, 2)                    \
  X(cauchy, 2)                            \
  X(chi_square, 1)                        \
  X(double_exponential, 2)                \
  X(exponential, 1)                       \
  X(gamma, 2)                             \
  X(gumbel, 2)                            \
  X(inv_gamma, 2)                         \
  X(logistic, 2)                          \
  X(lognormal, 2)                         \
  X(neg_binomial, 2)                      \
  X(neg_binomial_2, 2)                    \
  X(neg_binomial_2_log, 2)                \
  X(normal, 2)                            \
  X(pareto, 2)                            \
  X(poisson, 1)                           \
  X(poisson_log, 1)                       \
  X(rayleigh, 1)                          \
  X(skew_normal, 3)                       \
  X(student_t, 3)                         \
  X(uniform, 2)                           \
  X(von_mises, 2)                         \
  X(weibull, 2)

enum class Distribution {
#define EMOMC_ENUMERATOR(name, count) name##_,
  EMOMC_EXPRESSION_DISTRIBUTIONS(EMOMC_ENUMERATOR)
#undef EMOMC_ENUMERATOR
};

struct DistributionInfo {
  std::string_view name;
  int num_arguments;
};
const std::vector<DistributionInfo>& distributions();

/// The random bits of one row of one replicate: a function of the seed and these two.
class RandomBits {
 public:
  using result_type = std::uint64_t;
  RandomBits(std::uint64_t seed, std::uint64_t row, std::uint32_t replicate)
      : source_{seed, row, replicate} {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() {
    const device::Philox4 block = source_.block(device::Purpose::simulation, count_++);
    return static_cast<result_type>(block.word[0]) << 32 | block.word[1];
  }

 private:
  device::RandomSource source_;
  device::u32 count_ = 0;
};

/// A draw from a distribution; NaN where the arguments are not allowed.
double draw(Distribution distribution, const double* arguments, RandomBits& random);

/// The angle `x` in the turn [middle - pi, middle + pi).
double angle_about(double middle, double x);

}  // namespace emomc::expression

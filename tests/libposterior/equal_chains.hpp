// Helpers that the tests of libposterior share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emomc/core/errors.hpp"
#include "emomc/posterior.hpp"
#include "emomc/posterior/prior_rules.hpp"

namespace emomc::testing {

inline const std::string kFaithful = EMOMC_SOURCE_DIR "/tests/apps/data/faithful.csv";

/// Expects that all draws of two runs are bitwise equal.
inline void expect_equal(const std::vector<ChainDraws>& a, const std::vector<ChainDraws>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t c = 0; c < a.size(); ++c) {
    EXPECT_EQ(a[c].header.warmup, b[c].header.warmup);
    EXPECT_EQ(a[c].header.layout, b[c].header.layout);
    EXPECT_EQ(a[c].header.block_names, b[c].header.block_names);
    EXPECT_EQ(a[c].steps, b[c].steps);
    EXPECT_EQ(a[c].log_prior, b[c].log_prior);
    EXPECT_EQ(a[c].log_likelihood, b[c].log_likelihood);
    EXPECT_EQ(a[c].parameters, b[c].parameters);
    EXPECT_EQ(a[c].accepted, b[c].accepted);
    EXPECT_EQ(a[c].proposed, b[c].proposed);
  }
}

/// Returns a model waiting = a + b duration, with a derived quantity.
inline ExpressionModel line() {
  ExpressionModel model;
  model.likelihood.parameters = {parameter("a"), parameter("b"), parameter("s", Support::positive)};
  model.likelihood.log_density = {"log_density", "normal_lpdf(waiting, a + b * duration, s)"};
  model.likelihood.derived = {{"ratio", {"derived", "a / b"}}};
  model.priors = {{"a", priors::normal(0, 50)}, {"b", priors::normal(0, 50)}, {"s", priors::half_normal(20)}};
  return model;
}

/// Returns the message of the InputError that `call` throws, or an empty text if none is thrown.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace emomc::testing

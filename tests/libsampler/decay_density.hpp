// A density of a decay time in a window: x is exponential with mean tau, and observed only where it is below
// 10.
#pragma once
#include "emomc/device/density.hpp"

struct Decay {
  static constexpr const char* name = "Decay";
  static constexpr int num_columns = 1;
  static constexpr emomc::device::ParameterDescription parameters[] = {
      {"tau", emomc::device::Support::positive}};

  // The rate is the only number that rows need; the normaliser is the same for all rows.
  static constexpr int num_coefficients = 1;
  template <class Team>
  EMOMC_HD double prepare(const Team& team, const double* theta, double* coefficients) const {
    const double rate = 1.0 / theta[0];
    if (team.rank() == 0) coefficients[0] = rate;
    return emomc::device::log(rate) - emomc::device::log(1.0 - emomc::device::exp(-10.0 * rate));
  }
  template <class T, class Coefficients, class Row>
  EMOMC_HD T log_density(const Coefficients& c, const Row& x) const {
    return -c[0] * x[0];
  }
};

// Poisson regression: y is Poisson with mean exp(a + b[0] x1 + b[1] x2). Columns: x1, x2, y, log(y!).
#pragma once
#include "emomc/device/density.hpp"

struct PoissonRegression {
  static constexpr const char* name = "PoissonRegression";
  static constexpr int num_columns = 4;
  static constexpr emomc::device::ParameterDescription parameters[] = {
      {"a"}, {"b", emomc::device::Support::real, 2}};

  template <class T, class Coefficients, class Row>
  EMOMC_HD T log_density(const Coefficients& c, const Row& x) const {
    const T eta = c[0] + c[1] * x[0] + c[2] * x[1];
    return x[2] * eta - emomc::device::exp(eta) - x[3];
  }
};

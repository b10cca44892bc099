// The velocity of a star along the line of sight, which a planet moves: a Kepler orbit, whose equation is
// solved in a loop, and noise beyond the measurements' own errors. Columns: time, velocity, error.
#pragma once
#include "emomc/device/density.hpp"
#include "emomc/device/expression_calls.hpp"

struct Orbit {
  static constexpr const char* name = "Orbit";
  static constexpr int num_columns = 3;
  static constexpr emomc::device::ParameterDescription parameters[] = {
      {"period", emomc::device::Support::positive},
      {"phase", emomc::device::Support::unit_interval},
      {"eccentricity", emomc::device::Support::unit_interval},
      {"amplitude", emomc::device::Support::positive},
      {"omega", emomc::device::Support::circular},
      {"velocity"},
      {"jitter", emomc::device::Support::positive}};

  // Once for each parameter vector, by one member of the team, in float64. Number is double, or a dual number
  // for the gradient.
  static constexpr int num_coefficients = 8;
  template <class Team, class Number>
  EMOMC_HD Number prepare(const Team& team, const Number* theta, Number* c) const {
    namespace f = emomc::device::calls;
    if (team.rank() == 0) {
      const Number e = theta[2];
      c[0] = 1 / theta[0];
      c[1] = theta[1];
      c[2] = e;
      c[3] = f::sqrt(1 - e * e);
      c[4] = theta[3] * f::cos(theta[4]);
      c[5] = theta[3] * f::sin(theta[4]);
      c[6] = theta[5] + e * c[4];
      c[7] = theta[6] * theta[6];
    }
    team.sync();
    return -0.91893853320467274;  // -log(2 pi) / 2, a part of every row's log density
  }

  // For each row; T is float or double.
  template <class T, class Coefficients, class Row>
  EMOMC_HD T log_density(const Coefficients& c, const Row& x) const {
    namespace f = emomc::device::calls;
    const T turns = x[0] * c[0] + c[1], e = c[2];
    const T mean = T(6.2831853071795865) * (turns - f::floor(turns));  // the mean anomaly
    T E = mean + e * f::sin(mean);  // the eccentric anomaly, by Newton's method
    for (int i = 0; i < 8; ++i) E = E - (E - e * f::sin(E) - mean) / (1 - e * f::cos(E));
    const T distance = 1 - e * f::cos(E);
    const T cosine = (f::cos(E) - e) / distance, sine = c[3] * f::sin(E) / distance;  // of the true anomaly
    const T rest = x[1] - (c[4] * cosine - c[5] * sine + c[6]);
    const T variance = x[2] * x[2] + c[7];
    return T(-0.5) * (f::log(variance) + rest * rest / variance);
  }
};

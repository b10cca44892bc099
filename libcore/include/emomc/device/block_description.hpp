// How a model states its parameters in a header that the device compiles too.
#ifndef EMOMC_DEVICE_BLOCK_DESCRIPTION_HPP
#define EMOMC_DEVICE_BLOCK_DESCRIPTION_HPP

namespace emomc::device {

/// Which values a block of parameters may take; the sampler picks the transform by it.
enum class Support {
  real,           ///< any number
  positive,       ///< above a lower bound (0 unless the prior sets a floor)
  unit_interval,  ///< between 0 and 1
  simplex,        ///< non-negative, summing to one along the only axis
  covariance,     ///< positive definite matrices along the last two axes
  circular,       ///< an angle in radians, in (-pi, pi], whose ends are the same
};

/// How a block changes when column j of the data is replaced by (x_j - mean_j) / sd_j.
enum class DataUnit {
  none,       ///< not at all (weights)
  location,   ///< theta -> (theta - mean_j) / sd_j
  scale,      ///< theta -> theta / sd_j; of a covariance's Cholesky factor, by row
  log_scale,  ///< theta -> theta - log sd_j
  rate,       ///< theta -> theta sd_j
};

/// What a change of one slice of a block changes in a mixture's density.
enum class Influence {
  everything,  ///< no shortcut: evaluate in full
  component,   ///< only the component that the slice along the component axis belongs to
  weights,     ///< only the weights of the components
  nothing,     ///< no likelihood: a parameter of other parameters' prior
};

enum class Axis { component, feature };

struct BlockDescription {
  const char* name;
  Support support;
  DataUnit unit;
  Influence influence;
  int num_axes;
  Axis axes[3];
  /// The default prior, as a configuration writes it: "{normal: {mean: 0, sd: 10}}". For a covariance it is
  /// the prior of the standard deviations.
  const char* prior;
  /// The default prior of a covariance's correlations; other blocks have none.
  const char* correlation_prior = nullptr;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_BLOCK_DESCRIPTION_HPP

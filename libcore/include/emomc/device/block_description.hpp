// Types with which a model describes its blocks of parameters, in a header that is compiled for the device
// too.
#ifndef EMOMC_DEVICE_BLOCK_DESCRIPTION_HPP
#define EMOMC_DEVICE_BLOCK_DESCRIPTION_HPP

namespace emomc::device {

/// The values that a block of parameters may take; the sampler chooses the transform accordingly.
enum class Support {
  real,           ///< any number
  positive,       ///< above a lower bound (0 unless the prior sets a floor)
  unit_interval,  ///< between 0 and 1
  simplex,        ///< non-negative, summing to one along the only axis
  covariance,     ///< positive definite matrices along the last two axes
  circular,       ///< angles in radians, in (-pi, pi], where both ends are the same angle
};

/// How a block's parameters change when column j of the data is replaced by (x_j - mean_j) / sd_j.
enum class DataUnit {
  none,       ///< unchanged (e.g. weights)
  location,   ///< theta -> (theta - mean_j) / sd_j
  scale,      ///< theta -> theta / sd_j; applied to the rows of a covariance's Cholesky factor
  log_scale,  ///< theta -> theta - log sd_j
  rate,       ///< theta -> theta sd_j
};

/// The part of a mixture's density that depends on one slice of a block.
enum class Influence {
  everything,  ///< the whole density, which must be evaluated in full
  component,   ///< only the density of the component to which the slice along the component axis belongs
  weights,     ///< only the weights of the components
  nothing,     ///< none of the likelihood: a parameter of other parameters' prior
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

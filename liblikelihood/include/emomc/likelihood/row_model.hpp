// The interface of a likelihood for the engines: the density of one row for each kind of machine. The engines
// sum over rows. `density_model.hpp` makes such a likelihood from a type in a header of the user's own;
// make_engine(spec, ...) makes the mixtures of models.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/core/parameters.hpp"
#include "emomc/device/gradient_layout.hpp"
#include "emomc/likelihood/data_set.hpp"

namespace emomc {

/// The cpu engine's arithmetic with numbers of type Real, float or double. A tile is [column][kTileRows] in
/// host memory; rows from num_rows on are not used. Sums and log densities are float64 and do not include
/// `common` (device/row_likelihood.hpp).
template <class Real>
class TileArithmetic {
 public:
  virtual ~TileArithmetic() = default;

  virtual int num_coefficients() const = 0;
  /// Number of float64 values in the scratch memory of prepare().
  virtual int num_scratch() const = 0;
  /// Writes the coefficients of `theta` and returns `common`, which is NaN where the density is not defined.
  virtual double prepare(const double* theta, Real* coefficients, double* scratch) const = 0;

  /// Writes the log density of each row; out[kTileRows].
  virtual void log_densities(const Real* coefficients, const Real* tile, int num_rows, double* out) const = 0;
  /// Writes numbers whose tree_sum is the sum of the log densities, and returns how many; out[kTileRows]. For
  /// a part of a tile that begins and ends at multiples of kProductRows the numbers are those of the same
  /// rows in the whole tile.
  virtual std::size_t partial_sums(const Real* coefficients, const Real* tile, int num_rows,
                                   double* out) const = 0;

  /// The number of parameter vectors that partial_sums_of_chains() evaluates together; 1: there is no gain
  /// from it.
  virtual int chains_at_once() const { return 1; }
  /// partial_sums() for at most chains_at_once() vectors: coefficients[num_chains],
  /// out[num_chains][kTileRows].
  virtual std::size_t partial_sums_of_chains(const Real* const* coefficients, int num_chains,
                                             const Real* tile, int num_rows, double* const* out) const {
    std::size_t count = 0;
    for (int chain = 0; chain < num_chains; ++chain)
      count = partial_sums(coefficients[chain], tile, num_rows, out[chain]);
    return count;
  }

  /// How many sums over rows the gradient needs; 0: there is no gradient.
  virtual int num_gradient_sums() const { return 0; }
  /// Does what partial_sums() does, and adds the sums over the tile's rows that the gradient needs to
  /// sums[num_gradient_sums()], in float64. The order of additions is a function of num_rows alone.
  virtual std::size_t add_gradient_sums(const Real* /*coefficients*/, const Real* /*tile*/, int /*num_rows*/,
                                        double* /*out*/, double* /*sums*/) const {
    throw std::logic_error("a likelihood without a gradient");
  }
  /// add_gradient_sums() for at most chains_at_once() vectors: coefficients[num_chains],
  /// out[num_chains][kTileRows], sums[num_chains][num_gradient_sums()].
  virtual std::size_t add_gradient_sums_of_chains(const Real* const* coefficients, int num_chains,
                                                  const Real* tile, int num_rows, double* const* out,
                                                  double* const* sums) const {
    std::size_t count = 0;
    for (int chain = 0; chain < num_chains; ++chain)
      count = add_gradient_sums(coefficients[chain], tile, num_rows, out[chain], sums[chain]);
    return count;
  }
  /// Writes d log likelihood / d theta [num_parameters] from those sums over num_rows rows.
  virtual void gradient_of(const double* /*theta*/, const double* /*sums*/, std::size_t /*num_rows*/,
                           double* /*gradient*/) const {
    throw std::logic_error("a likelihood without a gradient");
  }

  /// The natural logarithm of the likelihood of `num_rows` rows; 0 for no rows.
  virtual double log_likelihood(double sum, std::size_t num_rows, double common) const = 0;
  /// The natural logarithm of a row's density, from the number that log_densities() wrote.
  virtual double log_density(double of_row, double common) const = 0;

  /// How many numbers of each row, in slots, are kept while one component changes at a time; 0: none.
  virtual int num_kept() const { return 0; }
  /// The slot that depends on a component.
  virtual int slot_of(int /*component*/) const { return 0; }
  /// Writes the numbers of one slot; out[kTileRows].
  virtual void keep(const Real* /*coefficients*/, const Real* /*tile*/, int /*num_rows*/, int /*slot*/,
                    Real* /*out*/) const {}
  /// partial_sums(), bit for bit, from the numbers of all slots, kept[slot][kTileRows].
  virtual std::size_t partial_sums_of_kept(const Real* coefficients, const Real* tile,
                                           const Real* const* /*kept*/, int num_rows, double* out) const {
    return partial_sums(coefficients, tile, num_rows, out);
  }
};

/// How kernels that are compiled at run time evaluate a likelihood.
struct DeviceModel {
  DeviceCode code;
  device::LikelihoodSizes sizes{};
  bool leaves_registers = true;
  int rows_per_thread = 0;     ///< rows of a thread in float64; in float32 twice as many, up to 4
  bool sums_products = false;  ///< DeviceLikelihood::sums_products
  int chains_together = 1;     ///< DeviceLikelihood::chains_together
  device::GradientSizes gradient{};
  bool copies_parameters = false;  ///< kCopiesParameters in row_likelihood.hpp
};

/// A likelihood that is a product over rows. Objects are immutable.
class RowModel {
 public:
  virtual ~RowModel() = default;
  virtual const ParameterLayout& layout() const = 0;
  virtual int num_columns() const = 0;

  /// The natural logarithm of a row's density, for the reference engine: serial, in float64, by the textbook
  /// formula.
  virtual double log_density(const double* theta, const double* row) const = 0;
  /// log_density() of each of `rows` [num_rows x num_columns()], row-major; out[num_rows].
  virtual void log_densities(const double* theta, const double* rows, std::size_t num_rows,
                             double* out) const {
    for (std::size_t i = 0; i < num_rows; ++i)
      out[i] = log_density(theta, rows + i * static_cast<std::size_t>(num_columns()));
  }
  /// Why there is no gradient; empty where there is one.
  virtual std::string why_no_gradient() const { return "this likelihood has no gradient yet"; }
  /// log_densities() and their derivatives with respect to theta, gradients[num_rows x layout().dim()], for
  /// the reference engine.
  virtual void gradients(const double* /*theta*/, const double* /*rows*/, std::size_t /*num_rows*/,
                         double* /*out*/, double* /*gradients*/) const {
    throw std::logic_error("a likelihood without a gradient");
  }
  virtual std::unique_ptr<TileArithmetic<float>> float32() const = 0;
  virtual std::unique_ptr<TileArithmetic<double>> float64() const = 0;
  virtual DeviceModel device() const = 0;
};

}  // namespace emomc

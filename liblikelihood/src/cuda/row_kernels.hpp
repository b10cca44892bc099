// The interface by which the cuda engine launches the kernels that evaluate a likelihood. Kernels are
// compiled ahead of time (compiled_kernels.cu) or at run time (runtime_row_kernels.cu) and give the same
// bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "emomc/core/execution.hpp"
#include "emomc/core/likelihood_engine.hpp"
#include "emomc/device/node_layout.hpp"
#include "emomc/device/tile_layout.hpp"
#include "gradient_evaluation.hpp"

namespace emomc {

/// The configuration of a launch of tile_kernel.cuh.
struct TileLaunch {
  device::TileWork work;
  device::TileMemory memory;
  int parts;               ///< blocks that share a tile: 1, or for TileMemory::fused also 2 or kMaxParts
  unsigned tiles, groups;  ///< grid: tiles x parts, groups of chains
  std::size_t shared_bytes;
};

template <class Real>
class RowKernels {
 public:
  virtual ~RowKernels() = default;
  /// Whether there are kernels for tiles in shared memory, TileMemory::fused and staged.
  virtual bool has_shared_tiles() const = 0;
  /// Whether the batch kernel and those of gradients need no prepare() (kCopiesParameters).
  virtual bool copies_parameters() const { return false; }
  /// Enqueues the computation of the coefficients of active chains; `scratch` is num_chains x num_scratch
  /// device doubles.
  virtual void prepare(const double* theta, int ld, ActiveSet active, Real* coefficients, double* common,
                       double* scratch, Stream stream) const = 0;
  /// Enqueues the computation of the sums of tiles, and of log likelihoods if the view has an array for them.
  virtual void evaluate(const TileLaunch& launch, const device::EvaluationView<Real>& view,
                        const double* theta, int ld, Stream stream) const = 0;

  /// Compiles the kernel of finish_shared() unless it has been compiled ahead of time.
  virtual void prepare_shared() {}
  /// Enqueues the computation of log likelihoods of chains whose rows are divided over ranks, from the nodes
  /// of all ranks.
  virtual void finish_shared(const device::NodeSumsView& view, std::size_t shared_bytes,
                             Stream stream) const = 0;

  /// The natural logarithm of the likelihood of `num_rows` rows whose log densities without `common` sum to
  /// `sum`; 0 for no rows.
  virtual double log_likelihood(double sum, std::size_t num_rows, double common) const = 0;
  /// The natural logarithm of the density of a row, from the number that a kernel wrote for this row.
  virtual double log_density(double of_row, double common) const = 0;

  /// Bytes of the KeptState of a chain; 0: nothing is kept.
  virtual std::size_t state_bytes() const = 0;
  /// Enqueues the update of the states after the last evaluation of a component, which was accepted
  /// (accepted[chain] != 0) or rejected.
  virtual void commit(const device::KeptView& kept, const std::uint8_t* accepted, ActiveSet active,
                      Stream stream) const = 0;
  /// Enqueues that all kept sums become stale.
  virtual void forget(const device::KeptView& kept, ActiveSet active, Stream stream) const = 0;
};

/// Makes an engine with these kernels. The engine compiles kernels for gradients in allocate_gradients().
/// `ranks`: the ranks over which rows are divided; null: the engine has all rows. `likelihood` is without
/// rows, segments and caches.
template <class Real>
std::unique_ptr<LikelihoodEngine> make_row_engine(ParameterLayout layout, DeviceLikelihood likelihood,
                                                  std::unique_ptr<RowKernels<Real>> kernels,
                                                  const GradientCode& gradient, const DataSet& data,
                                                  Device& device, Communicator* ranks);

}  // namespace emomc

// The kernels that evaluate a likelihood, as the cuda engine launches them: compiled ahead of time
// (compiled_kernels.cu) or at run time (runtime_row_kernels.cu). The bits are the same.
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

/// How tile_kernel.cuh is launched.
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
  /// Enqueues the coefficients of active chains; `scratch` is num_chains x num_scratch device doubles.
  virtual void prepare(const double* theta, int ld, ActiveSet active, Real* coefficients, double* common,
                       double* scratch, Stream stream) const = 0;
  /// Enqueues the sums of tiles, and of chains where the view wants them.
  virtual void evaluate(const TileLaunch& launch, const device::EvaluationView<Real>& view,
                        const double* theta, int ld, Stream stream) const = 0;

  /// Makes the kernel of finish_shared(), which is compiled where it is not there ahead of time.
  virtual void prepare_shared() {}
  /// Enqueues the log likelihoods of chains whose rows are divided over ranks, from the nodes of all ranks.
  virtual void finish_shared(const device::NodeSumsView& view, std::size_t shared_bytes,
                             Stream stream) const = 0;

  /// The natural logarithm of the likelihood of `num_rows` rows whose log densities without `common` have
  /// this sum; 0 of none.
  virtual double log_likelihood(double sum, std::size_t num_rows, double common) const = 0;
  /// The natural logarithm of the density of a row, from what a kernel wrote of it.
  virtual double log_density(double of_row, double common) const = 0;

  /// Bytes of the KeptState of a chain; 0: nothing is kept.
  virtual std::size_t state_bytes() const = 0;
  /// Enqueues: what was evaluated last of a component is adopted (accepted[chain] != 0) or discarded.
  virtual void commit(const device::KeptView& kept, const std::uint8_t* accepted, ActiveSet active,
                      Stream stream) const = 0;
  /// Enqueues: nothing that is kept is to be read.
  virtual void forget(const device::KeptView& kept, ActiveSet active, Stream stream) const = 0;
};

/// The engine of such kernels (`ranks`: over which rows are divided; null: all are here), which compile those
/// of gradients when they are asked for; `likelihood` is without rows, segments and caches.
template <class Real>
std::unique_ptr<LikelihoodEngine> make_row_engine(ParameterLayout layout, DeviceLikelihood likelihood,
                                                  std::unique_ptr<RowKernels<Real>> kernels,
                                                  const GradientCode& gradient, const DataSet& data,
                                                  Device& device, Communicator* ranks);

}  // namespace emomc

// The interface between sampler and likelihood: log likelihoods of a batch of parameter vectors, with one
// virtual call per batch. liblikelihood implements it; libsampler only calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "emomc/core/communicator.hpp"
#include "emomc/core/execution.hpp"
#include "emomc/core/parameters.hpp"
#include "emomc/core/runtime_kernel.hpp"
#include "emomc/device/active_set.hpp"
#include "emomc/device/row_likelihood.hpp"

namespace emomc {

/// Rows [first_row, first_row + num_rows) of a data set, such as those of an utterance, a speaker or a class.
struct Segment {
  std::size_t first_row = 0, num_rows = 0;
  bool operator==(const Segment&) const = default;
};

/// Data, tempering exponent and group of one chain. All chains of a group have the same posterior and adapt
/// together.
struct ChainPlan {
  std::uint64_t id = 0;
  std::vector<int> segments;  ///< indices into the data set's segments
  double beta = 1;            ///< exponent of the likelihood (tempering); the sampler applies it
  int group = 0;
};

/// Parameter vectors of all chains, in the memory of the engine's device (host or GPU).
struct EnsembleView {
  int num_chains = 0;
  int dim = 0;                       ///< number of constrained parameters
  int ld = 0;                        ///< stride between chains in theta, >= dim
  double* theta = nullptr;           ///< num_chains x ld, chain-major
  double* log_likelihood = nullptr;  ///< [num_chains], output
};

/// Gradients of the log likelihoods of all chains with respect to theta, in the memory of the engine's
/// device. The elements of a simplex or an ordered list are differentiated as if they were free; for a
/// covariance, the gradient is with respect to the elements of its Cholesky factor.
struct GradientView {
  double* gradient = nullptr;  ///< num_chains x ld, chain-major, output
  int ld = 0;                  ///< stride between chains, >= dim
  /// [num_chains] An engine may skip active chains where this is 0; their outputs are then undefined.
  /// nullptr: no chain is skipped. The array is read when the work runs, so that one captured graph can skip
  /// different chains at each launch.
  const std::uint8_t* wanted = nullptr;
};

using device::ActiveSet;
using device::kAllComponents;

struct Capabilities {
  bool components = false;  ///< evaluate_component exists and is cheaper than evaluate
  bool gradient = false;    ///< evaluate_with_gradient exists
};

struct MemoryPlan {
  std::size_t data_bytes = 0, work_bytes = 0, cache_bytes = 0;
  std::size_t total() const { return data_bytes + work_bytes + cache_bytes; }
};

/// Code, sizes and data with which a kernel evaluates an engine's likelihood without the engine.
struct DeviceLikelihood {
  DeviceCode code;
  std::string real;  ///< type of rows and of numbers computed per row: "float" or "double"
  device::LikelihoodSizes sizes{};
  bool leaves_registers = true;           ///< kLeavesRegisters of row_likelihood.hpp
  double cost_of_row = 0;                 ///< approximate cost of a row, in multiplications and additions of
                                          ///< a pair of numbers
  const void* rows = nullptr;             ///< indexed by tile, column and row in the tile; device memory
  std::vector<int> segment_first_tile;    ///< [num_segments + 1]
  std::vector<std::size_t> segment_rows;  ///< [num_segments]
  // The component caches that allocate() has made. After a kernel that writes to them, rebuild_caches() must
  // be called before the next evaluate_component().
  void* kept = nullptr;
  std::size_t kept_bytes = 0;
  /// Number of neighbouring rows that fit in a thread's registers in a kernel that is compiled for these
  /// sizes; 0 if not even one does.
  int rows_per_thread = 0;
  bool sums_products = false;  ///< whether rows have sums of products (device/density.hpp)
  /// Number of chains that a thread should evaluate at once; more than one only if the likelihood has
  /// evaluate_chains().
  int chains_together = 1;
};

/// Whether component caches are kept. Without caches, evaluate_component evaluates all components. The bits
/// of the log likelihoods are the same in both cases.
enum class ComponentCaches { off, on };

/// Evaluates log likelihoods. A log likelihood is a function of (parameters, data, precision, model version)
/// alone: its bits do not depend on the batch, the active set, the number of threads or the grid. The log
/// likelihood of no rows is 0 at any point.
class LikelihoodEngine {
 public:
  virtual ~LikelihoodEngine() = default;

  virtual std::string name() const = 0;  ///< "reference", "cpu", "cuda"
  virtual const ParameterLayout& layout() const = 0;
  virtual Capabilities capabilities() const = 0;
  virtual Device& device() const = 0;
  virtual std::size_t num_segments() const = 0;
  virtual std::size_t num_rows() const = 0;
  /// The ranks among which the rows are divided, each with an engine of its own; nullptr if the rows are not
  /// divided. All these ranks make the same calls in the same order.
  virtual Communicator* row_ranks() const { return nullptr; }

  /// Memory that allocate() would take. Throws std::invalid_argument for a segment that does not exist.
  virtual MemoryPlan plan(const std::vector<ChainPlan>& chains, ComponentCaches caches) const = 0;
  /// Allocates all memory that the calls below need. Throws MachineError if memory does not suffice.
  virtual void allocate(const std::vector<ChainPlan>& chains, ComponentCaches caches) = 0;

  /// Allocates the additional memory of evaluate_with_gradient() and compiles its kernels. Must be called
  /// after each allocate() and before the first such call. Throws MachineError if memory does not suffice,
  /// and std::logic_error if capabilities().gradient is false.
  virtual void allocate_gradients() {}

  /// Description for a kernel that runs steps without this class and with the same bits; empty if the engine
  /// does not support this.
  virtual std::optional<DeviceLikelihood> device_likelihood() const { return std::nullopt; }

  // The calls below only enqueue on device().stream() and can be captured in a Graph.

  /// Computes log_likelihood of each active chain from its theta.
  virtual void evaluate(EnsembleView candidate, ActiveSet active) = 0;
  /// Computes the same log likelihoods as evaluate(), bit for bit, and their gradients. Like a log
  /// likelihood, a gradient is a function of (parameters, data, precision, model version) alone; its elements
  /// are undefined if the log likelihood is not finite. Component caches are not touched. Throws
  /// std::logic_error if capabilities().gradient is false.
  virtual void evaluate_with_gradient(EnsembleView candidate, GradientView gradient, ActiveSet active);
  /// Computes the same log likelihoods as evaluate() for chains whose theta differs from the last committed
  /// point in one component at most. `component` [num_chains], in the memory of the engine's device, is that
  /// component, or kAllComponents if several components or the weights differ.
  virtual void evaluate_component(EnsembleView candidate, const int* component, ActiveSet active) = 0;
  /// Adopts (accepted[chain] != 0) or discards the results of evaluate_component. `accepted` [num_chains] is
  /// in the memory of the engine's device.
  virtual void commit(const std::uint8_t* accepted, ActiveSet active) = 0;
  /// Recomputes the caches at `current`. Required before the first evaluate_component and after an accepted
  /// evaluate().
  virtual void rebuild_caches(EnsembleView current, ActiveSet active) = 0;

  // The calls below accept any parameter vectors, not only those of chains, and wait for the result.

  /// Computes the log likelihood of each segment of the data set: out[draw * num_segments() + segment]. theta
  /// is num_draws x layout().dim(); both are in host memory.
  virtual void sums_by_segment(const double* theta, int num_draws, double* out) = 0;
  /// Computes the log density of each row of the data set: out[num_rows()]. theta is one vector; both are in
  /// host memory.
  virtual void evaluate_rows(const double* theta, double* out) = 0;
};

inline void LikelihoodEngine::evaluate_with_gradient(EnsembleView, GradientView, ActiveSet) {
  throw std::logic_error(name() + ": this likelihood has no gradient here");
}

}  // namespace emomc

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

/// Rows [first_row, first_row + num_rows) of a data set: an utterance, a speaker, a class.
struct Segment {
  std::size_t first_row = 0, num_rows = 0;
  bool operator==(const Segment&) const = default;
};

/// The data of one chain. All chains of a group have the same posterior and adapt together.
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
/// device: of a simplex or an ordered list as if its elements were free, of a covariance with respect to the
/// elements of its Cholesky factor.
struct GradientView {
  double* gradient = nullptr;  ///< num_chains x ld, chain-major, output
  int ld = 0;                  ///< stride between chains, >= dim
  /// [num_chains] An engine may leave out active chains where this is 0, whose outputs are then of no use;
  /// nullptr: none. It is read when the work runs, so that a captured graph can leave out other chains each
  /// time.
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

/// What a kernel needs to evaluate an engine's likelihood without the engine.
struct DeviceLikelihood {
  DeviceCode code;
  std::string real;  ///< "float" or "double": the type of rows and of their numbers
  device::LikelihoodSizes sizes{};
  bool leaves_registers = true;           ///< kLeavesRegisters of row_likelihood.hpp
  double cost_of_row = 0;                 ///< in multiplications and additions of a pair of numbers, roughly
  const void* rows = nullptr;             ///< indexed by tile, column and row in the tile; device memory
  std::vector<int> segment_first_tile;    ///< [num_segments + 1]
  std::vector<std::size_t> segment_rows;  ///< [num_segments]
  // The component caches that allocate() has made. A kernel that writes to them must be followed by
  // rebuild_caches() before the next evaluate_component().
  void* kept = nullptr;
  std::size_t kept_bytes = 0;
  /// Number of neighbouring rows for which a thread has registers in a kernel that is compiled for these
  /// sizes; 0: not even for one.
  int rows_per_thread = 0;
  bool sums_products = false;  ///< whether rows have sums of products (device/density.hpp)
  /// Chains that a thread should evaluate at once; more than one only where the likelihood has
  /// evaluate_chains().
  int chains_together = 1;
};

/// Whether component caches are kept. Without them evaluate_component evaluates all components. The log
/// likelihoods have the same bits either way.
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
  /// The ranks among which the rows are divided, each of which has an engine; nullptr where they are not. All
  /// of them make the same calls in the same order.
  virtual Communicator* row_ranks() const { return nullptr; }

  /// Bytes that allocate() would take. Throws std::invalid_argument for a segment that does not exist.
  virtual MemoryPlan plan(const std::vector<ChainPlan>& chains, ComponentCaches caches) const = 0;
  /// Allocates all memory that the calls below need. Throws MachineError where memory does not suffice.
  virtual void allocate(const std::vector<ChainPlan>& chains, ComponentCaches caches) = 0;

  /// Allocates what evaluate_with_gradient() needs beside, and compiles its kernels; after each allocate(),
  /// before the first such call. Throws MachineError where memory does not suffice, and std::logic_error
  /// where capabilities().gradient is false.
  virtual void allocate_gradients() {}

  /// For a kernel that runs steps without this class, with the same bits; empty where the engine does not
  /// support it.
  virtual std::optional<DeviceLikelihood> device_likelihood() const { return std::nullopt; }

  // The calls below only enqueue on device().stream() and can be captured in a Graph.

  /// Computes log_likelihood of each active chain from its theta.
  virtual void evaluate(EnsembleView candidate, ActiveSet active) = 0;
  /// The same, bit for bit, and the gradients. A gradient is a function of (parameters, data, precision,
  /// model version) alone, as the log likelihood is; where that is not finite, its elements are of no use.
  /// Does not touch component caches. Throws std::logic_error where capabilities().gradient is false.
  virtual void evaluate_with_gradient(EnsembleView candidate, GradientView gradient, ActiveSet active);
  /// Computes the same value where theta differs from the last committed point in one component at most.
  /// `component` [num_chains] is in the memory of the engine's device: the component, or kAllComponents where
  /// several differ or the weights.
  virtual void evaluate_component(EnsembleView candidate, const int* component, ActiveSet active) = 0;
  /// Adopts (accepted[chain] != 0) or discards what evaluate_component computed. `accepted` [num_chains] is
  /// in the memory of the engine's device.
  virtual void commit(const std::uint8_t* accepted, ActiveSet active) = 0;
  /// Recomputes the caches at `current`. Required before the first evaluate_component and after an accepted
  /// evaluate().
  virtual void rebuild_caches(EnsembleView current, ActiveSet active) = 0;

  // The calls below accept any parameter vectors, not only those of chains, and wait for the result.

  /// Log likelihood of each segment of the data set: out[draw * num_segments() + segment]. theta is num_draws
  /// x layout().dim(); both are in host memory.
  virtual void sums_by_segment(const double* theta, int num_draws, double* out) = 0;
  /// Log density of each row of the data set: out[num_rows()]. theta is one vector; both are in host memory.
  virtual void evaluate_rows(const double* theta, double* out) = 0;
};

inline void LikelihoodEngine::evaluate_with_gradient(EnsembleView, GradientView, ActiveSet) {
  throw std::logic_error(name() + ": this likelihood has no gradient here");
}

}  // namespace emomc

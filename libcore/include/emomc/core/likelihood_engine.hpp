// The boundary between sampler and likelihood: log likelihoods of a batch of parameter vectors, one
// virtual call per batch. liblikelihood implements it; libsampler only calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emomc/core/execution.hpp"
#include "emomc/core/parameters.hpp"

namespace emomc {

/// Rows [first_row, first_row + num_rows) of a data set: an utterance, a speaker, a class.
struct Segment {
  std::size_t first_row = 0, num_rows = 0;
  bool operator==(const Segment&) const = default;
};

/// What one chain evaluates. Chains of one group have the same posterior and adapt together.
struct ChainPlan {
  std::uint64_t id = 0;
  std::vector<int> segments;  ///< indices into the data set's segments
  double beta = 1;            ///< power of the likelihood; applied by the sampler
  int group = 0;
};

/// Parameter vectors of all chains, in the engine's memory (host or device).
struct EnsembleView {
  int num_chains = 0;
  int dim = 0;                       ///< constrained parameters
  int ld = 0;                        ///< distance between chains in theta, >= dim
  double* theta = nullptr;           ///< num_chains x ld, chain-major
  double* log_likelihood = nullptr;  ///< [num_chains], written
};

/// The chains a call is about; `chains` (in the engine's memory) null means the first `count` ones.
struct ActiveSet {
  const int* chains = nullptr;
  int count = 0;
};

/// component[i] of evaluate_component: the component that changed, or only the weights.
inline constexpr int kWeightsOnly = -1;

struct Capabilities {
  bool components = false;  ///< evaluate_component is there and cheaper than evaluate
  bool gradient = false;
};

struct MemoryPlan {
  std::size_t data_bytes = 0, work_bytes = 0, cache_bytes = 0;
  std::size_t total() const { return data_bytes + work_bytes + cache_bytes; }
};

/// What a kernel needs that evaluates an engine's likelihood by itself.
struct DeviceLikelihood {
  std::string model;  ///< C++ name of its type, known to the headers under emomc/device
  std::string real;   ///< "float" or "double", of rows and terms
  int num_components = 0, dim = 0;
  bool by_column_pairs = false;  ///< its density goes through pairs of columns, which takes registers
  // Of its shape (mixture_sum.hpp).
  int num_coefficients = 0, num_terms = 0, num_scratch = 0, num_pairs = 0;
  const void* rows = nullptr;             ///< tile, column, row in the tile; device memory
  std::vector<int> segment_first_tile;    ///< [num_segments + 1]
  std::vector<std::size_t> segment_rows;  ///< [num_segments]
  // Of the component caches that allocate() has made: who writes there calls rebuild_caches() before the next
  // evaluate_component().
  void* kept = nullptr;
  std::size_t kept_bytes = 0;
  /// Neighbouring rows for which a thread of a kernel for exact sizes has registers; 0: for none.
  int rows_per_thread = 0;
};

/// Whether component caches are kept; without them evaluate_component computes in full. The log
/// likelihoods have the same bits either way.
enum class ComponentCaches { off, on };

/// A log likelihood is a function of (parameters, data, precision, model version) alone: the same bits
/// whatever the batch, the active set, the threads or the grid. Of no rows it is 0, at any point.
class LikelihoodEngine {
 public:
  virtual ~LikelihoodEngine() = default;

  virtual std::string name() const = 0;  ///< "reference", "cpu", "cuda"
  virtual const ParameterLayout& layout() const = 0;
  virtual Capabilities capabilities() const = 0;
  virtual Device& device() const = 0;
  virtual std::size_t num_segments() const = 0;
  virtual std::size_t num_rows() const = 0;

  /// What allocate() would take. Throws std::invalid_argument for a segment that does not exist.
  virtual MemoryPlan plan(const std::vector<ChainPlan>& chains, ComponentCaches caches) const = 0;
  /// The only allocation. Throws MachineError where memory does not suffice.
  virtual void allocate(const std::vector<ChainPlan>& chains, ComponentCaches caches) = 0;

  /// Where the device can do without this class between steps; the same bits.
  virtual std::optional<DeviceLikelihood> device_likelihood() const { return std::nullopt; }

  // Below: enqueue on device().stream() only; capturable.

  /// log_likelihood of each active chain from its theta.
  virtual void evaluate(EnsembleView candidate, ActiveSet active) = 0;
  /// The same value, where theta differs from the last committed one in one component only.
  /// `component` [num_chains] in the engine's memory.
  virtual void evaluate_component(EnsembleView candidate, const int* component, ActiveSet active) = 0;
  /// Keeps (accepted[chain] != 0) or drops what evaluate_component computed.
  virtual void commit(const std::uint8_t* accepted, ActiveSet active) = 0;
  /// Makes the caches those of `current`. Needed before the first evaluate_component and after an
  /// accepted evaluate().
  virtual void rebuild_caches(EnsembleView current, ActiveSet active) = 0;

  // Below: any number of parameter vectors, of any chains; waits.

  /// Per segment of the data set: out[draw * num_segments() + segment], host memory.
  virtual void sums_by_segment(const double* theta, int num_draws, double* out) = 0;
  /// Per row of the data set: out[num_rows()], host memory; theta on the host, one vector.
  virtual void evaluate_rows(const double* theta, double* out) = 0;
};

}  // namespace emomc

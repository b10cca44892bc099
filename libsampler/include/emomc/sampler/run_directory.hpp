// The files of a run: append-only chain files while it runs, a checkpoint, and readers that believe
// nothing. docs/chain-format.md is the byte-level description.
//
// Writers throw MachineError where the disk fails; readers throw InputError where a file is not what it
// should be, before any size in it is believed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emomc/core/parameters.hpp"
#include "emomc/sampler/run_chains.hpp"

namespace emomc {

/// What a chain file says of itself. All chains of a run have equal headers but for chain_id.
struct ChainHeader {
  std::uint64_t chain_id = 0;
  std::uint64_t seed = 0;
  std::int64_t warmup = 0;  ///< steps
  std::int64_t thin = 1;
  ParameterLayout layout;                ///< in the data's own units
  std::vector<std::string> block_names;  ///< proposal blocks whose acceptance is recorded
  bool operator==(const ChainHeader&) const = default;
};

/// One kept draw, in the data's own units. log_density = log_prior + log_likelihood.
struct DrawView {
  std::int64_t step;  ///< absolute step (warm-up counted) after which it was kept
  double log_prior, log_likelihood;
  std::span<const double> parameters;  ///< [dim]
};

/// Acceptance counts since the previous record, per proposal block.
struct AcceptanceView {
  std::int64_t step;
  std::span<const std::uint64_t> accepted, proposed;  ///< [num_blocks]
};

/// Appends draws of one chain to `chains/chain-<id>.emc`. Draws are buffered into blocks; a block is
/// fixed-width, carries its length and a CRC-32C, and is readable after a kill at any byte.
/// Every call throws MachineError on a failed write and leaves earlier blocks valid.
class ChainWriter {
 public:
  /// Creates the file; `append_at` >= 0 opens an existing one and truncates it to that many bytes.
  ChainWriter(const std::filesystem::path& file, const ChainHeader& header, std::int64_t append_at = -1);
  ~ChainWriter();
  ChainWriter(ChainWriter&&) noexcept;
  ChainWriter& operator=(ChainWriter&&) noexcept;

  void append(const DrawView& draw);
  void append(const AcceptanceView& acceptance);
  const std::filesystem::path& file() const;
  /// Writes out what is buffered as a block. Not yet durable.
  void flush();
  /// flush, then fsync. Returns the number of bytes committed, for the checkpoint.
  std::int64_t commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// All draws of one chain in memory.
struct ChainDraws {
  ChainHeader header;
  std::int64_t num_draws = 0;
  std::vector<std::int64_t> steps;
  std::vector<double> log_prior, log_likelihood;  ///< [num_draws]
  std::vector<double> parameters;                 ///< num_draws x dim, row-major
  std::vector<std::uint64_t> accepted, proposed;  ///< [num_blocks], summed over the sampling phase
  std::int64_t bytes_ignored = 0;                 ///< an unfinished block at the end
};

/// Reads a chain file, also while it is being written. Throws InputError where the file is no chain
/// file, its header is damaged or a block in the middle fails its checksum.
ChainDraws read_chain(const std::filesystem::path& file);

/// Reads chains/ of a run directory in the order of chain ids; headers must agree.
std::vector<ChainDraws> read_chains(const std::filesystem::path& run_directory);

/// Everything that a run needs to go on: the sampler's state, and what it belongs to.
struct Checkpoint {
  std::string config_sha256, data_sha256;
  std::string engine;  ///< backend, precision and device that the draws depend on
  std::uint64_t seed = 0;
  SamplerState state;
  std::vector<std::int64_t> committed_bytes;  ///< [num_chains] of the chain files
  double warmup_seconds = 0, sampling_seconds = 0;
};

/// Beside, fsynced, renamed, the directory fsynced.
void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);
/// Throws InputError where the file is damaged or of another version.
Checkpoint read_checkpoint(const std::filesystem::path& file);

enum class ExistingRun { refuse, resume, overwrite };

/// Makes the directory ready for a run; returns whether there is a checkpoint to go on from. `refuse` and a
/// directory that is not empty: InputError. `overwrite` removes what emomc writes there and refuses where
/// anything else is in it.
bool prepare_run_directory(const std::filesystem::path& directory, ExistingRun policy);
/// The check of prepare_run_directory, without changing anything.
void check_run_directory(const std::filesystem::path& directory, ExistingRun policy);

/// Held while a process works on a run directory; a second one gets an InputError.
class RunLock {
 public:
  explicit RunLock(const std::filesystem::path& directory);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int descriptor_ = -1;
};

/// Writes `content` to `file` so that a reader sees the old or the new content, never a part:
/// a temporary beside it, fsync, rename, fsync of the directory. Throws MachineError.
void write_file_atomically(const std::filesystem::path& file, std::string_view content);

}  // namespace emomc

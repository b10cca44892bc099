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
#include "emomc/sampler/files.hpp"
#include "emomc/sampler/run_chains.hpp"

namespace emomc {

/// What a chain file says of itself. All chains of a run have equal headers but for chain_id.
struct ChainHeader {
  std::uint64_t chain_id = 0;
  std::uint64_t seed = 0;
  std::int64_t warmup = 0;  ///< steps; in ChainDraws the absolute step after which the last warm-up ended
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

/// Where the committed part of a chain file ends.
struct ChainEnd {
  std::int64_t bytes = 0, num_draws = 0;  ///< draws that readers leave out counted
};

/// Appends draws of one chain to `chains/chain-<id>.emc`. Draws are buffered into blocks; a block is
/// fixed-width, carries its length and a CRC-32C, and is readable after a kill at any byte.
/// Every call throws MachineError on a failed write and leaves earlier blocks valid; after that nothing is
/// written any more.
class ChainWriter {
 public:
  /// Creates the file.
  ChainWriter(const std::filesystem::path& file, const ChainHeader& header);
  /// Goes on behind `end`, which check_committed found; what follows it is cut off.
  ChainWriter(const std::filesystem::path& file, const ChainHeader& header, const ChainEnd& end);
  ~ChainWriter();
  ChainWriter(ChainWriter&&) noexcept;
  ChainWriter& operator=(ChainWriter&&) noexcept;

  void append(const DrawView& draw);
  void append(const AcceptanceView& acceptance);
  /// What has been appended was warm-up, which now ends after the absolute step `end`. Readers show it as
  /// warm-up with `keeps_draws`, and leave it out otherwise.
  void begin_longer_warmup(std::int64_t end, bool keeps_draws);
  const std::filesystem::path& file() const;
  /// Writes out what is buffered as a block. Not yet durable.
  void flush();
  /// flush, then fsync. Returns the number of bytes committed, for the checkpoint. Throws MachineError also
  /// where the file has been removed or replaced meanwhile.
  std::int64_t commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// All draws of one chain in memory.
struct ChainDraws {
  ChainHeader header;
  std::int64_t first_warmup = 0;  ///< steps, as the header in the file has it
  std::int64_t num_draws = 0;
  std::vector<std::int64_t> steps;
  std::vector<double> log_prior, log_likelihood;  ///< [num_draws]
  std::vector<double> parameters;                 ///< num_draws x dim, row-major
  std::vector<std::uint64_t> accepted, proposed;  ///< [num_blocks], summed over the sampling phase
  std::int64_t bytes_ignored = 0;                 ///< an unfinished block at the end
  std::int64_t num_left_out = 0;                  ///< draws before a longer warm-up that were not to be kept
};

/// The chain file of a run.
std::filesystem::path chain_file(const std::filesystem::path& run_directory, std::uint64_t chain_id);

/// Reads a chain file, also while it is being written. Throws InputError where the file is no chain file, its
/// header or a block is damaged, or it ends before `committed` bytes: only behind them a block may be
/// unfinished.
ChainDraws read_chain(const std::filesystem::path& file, std::int64_t committed = 0);

/// Checks the first `committed` bytes, whatever follows them, and that the header is `header`. Throws
/// InputError where they are damaged, missing or another run's, and says what can be done.
ChainEnd check_committed(const std::filesystem::path& file, const ChainHeader& header,
                         std::int64_t committed);

/// Reads chains/ of a run directory in the order of chain ids; headers must agree. All that the checkpoint
/// there has committed must be there. May be called at any moment of a run.
std::vector<ChainDraws> read_chains(const std::filesystem::path& run_directory);

/// A part of the data, to name what has changed: a file, or an utterance.
struct DataPart {
  std::string name;
  std::uint64_t num_rows = 0;
  std::string hash;  ///< of its values
  bool operator==(const DataPart&) const = default;
};

/// What a run's data were.
struct DataFingerprint {
  std::string sha256;  ///< of all values, names of columns included
  std::vector<std::string> columns;
  std::vector<DataPart> parts;
};

/// How far a chain file has been committed.
struct CommittedChain {
  std::uint64_t id = 0;
  std::int64_t bytes = 0;
};

/// Everything that a run needs to go on: the sampler's state, and what it belongs to.
struct Checkpoint {
  std::string config;  ///< YAML of all that draws depend on
  DataFingerprint data;
  std::string engine;  ///< backend, precision and device that the draws depend on
  std::uint64_t seed = 0;
  SamplerState state;
  std::vector<CommittedChain> chains;  ///< [state.num_chains]
  double warmup_seconds = 0, sampling_seconds = 0;
};

/// Beside, fsynced, renamed, the directory fsynced.
void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);
/// Throws InputError where the file is damaged or of another version of emomc, and says what can be done.
Checkpoint read_checkpoint(const std::filesystem::path& file);
/// What a checkpoint has committed; nothing where there is none, or one of an earlier version, which readers
/// of draws do without. Throws InputError where it is damaged.
std::vector<CommittedChain> committed_chains(const std::filesystem::path& file);

enum class ExistingRun { refuse, resume, overwrite };

/// Makes the directory, whose lock is held, ready for a run; returns whether there is a checkpoint to go on
/// from. `refuse` and a directory that is not empty: InputError. `overwrite` removes what emomc writes there
/// and refuses where anything else is in it.
bool prepare_run_directory(const std::filesystem::path& directory, ExistingRun policy);
/// The check of prepare_run_directory, without changing anything.
void check_run_directory(const std::filesystem::path& directory, ExistingRun policy);

/// Held while a process works on a run directory, which is made where there is none. A second process waits
/// two seconds, in which one that was killed comes to its end, and then gets an InputError.
class RunLock {
 public:
  explicit RunLock(const std::filesystem::path& directory);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace emomc

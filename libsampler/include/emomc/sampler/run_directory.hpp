// The files of a run: chain files that grow while the run works, a checkpoint, and readers that check all
// content. docs/chain-format.md is the byte-level description.
//
// Writers throw MachineError if the disk fails. Readers throw InputError if a file is not as expected, and
// check every size in a file before using it.
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

/// The header of a chain file. All chains of a run have equal headers except for chain_id.
struct ChainHeader {
  std::uint64_t chain_id = 0;
  std::uint64_t seed = 0;
  std::int64_t warmup = 0;  ///< length of the warm-up in steps; in ChainDraws the absolute step at which the
                            ///< last warm-up ended
  std::int64_t thin = 1;
  ParameterLayout layout;                ///< layout of the parameters, which are in the data's own units
  std::vector<std::string> block_names;  ///< proposal blocks whose acceptance is recorded
  bool operator==(const ChainHeader&) const = default;
};

/// One kept draw in the data's own units. log_density = log_prior + log_likelihood.
struct DrawView {
  std::int64_t step;  ///< absolute step (warm-up included) after which the draw was kept
  double log_prior, log_likelihood;
  std::span<const double> parameters;  ///< [dim]
};

/// Acceptance counts since the previous record, per proposal block.
struct AcceptanceView {
  std::int64_t step;
  std::span<const std::uint64_t> accepted, proposed;  ///< [num_blocks]
};

/// The end of the committed part of a chain file.
struct ChainEnd {
  std::int64_t bytes = 0, num_draws = 0;  ///< committed bytes, and number of draws in them, including the
                                          ///< draws that readers skip
};

/// Appends draws of one chain to `chains/chain-<id>.emc`. Draws are buffered into blocks. A block has records
/// of fixed width, its length and a CRC-32C, so the file is readable after the process is killed at any byte.
/// If a write fails, the call throws MachineError, earlier blocks stay valid, and further writes are refused.
class ChainWriter {
 public:
  /// Creates the file with its header.
  ChainWriter(const std::filesystem::path& file, const ChainHeader& header);
  /// Continues after `end`, which check_committed returned, and truncates the rest of the file.
  ChainWriter(const std::filesystem::path& file, const ChainHeader& header, const ChainEnd& end);
  ~ChainWriter();
  ChainWriter(ChainWriter&&) noexcept;
  ChainWriter& operator=(ChainWriter&&) noexcept;

  void append(const DrawView& draw);
  /// Appends statistics of a gradient sampler's draw; called before that draw is appended. A file has them
  /// for all draws or for none.
  void append(const DrawStatistics& statistics);
  void append(const AcceptanceView& acceptance);
  /// Declares everything appended so far as warm-up, which now ends at the absolute step `end`. Readers
  /// return these draws as warm-up if `keeps_draws` is set and skip them otherwise.
  void begin_longer_warmup(std::int64_t end, bool keeps_draws);
  const std::filesystem::path& file() const;
  /// Writes the buffered records as blocks, which are not yet durable.
  void flush();
  /// Calls flush, then fsync. Returns the number of committed bytes, for the checkpoint. Throws MachineError
  /// also if the file has been removed or replaced in the meantime.
  std::int64_t commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// All draws of one chain in memory.
struct ChainDraws {
  ChainHeader header;
  std::int64_t first_warmup = 0;  ///< length of the first warm-up in steps, as in the file's header
  std::int64_t num_draws = 0;
  std::vector<std::int64_t> steps;
  std::vector<double> log_prior, log_likelihood;  ///< [num_draws]
  std::vector<double> parameters;                 ///< num_draws x dim, row-major
  std::vector<DrawStatistics> statistics;         ///< [num_draws] statistics of a gradient sampler; otherwise
                                                  ///< empty
  std::vector<std::uint64_t> accepted, proposed;  ///< [num_blocks], summed over the sampling phase
  std::int64_t bytes_ignored = 0;                 ///< bytes of an unfinished block at the end
  std::int64_t num_left_out = 0;                  ///< draws before a longer warm-up that were not kept
};

/// Path of a chain's file: `chains/chain-<id>.emc`, with at least five digits in the id.
std::filesystem::path chain_file(const std::filesystem::path& run_directory, std::uint64_t chain_id);

/// Path of the file of a chain's rung k > 0, whose id is kRungStride k + that of the chain. It is a chain
/// file without parameters, `rungs/chain-<id of the chain>-rung-<k>.emc`, with at least two digits in k.
std::filesystem::path rung_file(const std::filesystem::path& run_directory, std::uint64_t chain_id);
/// Returns chain_file() or rung_file(), depending on the id.
std::filesystem::path draws_file(const std::filesystem::path& run_directory, std::uint64_t chain_id);

/// Reads a chain file, also while it is being written. Throws InputError if the file is not a chain file, if
/// its header or a block is damaged, or if its last whole block ends before `committed` bytes. A block may be
/// unfinished only after these bytes.
ChainDraws read_chain(const std::filesystem::path& file, std::int64_t committed = 0);

/// Checks the first `committed` bytes, ignoring the rest of the file, and that the header equals `header`.
/// Throws InputError, with a remedy, if they are damaged or missing or belong to another run.
ChainEnd check_committed(const std::filesystem::path& file, const ChainHeader& header,
                         std::int64_t committed);

/// Reads chains/ of a run directory (with tempering the cold rung), in the order of chain ids. Each file must
/// have the name of its chain, and be one of those in the checkpoint if there is one. Seeds, layouts,
/// proposal blocks, warm-up and thinning must agree, and everything that the checkpoint has committed must be
/// present. May be called at any moment of a run. Throws InputError, which names the file.
std::vector<ChainDraws> read_chains(const std::filesystem::path& run_directory);

/// The log likelihoods of all rungs of a run with tempering.
struct RungDraws {
  std::vector<double> betas;                  ///< [rungs], decreasing from 1
  std::size_t num_chains = 0, num_draws = 0;  ///< numbers of chains and draws of each rung
  std::vector<double> log_likelihood;         ///< rungs x num_chains x num_draws
  TemperingSummary exchanges;
  std::vector<double> acceptance;  ///< [rungs] mean acceptance of each rung's own moves; NaN: not known
};
/// Makes RungDraws of chains in memory: `cold`, and the chains of the rung files in the order of
/// tempered_plans().
RungDraws rung_draws_of(const std::vector<ChainDraws>& cold, const std::vector<ChainDraws>& rungs,
                        const TemperingSummary& exchanges);
/// Reads the draws of all rungs, after warm-up, and the ladder from the checkpoint. May be called at any
/// moment of a run. Throws InputError if the run has no rungs, and for the reasons of read_chains.
RungDraws read_rungs(const std::filesystem::path& run_directory);

/// A named part of the data, a file or an utterance, so that a message can name the part that has changed.
struct DataPart {
  std::string name;
  std::uint64_t num_rows = 0;
  std::string hash;  ///< hash of the part's values
  bool operator==(const DataPart&) const = default;
};

/// Identifies the data of a run.
struct DataFingerprint {
  std::string sha256;  ///< hash of all values and column names
  std::vector<std::string> columns;
  std::vector<DataPart> parts;
};

/// The committed length of a chain file.
struct CommittedChain {
  std::uint64_t id = 0;
  std::int64_t bytes = 0;
};

/// Everything that is needed to continue a run: the sampler's state, and the configuration and data that the
/// state belongs to.
struct Checkpoint {
  std::string config;  ///< YAML of all settings that draws depend on
  DataFingerprint data;
  std::string engine;  ///< backend, precision and device that the draws depend on
  std::uint64_t seed = 0;
  SamplerState state;
  std::vector<CommittedChain> chains;  ///< [state.num_chains], including those of rungs (rung_file)
  double warmup_seconds = 0, sampling_seconds = 0;
};

/// Replaces the file atomically and durably (write_file_atomically). Throws MachineError.
void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);
/// Reads a checkpoint. Throws InputError, with a remedy, if the file is damaged or was written by another
/// version of emomc.
Checkpoint read_checkpoint(const std::filesystem::path& file);
/// Reads the committed lengths in a checkpoint. Empty if there is no checkpoint, or one of an earlier
/// version, which is not needed to read draws. Throws InputError if the checkpoint is damaged.
std::vector<CommittedChain> committed_chains(const std::filesystem::path& file);

enum class ExistingRun { refuse, resume, overwrite };

/// Prepares a directory, whose lock the caller holds, for a run, and returns whether it has a checkpoint to
/// resume from. Throws InputError if the policy is `refuse` and the directory is not empty, if the directory
/// cannot be read, and if it contains symbolic links or entries that emomc does not write. If the run does
/// not resume, the files of earlier runs are removed.
bool prepare_run_directory(const std::filesystem::path& directory, ExistingRun policy);
/// Makes the checks of prepare_run_directory without changing anything.
void check_run_directory(const std::filesystem::path& directory, ExistingRun policy);
/// Throws InputError if one of `inputs`, files that a run reads, is a file of `directory` itself: a run
/// removes or replaces files with the names of its own.
void refuse_inputs_in(const std::filesystem::path& directory, std::span<const std::string> inputs);

/// A lock that is held while a process works on a run directory; creates the directory if it does not exist.
/// A second process waits up to two seconds, long enough for a killed process to release its lock, and then
/// throws InputError. Throws MachineError if locking fails.
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

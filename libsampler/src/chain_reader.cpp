#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "bytes.hpp"
#include "chain_format.hpp"
#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

// Thrown for a damaged file. The damage may be temporary while a running emomc is changing the file.
struct DamagedChain : InputError {
  DamagedChain(const std::string& message, std::size_t byte = 0) : InputError(message), at(byte) {}
  std::size_t at;
};

constexpr int kTries = 3;
constexpr std::chrono::milliseconds kPause(30);

void read_draws(std::string_view payload, ChainDraws& chain) {
  Fields fields(payload);
  const auto dim = static_cast<std::size_t>(chain.header.layout.dim());
  while (fields.left()) {
    chain.steps.push_back(fields.get<std::int64_t>());
    chain.log_prior.push_back(fields.get<double>());
    chain.log_likelihood.push_back(fields.get<double>());
    for (std::size_t i = 0; i < dim; ++i) chain.parameters.push_back(fields.get<double>());
    ++chain.num_draws;
  }
}

void read_statistics(std::string_view payload, ChainDraws& chain) {
  Fields fields(payload);
  while (fields.left()) {
    DrawStatistics s{};
    s.step_size = fields.get<double>();
    s.acceptance = fields.get<double>();
    s.energy = fields.get<double>();
    s.tree_depth = fields.get<std::int32_t>();
    s.num_leapfrogs = fields.get<std::int32_t>();
    s.divergent = fields.get<std::int32_t>();
    fields.get<std::int32_t>();
    chain.statistics.push_back(s);
  }
}

void read_acceptance(std::string_view payload, ChainDraws& chain) {
  Fields fields(payload);
  while (fields.left()) {
    const auto step = fields.get<std::int64_t>();
    const bool sampling = step > chain.header.warmup;
    for (auto* counts : {&chain.accepted, &chain.proposed})
      for (std::uint64_t& count : *counts) {
        const auto n = fields.get<std::uint64_t>();
        if (sampling) count += n;
      }
  }
}

// Reads a record that declares everything before its block as warm-up.
void read_longer_warmup(std::string_view payload, ChainDraws& chain) {
  Fields fields(payload);
  while (fields.left()) {
    const auto end = fields.get<std::int64_t>();
    const bool keeps_draws = fields.get<std::uint64_t>() != 0;
    if (end < chain.header.warmup || (!chain.steps.empty() && end <= chain.steps.back()))
      throw DamagedBytes("a warm-up that ends before its begin");
    chain.header.warmup = end;
    for (auto* counts : {&chain.accepted, &chain.proposed}) std::fill(counts->begin(), counts->end(), 0);
    if (keeps_draws) continue;
    chain.num_left_out += chain.num_draws;
    chain.num_draws = 0;
    chain.steps.clear();
    for (auto* values : {&chain.log_prior, &chain.log_likelihood, &chain.parameters}) values->clear();
    chain.statistics.clear();
  }
}

constexpr const char* kMissing = ": missing, but the checkpoint says that it has been written";
constexpr const char* kMend = "; restore it from a copy, or start the run over with --force";

ChainHeader header_of(std::string_view content, const std::string& name, std::size_t* bytes) {
  try {
    return decode_header(content, name, bytes);
  } catch (const InputError& error) {
    throw DamagedChain(error.what() + std::string(kMend));
  }
}

// Parses blocks up to the end of `content` or up to an unfinished block there.
ChainDraws parse(std::string_view content, const std::string& name) {
  ChainDraws chain;
  std::size_t at = 0;
  chain.header = header_of(content, name, &at);
  chain.first_warmup = chain.header.warmup;
  chain.accepted.assign(chain.header.block_names.size(), 0);
  chain.proposed = chain.accepted;
  std::uint64_t next_draw = 0, next_statistics = 0;
  while (at < content.size()) {
    const std::string_view rest = content.substr(at);
    const auto damaged = [&](const std::string& why) {
      throw DamagedChain(name + ": damaged at byte " + std::to_string(at) + ": " + why + kMend +
                             " (to read the " + std::to_string(chain.num_draws) +
                             " draws before that, remove the checkpoint and truncate -s " +
                             std::to_string(at) + " " + name + ")",
                         at);
    };
    if (rest.size() < kBlockHeaderBytes) break;  // unfinished
    Fields fields(rest);
    const auto type = fields.get<std::uint32_t>();
    const auto bytes = fields.get<std::uint32_t>();
    const auto records = fields.get<std::uint32_t>();
    const auto first = fields.get<std::uint64_t>();
    const auto crc = fields.get<std::uint32_t>();
    if (type != kDrawBlock && type != kAcceptanceBlock && type != kWarmupBlock && type != kStatisticsBlock)
      damaged("no block begins here");
    const std::size_t record_bytes = type == kDrawBlock         ? draw_bytes(chain.header)
                                     : type == kWarmupBlock     ? kWarmupBytes
                                     : type == kStatisticsBlock ? kStatisticsBytes
                                                                : acceptance_bytes(chain.header);
    if (records == 0 || bytes != record_bytes * records) damaged("a block of impossible length");
    if (rest.size() - kBlockHeaderBytes < bytes) break;  // unfinished
    const std::string_view payload = rest.substr(kBlockHeaderBytes, bytes);
    if (crc32c(payload, crc32c(rest.substr(0, kBlockHeaderBytes - 4))) != crc)
      damaged("a block's checksum is wrong");
    if (type == kDrawBlock) {
      if (first != next_draw) damaged("draws are missing before this block");
      if (next_statistics > 0 && next_statistics < next_draw + records)
        damaged("the statistics of draws are missing before this block");
      next_draw += records;
      read_draws(payload, chain);
    } else if (type == kStatisticsBlock) {
      if (first != next_statistics || first != next_draw) damaged("statistics that belong to no draws");
      next_statistics += records;
      read_statistics(payload, chain);
    } else if (type == kWarmupBlock) {
      try {
        read_longer_warmup(payload, chain);
      } catch (const DamagedBytes& damage) {
        damaged(damage.what());
      }
    } else {
      read_acceptance(payload, chain);
    }
    at += kBlockHeaderBytes + bytes;
  }
  // Statistics are written before their draws.
  if (!chain.statistics.empty()) chain.statistics.resize(static_cast<std::size_t>(chain.num_draws));
  chain.bytes_ignored = static_cast<std::int64_t>(content.size() - at);
  return chain;
}

void require_committed(const ChainDraws& chain, std::size_t size, std::int64_t committed,
                       const std::string& name) {
  const auto whole = static_cast<std::int64_t>(size) - chain.bytes_ignored;
  if (whole < committed)
    throw DamagedChain(name + ": ends at byte " + std::to_string(whole) + ", but the checkpoint says that " +
                       std::to_string(committed) + " have been written" + kMend + " (to read the " +
                       std::to_string(chain.num_draws) + " draws that are there, remove the checkpoint)");
}

// Parses all blocks. After a power failure, a file may have any content after its committed bytes.
ChainDraws parse_beyond(std::string_view content, std::size_t committed, const std::string& name) {
  try {
    return parse(content, name);
  } catch (const DamagedChain& damage) {
    if (damage.at < committed) throw;
    throw DamagedChain(name + ": damaged from byte " + std::to_string(damage.at) +
                       " on, where the checkpoint has committed nothing yet; --resume cuts that off and goes "
                       "on without loss");
  }
}

// Throws InputError if a file does not have its chain's name, because a copy of a chain file would count as
// one more independent chain.
void require_own_name(const std::filesystem::path& file, std::uint64_t chain_id) {
  const auto expected = chain_file("", chain_id).filename();
  if (file.filename() != expected)
    throw InputError(file.string() + ": its header says chain " + std::to_string(chain_id) +
                     ", whose file is " + expected.string() +
                     "; move this copy, or file of another run, out of the directory");
}

std::vector<ChainDraws> read_all(const std::filesystem::path& run_directory) {
  // The checkpoint is read first, because files keep growing beyond what it has committed.
  std::map<std::uint64_t, std::int64_t> committed;
  for (const CommittedChain& chain : committed_chains(run_directory / "checkpoint"))
    if (rung_of(chain.id) == 0) committed[chain.id] = chain.bytes;
  const bool has_checkpoint = !committed.empty();
  const auto folder = run_directory / "chains";
  std::vector<std::filesystem::path> files;
  std::error_code error;  // the directory may disappear while it is read
  std::filesystem::directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".emc") files.push_back(entry->path());
  if (error)
    throw InputError(folder.string() + ": " + error.message() +
                     "; a run directory has its chain files there");
  std::vector<ChainDraws> chains;
  for (const auto& file : files) {
    const std::string content = read_file(file), name = file.string();
    std::size_t header_bytes = 0;
    const std::uint64_t id = header_of(content, name, &header_bytes).chain_id;
    require_own_name(file, id);
    const auto known = committed.extract(id);
    if (!known && has_checkpoint)
      throw DamagedChain(name + ": the checkpoint has no chain " + std::to_string(id) +
                         ", so the file is of another run; move it out of the directory");
    if (known) {
      chains.push_back(parse_beyond(content, static_cast<std::size_t>(known.mapped()), name));
      require_committed(chains.back(), content.size(), known.mapped(), name);
    } else {
      chains.push_back(parse(content, name));
    }
  }
  if (!committed.empty())
    throw DamagedChain(chain_file(run_directory, committed.begin()->first).string() + kMissing + kMend);
  return chains;
}

// Returns the setting that distinguishes two chains that cannot be of one run; empty if there is none.
const char* difference_of(const ChainDraws& a, const ChainDraws& b) {
  if (a.header.seed != b.header.seed) return "seed";
  if (!(a.header.layout == b.header.layout)) return "model";
  if (a.header.block_names != b.header.block_names) return "proposal";
  if (a.header.warmup != b.header.warmup || a.first_warmup != b.first_warmup) return "warm-up";
  return a.header.thin != b.header.thin ? "thinning" : "";
}

}  // namespace

std::filesystem::path rung_file(const std::filesystem::path& run_directory, std::uint64_t chain_id) {
  const int rung = rung_of(chain_id);
  const std::string chain = chain_file("", chain_id % kRungStride).stem().string();
  return run_directory / "rungs" /
         (chain + "-rung-" + (rung < 10 ? "0" : "") + std::to_string(rung) + ".emc");
}

std::filesystem::path draws_file(const std::filesystem::path& run_directory, std::uint64_t chain_id) {
  return rung_of(chain_id) == 0 ? chain_file(run_directory, chain_id) : rung_file(run_directory, chain_id);
}

std::filesystem::path chain_file(const std::filesystem::path& run_directory, std::uint64_t chain_id) {
  std::string digits = std::to_string(chain_id);
  if (digits.size() < 5) digits.insert(0, 5 - digits.size(), '0');
  return run_directory / "chains" / ("chain-" + digits + ".emc");
}

ChainDraws read_chain(const std::filesystem::path& file, std::int64_t committed) {
  const std::string content = read_file(file);
  ChainDraws chain = parse(content, file.string());
  require_committed(chain, content.size(), committed, file.string());
  return chain;
}

ChainEnd check_committed(const std::filesystem::path& file, const ChainHeader& header,
                         std::int64_t committed) {
  const std::string name = file.string();
  if (!std::filesystem::exists(file)) throw InputError(name + kMissing + kMend);
  const std::string content = read_file(file);
  const std::string_view front =
      std::string_view(content).substr(0, static_cast<std::size_t>(std::max<std::int64_t>(committed, 0)));
  const ChainDraws chain = parse(front, name);
  require_committed(chain, front.size(), committed, name);
  std::size_t header_bytes = 0;
  if (!(header_of(front, name, &header_bytes) == header))
    throw InputError(name + ": its header differs from this run's; it belongs to another configuration");
  return {committed, chain.num_draws + chain.num_left_out};
}

std::vector<ChainDraws> read_chains(const std::filesystem::path& run_directory) {
  const auto folder = run_directory / "chains";
  if (!std::filesystem::is_directory(folder))
    throw InputError(run_directory.string() + ": this is no run directory (there is no chains/ in it)");
  std::vector<ChainDraws> chains;
  for (int tries = 1;; ++tries) {
    try {
      chains = read_all(run_directory);
      break;
    } catch (const DamagedChain&) {
      if (tries == kTries) throw;
      std::this_thread::sleep_for(kPause);
    }
  }
  if (chains.empty()) throw InputError(folder.string() + ": there are no chains yet");
  std::sort(chains.begin(), chains.end(),
            [](const auto& a, const auto& b) { return a.header.chain_id < b.header.chain_id; });
  // A run that has just started a longer warm-up, or was killed then, may not have recorded it in every file
  // yet.
  std::int64_t warmup = 0;
  for (const auto& chain : chains) warmup = std::max(warmup, chain.header.warmup);
  const auto is_longer = [](const ChainDraws& chain) { return chain.header.warmup > chain.first_warmup; };
  if (std::any_of(chains.begin(), chains.end(), is_longer))
    for (auto& chain : chains) chain.header.warmup = warmup;
  for (const auto& chain : chains) {
    const char* difference = difference_of(chain, chains[0]);
    if (*difference)
      throw InputError(chain_file(run_directory, chain.header.chain_id).string() +
                       ": belongs to another run than " +
                       chain_file("", chains[0].header.chain_id).filename().string() +
                       " beside it (another " + difference + "); a run directory has the chains of one run");
  }
  return chains;
}

}  // namespace emomc

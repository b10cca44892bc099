#include <algorithm>
#include <cstring>
#include <fstream>

#include "bytes.hpp"
#include "chain_format.hpp"
#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

std::string read_bytes(const std::filesystem::path& file) {
  std::error_code error;
  std::ifstream stream;
  if (std::filesystem::is_regular_file(file, error))
    stream.open(file, std::ios::binary);  // no pipe is waited for
  if (!stream.is_open()) throw InputError(file.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(stream), {}};
}

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

}  // namespace

ChainDraws read_chain(const std::filesystem::path& file) {
  const std::string name = file.string();
  const std::string content = read_bytes(file);
  ChainDraws chain;
  std::size_t at = 0;
  chain.header = decode_header(content, name, &at);
  chain.accepted.assign(chain.header.block_names.size(), 0);
  chain.proposed = chain.accepted;
  std::uint64_t next_draw = 0;
  while (at < content.size()) {
    const std::string_view rest = std::string_view(content).substr(at);
    const auto damaged = [&](const std::string& why) {
      throw InputError(name + ": damaged at byte " + std::to_string(at) + ": " + why);
    };
    if (rest.size() < kBlockHeaderBytes) break;  // unfinished
    Fields fields(rest);
    const auto type = fields.get<std::uint32_t>();
    const auto bytes = fields.get<std::uint32_t>();
    const auto records = fields.get<std::uint32_t>();
    const auto first = fields.get<std::uint64_t>();
    const auto crc = fields.get<std::uint32_t>();
    if (type != kDrawBlock && type != kAcceptanceBlock) damaged("no block begins here");
    const std::size_t record_bytes =
        type == kDrawBlock ? draw_bytes(chain.header) : acceptance_bytes(chain.header);
    if (bytes != record_bytes * records) damaged("a block of impossible length");
    if (rest.size() - kBlockHeaderBytes < bytes) break;  // unfinished
    const std::string_view payload = rest.substr(kBlockHeaderBytes, bytes);
    if (crc32c(payload, crc32c(rest.substr(0, kBlockHeaderBytes - 4))) != crc)
      damaged("a block's checksum is wrong");
    if (type == kDrawBlock) {
      if (first != next_draw) damaged("draws are missing before this block");
      next_draw += records;
      read_draws(payload, chain);
    } else {
      read_acceptance(payload, chain);
    }
    at += kBlockHeaderBytes + bytes;
  }
  chain.bytes_ignored = static_cast<std::int64_t>(content.size() - at);
  return chain;
}

std::vector<ChainDraws> read_chains(const std::filesystem::path& run_directory) {
  const auto folder = run_directory / "chains";
  if (!std::filesystem::is_directory(folder))
    throw InputError(run_directory.string() + ": this is no run directory (there is no chains/ in it)");
  std::vector<ChainDraws> chains;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".emc") chains.push_back(read_chain(entry.path()));
  if (chains.empty()) throw InputError(folder.string() + ": there are no chains yet");
  std::sort(chains.begin(), chains.end(),
            [](const auto& a, const auto& b) { return a.header.chain_id < b.header.chain_id; });
  for (const auto& chain : chains)
    if (!(chain.header.layout == chains[0].header.layout) ||
        chain.header.block_names != chains[0].header.block_names ||
        chain.header.warmup != chains[0].header.warmup || chain.header.thin != chains[0].header.thin)
      throw InputError(folder.string() + ": chain " + std::to_string(chain.header.chain_id) +
                       " belongs to another run than chain " + std::to_string(chains[0].header.chain_id));
  return chains;
}

}  // namespace emomc

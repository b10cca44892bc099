#include <algorithm>
#include <array>

#include "bytes.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc {
namespace {

constexpr std::string_view kMagic = "EMOMCCK3", kMagicOfRungs = "EMOMCCK4";
constexpr std::array<std::string_view, 2> kEarlierMagic = {"EMOMCCK1", "EMOMCCK2"};
// The prefix has magic, length and CRC-32C of the body.
constexpr std::size_t kPrefixBytes = kMagic.size() + 8 + 4;

// Calls `field` with each field of the state; this one list is used for both writing and reading.
template <class State, class Field>
void state_fields(State& s, const Field& field) {
  for (auto* steps : {&s.step, &s.warmup_begin, &s.warmup}) field(*steps);
  for (auto* n : {&s.num_chains, &s.dim_unconstrained, &s.dim, &s.num_blocks}) field(*n);
  for (auto* values : {&s.unconstrained, &s.log_prior, &s.log_likelihood, &s.log_jacobian, &s.adaptation})
    field(*values);
  for (auto* counts : {&s.accepted, &s.proposed, &s.window_accepted, &s.window_proposed, &s.faults})
    field(*counts);
  field(s.num_evaluations);
}

std::string encode(const Checkpoint& c) {
  std::string body;
  for (const auto* text : {&c.config, &c.engine, &c.data.sha256}) put(body, *text);
  put(body, c.data.columns);
  put(body, static_cast<std::uint64_t>(c.data.parts.size()));
  for (const DataPart& part : c.data.parts) {
    put(body, part.name);
    put(body, part.num_rows);
    put(body, part.hash);
  }
  put(body, c.seed);
  state_fields(c.state, [&](const auto& value) { put(body, value); });
  if (!c.state.tempering.empty()) put(body, c.state.tempering);
  put(body, static_cast<std::uint64_t>(c.chains.size()));
  for (const CommittedChain& chain : c.chains) {
    put(body, chain.id);
    put(body, chain.bytes);
  }
  put(body, c.warmup_seconds);
  put(body, c.sampling_seconds);
  return body;
}

Checkpoint decode(std::string_view body, bool has_rungs) {
  Fields fields(body);
  Checkpoint c;
  for (auto* text : {&c.config, &c.engine, &c.data.sha256}) *text = fields.get<std::string>();
  c.data.columns = fields.get<std::vector<std::string>>();
  for (auto left = fields.get<std::uint64_t>(); left > 0; --left) {
    DataPart part;
    part.name = fields.get<std::string>();
    part.num_rows = fields.get<std::uint64_t>();
    part.hash = fields.get<std::string>();
    c.data.parts.push_back(std::move(part));
  }
  c.seed = fields.get<std::uint64_t>();
  state_fields(c.state, [&](auto& value) { value = fields.get<std::remove_reference_t<decltype(value)>>(); });
  if (has_rungs) c.state.tempering = fields.get<std::vector<double>>();
  for (auto left = fields.get<std::uint64_t>(); left > 0; --left) {
    CommittedChain chain;
    chain.id = fields.get<std::uint64_t>();
    chain.bytes = fields.get<std::int64_t>();
    c.chains.push_back(chain);
  }
  c.warmup_seconds = fields.get<double>();
  c.sampling_seconds = fields.get<double>();
  return c;
}

void require_consistency(const Checkpoint& c) {
  const SamplerState& s = c.state;
  const auto chains = static_cast<std::size_t>(s.num_chains), counters = s.accepted.size();
  const bool negative = std::any_of(c.chains.begin(), c.chains.end(),
                                    [](const CommittedChain& chain) { return chain.bytes < 0; });
  if (s.step < 0 || negative || s.num_chains < 1 || s.dim_unconstrained < 0 || s.num_blocks < 1 ||
      s.unconstrained.size() != chains * static_cast<std::size_t>(s.dim_unconstrained) ||
      s.log_prior.size() != chains || s.log_likelihood.size() != chains || s.log_jacobian.size() != chains ||
      s.faults.size() != chains || c.chains.size() != chains ||
      counters != chains * static_cast<std::size_t>(s.num_blocks) || s.proposed.size() != counters ||
      s.window_accepted.size() != counters || s.window_proposed.size() != counters)
    throw DamagedBytes("its parts do not fit together");
}

bool is_of_an_earlier_version(const std::string& content) {
  return std::any_of(kEarlierMagic.begin(), kEarlierMagic.end(),
                     [&](std::string_view magic) { return content.starts_with(magic); });
}

Checkpoint parse(const std::string& content, const std::string& name) {
  if (is_of_an_earlier_version(content))
    throw InputError(name +
                     ": written by an earlier version of emomc; go on with that one, or start over with "
                     "--force (its draws can be read as before)");
  try {
    const bool has_rungs = content.starts_with(kMagicOfRungs);
    if (!has_rungs && !content.starts_with(kMagic))
      throw DamagedBytes("it does not begin as a checkpoint does");
    Fields fields(std::string_view(content).substr(kMagic.size()));
    const auto length = fields.get<std::uint64_t>();
    const auto crc = fields.get<std::uint32_t>();
    if (fields.left() != length) throw DamagedBytes("its length is wrong");
    const std::string_view body = std::string_view(content).substr(kPrefixBytes);
    if (crc32c(body) != crc) throw DamagedBytes("its checksum is wrong");
    Checkpoint checkpoint = decode(body, has_rungs);
    require_consistency(checkpoint);
    return checkpoint;
  } catch (const DamagedBytes& damage) {
    throw InputError(name + ": damaged checkpoint, or one of a later version of emomc: " + damage.what() +
                     "; restore it from a copy, or start the run over with --force (to read the draws that "
                     "are there, remove it)");
  }
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
  const std::string body = encode(checkpoint);
  std::string prefix(checkpoint.state.tempering.empty() ? kMagic : kMagicOfRungs);
  put(prefix, static_cast<std::uint64_t>(body.size()));
  put(prefix, crc32c(body));
  write_file_atomically(file, prefix + body);
}

Checkpoint read_checkpoint(const std::filesystem::path& file) {
  return parse(read_file(file), file.string());
}

std::vector<CommittedChain> committed_chains(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  const std::string content = read_file(file);
  if (is_of_an_earlier_version(content)) return {};
  return parse(content, file.string()).chains;
}

}  // namespace emomc

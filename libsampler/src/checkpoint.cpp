#include <algorithm>
#include <fstream>

#include "bytes.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc {
namespace {

constexpr std::string_view kMagic = "EMOMCCK1";

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& c) {
  std::string body;
  for (const auto* text : {&c.config_sha256, &c.data_sha256, &c.engine}) put(body, *text);
  put(body, c.seed);
  const SamplerState& s = c.state;
  put(body, s.step);
  for (int n : {s.num_chains, s.dim_unconstrained, s.dim, s.num_blocks})
    put(body, static_cast<std::int32_t>(n));
  for (const auto* values :
       {&s.unconstrained, &s.log_prior, &s.log_likelihood, &s.log_jacobian, &s.adaptation})
    put(body, *values);
  for (const auto* values : {&s.accepted, &s.proposed, &s.faults}) put(body, *values);
  put(body, c.committed_bytes);
  put(body, c.warmup_seconds);
  put(body, c.sampling_seconds);
  std::string out(kMagic);
  put(out, static_cast<std::uint64_t>(body.size()));
  put(out, crc32c(body));
  write_file_atomically(file, out + body);
}

Checkpoint read_checkpoint(const std::filesystem::path& file) {
  std::error_code error;
  std::ifstream stream;
  if (std::filesystem::is_regular_file(file, error))
    stream.open(file, std::ios::binary);  // no pipe is waited for
  if (!stream.is_open()) throw InputError(file.string() + ": cannot be read");
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  if (content.compare(0, kMagic.size(), kMagic) != 0)
    throw InputError(file.string() + ": this is no emomc checkpoint of this version");
  try {
    Fields fields(std::string_view(content).substr(kMagic.size()));
    const auto length = fields.get<std::uint64_t>();
    const auto crc = fields.get<std::uint32_t>();
    if (fields.left() != length) throw DamagedBytes("its length is wrong");
    if (crc32c(std::string_view(content).substr(kMagic.size() + 12)) != crc)
      throw DamagedBytes("its checksum is wrong");
    Checkpoint c;
    for (auto* text : {&c.config_sha256, &c.data_sha256, &c.engine}) *text = fields.get<std::string>();
    c.seed = fields.get<std::uint64_t>();
    SamplerState& s = c.state;
    s.step = fields.get<std::int64_t>();
    for (int* n : {&s.num_chains, &s.dim_unconstrained, &s.dim, &s.num_blocks})
      *n = fields.get<std::int32_t>();
    for (auto* values : {&s.unconstrained, &s.log_prior, &s.log_likelihood, &s.log_jacobian, &s.adaptation})
      *values = fields.get<std::vector<double>>();
    for (auto* values : {&s.accepted, &s.proposed, &s.faults})
      *values = fields.get<std::vector<std::uint64_t>>();
    c.committed_bytes = fields.get<std::vector<std::int64_t>>();
    c.warmup_seconds = fields.get<double>();
    c.sampling_seconds = fields.get<double>();
    const auto chains = static_cast<std::size_t>(s.num_chains);
    const bool negative =
        std::any_of(c.committed_bytes.begin(), c.committed_bytes.end(), [](auto n) { return n < 0; });
    if (s.step < 0 || negative || s.num_chains < 1 || s.dim_unconstrained < 0 || s.num_blocks < 1 ||
        s.unconstrained.size() != chains * static_cast<std::size_t>(s.dim_unconstrained) ||
        s.log_prior.size() != chains || s.log_likelihood.size() != chains ||
        s.log_jacobian.size() != chains || s.faults.size() != chains || c.committed_bytes.size() != chains ||
        s.accepted.size() != chains * static_cast<std::size_t>(s.num_blocks) ||
        s.proposed.size() != s.accepted.size())
      throw DamagedBytes("its parts do not fit together");
    return c;
  } catch (const DamagedBytes& damage) {
    throw InputError(file.string() + ": damaged checkpoint: " + damage.what());
  }
}

}  // namespace emomc

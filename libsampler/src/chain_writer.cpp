#include "bytes.hpp"
#include "chain_format.hpp"
#include "emomc/core/errors.hpp"
#include "file_operations.hpp"

namespace emomc {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

}  // namespace

struct ChainWriter::Impl {
  Impl(const std::filesystem::path& file, const ChainHeader& h, std::int64_t append_at)
      : header(h), out(file, append_at < 0 ? File::Mode::create : File::Mode::open_existing) {
    if (append_at < 0) {
      out.write_all(encode_header(header));
      out.sync();
      sync_directory(file.parent_path());
    } else {
      if (append_at > out.size())
        throw InputError(file.string() + ": shorter than the checkpoint says; the run cannot be resumed");
      out.truncate(append_at);
      const ChainDraws kept = read_chain(file);
      if (!(kept.header == header))
        throw InputError(file.string() +
                         ": its header differs from this run's; it belongs to another configuration");
      num_draws = static_cast<std::uint64_t>(kept.num_draws);
    }
    good = out.size();
  }

  void write_block(std::uint32_t type, std::string& payload, std::uint32_t& records, std::uint64_t& written) {
    if (records == 0) return;
    try {
      out.write_all(encode_block(type, records, written, payload));
    } catch (...) {
      // Half a block would hide whatever is appended behind it.
      out.truncate(good);
      throw;
    }
    good = out.size();
    written += records;
    records = 0;
    payload.clear();
  }
  void flush() {
    write_block(kDrawBlock, draws, draw_records, num_draws);
    write_block(kAcceptanceBlock, acceptance, acceptance_records, num_acceptance);
  }

  ChainHeader header;
  File out;
  std::int64_t good = 0;  ///< bytes up to the end of the last whole block
  std::string draws, acceptance;
  std::uint32_t draw_records = 0, acceptance_records = 0;
  std::uint64_t num_draws = 0, num_acceptance = 0;
};

ChainWriter::ChainWriter(const std::filesystem::path& file, const ChainHeader& header, std::int64_t append_at)
    : impl_(std::make_unique<Impl>(file, header, append_at)) {}

ChainWriter::~ChainWriter() {
  if (!impl_) return;
  try {
    impl_->flush();
  } catch (...) {  // what was committed is on disk; the run has reported the failure or will
  }
}
ChainWriter::ChainWriter(ChainWriter&&) noexcept = default;
ChainWriter& ChainWriter::operator=(ChainWriter&&) noexcept = default;

const std::filesystem::path& ChainWriter::file() const { return impl_->out.path(); }

void ChainWriter::append(const DrawView& draw) {
  if (draw.parameters.size() != static_cast<std::size_t>(impl_->header.layout.dim()))
    throw std::invalid_argument("ChainWriter: a draw of another size");
  std::string& out = impl_->draws;
  put(out, draw.step);
  put(out, draw.log_prior);
  put(out, draw.log_likelihood);
  for (double x : draw.parameters) put(out, x);
  ++impl_->draw_records;
  if (out.size() >= kBlockBytes) impl_->flush();
}

void ChainWriter::append(const AcceptanceView& acceptance) {
  if (acceptance.accepted.size() != impl_->header.block_names.size() ||
      acceptance.proposed.size() != acceptance.accepted.size())
    throw std::invalid_argument("ChainWriter: acceptance of other blocks");
  std::string& out = impl_->acceptance;
  put(out, acceptance.step);
  for (std::uint64_t n : acceptance.accepted) put(out, n);
  for (std::uint64_t n : acceptance.proposed) put(out, n);
  ++impl_->acceptance_records;
}

void ChainWriter::flush() { impl_->flush(); }

std::int64_t ChainWriter::commit() {
  impl_->flush();
  impl_->out.sync();
  return impl_->good;
}

}  // namespace emomc

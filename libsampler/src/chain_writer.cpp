#include "bytes.hpp"
#include "chain_format.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc {
namespace {

// The size of each chain's buffer; larger buffers are not written faster.
constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

}  // namespace

struct ChainWriter::Impl {
  Impl(const std::filesystem::path& file, const ChainHeader& h, const ChainEnd& end)
      : header(h),
        out(file, File::Mode::open_existing),
        good(end.bytes),
        num_draws(static_cast<std::uint64_t>(end.num_draws)) {
    if (out.size() != good) out.truncate(good);
  }

  void write_block(std::uint32_t type, std::string& payload, std::uint32_t& records, std::uint64_t& written) {
    if (failed) throw MachineError(out.path().string() + ": an earlier write has failed");
    if (records == 0) return;
    const std::string block = encode_block(type, records, written, payload);
    try {
      out.write_all(block);
    } catch (...) {
      failed = true;
      // A partial block at the end is not damage, but it is removed if possible.
      try {
        out.truncate(good);
      } catch (const MachineError&) {
      }
      throw;
    }
    good += static_cast<std::int64_t>(block.size());
    out.begin_sync(good, static_cast<std::int64_t>(block.size()));
    written += records;
    records = 0;
    payload.clear();
  }
  void flush() {
    // Statistics are written first, so that every draw that a reader sees has its statistics.
    write_block(kStatisticsBlock, statistics, statistics_records, num_statistics);
    write_block(kDrawBlock, draws, draw_records, num_draws);
    write_block(kAcceptanceBlock, acceptance, acceptance_records, num_acceptance);
  }

  ChainHeader header;
  File out;
  std::int64_t good;  ///< bytes up to the end of the last whole block
  bool failed = false;
  std::string draws, statistics, acceptance;
  std::uint32_t draw_records = 0, statistics_records = 0, acceptance_records = 0;
  std::uint64_t num_draws, num_statistics = num_draws, num_acceptance = 0;
};

ChainWriter::ChainWriter(const std::filesystem::path& file, const ChainHeader& header, const ChainEnd& end)
    : impl_(std::make_unique<Impl>(file, header, end)) {}

ChainWriter::ChainWriter(const std::filesystem::path& file, const ChainHeader& header) {
  const std::string bytes = encode_header(header);
  write_file_atomically(file, bytes);  // a reader never sees a part of a header
  impl_ = std::make_unique<Impl>(file, header, ChainEnd{static_cast<std::int64_t>(bytes.size()), 0});
}

ChainWriter::~ChainWriter() {
  if (!impl_ || impl_->failed) return;
  try {
    impl_->flush();
  } catch (...) {  // committed bytes are on the disk; the run has reported the failure or will report it
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
  put_all(out, draw.parameters);
  ++impl_->draw_records;
  if (out.size() >= kBlockBytes) impl_->flush();
}

void ChainWriter::append(const DrawStatistics& statistics) {
  std::string& out = impl_->statistics;
  put(out, statistics.step_size);
  put(out, statistics.acceptance);
  put(out, statistics.energy);
  for (int number : {statistics.tree_depth, statistics.num_leapfrogs, statistics.divergent, 0})
    put(out, static_cast<std::int32_t>(number));
  ++impl_->statistics_records;
}

void ChainWriter::append(const AcceptanceView& acceptance) {
  if (acceptance.accepted.size() != impl_->header.block_names.size() ||
      acceptance.proposed.size() != acceptance.accepted.size())
    throw std::invalid_argument("ChainWriter: acceptance of other blocks");
  std::string& out = impl_->acceptance;
  put(out, acceptance.step);
  put_all(out, acceptance.accepted);
  put_all(out, acceptance.proposed);
  ++impl_->acceptance_records;
}

void ChainWriter::begin_longer_warmup(std::int64_t end, bool keeps_draws) {
  impl_->flush();
  std::string payload;
  put(payload, end);
  put(payload, static_cast<std::uint64_t>(keeps_draws));
  std::uint32_t records = 1;
  std::uint64_t first = 0;
  impl_->write_block(kWarmupBlock, payload, records, first);
}

void ChainWriter::flush() { impl_->flush(); }

std::int64_t ChainWriter::commit() {
  impl_->flush();
  // `failed` is set in case of an exception: after a failed fsync the content of the disk is unknown.
  impl_->failed = true;
  impl_->out.sync();
  impl_->out.require_in_place();
  impl_->failed = false;
  return impl_->good;
}

}  // namespace emomc

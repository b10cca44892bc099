#include "chain_share.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <type_traits>

#include "emomc/core/errors.hpp"

namespace emomc {

void check_ranks(int ranks, std::size_t chains) {
  if (chains < static_cast<std::size_t>(ranks))
    throw InputError("sampler.chains: " + std::to_string(chains) + " chains cannot be spread over " +
                     std::to_string(ranks) + " ranks; allowed here: at most " + std::to_string(chains) +
                     " ranks, or shard: rows");
}

ChainShare::ChainShare(Communicator& ranks, std::size_t num_chains, bool all_evolve, bool have_rows)
    : ranks_(ranks),
      num_chains_(num_chains),
      all_evolve_(all_evolve || have_rows),
      range_(have_rows ? RankRange{0, num_chains} : range_of_rank(num_chains, ranks.rank(), ranks.size())) {
  if (!have_rows) check_ranks(ranks.size(), num_chains);
}

std::vector<ChainPlan> ChainShare::mine(const std::vector<ChainPlan>& all) const { return mine(all, 1); }

std::vector<std::size_t> ChainShare::counts(std::size_t per_chain) const {
  std::vector<std::size_t> counts;
  for (int r = 0; r < ranks_.size(); ++r)
    counts.push_back(range_of_rank(num_chains_, r, ranks_.size()).size() * per_chain);
  return counts;
}

SegmentResult ChainShare::all(const SegmentResult& mine, Widths widths) {
  SegmentResult all = mine;
  if (runs_all()) {
    // Times differ between ranks, and the number of steps of a segment depends on them, so rank 0's time is
    // used.
    all.seconds = from_first(ranks_, mine.seconds);
    return all;
  }
  fields_.clear();
  const auto kept = static_cast<std::size_t>(mine.num_kept);
  if (mine.copied == CopyPoints::u || mine.copied == CopyPoints::both) add(all.u, kept, widths.dim_u, u_);
  if (mine.copied == CopyPoints::theta || mine.copied == CopyPoints::both)
    add(all.theta, kept, widths.dim, theta_);
  add(all.log_prior, kept, 1, log_prior_);
  add(all.log_likelihood, kept, 1, log_likelihood_);
  add(all.accepted, 1, widths.num_blocks, accepted_);
  add(all.proposed, 1, widths.num_blocks, proposed_);
  add(all.faults, 1, 1, faults_);
  if (all.statistics) add(all.statistics, kept, 1, statistics_);
  if (all.totals) add(all.totals, 1, 1, totals_);

  // A single gather transfers everything; each rank's part ends with its time.
  std::vector<std::size_t> bytes;
  std::size_t total = 0;
  for (int r = 0; r < ranks_.size(); ++r) {
    std::size_t size = sizeof(double);
    for (const Field& field : fields_) size += field.rows * field.chain_bytes * range_of(r).size();
    bytes.push_back(size);
    total += size;
  }
  gathered_.resize(total);
  std::size_t place = 0;
  for (int r = 0; r < ranks_.rank(); ++r) place += bytes[static_cast<std::size_t>(r)];
  std::byte* own = gathered_.data() + place;
  std::byte* end = own;
  const auto append = [&](const void* from, std::size_t size) {
    std::memcpy(end, from, size);
    end += size;
  };
  for (const Field& field : fields_) {
    const std::size_t size = field.rows * field.chain_bytes * range_.size();
    if (size > 0) append(field.mine, size);
  }
  append(&mine.seconds, sizeof(double));
  const auto began = std::chrono::steady_clock::now();
  ranks_.all_gather(own, bytes, gathered_.data());
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();

  const std::byte* from = gathered_.data();
  all.seconds = 0;
  for (int r = 0; r < ranks_.size(); ++r) {
    const RankRange range = range_of(r);
    for (const Field& field : fields_)
      for (std::size_t row = 0; row < field.rows; ++row) {
        const std::size_t size = range.size() * field.chain_bytes;
        if (size > 0)
          std::memcpy(field.all + (row * num_chains_ + range.first) * field.chain_bytes, from, size);
        from += size;
      }
    double seconds = 0;
    std::memcpy(&seconds, from, sizeof seconds);
    from += sizeof seconds;
    all.seconds = std::max(all.seconds, seconds);  // the slowest rank sets the pace
  }
  return all;
}

template <class T>
void ChainShare::add(const T*& values, std::size_t rows, std::size_t width, std::vector<T>& to) {
  static_assert(std::is_trivially_copyable_v<T>);
  to.resize(rows * num_chains_ * width);
  fields_.push_back({reinterpret_cast<const std::byte*>(values), reinterpret_cast<std::byte*>(to.data()),
                     rows, width * sizeof(T)});
  values = to.data();
}

}  // namespace emomc

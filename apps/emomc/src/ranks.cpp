#include "ranks.hpp"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "emomc/core/errors.hpp"
#include "emomc/core/rank_range.hpp"

namespace emomc::app {
namespace {

Communicator* g_world = nullptr;
RankPhase g_phase = RankPhase::apart;

std::vector<int> exchanged(int code) {
  return all_gather<int>(world(), {&code, 1},
                         std::vector<std::size_t>(static_cast<std::size_t>(world().size()), 1));
}

}  // namespace

Communicator& world() { return g_world ? *g_world : single_rank(); }
void set_world(Communicator& processes) { g_world = &processes; }
void refuse_several_ranks(const std::string& what, const std::string& instead) {
  if (is_several())
    throw InputError(what + " does not divide its work among processes; start it without mpirun, or " +
                     instead);
}
void enter(RankPhase phase) { g_phase = phase; }

void settle() {
  if (!is_several()) return;
  for (const int code : exchanged(0))
    if (code != 0) throw FailedElsewhere(code);
}

std::vector<double> divided(std::span<const std::size_t> widths,
                            const std::function<void(std::size_t, std::span<double>)>& work,
                            const std::function<void(std::size_t, std::size_t)>& finished) {
  const auto sum_of = [&](RankRange pieces) {
    return std::accumulate(widths.begin() + static_cast<std::ptrdiff_t>(pieces.first),
                           widths.begin() + static_cast<std::ptrdiff_t>(pieces.end), std::size_t{0});
  };
  std::vector<std::size_t> counts;
  for (int r = 0; r < world().size(); ++r)
    counts.push_back(sum_of(range_of_rank(widths.size(), r, world().size())));
  const RankRange own = range_of_rank(widths.size(), world().rank(), world().size());
  std::vector<double> mine(sum_of(own));
  double* to = mine.data();
  for (std::size_t i = own.first; i < own.end; to += widths[i++]) {
    work(i, {to, widths[i]});
    finished(i + 1 - own.first, own.size());
  }
  settle();
  return all_gather<double>(world(), mine, counts);
}

int code_of_first() { return from_first(world(), 0); }

ErrorReport report_of_error(int code, bool is_shared) {
  ErrorReport report;
  if (!is_several()) return report;
  if (g_phase == RankPhase::apart) {
    const std::vector<int> codes = exchanged(code);
    const auto first = std::find_if(codes.begin(), codes.end(), [](int c) { return c != 0; });
    report.is_said = first - codes.begin() == world().rank();
  } else if (g_phase == RankPhase::sampling && is_shared) {
    report.is_said = is_first();
  } else if (g_phase == RankPhase::sampling) {
    report.ends_all = true;
  }
  if (report.is_said && !is_first()) report.prefix = "rank " + std::to_string(world().rank()) + ": ";
  return report;
}

void end_all(int code) { world().fail(code); }

void tell_code(int code) {
  if (is_several() && is_first() && g_phase == RankPhase::finishing) from_first(world(), code);
}

int threads_of_rank(int threads) {
  const int here = world().size_of_host();
  if (threads != 0 || here == 1) return threads;
  // A launcher that assigns processors to each process makes fewer of them usable than the machine has.
  const auto usable = static_cast<int>(std::thread::hardware_concurrency());
  const auto all = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return std::max(1, usable < all ? usable : usable / here);
}

}  // namespace emomc::app

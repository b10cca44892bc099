#include "ranks.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace emomc::app {
namespace {

Communicator* g_world = nullptr;
RankPhase g_phase = RankPhase::preparing;

std::vector<int> exchanged(int code) {
  return all_gather<int>(world(), {&code, 1},
                         std::vector<std::size_t>(static_cast<std::size_t>(world().size()), 1));
}

}  // namespace

Communicator& world() { return g_world ? *g_world : single_rank(); }
void set_world(Communicator& processes) { g_world = &processes; }
void enter(RankPhase phase) { g_phase = phase; }

void settle() {
  if (!is_several()) return;
  for (const int code : exchanged(0))
    if (code != 0) throw FailedElsewhere(code);
}

int code_of_first() { return from_first(world(), 0); }

ErrorReport report_of_error(int code, bool is_shared) {
  ErrorReport report;
  if (!is_several()) return report;
  if (g_phase == RankPhase::preparing) {
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
  // A launcher that gives each process its own processors says so by the ones that it may use.
  const auto usable = static_cast<int>(std::thread::hardware_concurrency());
  const auto all = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return std::max(1, usable < all ? usable : usable / here);
}

}  // namespace emomc::app

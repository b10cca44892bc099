// The processes that mpirun or srun has started as one program. Rank 0 speaks and writes; an error of any
// rank ends them all.
#pragma once

#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/communicator.hpp"

namespace emomc::app {

/// All processes; a single rank unless set_world() was called.
Communicator& world();
/// `processes` must outlive the program's work.
void set_world(Communicator& processes);
inline bool is_several() { return world().size() > 1; }
inline bool is_first() { return world().rank() == 0; }

/// Throws InputError where there are several ranks: `what` does not divide its work among them; `instead`:
/// what else to do than to start without mpirun.
void refuse_several_ranks(const std::string& what, const std::string& instead);

/// What the ranks do, which decides how an error of one of them reaches the others.
enum class RankPhase {
  apart,      ///< each works for itself, up to the next settle()
  sampling,   ///< all together: each call of the sampler waits for all ranks
  finishing,  ///< rank 0 writes results, the others wait for its exit code
};
void enter(RankPhase phase);

/// Another rank has failed and tells the reason.
struct FailedElsewhere : std::exception {
  explicit FailedElsewhere(int exit_code) : code(exit_code) {}
  int code;
};

/// Collective, while apart: waits until all ranks have come this far. Throws FailedElsewhere if another
/// rank has failed instead.
void settle();

/// Collective, while apart: independent pieces of work, of which each rank does a part. `work` is called with
/// the index of a piece and the widths[index] numbers that it sets; `finished` after each piece with the
/// number of this rank's pieces that are done, and of all that it does. Returns the numbers of all pieces, in
/// order, on every rank.
std::vector<double> divided(std::span<const std::size_t> widths,
                            const std::function<void(std::size_t, std::span<double>)>& work,
                            const std::function<void(std::size_t, std::size_t)>& finished);
/// The exit code of rank 0, for the others, which wait for it.
int code_of_first();

/// What is to be said of an error of this rank, and whether by this rank.
struct ErrorReport {
  bool is_said = true;
  std::string prefix = {};  ///< "rank 2: " where another rank than 0 speaks
  bool ends_all = false;    ///< after it has been said, end_all() is to be called
};
/// Collective while apart. `is_shared`: every rank has the same error where they work together.
ErrorReport report_of_error(int code, bool is_shared);
/// Ends the processes of all ranks. With MPI it does not return.
void end_all(int code);
/// Tells the other ranks the exit code of rank 0, where they wait for it; called once, at the end.
void tell_code(int code);

/// Threads for the CPU where `threads` is 0: this rank's part of the processors that it may use.
int threads_of_rank(int threads);

}  // namespace emomc::app

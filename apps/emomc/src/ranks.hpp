// The processes that mpirun or srun has started as one program. Rank 0 prints and writes files; an error of
// any rank ends all of them.
#pragma once

#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/communicator.hpp"

namespace emomc::app {

/// Returns the communicator of all processes; it has a single rank unless set_world() was called.
Communicator& world();
/// Sets the communicator that world() returns. `processes` must outlive the program's work.
void set_world(Communicator& processes);
inline bool is_several() { return world().size() > 1; }
inline bool is_first() { return world().rank() == 0; }

/// Throws InputError if there are several ranks, because `what` does not divide its work among them.
/// `instead` says what to do other than start without mpirun.
void refuse_several_ranks(const std::string& what, const std::string& instead);

/// The phase of the ranks' work, which decides how an error of one rank reaches the others.
enum class RankPhase {
  apart,      ///< each rank works alone, up to the next settle()
  sampling,   ///< all ranks work together: each call of the sampler waits for all of them
  finishing,  ///< rank 0 writes results, and the others wait for its exit code
};
void enter(RankPhase phase);

/// Thrown if another rank has failed; that rank prints the reason.
struct FailedElsewhere : std::exception {
  explicit FailedElsewhere(int exit_code) : code(exit_code) {}
  int code;
};

/// Waits until all ranks have come this far. Collective, in phase `apart`. Throws FailedElsewhere if another
/// rank has failed instead.
void settle();

/// Divides independent pieces of work among the ranks. Collective, in phase `apart`. `work` is called with
/// the index of a piece and the widths[index] numbers that it must set. After each piece, `finished` is
/// called with the number of this rank's pieces that are done and the number of all its pieces. Returns the
/// numbers of all pieces, in order, on every rank.
std::vector<double> divided(std::span<const std::size_t> widths,
                            const std::function<void(std::size_t, std::span<double>)>& work,
                            const std::function<void(std::size_t, std::size_t)>& finished);
/// Returns the exit code of rank 0 on the other ranks, which wait for it.
int code_of_first();

/// How an error of this rank is reported, and whether this rank reports it.
struct ErrorReport {
  bool is_said = true;
  std::string prefix = {};  ///< "rank 2: " if another rank than 0 reports the error
  bool ends_all = false;    ///< whether end_all() must be called after the report
};
/// Decides how the error with exit code `code` is reported. Collective in phase `apart`. `is_shared` says
/// that every rank that works with this one has the same error.
ErrorReport report_of_error(int code, bool is_shared);
/// Ends the processes of all ranks. With MPI it does not return.
void end_all(int code);
/// Sends the exit code of rank 0 to the other ranks if they wait for it. Called once, at the end.
void tell_code(int code);

/// Returns the number of CPU threads of this rank: `threads`, or, where that is 0 and several ranks share the
/// host, this rank's part of the processors that it may use.
int threads_of_rank(int threads);

}  // namespace emomc::app

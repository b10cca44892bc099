// Ranks that are processes, started by mpirun or by srun.
#pragma once

#include <memory>

#include "emomc/core/communicator.hpp"

namespace emomc {

/// Whether this build has MPI.
bool built_with_mpi();
/// Number of processes that a launcher (mpirun, mpiexec, srun with --mpi) has started this one with, by its
/// environment; 1 without a launcher. Does not start MPI.
int processes_of_launcher();
/// Starts MPI and returns the communicator of all processes; its destructor ends MPI. Called once, by the
/// main thread. Throws InputError where this build has no MPI, MachineError where MPI does not start.
///
/// A rank that waits looks for the others at intervals, and does not keep a processor busy. Where `give_up`
/// is not null and the function has returned true for 15 s without an answer from the others, the process
/// ends with exit code 3: the launcher has asked it to end and the others are gone.
std::unique_ptr<Communicator> join_mpi(bool (*give_up)() = nullptr);

}  // namespace emomc

// Ranks that are processes started by mpirun or srun.
#pragma once

#include <memory>

#include "emomc/core/communicator.hpp"

namespace emomc {

/// Whether this build has MPI.
bool built_with_mpi();
/// Number of processes in the launch of this process (by mpirun, mpiexec or srun with --mpi), read from the
/// environment; 1 without a launcher. Does not start MPI.
int processes_of_launcher();
/// Starts MPI and returns the communicator of all processes; its destructor ends MPI. Must be called once, by
/// the main thread. Throws InputError if this build has no MPI, MachineError if MPI does not start.
///
/// A waiting rank polls the others at intervals and does not keep a processor busy. If `give_up` is not null
/// and has returned true for 15 s without an answer from the others, the process ends with exit code 3: the
/// launcher has requested the end and the other processes are gone.
std::unique_ptr<Communicator> join_mpi(bool (*give_up)() = nullptr);

}  // namespace emomc

#include "emomc/core/mpi.hpp"

namespace emomc {

bool built_with_mpi() { return false; }

std::unique_ptr<Communicator> join_mpi(bool (*)()) {
  throw InputError(
      "this build of emomc has no MPI, and would do the same work in every process; start one process, or "
      "build with the package libopenmpi-dev installed");
}

}  // namespace emomc

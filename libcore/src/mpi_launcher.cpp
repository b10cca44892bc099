#include <cstdlib>
#include <string>

#include "emomc/core/mpi.hpp"

namespace emomc {

int processes_of_launcher() {
  // Open MPI's mpirun, MPICH's and Intel's mpiexec, and srun for a PMI or PMIx of its own. SLURM_NTASKS alone
  // says nothing: a batch script has it, too, and starts a process of its own.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* text = std::getenv(name)) return std::max(1, std::atoi(text));
  if (std::getenv("PMIX_RANK"))
    if (const char* text = std::getenv("SLURM_STEP_NUM_TASKS")) return std::max(1, std::atoi(text));
  return 1;
}

}  // namespace emomc

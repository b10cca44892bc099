#include <cstdlib>
#include <string>

#include "emomc/core/mpi.hpp"

namespace emomc {

int processes_of_launcher() {
  // The variables are those of Open MPI's mpirun, of MPICH's and Intel's mpiexec, and of srun with a PMI or
  // PMIx plugin. SLURM_NTASKS alone is no evidence of a launch: it is also set in a batch script, which
  // starts a single process.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* text = std::getenv(name)) return std::max(1, std::atoi(text));
  if (std::getenv("PMIX_RANK"))
    if (const char* text = std::getenv("SLURM_STEP_NUM_TASKS")) return std::max(1, std::atoi(text));
  return 1;
}

}  // namespace emomc

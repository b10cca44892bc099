#include "device_ranks.hpp"

namespace emomc {

std::string nccl_problem() { return "this build of emomc has no NCCL"; }

std::shared_ptr<DeviceRanks> connect_by_nccl(Device&, Communicator&) { throw InputError(nccl_problem()); }

}  // namespace emomc

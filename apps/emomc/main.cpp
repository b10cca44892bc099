#include <fcntl.h>

#include <cerrno>
#include <iostream>
#include <memory>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/mpi.hpp"
#include "ranks.hpp"
#include "signals.hpp"

namespace {

// A file that is opened while a standard stream is closed gets the stream's number, and printed text would
// then go into that file. A read-only /dev/null in place of the stream makes writing fail instead.
void occupy_closed_streams() {
  for (int descriptor : {0, 1, 2})
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF && ::open("/dev/null", O_RDONLY) < 0) return;
}

}  // namespace

int main(int argc, char** argv) {
  occupy_closed_streams();
  std::unique_ptr<emomc::Communicator> processes;
  if (emomc::processes_of_launcher() > 1) try {
      processes = emomc::join_mpi(emomc::app::stop_requested);
      emomc::app::set_world(*processes);
    } catch (const emomc::InputError& error) {
      std::cerr << "emomc: error: " << error.what() << '\n';
      return emomc::app::kBadInput;
    } catch (const std::exception& error) {
      std::cerr << "emomc: error: " << error.what() << '\n';
      return emomc::app::kMachineFault;
    }
  return emomc::app::run_program(argc, argv);
}

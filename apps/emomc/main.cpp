#include <fcntl.h>

#include <cerrno>

#include "commands.hpp"

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
  return emomc::app::run_program(argc, argv);
}

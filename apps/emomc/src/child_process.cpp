#include "child_process.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "emomc/core/errors.hpp"

namespace emomc::app {
namespace {

constexpr unsigned kMostSeconds = 300;
constexpr char kResult = 'r', kRefusal = 'i', kFailure = 'm';

bool write_all(int descriptor, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::write(descriptor, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

std::string answer_of(const std::function<std::string()>& work) {
  try {
    return kResult + work();
  } catch (const InputError& error) {
    return kRefusal + std::string(error.what());
  } catch (const std::exception& error) {
    return kFailure + std::string(error.what());
  }
}

}  // namespace

std::string in_child(const std::function<std::string()>& work, const OnDeath& on_death) {
  int ends[2];
  if (::pipe(ends) != 0)
    throw MachineError(std::string("opening a pipe failed: ") + std::strerror(errno) +
                       " (raise the limit of open files, ulimit -n)");
  const pid_t child = ::fork();
  if (child < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    throw MachineError(std::string("starting a process failed: ") + std::strerror(error) +
                       " (see the limits of processes, ulimit -u, and of memory, ulimit -v)");
  }
  if (child == 0) {
    ::close(ends[0]);
    for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGINT, SIGTERM, SIGALRM})
      std::signal(signal, SIG_DFL);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::alarm(kMostSeconds);
    // Messages that the library prints to stderr would break the rule that an error is one line.
    if (std::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(1);
    ::_exit(write_all(ends[1], answer_of(work)) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string answer;
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = ::read(ends[0], buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    answer.append(buffer, static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    throw MachineError(on_death.file + ": the process that read it was killed (out of memory?)");
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    throw InputError(on_death.file + ": reading it took longer than five minutes");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || answer.empty())
    throw InputError(on_death.file + ": " + on_death.what);
  const char kind = answer.front();
  answer.erase(answer.begin());
  if (kind == kRefusal) throw InputError(answer);
  if (kind == kFailure) throw MachineError(answer);
  return answer;
}

}  // namespace emomc::app

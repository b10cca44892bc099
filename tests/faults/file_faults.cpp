// A library to be preloaded into a program (LD_PRELOAD). It makes one of the program's file calls fail, or
// disturbs the program at this call. Only calls on files below $EMOMC_FAULT_UNDER are counted, so that the
// number of a call has the same meaning in every run.
//
//  EMOMC_FAULT_UNDER  an absolute path
//  EMOMC_FAULT        ACTION@N: at the N-th call, counted from 1. ACTION is
//                       enospc, eio, eintr   the call fails with this error, once
//                       enospc+, eio+        this call and all later ones fail
//                       short                a write writes only half of its bytes
//                       kill, killed         SIGKILL before or after the call
//                       int, term, intint    SIGINT, SIGTERM, or SIGINT twice before the call
//                       vanish, replace      before the call the directory is moved away; and replaced by an
//                       empty one
//  EMOMC_FAULT_LOG    a file to which each call appends a line "N NAME PATH"
//
//  EMOMC_FAULT_THREADS  creating a thread fails while this many live in addition to the first (0: always)
//
// The counted calls are open for writing, write, fsync, rename, ftruncate, mkdir and unlink, and with
// EMOMC_FAULT_READS=1 also open and read for reading.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

enum class Verdict { go_on, fail, halve, kill_after };

struct Plan {
  std::string under, action;
  long at = 0;
  bool reads = false;
  int log = -1;
  long count = 0;
  bool busy = false;  // set while this library makes calls of its own, which are not counted

  Plan() {
    busy = true;
    if (const char* path = std::getenv("EMOMC_FAULT_UNDER")) under = path;
    if (const char* fault = std::getenv("EMOMC_FAULT")) {
      const std::string text = fault;
      const auto sign = text.find('@');
      action = text.substr(0, sign);
      at = sign == std::string::npos ? 0 : std::atol(text.c_str() + sign + 1);
    }
    reads = std::getenv("EMOMC_FAULT_READS") != nullptr;
    if (const char* file = std::getenv("EMOMC_FAULT_LOG"))
      log =
          next<int (*)(const char*, int, ...)>("open")(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    busy = false;
  }
};

Plan& plan() {
  static Plan the_plan;
  return the_plan;
}

bool is_below(const char* path) {
  std::string whole = path;
  if (whole.empty() || whole[0] != '/') {
    std::array<char, PATH_MAX> here{};
    if (::getcwd(here.data(), here.size()) == nullptr) return false;
    whole = std::string(here.data()) + "/" + whole;
  }
  const std::string& under = plan().under;
  return !under.empty() && whole.compare(0, under.size(), under) == 0;
}

std::string path_of(int descriptor) {
  std::array<char, PATH_MAX> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t n = ::readlink(link.c_str(), path.data(), path.size() - 1);
  return n < 0 ? "" : std::string(path.data(), static_cast<std::size_t>(n));
}

// Decides the outcome of a call on `path`; sets errno if the call must fail.
Verdict judge(const char* name, const std::string& path) {
  Plan& p = plan();
  if (p.busy || !is_below(path.c_str())) return Verdict::go_on;
  ++p.count;
  if (p.log >= 0) {
    const std::string line = std::to_string(p.count) + " " + name + " " + path + "\n";
    if (next<ssize_t (*)(int, const void*, size_t)>("write")(p.log, line.data(), line.size()) < 0) ::abort();
  }
  const bool lasting = !p.action.empty() && p.action.back() == '+';
  if (p.at == 0 || p.count < p.at || (p.count > p.at && !lasting)) return Verdict::go_on;
  const std::string action = lasting ? p.action.substr(0, p.action.size() - 1) : p.action;
  if (action == "kill") ::raise(SIGKILL);
  if (action == "killed") return Verdict::kill_after;
  if (action == "int" || action == "intint") ::raise(SIGINT);
  if (action == "intint") ::raise(SIGINT);
  if (action == "term") ::raise(SIGTERM);
  if (action == "vanish" || action == "replace") {
    p.busy = true;
    const std::string away = p.under + ".away";
    std::rename(p.under.c_str(), away.c_str());
    if (action == "replace") {
      ::mkdir(p.under.c_str(), 0755);
      ::mkdir((p.under + "/chains").c_str(), 0755);
    }
    p.busy = false;
  }
  if (action == "short") return Verdict::halve;
  const bool can_be_interrupted = std::strcmp(name, "open") == 0 || std::strcmp(name, "write") == 0 ||
                                  std::strcmp(name, "fsync") == 0 || std::strncmp(name, "read", 4) == 0;
  const bool fails = action == "enospc" || action == "eio" || (action == "eintr" && can_be_interrupted);
  if (fails) errno = action == "enospc" ? ENOSPC : action == "eio" ? EIO : EINTR;
  return fails ? Verdict::fail : Verdict::go_on;
}

template <class Call>
auto judged(const char* name, const std::string& path, const Call& call) {
  const Verdict verdict = judge(name, path);
  if (verdict == Verdict::fail) return static_cast<decltype(call())>(-1);
  const auto result = call();
  if (verdict == Verdict::kill_after) ::raise(SIGKILL);
  return result;
}

int open_judged(const char* real, const char* path, int flags, mode_t mode) {
  const auto call = [&] { return next<int (*)(const char*, int, ...)>(real)(path, flags, mode); };
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_DIRECTORY) != 0;
  if (!writes && !plan().reads) return call();
  return judged(writes ? "open" : "open to read", path, call);
}

template <class Call>
ssize_t write_judged(int descriptor, size_t size, const Call& call) {
  const Verdict verdict = judge("write", path_of(descriptor));
  if (verdict == Verdict::fail) return -1;
  const ssize_t result = call(verdict == Verdict::halve && size > 1 ? size / 2 : size);
  if (verdict == Verdict::kill_after) ::raise(SIGKILL);
  return result;
}

mode_t mode_of(int flags, va_list& arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

// The number of living threads besides the first one; a thread counts until it is joined.
std::atomic<long> g_living{0};

long most_threads() {
  const char* most = std::getenv("EMOMC_FAULT_THREADS");
  return most ? std::atol(most) : LONG_MAX;
}

}  // namespace

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  using Function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (g_living.fetch_add(1) < most_threads()) {
    const int error = next<Function>("pthread_create")(thread, attributes, start, argument);
    if (error == 0) return 0;
  }
  --g_living;
  return EAGAIN;
}
int pthread_join(pthread_t thread, void** result) {
  const int error = next<int (*)(pthread_t, void**)>("pthread_join")(thread, result);
  if (error == 0) --g_living;
  return error;
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_judged("open", path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_judged("open64", path, flags, mode);
}
ssize_t read(int descriptor, void* to, size_t size) {
  const auto call = [&] { return next<ssize_t (*)(int, void*, size_t)>("read")(descriptor, to, size); };
  return plan().reads ? judged("read", path_of(descriptor), call) : call();
}
ssize_t write(int descriptor, const void* from, size_t size) {
  return write_judged(descriptor, size, [&](size_t n) {
    return next<ssize_t (*)(int, const void*, size_t)>("write")(descriptor, from, n);
  });
}
ssize_t pwrite(int descriptor, const void* from, size_t size, off_t at) {
  return write_judged(descriptor, size, [&](size_t n) {
    return next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite")(descriptor, from, n, at);
  });
}
ssize_t pwrite64(int descriptor, const void* from, size_t size, off64_t at) {
  return write_judged(descriptor, size, [&](size_t n) {
    return next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64")(descriptor, from, n, at);
  });
}
int fsync(int descriptor) {
  return judged("fsync", path_of(descriptor), [&] { return next<int (*)(int)>("fsync")(descriptor); });
}
int ftruncate(int descriptor, off_t size) noexcept {
  return judged("ftruncate", path_of(descriptor),
                [&] { return next<int (*)(int, off_t)>("ftruncate")(descriptor, size); });
}
int ftruncate64(int descriptor, off64_t size) noexcept {
  return judged("ftruncate", path_of(descriptor),
                [&] { return next<int (*)(int, off64_t)>("ftruncate64")(descriptor, size); });
}
int rename(const char* from, const char* to) noexcept {
  return judged("rename", from, [&] { return next<int (*)(const char*, const char*)>("rename")(from, to); });
}
int mkdir(const char* path, mode_t mode) noexcept {
  return judged("mkdir", path, [&] { return next<int (*)(const char*, mode_t)>("mkdir")(path, mode); });
}
int unlink(const char* path) noexcept {
  return judged("unlink", path, [&] { return next<int (*)(const char*)>("unlink")(path); });
}

}  // extern "C"

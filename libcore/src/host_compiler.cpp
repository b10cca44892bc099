#include "emomc/core/host_compiler.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>

#include "emomc/core/errors.hpp"
#include "emomc/core/sha256.hpp"

extern char** environ;

namespace emomc {
namespace {

namespace fs = std::filesystem;

// Contraction is off, as in all code whose bits matter; fma is called explicitly where it is intended. The
// two flags about errno and traps change no value and allow loops over rows to be vectorised. Without the
// elimination of partial redundancies, which turns selections into branches, more loops are vectorised too.
// For many processors of Intel g++ prefers vectors of 256 bits; it then computes the vectors of 512 bits in
// cached_columns.hpp lane by lane, ten times slower.
const std::vector<std::string> kReleaseFlags {
  "-std=c++20", "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
      "-fno-tree-pre",
#if defined(__x86_64__)
      "-mprefer-vector-width=512",
#endif
      "-fPIC", "-shared", "-fvisibility=hidden", "-w"
};
const std::vector<std::string> kDebugFlags{
    "-std=c++20",          "-O0", "-g3", "-march=native", "-ffp-contract=off", "-fPIC", "-shared",
    "-fvisibility=hidden", "-w"};
const std::string kOfGccAlone = "-fno-tree-pre";
const std::vector<std::string>& flags_of(HostBuild build) {
  return build == HostBuild::debug ? kDebugFlags : kReleaseFlags;
}
/// The flags for a compiler whose --version begins with `version`.
std::vector<std::string> flags_of(HostBuild build, const std::string& version) {
  std::vector<std::string> flags = flags_of(build);
  if (version.find("clang") != std::string::npos) std::erase(flags, kOfGccAlone);
  return flags;
}
constexpr auto kLongest = std::chrono::minutes(2);

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write(const fs::path& file, const std::string& text) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  std::ofstream out(file, std::ios::binary);
  out << text;
  if (!out.flush()) throw MachineError(file.string() + ": cannot be written");
}

/// Returns the program's path, looked up in PATH if the name has no slash; empty if there is no such program.
std::string found_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string file = folder + "/" + name;
    if (!folder.empty() && folder[0] == '/' && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

struct Compiler {
  std::string path, problem;
};
Compiler find_compiler() {
  if (const char* own = std::getenv("EMOMC_CXX"); own != nullptr && *own != '\0') {
    std::string path = found_program(own);
    std::string problem = path.empty() ? "EMOMC_CXX: there is no program " + std::string(own) : "";
    return {std::move(path), std::move(problem)};
  }
  for (const char* name : {"c++", "g++", "clang++"})
    if (std::string path = found_program(name); !path.empty()) return {std::move(path), {}};
  return {
      {},
      "there is no C++ compiler (c++, g++ or clang++ in PATH); install g++, name one in EMOMC_CXX, or choose "
      "backend reference, which needs none"};
}

struct Ended {
  int status = 0;
  bool timed_out = false;
};

/// Runs a program without a shell; its output goes to `output`.
Ended run(const std::vector<std::string>& command, const fs::path& output) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The compiler gets its own process group, so that its children end with it.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, command[0].c_str(), &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw MachineError(command[0] + " could not be started: " + std::strerror(error));
  Ended ended;
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const pid_t done = ::waitpid(child, &ended.status, WNOHANG);
    if (done == child) return ended;
    if (done < 0 && errno != EINTR) throw MachineError(command[0] + ": its end could not be waited for");
    if (std::chrono::steady_clock::now() - begin > kLongest) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &ended.status, 0);
      ended.timed_out = true;
      return ended;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// A folder that is removed when the object is destroyed.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path& parent) {
    std::string name = (parent / "compile-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw MachineError(parent.string() + ": no folder can be made in it: " + std::strerror(errno));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Returns the folder for compiled libraries, which must belong to the user and be closed to others. Returns
/// nothing if there is no cache, or if the folder cannot be made.
std::optional<fs::path> library_folder() {
  const std::string cache = runtime_kernel_cache();
  if (cache.empty()) return std::nullopt;
  fs::path folder = fs::path(cache) / "host";
  std::error_code ignored;
  fs::create_directories(folder.parent_path(), ignored);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return std::nullopt;
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    throw MachineError(folder.string() + ": is no folder; remove it");
  if (status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    throw MachineError(
        folder.string() +
        ": code is loaded only from a folder of your own that nobody else may enter; chmod 700 it, or "
        "set EMOMC_CACHE_DIR");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return std::nullopt;
  return folder;
}

/// Returns a description of the processor for which `-march=native` compiles.
std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(in, line) && !line.empty();)
    if (line.rfind("model name", 0) == 0 || line.rfind("flags", 0) == 0 || line.rfind("Features", 0) == 0)
      text += line + "\n";
  return text;
}

class LoadedLibrary final : public HostLibrary {
 public:
  LoadedLibrary(const fs::path& file, std::string compiler)
      : handle_(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)), compiler_(std::move(compiler)) {
    if (handle_ == nullptr) throw MachineError("a compiled likelihood could not be loaded: " + error());
  }
  ~LoadedLibrary() override { ::dlclose(handle_); }
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;
  void* symbol(const std::string& name) const override {
    void* found = ::dlsym(handle_, name.c_str());
    if (found == nullptr) throw MachineError("a compiled likelihood has no " + name + ": " + error());
    return found;
  }
  const std::string& compiler() const override { return compiler_; }

 private:
  static std::string error() {
    const char* text = ::dlerror();
    return text ? text : "unknown";
  }
  void* handle_;
  std::string compiler_;
};

/// Returns the first line with "error", or the first line of the log if there is none.
std::string first_error(const std::string& log) {
  std::istringstream lines(log);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (first.empty()) first = line;
    if (line.find("error") != std::string::npos) return line;
  }
  return first;
}

// Loads a library from the cache: KEY.so beside KEY.txt, which has the hash of KEY.so and the compiler's
// name.
std::shared_ptr<const HostLibrary> load_cached(const fs::path& stem) {
  const fs::path library = stem.string() + ".so";
  std::istringstream lines(text_of(stem.string() + ".txt"));
  std::string hash, compiler;
  if (!std::getline(lines, hash) || !std::getline(lines, compiler)) return nullptr;
  if (sha256_hex(text_of(library)) != hash) return nullptr;
  return std::make_shared<LoadedLibrary>(library, compiler);
}

std::vector<const DeviceSources*> all_sources(const HostSource& source) {
  std::vector<const DeviceSources*> all{&core_device_sources()};
  all.insert(all.end(), source.sources.begin(), source.sources.end());
  return all;
}

std::string key_of(const HostSource& source, const std::string& compiler, HostBuild build) {
  struct stat status {};
  ::stat(compiler.c_str(), &status);
  std::string all = source.text + compiler + '\n' + std::to_string(status.st_size) + ' ' +
                    std::to_string(status.st_mtime) + '\n' + processor();
  for (const auto& flag : flags_of(build)) all += flag + '\n';
  for (const DeviceSources* sources : all_sources(source))
    for (const auto& header : *sources) all += header.name + '\n' + header.text;
  return sha256_hex(all);
}

/// Returns the first line that the compiler prints about itself.
std::string version_of(const std::string& compiler, const fs::path& folder) {
  const fs::path output = folder / "version.txt";
  run({compiler, "--version"}, output);
  std::istringstream lines(text_of(output));
  std::string first;
  std::getline(lines, first);
  return first;
}

/// Returns the first three errors of a log that are in the user's header, with the header's file name.
std::string own_errors(const HostSource& source, const std::string& log) {
  std::istringstream lines(log);
  std::string errors;
  int count = 0;
  constexpr int kShown = 3;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(source.own_header + ":");
    if (at == std::string::npos || line.find("error:") == std::string::npos) continue;
    if (count++ < kShown)
      errors += (errors.empty() ? "" : "\n") + source.own_file + line.substr(at + source.own_header.size());
  }
  if (count > kShown) errors += "\nand " + std::to_string(count - kShown) + " further errors";
  return errors;
}

/// Throws the reason why the compiler, which has ended, has made no library.
[[noreturn]] void refuse(const HostSource& source, const std::string& name, const std::string& log) {
  if (log.find("Killed") != std::string::npos || log.find("killed") != std::string::npos)
    throw MachineError(name +
                       ": the compiler was killed, as it is where memory runs out: " + first_error(log));
  if (source.own_header.empty()) throw MachineError(name + " failed: " + first_error(log));
  const std::string own = own_errors(source, log);
  // Errors elsewhere are due to the type that the header defines, such as a missing member.
  std::string first = first_error(log);
  if (const std::size_t at = first.find("error:"); at != std::string::npos) first = first.substr(at);
  throw InputError(own.empty() ? source.own_file + ": it does not compile as a likelihood: " + first : own);
}

void compile(const HostSource& source, const std::string& compiler, const fs::path& folder,
             const fs::path& stem, HostBuild build) {
  const TemporaryFolder work(folder);
  // A debugger reads the source text, so the text must be kept.
  const fs::path texts = build == HostBuild::debug ? fs::path(stem.string() + ".src") : work.path();
  for (const DeviceSources* sources : all_sources(source))
    for (const auto& header : *sources) write(texts / header.name, header.text);
  write(texts / "likelihood.cpp", source.text);
  std::vector<std::string> command{compiler};
  std::string version = version_of(compiler, work.path());
  const std::vector<std::string> flags = flags_of(build, version);
  command.insert(command.end(), flags.begin(), flags.end());
  for (const std::string& word :
       {std::string("-I"), texts.string(), std::string("-o"), (work.path() / "likelihood.so").string(),
        (texts / "likelihood.cpp").string()})
    command.push_back(word);
  const Ended ended = run(command, work.path() / "log.txt");
  const std::string name = "compiling the likelihood with " + compiler;
  if (ended.timed_out) throw MachineError(name + " took more than two minutes and was stopped");
  if (WIFSIGNALED(ended.status))
    throw MachineError(name + ": the compiler was killed by signal " +
                       std::to_string(WTERMSIG(ended.status)) +
                       (WTERMSIG(ended.status) == SIGKILL ? ", as it is where memory runs out" : ""));
  if (WEXITSTATUS(ended.status) != 0) refuse(source, name, text_of(work.path() / "log.txt"));
  const std::string library = text_of(work.path() / "likelihood.so");
  std::error_code error;
  fs::rename(work.path() / "likelihood.so", stem.string() + ".so", error);
  if (error) throw MachineError(stem.string() + ".so: cannot be written: " + error.message());
  for (const std::string& flag : flags) version += " " + flag;
  write(work.path() / "facts.txt", sha256_hex(library) + "\n" + version + "\n");
  fs::rename(work.path() / "facts.txt", stem.string() + ".txt", error);
  if (error) throw MachineError(stem.string() + ".txt: cannot be written: " + error.message());
}

}  // namespace

std::string host_compiler_problem() { return find_compiler().problem; }

std::shared_ptr<const HostLibrary> compile_host_library(const HostSource& source, HostBuild build) {
  const Compiler compiler = find_compiler();
  if (!compiler.problem.empty()) throw MachineError("the likelihood cannot be compiled: " + compiler.problem);
  // Without a cache, a temporary folder is enough: the library stays loaded after its file is removed.
  const std::optional<fs::path> cache = library_folder();
  std::optional<TemporaryFolder> own;
  const fs::path folder = cache ? *cache : own.emplace(fs::temp_directory_path()).path();
  const fs::path stem = folder / key_of(source, compiler.path, build);
  if (auto cached = load_cached(stem)) return cached;
  compile(source, compiler.path, folder, stem, build);
  if (auto made = load_cached(stem)) return made;
  throw MachineError(stem.string() + ".so: it has been changed since it was compiled");
}

}  // namespace emomc

#include "file_operations.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
  throw MachineError(path.string() + ": " + what + " failed: " + std::strerror(errno));
}

template <class Call>
auto retried(Call call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

}  // namespace

File::File(std::filesystem::path path, Mode mode) : path_(std::move(path)) {
  // A link in a run directory that came from elsewhere must not lead out of it.
  const int flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | (mode == Mode::create ? O_CREAT | O_TRUNC : 0);
  descriptor_ = retried([&] { return ::open(path_.c_str(), flags, 0644); });
  if (descriptor_ < 0) fail(path_, "opening for writing");
  if (mode == Mode::open_existing && ::lseek(descriptor_, 0, SEEK_END) < 0) fail(path_, "seeking");
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void File::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = retried([&] { return ::write(descriptor_, bytes.data(), bytes.size()); });
    if (written < 0) fail(path_, "writing");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void File::sync() {
  if (retried([&] { return ::fsync(descriptor_); }) < 0) fail(path_, "fsync");
}

void File::truncate(std::int64_t size) {
  if (retried([&] { return ::ftruncate(descriptor_, size); }) < 0) fail(path_, "truncating");
  if (::lseek(descriptor_, size, SEEK_SET) < 0) fail(path_, "seeking");
}

std::int64_t File::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) < 0) fail(path_, "stat");
  return status.st_size;
}

void sync_directory(const std::filesystem::path& directory) {
  const auto path = directory.empty() ? std::filesystem::path(".") : directory;
  const int descriptor = retried([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (descriptor < 0) fail(path, "opening the directory");
  const int status = retried([&] { return ::fsync(descriptor); });
  const int error = errno;
  ::close(descriptor);
  errno = error;
  if (status < 0) fail(path, "fsync of the directory");
}

void write_file_atomically(const std::filesystem::path& file, std::string_view content) {
  const std::filesystem::path beside = file.string() + ".tmp";
  try {
    File temporary(beside, File::Mode::create);
    temporary.write_all(content);
    temporary.sync();
    std::error_code error;
    std::filesystem::rename(beside, file, error);
    if (error) throw MachineError(file.string() + ": renaming failed: " + error.message());
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    throw;
  }
  sync_directory(file.parent_path());
}

RunLock::RunLock(const std::filesystem::path& directory) {
  const auto path = directory / "lock";
  descriptor_ = retried([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644); });
  if (descriptor_ < 0) fail(path, "opening");
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(descriptor_);
  descriptor_ = -1;
  throw InputError(directory.string() +
                   ": another emomc is working on this run; wait for it or choose another --output");
}

RunLock::~RunLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace emomc

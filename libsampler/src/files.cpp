#include "emomc/sampler/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

const char* what_to_do(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return " (free some space)";
    case EIO:
      return " (the disk or the connection to it is failing)";
    case ENOENT:
    case ENOTDIR:
    case ESTALE:
      return " (it has been moved or removed; put it back)";
    case EROFS:
    case EACCES:
    case EPERM:
      return " (make it writable)";
    case EMFILE:
      return " (raise the limit of open files, ulimit -n)";
    default:
      return "";
  }
}

[[noreturn]] void fail(const std::filesystem::path& path, const char* what, int error = errno) {
  const std::string text = path.string() + ": " + what + " failed: " + std::strerror(error);
  if (error == ENAMETOOLONG) throw InputError(text);  // a fault of the path, not of the machine
  throw MachineError(text + what_to_do(error));
}

template <class Call>
auto retried(Call call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// A file descriptor that is closed on every exit; written files have been synced before.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : number_(retried([&] { return ::open(path.c_str(), flags | O_CLOEXEC); })) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

void sync_path(const std::filesystem::path& path, int flags) {
  const Descriptor descriptor(path, flags);
  if (descriptor.number() < 0) fail(path, "opening");
  if (retried([&] { return ::fsync(descriptor.number()); }) < 0) fail(path, "fsync");
}

std::filesystem::path beside(const std::filesystem::path& file) { return file.string() + ".tmp"; }

void sync_parent(const std::filesystem::path& path) {
  const auto directory = path.parent_path();
  sync_path(directory.empty() ? std::filesystem::path(".") : directory, O_RDONLY | O_DIRECTORY);
}

}  // namespace

File::File(std::filesystem::path path, Mode mode) : path_(std::move(path)) {
  // A symbolic link that someone has put into a run directory must not lead out of it.
  const int flags = O_WRONLY | O_CLOEXEC |
                    (mode == Mode::create       ? O_NOFOLLOW | O_CREAT | O_TRUNC
                     : mode == Mode::create_new ? O_NOFOLLOW | O_CREAT | O_EXCL
                     : mode == Mode::append     ? O_NOFOLLOW | O_CREAT | O_APPEND
                     : mode == Mode::special    ? O_NOCTTY
                                                : O_NOFOLLOW | O_APPEND);
  descriptor_ = retried([&] { return ::open(path_.c_str(), flags, 0644); });
  if (descriptor_ < 0) fail(path_, "opening for writing");
}

File File::of_descriptor(int descriptor, std::filesystem::path path) {
  const int own = retried([&] { return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0); });
  if (own < 0) fail(path, "opening for writing");
  return {std::move(path), Adopted{own}};
}

File::File(std::filesystem::path path, Adopted descriptor)
    : path_(std::move(path)), descriptor_(descriptor.number) {}

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
    if (written <= 0) fail(path_, "writing", written < 0 ? errno : EIO);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Errors are ignored: sync() determines whether the bytes are on the disk.
void File::begin_sync(std::int64_t end, std::int64_t bytes) const {
  (void)::sync_file_range(descriptor_, end - bytes, bytes, SYNC_FILE_RANGE_WRITE);
}

void File::sync() {
  if (retried([&] { return ::fsync(descriptor_); }) < 0) fail(path_, "fsync");
}

void File::truncate(std::int64_t size) {
  if (retried([&] { return ::ftruncate(descriptor_, size); }) < 0) fail(path_, "truncating");
}

// Errors are ignored: a process that is not allowed to change the owner keeps it.
void File::take_owner_and_permissions_of(const std::filesystem::path& other) {
  struct stat status {};
  if (::stat(other.c_str(), &status) < 0) return;
  if (::fchown(descriptor_, status.st_uid, status.st_gid) < 0) errno = 0;
  if (::fchmod(descriptor_, status.st_mode & 0777) < 0) errno = 0;
}

std::int64_t File::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) < 0) fail(path_, "stat");
  return status.st_size;
}

void File::require_in_place() const {
  struct stat ours {
  }, there{};
  if (::fstat(descriptor_, &ours) < 0) fail(path_, "stat");
  if (::stat(path_.c_str(), &there) < 0) fail(path_, "finding it again");
  if (ours.st_dev != there.st_dev || ours.st_ino != there.st_ino)
    throw MachineError(path_.string() + ": another file has taken its place while it was written");
}

std::string read_file(const std::filesystem::path& file) {
  const Descriptor descriptor(file, O_RDONLY | O_NONBLOCK);  // does not block on a FIFO
  if (descriptor.number() < 0) {
    if (errno == EIO) fail(file, "opening");
    throw InputError(file.string() + ": cannot be read: " + std::strerror(errno));
  }
  struct stat status {};
  if (::fstat(descriptor.number(), &status) < 0) fail(file, "stat");
  if (!S_ISREG(status.st_mode)) throw InputError(file.string() + ": cannot be read: it is no regular file");
  // The file may grow meanwhile; only the size found above is read.
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < content.size()) {
    const auto n =
        retried([&] { return ::read(descriptor.number(), content.data() + have, content.size() - have); });
    if (n < 0) fail(file, "reading");
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  content.resize(have);
  return content;
}

void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail(to, "renaming");
  sync_parent(to);
}

void write_file_atomically(const std::filesystem::path& file, std::string_view content) {
  try {
    File temporary(beside(file), File::Mode::create);
    temporary.write_all(content);
    temporary.sync();
    rename_durably(beside(file), file);
  } catch (...) {
    ::unlink(beside(file).c_str());
    throw;
  }
}

void make_directories(const std::filesystem::path& directory) {
  if (directory.empty() || std::filesystem::is_directory(directory)) return;
  make_directories(directory.parent_path());
  if (::mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST) fail(directory, "making the directory");
  sync_parent(directory);
}

void remove_file(const std::filesystem::path& file) {
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) fail(file, "removing");
}

}  // namespace emomc

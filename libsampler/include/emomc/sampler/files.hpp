// POSIX file operations. Every error becomes a MachineError that names the file and a remedy. All files of a
// run directory are written by these functions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace emomc {

/// A file open for writing; the destructor closes it. Members throw MachineError.
class File {
 public:
  enum class Mode {
    create,         ///< created, or emptied if it exists
    create_new,     ///< created; fails if it exists
    open_existing,  ///< existing; writes append to it
    append,         ///< like open_existing, but created if it does not exist
    /// A device or FIFO, possibly through a symbolic link; the other modes do not follow links.
    special
  };
  File(std::filesystem::path path, Mode mode);
  /// Returns a File that writes to a duplicate of this process's file descriptor `descriptor`; `path` is for
  /// messages.
  static File of_descriptor(int descriptor, std::filesystem::path path);
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  void write_all(std::string_view bytes);
  /// Makes the system start writing the `bytes` bytes before offset `end` to disk, so that a later sync has
  /// little left to do.
  void begin_sync(std::int64_t end, std::int64_t bytes) const;
  /// Calls fsync: returns when all written bytes are on the disk.
  void sync();
  /// Copies owner and permissions of `other` as far as this process has the right to; never fails.
  void take_owner_and_permissions_of(const std::filesystem::path& other);
  void truncate(std::int64_t size);
  std::int64_t size() const;
  /// Throws MachineError if the path no longer leads to this file, because data written to it would be lost.
  void require_in_place() const;
  const std::filesystem::path& path() const { return path_; }

 private:
  struct Adopted {
    int number;
  };
  File(std::filesystem::path path, Adopted descriptor);

  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Returns the whole content of a regular file. Throws InputError if the file cannot be opened, MachineError
/// if reading fails.
std::string read_file(const std::filesystem::path& file);

/// Writes `content` to `file` so that a reader sees either the old or the new content, never a part. The
/// function writes a temporary file (`file`.tmp), calls fsync, renames the file and syncs the directory. An
/// existing `file` is replaced, even if it is a link or a device; use write_output (output_file.hpp) for
/// paths that users name. Throws MachineError.
void write_file_atomically(const std::filesystem::path& file, std::string_view content);

/// Renames `from` to `to` and syncs the directory of `to`. Throws MachineError.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

/// Creates a directory and its missing parents durably. Throws MachineError.
void make_directories(const std::filesystem::path& directory);

/// Removes a file if it exists. Throws MachineError.
void remove_file(const std::filesystem::path& file);

}  // namespace emomc

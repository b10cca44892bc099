// POSIX files with every error turned into a MachineError that names the file and says what to do. All that
// is written into a run directory goes through here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace emomc {

/// A file open for writing; closes itself.
class File {
 public:
  enum class Mode {
    create,         ///< new, or emptied
    create_new,     ///< new; fails where there is one
    open_existing,  ///< written behind its end
    append,         ///< the same; created where there is none
    special         ///< a device or FIFO, also behind a symbolic link; the others do not follow links
  };
  File(std::filesystem::path path, Mode mode);
  /// What `descriptor` of this process writes to, by a descriptor of its own; `path` is for messages.
  static File of_descriptor(int descriptor, std::filesystem::path path);
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  void write_all(std::string_view bytes);
  /// Has the system begin to write out the `bytes` bytes before `end`, so that a sync later finds little left
  /// to do.
  void begin_sync(std::int64_t end, std::int64_t bytes) const;
  void sync();
  /// As far as this process may.
  void take_owner_and_permissions_of(const std::filesystem::path& other);
  void truncate(std::int64_t size);
  std::int64_t size() const;
  /// Throws where the path leads to another file by now, or to none: what is written would be lost.
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

/// The whole content. Throws InputError where there is no such file, MachineError where reading fails.
std::string read_file(const std::filesystem::path& file);

/// Writes `content` to `file` so that a reader sees the old or the new content, never a part:
/// a temporary beside it (`file`.tmp), fsync, rename, fsync of the directory. Whatever had the name before is
/// replaced, a link or a device as well; for paths that users name there is write_output (output_file.hpp).
void write_file_atomically(const std::filesystem::path& file, std::string_view content);

/// Renames, and syncs the directory of `to`.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

/// Makes a directory and those that lead to it, durably, where there is none.
void make_directories(const std::filesystem::path& directory);

/// Removes a file if it is there.
void remove_file(const std::filesystem::path& file);

}  // namespace emomc

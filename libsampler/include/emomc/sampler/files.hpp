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
    open_existing,  ///< written behind its end
    append          ///< the same; created where there is none
  };
  File(std::filesystem::path path, Mode mode);
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  void write_all(std::string_view bytes);
  /// Has the system begin to write out the `bytes` bytes before `end`, so that a sync later finds little left
  /// to do.
  void begin_sync(std::int64_t end, std::int64_t bytes) const;
  void sync();
  void truncate(std::int64_t size);
  std::int64_t size() const;
  /// Throws where the path leads to another file by now, or to none: what is written would be lost.
  void require_in_place() const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// The whole content. Throws InputError where there is no such file, MachineError where reading fails.
std::string read_file(const std::filesystem::path& file);

/// Writes `content` to `file` so that a reader sees the old or the new content, never a part:
/// a temporary beside it (`file`.tmp), fsync, rename, fsync of the directory.
void write_file_atomically(const std::filesystem::path& file, std::string_view content);

/// Makes a directory and those that lead to it, durably, where there is none.
void make_directories(const std::filesystem::path& directory);

/// Removes a file if it is there.
void remove_file(const std::filesystem::path& file);

}  // namespace emomc

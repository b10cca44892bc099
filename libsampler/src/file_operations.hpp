// POSIX files with every error turned into MachineError. The one seam below the run directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace emomc {

/// An open file; closes itself.
class File {
 public:
  enum class Mode { create, open_existing };
  File(std::filesystem::path path, Mode mode);
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  void write_all(std::string_view bytes);
  void sync();
  void truncate(std::int64_t size);
  std::int64_t size() const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Makes renames and creations in the directory durable.
void sync_directory(const std::filesystem::path& directory);

}  // namespace emomc

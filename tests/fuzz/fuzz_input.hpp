// Helpers that the fuzz targets share: the input as a file or a folder of files, and the exceptions that a
// reader may throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "emomc/core/errors.hpp"

namespace emomc::fuzz {

/// A file in memory, which the destructor removes.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::filesystem::path path() const;

 private:
  int descriptor_ = -1;
};

/// A folder in memory, which the destructor removes. `content` contains the files one after another, each
/// after a line "@@ NAME". Names are paths relative to the folder; files with other names are ignored.
class MemoryFolder {
 public:
  explicit MemoryFolder(std::string_view content);
  ~MemoryFolder();
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string content_of(const std::filesystem::path& file);
void set_content(const std::filesystem::path& file, std::string_view content);

/// Runs `read`, which may refuse its input by an InputError. Any other exception is a finding.
template <class Read>
void read_or_refuse(Read read) {
  try {
    read();
  } catch (const InputError&) {
  }
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace emomc::fuzz

// What the targets share: the bytes to read as a file or as a folder of files, and what a reader may throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "emomc/core/errors.hpp"

namespace emomc::fuzz {

/// A file in memory, gone with this object.
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

/// A folder in memory, gone with this object. `content` is the files one after another, each behind a line
/// "@@ NAME"; names are paths below the folder, others are left out.
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

/// Runs `read`, which may refuse its input. Any other exception is a finding.
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

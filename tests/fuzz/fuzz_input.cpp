#include "fuzz_input.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace emomc::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "@@ ";

void require(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("fuzz: ") + what + " failed");
}

// Returns whether a name stays inside the folder.
bool is_inside(const fs::path& name) {
  if (name.empty() || name.is_absolute() || !name.has_filename()) return false;
  for (const auto& part : name)
    if (part == ".." || part == "." || part.string().size() > 100) return false;
  return name.string().find('\0') == std::string::npos;
}

}  // namespace

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void set_content(const fs::path& file, std::string_view content) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (!error)
    std::ofstream(file, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

MemoryFile::MemoryFile(std::string_view content) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
  require(descriptor_ >= 0, "memfd_create");
  require(::write(descriptor_, content.data(), content.size()) == static_cast<ssize_t>(content.size()),
          "write");
}
MemoryFile::~MemoryFile() { ::close(descriptor_); }
fs::path MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

MemoryFolder::MemoryFolder(std::string_view content) {
  const fs::path memory = "/dev/shm";
  std::string name =
      ((fs::is_directory(memory) ? memory : fs::temp_directory_path()) / "fuzz-XXXXXX").string();
  require(::mkdtemp(name.data()) != nullptr, "mkdtemp");
  path_ = name;
  while (content.starts_with(kMark)) {
    content.remove_prefix(kMark.size());
    const auto line = content.find('\n');
    const fs::path file = content.substr(0, line);
    content.remove_prefix(line == std::string_view::npos ? content.size() : line + 1);
    const auto next = content.starts_with(kMark) ? 0 : content.find("\n" + std::string(kMark));
    const auto size = next == std::string_view::npos ? content.size() : next;
    if (is_inside(file)) set_content(path_ / file, content.substr(0, size));
    content.remove_prefix(std::min(content.size(), size == 0 && next == 0 ? 0 : size + 1));
  }
}
MemoryFolder::~MemoryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace emomc::fuzz

#include "emomc/sampler/output_file.hpp"

#include <unistd.h>

#include <charconv>
#include <optional>
#include <string>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/files.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // the limit of Linux, path_resolution(7)

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw InputError(file.string() + ": cannot be written: " + why +
                   "; allowed: a file, FIFO or character device");
}

fs::path folder_of(const fs::path& file) {
  return file.parent_path().empty() ? fs::path(".") : file.parent_path();
}

// Returns N for an entry N of /proc/<this process>/fd, which is the target of /dev/stdout and /dev/fd/N.
std::optional<int> own_descriptor(const fs::path& folder, const std::string& name) {
  const std::string text = folder.string();
  if (!text.starts_with("/proc/" + std::to_string(::getpid()) + "/") || !text.ends_with("/fd")) return {};
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

struct Place {
  fs::path path;                  ///< path whose last part is not a symbolic link
  std::optional<int> descriptor;  ///< set if the path is an open descriptor of this process
  fs::file_type type = fs::file_type::none;
};

// Follows the symbolic links of `file`.
Place place_of(const fs::path& file) {
  Place place{file, {}, fs::file_type::none};
  for (int links = 0;; ++links) {
    std::error_code error;
    const fs::path folder = fs::canonical(folder_of(place.path), error);
    if (error) refuse(file, "there is no folder " + folder_of(place.path).string());
    place.descriptor = own_descriptor(folder, place.path.filename().string());
    place.type = fs::symlink_status(place.path, error).type();
    if (place.descriptor || place.type != fs::file_type::symlink) break;
    if (links == kMostLinks) refuse(file, "its symbolic links lead in a circle");
    const fs::path target = fs::read_symlink(place.path, error);
    if (error) refuse(file, "a symbolic link of it cannot be read: " + error.message());
    place.path = folder / target;  // an absolute `target` replaces the folder
  }
  if (place.descriptor) return place;
  switch (place.type) {
    case fs::file_type::directory:
      refuse(file, "this is a directory");
    case fs::file_type::block:
      refuse(file, "this is a disk");
    case fs::file_type::socket:
      refuse(file, "this is a socket");
    default:
      return place;
  }
}

File new_file_beside(const fs::path& file) {
  for (int i = 0;; ++i) {
    const fs::path name = file.string() + ".tmp" + (i == 0 ? "" : std::to_string(i));
    if (!fs::exists(fs::symlink_status(name))) return {name, File::Mode::create_new};
  }
}

}  // namespace

void require_possible_output(const fs::path& file) { place_of(file); }

void write_output(const fs::path& file, std::string_view content) {
  OutputFile out(file);
  out.write(content);
  out.close();
}

OutputFile::Opened OutputFile::open(const fs::path& file) {
  const Place place = place_of(file);
  if (place.descriptor) return {File::of_descriptor(*place.descriptor, file), {}, false};
  if (place.type == fs::file_type::fifo || place.type == fs::file_type::character)
    return {File(place.path, File::Mode::special), {}, false};
  return {new_file_beside(place.path), place.path, place.type == fs::file_type::regular};
}

OutputFile::OutputFile(const fs::path& file) : opened_(open(file)) {}

OutputFile::~OutputFile() {
  if (!is_closed_ && !opened_.replaces.empty()) ::unlink(opened_.out.path().c_str());
}

void OutputFile::close() {
  if (!opened_.replaces.empty()) {
    if (opened_.exists) opened_.out.take_owner_and_permissions_of(opened_.replaces);
    opened_.out.sync();
    rename_durably(opened_.out.path(), opened_.replaces);
  }
  is_closed_ = true;
}

}  // namespace emomc

// Makes a run directory whose checksums match its files, however the input was mutated.
#pragma once

#include "checksums.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "fuzz_input.hpp"

namespace emomc::fuzz {

/// The files of `content`, with corrected checksums in chain files and with the SHA-256 of data.csv in place
/// of @HASH@ in manifest.json.
class RunFolder {
 public:
  explicit RunFolder(std::string_view content) : folder_(content) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path() / "chains", error))
      if (entry.is_regular_file(error)) set_content(entry.path(), with_checksums(content_of(entry.path())));
    std::string manifest = content_of(path() / "manifest.json");
    const auto at = manifest.find("@HASH@");
    if (at == std::string::npos) return;
    read_or_refuse([&] {
      manifest.replace(at, 6, hash_table(read_table({{path() / "data.csv"}, {}})));
      set_content(path() / "manifest.json", manifest);
    });
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  MemoryFolder folder_;
};

}  // namespace emomc::fuzz

// Output files that a user names, such as -o of the subcommands.
#pragma once

#include <filesystem>
#include <string_view>

#include "emomc/sampler/files.hpp"

namespace emomc {

/// Throws InputError if `file` cannot be written: it is a directory, a block device or a socket, its folder
/// does not exist, or its symbolic links form a cycle. A command calls this before it starts to work.
void require_possible_output(const std::filesystem::path& file);

/// Writes `content` to `file`, depending on what `file` is.
/// - A regular file or a new name: a reader sees either the old or the new content. The content goes to a
/// temporary file of an unused name in the same folder, which is then renamed. Owner and permissions are
/// kept.
/// - A symbolic link: the link is kept, and its target is written by the same rules.
/// - A character device or a FIFO: written to and never replaced; opening a FIFO waits for a reader.
/// - /dev/stdout, /dev/fd/N and the like: written to that descriptor of this process, after all earlier
/// output of the process. The caller must flush std::cout.
///
/// Throws the exceptions of require_possible_output(), and MachineError if writing fails.
void write_output(const std::filesystem::path& file, std::string_view content);

/// A file that is written in parts, by the rules of write_output(): a regular file or a new name has its
/// content when close() is called. The destructor of an object that is not closed removes the temporary file.
/// Members throw the exceptions of write_output().
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& file);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  void write(std::string_view part) { opened_.out.write_all(part); }
  void close();

 private:
  struct Opened {
    File out;
    std::filesystem::path replaces;  ///< name that the file gets; empty: it is written in place
    bool exists;                     ///< whether there is a file with that name
  };
  static Opened open(const std::filesystem::path& file);

  Opened opened_;
  bool is_closed_ = false;
};

/// Either write_output, or write_file_atomically for a file in a directory that belongs to the program.
using FileWriter = void (*)(const std::filesystem::path& file, std::string_view content);

}  // namespace emomc

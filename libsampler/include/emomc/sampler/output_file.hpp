// Output files that a user names, such as -o of the subcommands.
#pragma once

#include <filesystem>
#include <string_view>

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

/// Either write_output, or write_file_atomically for a file in a directory that belongs to the program.
using FileWriter = void (*)(const std::filesystem::path& file, std::string_view content);

}  // namespace emomc

// Files that a user names to be written: -o of the subcommands.
#pragma once

#include <filesystem>
#include <string_view>

namespace emomc {

/// Throws InputError where nothing can be written to `file`: it is a directory, a disk or a socket, its
/// folder does not exist, or its symbolic links lead in a circle. For a command to call before it works.
void require_possible_output(const std::filesystem::path& file);

/// Writes `content` to `file`.
///   * A regular file, or none yet: a reader sees the old or the new content, never a part of it. The new one
///   is
///     written to a temporary of an unused name beside the file and renamed. Owner and permissions stay.
///   * A symbolic link: the link stays, its target is written by the same rules.
///   * A character device or a FIFO is written to, never replaced; a FIFO waits for its reader.
///   * /dev/stdout, /dev/fd/N and the like: written to that descriptor of this process, behind what it has
///     written before; std::cout has to be flushed.
/// Throws what require_possible_output() throws, and MachineError where writing fails.
void write_output(const std::filesystem::path& file, std::string_view content);

/// write_output, or write_file_atomically for a file in a directory that the program owns.
using FileWriter = void (*)(const std::filesystem::path& file, std::string_view content);

}  // namespace emomc

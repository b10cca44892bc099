// Finds the sound chunk of a WAV (RIFF, RIFX, RF64) or AIFF file and checks whether all of it is there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace emomc {

struct IffSound {
  std::uint64_t promised_bytes = 0;  ///< the length in the header of the sound chunk
  std::uint64_t present_bytes = 0;   ///< from the first byte of the chunk's content to the end of the file
  bool unclosed = false;             ///< the length is 0, because the writing program never filled it in
};

/// Returns nothing if the file is of another kind or has no sound chunk. If a program that wrote into a pipe
/// left the length open, promised_bytes is set to present_bytes. A length counts as open in three cases: all
/// its bits are set; it exceeds the number of bytes present and is at most 4096 below 2^31 or 2^32; or it is
/// 0 although sound follows and the length of the whole form ends before the sound.
std::optional<IffSound> find_iff_sound(const std::filesystem::path& file);

}  // namespace emomc

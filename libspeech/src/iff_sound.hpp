// Where a WAV (RIFF, RIFX, RF64) or AIFF file keeps its sound, and whether all of it is there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace emomc {

struct IffSound {
  std::uint64_t promised_bytes = 0;  ///< by the header of the chunk with the sound
  std::uint64_t present_bytes = 0;   ///< from the chunk's first byte to the end of the file
  bool unclosed = false;             ///< a length of 0 that its writer never came back to
};

/// Nothing where the file is of another kind or has no such chunk. A length left open by a program that
/// wrote into a pipe (all bits set, the largest signed number or a header's length below it, or 0 where the
/// form's own length ends before the sound) counts as what is present.
std::optional<IffSound> find_iff_sound(const std::filesystem::path& file);

}  // namespace emomc

#include "emomc/speech/audio.hpp"

#include "emomc/core/errors.hpp"

namespace emomc {

bool has_audio() { return false; }

Recording read_audio(const std::filesystem::path& file) {
  throw InputError(file.string() + ": this build reads no audio; install libsndfile and build again");
}

}  // namespace emomc

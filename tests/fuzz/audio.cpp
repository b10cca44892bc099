// Reads a recording and computes its MFCCs at the sample rate that it states.
#include "emomc/speech/audio.hpp"

#include "emomc/speech/mfcc.hpp"
#include "fuzz_input.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(text_of(data, size));
  read_or_refuse([&] {
    const Recording recording = read_audio(file.path());
    MfccExtractor({}, recording.sample_rate).extract(recording.samples);
  });
  return 0;
}

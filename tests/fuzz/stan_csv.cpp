// Reads draws in CmdStan's format and diagnoses them.
#include <nlohmann/json.hpp>

#include "emomc/posterior/diagnose.hpp"
#include "emomc/posterior/run_summary.hpp"
#include "fuzz_input.hpp"
#include "inspection.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(text_of(data, size));
  read_or_refuse([&] {
    const auto runs = app::inspect({file.path(), file.path()}, Numbering::mended);
    diagnose(runs.at(0));
    to_json(summarize_run(runs.at(0), {}));
  });
  return 0;
}

// Reads draws in CmdStan's format and diagnoses them.
#include <nlohmann/json.hpp>

#include "diagnose.hpp"
#include "fuzz_input.hpp"
#include "run_summary.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(text_of(data, size));
  read_or_refuse([&] {
    const auto runs = app::inspect({file.path(), file.path()}, Numbering::mended);
    app::diagnose(runs.at(0));
    app::to_json(app::summarize_run(runs.at(0), {}));
  });
  return 0;
}

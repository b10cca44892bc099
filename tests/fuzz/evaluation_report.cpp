// Makes the page of an evaluation from scores.json and predictions.csv.
#include "evaluation_report.hpp"

#include "fuzz_input.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFolder folder(text_of(data, size));
  read_or_refuse([&] { app::evaluation_report_html(folder.path()); });
  return 0;
}

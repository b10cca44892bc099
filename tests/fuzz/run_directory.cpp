// Reads a run directory as summary, diagnose and report do.
#include <nlohmann/json.hpp>

#include "emomc/posterior/diagnose.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/run_summary.hpp"
#include "evaluation_report.hpp"
#include "inspection.hpp"
#include "report.hpp"
#include "run_folder.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const RunFolder folder(text_of(data, size));
  read_or_refuse([&] {
    const Inspection run = app::inspect_run(folder.path(), Numbering::mended);
    diagnose(run);
    const RunSummary summary = summarize_run(run, {"means*"});
    to_json(summary).dump();
    to_csv(summary);
    to_text(summary, 12);
    app::report_html(run, folder.path(), {});
  });
  if (run_kind(folder.path()) == "evaluation")
    read_or_refuse([&] { app::evaluation_report_html(folder.path()); });
  return 0;
}

// Reads a run directory, with its data, as export and compare do.
#include "emomc/sampler/files.hpp"
#include "inspection.hpp"
#include "pointwise.hpp"
#include "predictive.hpp"
#include "run_folder.hpp"
#include "run_netcdf.hpp"
#include "stan_csv_writer.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const RunFolder folder(text_of(data, size));
  // The manifest names the data relative to the working directory.
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  read_or_refuse([&] {
    const DrawSet draws = app::inspect_run(folder.path(), Numbering::raw).draws;
    for (std::size_t c = 0; c < draws.num_chains(); ++c) app::to_stan_csv(draws, c, 1);
    app::write_run_netcdf(folder.path(), folder.path() / "draws.nc", draws, write_file_atomically);
  });
  read_or_refuse([&] { app::pointwise({folder.path(), "", 100}, [](auto, double) {}); });
  read_or_refuse([&] { app::predictive_checks(folder.path(), 20); });
  std::filesystem::current_path(before);
  return 0;
}

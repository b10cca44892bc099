#include "inspection.hpp"

#include "emomc/core/errors.hpp"
#include "emomc/core/input_path.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/run_reader.hpp"
#include "expression_run.hpp"
#include "input_kind.hpp"
#include "netcdf_file.hpp"

namespace emomc::app {

Inspection inspect_run(const std::filesystem::path& directory, Numbering numbering) {
  return inspect_directory(directory, numbering, expression_of_run);
}

std::vector<Inspection> inspect(const std::vector<std::string>& paths, Numbering numbering) {
  std::vector<Inspection> runs;
  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    refuse_link_cycle(path);
    if (!std::filesystem::exists(path))
      throw InputError(path +
                       ": there is no such file or directory; allowed: run directories, CSV files of "
                       "CmdStan, CSV tables of emomc export, .nc files of ArviZ");
    refuse_if_no_run(path);
    if (std::filesystem::is_directory(path))
      runs.push_back(inspect_run(path, numbering));
    else
      files.emplace_back(path);
  }
  for (const auto& file : files)
    if (is_netcdf(file)) runs.push_back(inspect_draws(read_netcdf(file), {}, numbering));
  std::erase_if(files, [](const std::filesystem::path& file) { return is_netcdf(file); });
  for (const auto& file : files)
    if (is_draw_table(file)) runs.push_back(inspect_draws(read_draw_table(file), {}, numbering));
  std::erase_if(files, is_draw_table);
  if (!files.empty()) runs.push_back(inspect_draws(read_stan_csv(files), {}, numbering));
  return runs;
}

}  // namespace emomc::app

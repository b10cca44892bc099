#include "kept_inputs.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/run_data.hpp"

namespace emomc::app {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 13> kOwnFiles{
    "config.yaml", "manifest.json",         "checkpoint",  "summary.csv",     "run.log",
    "lock",        "likelihood_source.hpp", "scores.json", "comparison.json", "model.json",
    "draws.npy",   "rotation.npy",          "weights.npy"};

// Evaluations write files with these names; in the directory of a run such a file is the user's.
constexpr std::array<std::string_view, 6> kOfEvaluation{
    "predictions.csv",          "predictions_em.csv",      "predictions_penalised.csv",
    "predictions_mixtures.csv", "predictions_softmax.csv", "probability_sd.csv"};

template <std::size_t N>
bool has_name(const std::array<std::string_view, N>& names, const fs::path& file) {
  return std::find(names.begin(), names.end(), file.filename().string()) != names.end();
}

void add_files_of(const fs::path& directory, std::vector<fs::path>& files) {
  const bool is_evaluation = run_kind(directory) == "evaluation";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error))
    if (has_name(kOwnFiles, entry.path()) || (is_evaluation && has_name(kOfEvaluation, entry.path())))
      files.push_back(entry.path());
  for (const char* folder : {"chains", "rungs"})
    for (const auto& entry : fs::directory_iterator(directory / folder, error)) files.push_back(entry.path());
  const RunData data = read_run_data(directory, 0);
  files.insert(files.end(), data.paths.begin(), data.paths.end());
}

}  // namespace

std::vector<fs::path> files_read_from(std::span<const std::string> paths) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::path path : paths)
    if (fs::is_directory(path, error))
      add_files_of(path, files);
    else
      files.push_back(path);
  return files;
}

void refuse_input_as_output(const fs::path& output, std::span<const fs::path> inputs) {
  std::error_code error;
  if (!fs::is_regular_file(output, error)) return;
  for (const fs::path& input : inputs)
    if (fs::is_regular_file(input, error) && fs::equivalent(output, input, error))
      throw InputError("-o " + output.string() + ": the command reads this file" +
                       (input == output ? "" : ", as " + input.string()) +
                       ", and would replace it; choose another file");
}

}  // namespace emomc::app

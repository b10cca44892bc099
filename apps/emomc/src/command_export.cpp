#include <algorithm>
#include <cmath>
#include <iostream>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

struct Options {
  std::string run, format = "csv", output;
};

std::string csv_number(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Inf" : "-Inf";
  return shortest_text(x);
}

// chain,draw,log_density,log_likelihood,log_prior, then the parameters; draws from 0, after warm-up.
std::string to_csv(const std::vector<ChainDraws>& chains) {
  std::string out = "chain,draw,log_density,log_likelihood,log_prior";
  for (const auto& name : element_names(chains[0].header.layout))
    out += name.find(',') == std::string::npos ? "," + name : ",\"" + name + "\"";
  out += "\n";
  const auto dim = static_cast<std::size_t>(chains[0].header.layout.dim());
  for (const auto& chain : chains) {
    const auto begin = static_cast<std::size_t>(
        std::upper_bound(chain.steps.begin(), chain.steps.end(), chain.header.warmup) - chain.steps.begin());
    for (std::size_t i = begin; i < chain.steps.size(); ++i) {
      out += std::to_string(chain.header.chain_id) + "," + std::to_string(i - begin);
      for (double x :
           {chain.log_prior[i] + chain.log_likelihood[i], chain.log_likelihood[i], chain.log_prior[i]})
        out += "," + csv_number(x);
      for (std::size_t j = 0; j < dim; ++j) out += "," + csv_number(chain.parameters[i * dim + j]);
      out += "\n";
    }
  }
  return out;
}

void export_run(const Options& options) {
  const auto folder = std::filesystem::path(options.output).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder))
    throw InputError("-o " + options.output + ": there is no folder " + folder.string());
  const std::string text = to_csv(read_chains(options.run));
  if (options.output == "-")
    std::cout << text;
  else
    write_file_atomically(options.output, text);
}

}  // namespace

void add_export(CLI::App& app, int&) {
  auto* command = app.add_subcommand("export", "Draws of a run as a file for other programs");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->run, "Run directory")->required();
  command->add_option("--format", options->format, "csv")->check(CLI::IsMember({"csv"}))->required();
  command->add_option("-o,--output", options->output, "File to write; - for standard output")->required();
  command->footer("Example: emomc export runs/sad --format csv -o sad.csv");
  command->callback([options] { export_run(*options); });
}

}  // namespace emomc::app

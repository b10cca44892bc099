#include <algorithm>

#include "csv_text.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "stan_header.hpp"

namespace emomc {
namespace {

struct StanChain {
  std::vector<std::string> names;  ///< all columns
  std::vector<double> rows;        ///< rows x columns, including the rows before the draws
  std::size_t num_rows = 0, first_draw = 0;
  StanHeader header;
  StanSeconds seconds;

  std::size_t num_draws() const { return num_rows - first_draw; }
};

StanChain read_one(const std::filesystem::path& file) {
  CsvLines lines(file);
  StanChain chain;
  std::optional<std::size_t> adaptation_ended;
  while (lines.next()) {
    const std::string& line = lines.line();
    if (line.empty()) continue;
    if (line.front() == '#') {
      if (chain.names.empty()) chain.header.read(line);
      if (!adaptation_ended && line.find("Adaptation terminated") != std::string::npos)
        adaptation_ended = chain.num_rows;
      chain.seconds.read(line);
      continue;
    }
    if (chain.names.empty()) {
      chain.names = csv_names(lines);
      continue;
    }
    append_csv_numbers(lines, chain.names.size(), chain.rows);
    ++chain.num_rows;
  }
  chain.header.guess_method(chain.names);
  if (const std::string why = why_no_draws(chain.header.method); !why.empty())
    throw InputError(file.string() + ": " + why);
  if (chain.names.empty()) throw InputError(file.string() + ": there is no header of column names in it");
  if (chain.num_rows == 0) throw InputError(file.string() + ": there are no draws in it");
  const auto before = chain.header.rows_before_draws(adaptation_ended);
  if (!before)
    throw InputError(file.string() +
                     ": its header does not say as many rows of warm-up as stand before the comment " +
                     "'Adaptation terminated', " + std::to_string(adaptation_ended.value_or(0)) +
                     "; which rows are draws is not known");
  chain.first_draw = std::min(*before, chain.num_rows);
  if (chain.num_draws() == 0)
    throw InputError(file.string() + (chain.header.method == "variational"
                                          ? ": there are no draws after the mean of the approximation"
                                          : ": there are no draws after warm-up"));
  return chain;
}

// Adds notes for the user about the rows that were read.
void add_notes(const std::filesystem::path& file, const StanChain& chain, DrawSet& set) {
  const StanHeader& header = chain.header;
  const auto expected = header.expected_draws();
  if (expected && *expected != chain.num_draws())
    set.notes.push_back(file.string() + ": " + std::to_string(chain.num_draws()) +
                        " draws, where its header says " + std::to_string(*expected) +
                        "; the run has not ended, or rows were taken out");
  if (set.num_chains() > 1) return;  // the other notes are the same for all files
  if (header.method == "variational")
    set.notes.push_back("method = variational: the first row, the mean of the approximation, is left out");
  if (header.method == "generate_quantities")
    set.notes.push_back(
        "method = generate_quantities: computed from the draws of another run, whose lp__ and divergences "
        "are not here");
  if (header.is_approximation()) set.approximation = header.method;
  for (const std::string& name : chain.names)
    if (name.size() > 2 && name.ends_with("__") && name != "lp__" && !is_stan_sampler_column(name))
      set.notes.push_back("column " + name + " is left out: names that end in __ are a sampler's own");
}

bool is_parameter(std::string_view name) { return !(name.size() > 2 && name.ends_with("__")); }

}  // namespace

DrawSet read_stan_csv(const std::vector<std::filesystem::path>& files) {
  if (files.empty()) throw InputError("no file to read");
  DrawSet set;
  set.program = "CmdStan";
  std::vector<StanChain> chains;
  for (const auto& file : files) {
    set.source += (set.source.empty() ? "" : ", ") + file.string();
    chains.push_back(read_one(file));
    const StanChain& chain = chains.back();
    if (chain.names != chains[0].names)
      throw InputError(file.string() + ": other columns than " + files[0].string());
    if (chain.header.method != chains[0].header.method)
      throw InputError(file.string() + ": another method than that of " + files[0].string());
    if (set.chains.empty()) set.num_draws = chain.num_draws();
    if (chain.num_draws() != set.num_draws)
      throw InputError(file.string() + ": " + std::to_string(chain.num_draws()) + " draws, but " +
                       files[0].string() + " has " + std::to_string(set.num_draws));
    set.chains.push_back(file.filename().string());
    set.warmup = chain.header.algorithm == "fixed_param" ? 0 : chain.header.num_warmup.value_or(0);
    set.thin = chain.header.thin;
    add_notes(file, chain, set);
    const auto add = [](std::optional<double>& to, const std::optional<double>& seconds) {
      if (seconds) to = std::max(to.value_or(0), *seconds);
    };
    add(set.warmup_seconds, chain.seconds.warmup);
    add(set.sampling_seconds, chain.seconds.sampling);
  }
  const std::size_t columns = chains[0].names.size();
  const auto copy_column = [&](std::size_t column, double* to) {
    for (const auto& chain : chains)
      for (std::size_t i = chain.first_draw; i < chain.num_rows; ++i)
        *to++ = chain.rows[i * columns + column];
  };
  for (const bool density : {true, false})
    for (std::size_t j = 0; j < columns; ++j) {
      const std::string& name = chains[0].names[j];
      if ((name == "lp__") != density || (!density && !is_parameter(name))) continue;
      copy_column(j, set.add(name));
      if (density) ++set.num_log_densities;
    }
  for (std::size_t j = 0; j < columns; ++j)
    if (chains[0].names[j] == "divergent__")
      for (const auto& chain : chains) {
        std::size_t count = 0;
        for (std::size_t i = chain.first_draw; i < chain.num_rows; ++i)
          count += chain.rows[i * columns + j] != 0 ? 1 : 0;
        set.divergences.push_back(count);
      }
  if (set.names.size() == set.num_log_densities)
    throw InputError(files[0].string() + ": there is no parameter in it");
  return set;
}

}  // namespace emomc

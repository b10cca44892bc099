#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "csv_text.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/sampler/draw_set.hpp"

namespace emomc {
namespace {

constexpr std::array kLogDensities = {"log_density", "log_likelihood", "log_prior", "lp__", "lp"};
constexpr std::size_t kLabels = 2;  // number of the columns chain and draw

bool begins_draw_table(std::string_view header) {
  return header.starts_with("chain,draw,") || header.starts_with("\"chain\",\"draw\",");
}

// The rows of one chain, in the order of the file.
struct TableChain {
  std::vector<double> values;  ///< rows x quantities
  double last_draw = -1;
};

}  // namespace

bool is_draw_table(const std::filesystem::path& file) {
  CsvLines lines(file);
  return lines.next() && begins_draw_table(lines.line());
}

DrawSet read_draw_table(const std::filesystem::path& file) {
  CsvLines lines(file);
  if (!lines.next() || !begins_draw_table(lines.line()))
    throw InputError(file.string() + ": its header does not begin with chain,draw");
  std::vector<std::string> names = csv_names(lines);
  names.erase(names.begin(), names.begin() + kLabels);
  DrawSet set;
  set.source = file.string();
  set.program = "CSV";
  std::vector<TableChain> chains;
  std::map<std::string, std::size_t, std::less<>> numbers;
  std::vector<double> row;
  while (lines.next()) {
    if (lines.line().empty()) continue;
    // The first field is a name and may be in quotes.
    const std::vector<std::string> fields = csv_fields(lines);
    if (fields.size() != names.size() + kLabels)
      lines.refuse(std::to_string(fields.size()) + " fields, but the header has " +
                   std::to_string(names.size() + kLabels) + (lines.is_cut() ? "; the file is cut off" : ""));
    if (lines.is_cut()) lines.refuse("the last row has no line break; the file is cut off");
    const auto [at, is_new] = numbers.try_emplace(fields[0], chains.size());
    if (is_new) {
      set.chains.push_back(fields[0]);
      chains.emplace_back();
    }
    TableChain& chain = chains[at->second];
    const double draw = csv_number(lines, fields[1]);
    if (!(draw > chain.last_draw))
      lines.refuse("draw " + fields[1] + " of chain " + fields[0] +
                   " does not follow the one before; draws must be in order, and each only once");
    chain.last_draw = draw;
    for (std::size_t j = kLabels; j < fields.size(); ++j)
      chain.values.push_back(csv_number(lines, fields[j]));
  }
  if (chains.empty()) throw InputError(file.string() + ": there are no draws in it");
  set.num_draws = chains[0].values.size() / names.size();
  for (std::size_t c = 1; c < chains.size(); ++c)
    if (chains[c].values.size() != chains[0].values.size())
      throw InputError(file.string() + ": chain " + set.chains[c] + " has " +
                       std::to_string(chains[c].values.size() / names.size()) + " draws, but chain " +
                       set.chains[0] + " has " + std::to_string(set.num_draws));
  for (std::size_t q = 0; q < names.size(); ++q) {
    const bool is_density =
        std::find(kLogDensities.begin(), kLogDensities.end(), names[q]) != kLogDensities.end();
    if (is_density && q == set.num_log_densities) ++set.num_log_densities;
    double* to = set.add(names[q]);
    for (const TableChain& chain : chains)
      for (std::size_t i = 0; i < set.num_draws; ++i) *to++ = chain.values[i * names.size() + q];
  }
  if (set.names.size() == set.num_log_densities)
    throw InputError(file.string() + ": there is no parameter in it");
  return set;
}

}  // namespace emomc

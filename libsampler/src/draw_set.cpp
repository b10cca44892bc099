#include "emomc/sampler/draw_set.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

// Returns the indices in "1,2" or "1.2"; empty if the text is not a list of numbers.
std::optional<std::vector<int>> read_indices(std::string_view text, char separator) {
  std::vector<int> indices;
  while (true) {
    int index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error != std::errc()) return std::nullopt;
    indices.push_back(index);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return indices;
    if (text.front() != separator) return std::nullopt;
    text.remove_prefix(1);
  }
}

struct ParsedName {
  std::string block;
  std::vector<int> indices;
};

ParsedName parse_name(const std::string& name) {
  const auto bracket = name.find('[');
  if (bracket != std::string::npos && name.back() == ']') {
    const std::string_view inside(name.data() + bracket + 1, name.size() - bracket - 2);
    if (auto indices = read_indices(inside, ',')) return {name.substr(0, bracket), *indices};
  }
  for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
    if (auto indices = read_indices(std::string_view(name).substr(dot + 1), '.'))
      return {name.substr(0, dot), *indices};
  return {name, {}};
}

}  // namespace

double* DrawSet::add(const std::string& name) {
  names.push_back(name);
  values.resize(values.size() + num_chains() * num_draws);
  return values.data() + (names.size() - 1) * num_chains() * num_draws;
}

DrawSet draw_set_of(const std::vector<ChainDraws>& chains, const std::string& source, Phase phase) {
  DrawSet set;
  set.source = source;
  set.program = "emomc";
  const ChainHeader& header = chains.at(0).header;
  set.layout = header.layout;
  set.warmup = header.warmup;
  set.thin = header.thin;
  set.names = {"log_density", "log_likelihood", "log_prior"};
  set.num_log_densities = set.names.size();
  // Chains of a running run may have different lengths.
  std::vector<std::size_t> first;
  set.num_draws = std::numeric_limits<std::size_t>::max();
  for (const auto& chain : chains) {
    const auto begin = static_cast<std::size_t>(
        std::upper_bound(chain.steps.begin(), chain.steps.end(), header.warmup) - chain.steps.begin());
    const bool sampling = phase == Phase::sampling;
    first.push_back(sampling ? begin : 0);
    set.num_draws = std::min(set.num_draws, sampling ? chain.steps.size() - begin : begin);
    set.chains.push_back(std::to_string(chain.header.chain_id));
  }
  if (set.num_draws == 0 && phase == Phase::sampling)
    throw InputError(source + ": there are no draws after warm-up yet");
  // A damaged header of a few bytes can declare millions of names, so names are not created if there are no
  // draws.
  if (set.num_draws == 0) {
    set.names.resize(set.num_log_densities);
    set.layout = {};
    return set;
  }

  const auto elements = element_names(header.layout);
  set.names.insert(set.names.end(), elements.begin(), elements.end());
  set.values.resize(set.names.size() * chains.size() * set.num_draws);
  const std::size_t dim = elements.size();
  for (std::size_t c = 0; c < chains.size(); ++c) {
    const ChainDraws& chain = chains[c];
    const auto at = [&](std::size_t q, std::size_t i) -> double& {
      return set.values[(q * chains.size() + c) * set.num_draws + i];
    };
    for (std::size_t i = 0; i < set.num_draws; ++i) {
      const std::size_t row = first[c] + i;
      at(0, i) = chain.log_prior[row] + chain.log_likelihood[row];
      at(1, i) = chain.log_likelihood[row];
      at(2, i) = chain.log_prior[row];
      for (std::size_t j = 0; j < dim; ++j) at(3 + j, i) = chain.parameters[row * dim + j];
    }
  }
  const bool has_statistics = std::all_of(chains.begin(), chains.end(), [](const ChainDraws& chain) {
    return chain.num_draws > 0 && !chain.statistics.empty();
  });
  for (std::size_t c = 0; has_statistics && c < chains.size(); ++c) {
    const auto begin = chains[c].statistics.begin() + static_cast<std::ptrdiff_t>(first[c]);
    const auto end = begin + static_cast<std::ptrdiff_t>(set.num_draws);
    set.statistics.insert(set.statistics.end(), begin, end);
    set.divergences.push_back(static_cast<std::size_t>(
        std::count_if(begin, end, [](const DrawStatistics& s) { return s.divergent != 0; })));
  }
  for (std::size_t b = 0; b < header.block_names.size(); ++b) {
    BlockCounts counts{header.block_names[b], {}, {}};
    for (const auto& chain : chains) {
      counts.accepted.push_back(chain.accepted[b]);
      counts.proposed.push_back(chain.proposed[b]);
    }
    set.acceptance.push_back(std::move(counts));
  }
  return set;
}

namespace {

QuantityArray array_of(const ParameterBlock& block, std::size_t begin) {
  QuantityArray array{block.name, block.shape, {}, block.component_axis, {}};
  if (block.support != Support::covariance) {
    for (int i = 0; i < block.size(); ++i) array.quantities.push_back(begin + static_cast<std::size_t>(i));
    if (block.feature_axis >= 0) array.feature_axes = {block.feature_axis};
    return array;
  }
  const auto d = static_cast<std::size_t>(block.matrix_dim()), triangle = d * (d + 1) / 2;
  const std::size_t count = static_cast<std::size_t>(block.size()) / triangle;
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j < d; ++j) {
        const std::size_t row = std::max(i, j), column = std::min(i, j);
        array.quantities.push_back(begin + k * triangle + row * (row + 1) / 2 + column);
      }
  const auto axes = static_cast<int>(block.shape.size());
  array.feature_axes = {axes - 2, axes - 1};
  return array;
}

// Returns the array of a block of names; empty if the names are not a complete array with indices from 0 or
// from 1.
std::optional<QuantityArray> array_of(const NameBlock& block) {
  QuantityArray array{block.name, {}, {}, -1, {}};
  const std::size_t axes = block.indices[0].size();
  std::vector<int> first(axes, std::numeric_limits<int>::max()), last(axes, 0);
  for (const auto& index : block.indices)
    for (std::size_t a = 0; a < axes; ++a) {
      first[a] = std::min(first[a], index[a]);
      last[a] = std::max(last[a], index[a]);
    }
  std::size_t size = 1;
  for (std::size_t a = 0; a < axes; ++a) {
    if (first[a] < 0 || first[a] > 1 || static_cast<std::size_t>(last[a]) > block.size) return std::nullopt;
    array.shape.push_back(last[a] - first[a] + 1);
    size *= static_cast<std::size_t>(array.shape.back());
    if (size > block.size) return std::nullopt;
  }
  if (size != block.size) return std::nullopt;
  constexpr auto kNone = std::numeric_limits<std::size_t>::max();
  array.quantities.assign(size, kNone);
  for (std::size_t i = 0; i < block.size; ++i) {
    std::size_t at = 0;
    for (std::size_t a = 0; a < axes; ++a)
      at = at * static_cast<std::size_t>(array.shape[a]) +
           static_cast<std::size_t>(block.indices[i][a] - first[a]);
    if (array.quantities[at] != kNone) return std::nullopt;
    array.quantities[at] = block.begin + i;
  }
  return array;
}

}  // namespace

std::vector<QuantityArray> arrays_of(const DrawSet& set, std::size_t count) {
  std::vector<QuantityArray> arrays;
  std::size_t begin = set.num_log_densities;
  if (!set.layout.blocks.empty()) {
    for (const auto& block : set.layout.blocks) {
      arrays.push_back(array_of(block, begin));
      begin += static_cast<std::size_t>(block.size());
    }
    return arrays;
  }
  for (NameBlock& block : blocks_of_names(std::span(set.names).subspan(begin, count))) {
    block.begin += begin;
    if (const auto array = array_of(block)) {
      arrays.push_back(*array);
      continue;
    }
    for (std::size_t i = block.begin; i < block.begin + block.size; ++i)
      arrays.push_back({set.names[i], {}, {i}, -1, {}});
  }
  return arrays;
}

std::vector<NameBlock> blocks_of_names(std::span<const std::string> names) {
  std::vector<NameBlock> blocks;
  for (std::size_t i = 0; i < names.size(); ++i) {
    ParsedName parsed = parse_name(names[i]);
    const bool same = !blocks.empty() && blocks.back().name == parsed.block && !parsed.indices.empty() &&
                      parsed.indices.size() == blocks.back().indices.back().size();
    if (!same) blocks.push_back({parsed.block, i, 0, {}});
    blocks.back().size += 1;
    blocks.back().indices.push_back(std::move(parsed.indices));
  }
  return blocks;
}

}  // namespace emomc

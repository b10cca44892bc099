#include <array>
#include <charconv>
#include <fstream>

#include "emomc/core/errors.hpp"
#include "emomc/core/utf8.hpp"
#include "emomc/sampler/draw_set.hpp"

namespace emomc {
namespace {

constexpr std::size_t kLongestLine = 16 << 20;
constexpr std::size_t kMostColumns = 1 << 20, kLongestName = 1024;
constexpr std::size_t kMostValues = std::size_t{1} << 33;

[[noreturn]] void refuse(const std::filesystem::path& file, std::size_t line, const std::string& what) {
  throw InputError(file.string() + ":" + std::to_string(line) + ": " + what);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const auto comma = line.find(',');
    std::string_view field = line.substr(0, comma);
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
      field = field.substr(1, field.size() - 2);
    fields.push_back(field);
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

bool ends_in_underscores(std::string_view name) { return name.size() > 2 && name.ends_with("__"); }

// The next line without its break; false at the end. Never more of a line than kLongestLine and a byte.
bool read_line(std::istream& stream, std::string& line) {
  line.clear();
  std::array<char, 1 << 16> part{};
  while (line.size() <= kLongestLine) {
    stream.getline(part.data(), part.size());
    const auto count = static_cast<std::size_t>(stream.gcount());
    if (stream.bad() || (count == 0 && stream.eof())) return !line.empty();
    const bool full = stream.fail();  // no break in it: the line goes on
    line.append(part.data(), count - (full || stream.eof() ? 0 : 1));
    if (!full) return true;
    stream.clear();
  }
  return true;
}

struct StanChain {
  std::vector<std::string> names;  ///< all columns
  std::vector<double> rows;        ///< draws x columns, warm-up included
  std::size_t num_rows = 0;
  std::int64_t num_samples = -1, num_warmup = 0, thin = 1;
  bool saves_warmup = false;
  std::optional<double> warmup_seconds, sampling_seconds;
};

// "#     num_samples = 1000 (Default)" and the times at the end.
void read_comment(std::string_view line, StanChain& chain) {
  const auto number_behind = [&](std::string_view key) -> std::optional<double> {
    const auto at = line.find(key);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view rest = line.substr(at + key.size());
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '=' || rest.front() == ':'))
      rest.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    return error == std::errc() ? std::optional(value) : std::nullopt;
  };
  const auto count = [&](std::string_view key, std::int64_t& to) {
    const auto value = number_behind(key);
    if (value && *value >= 0 && *value < 1e15) to = static_cast<std::int64_t>(*value);
  };
  count(" num_samples =", chain.num_samples);
  count(" num_warmup =", chain.num_warmup);
  count(" thin =", chain.thin);
  if (line.find(" save_warmup =") != std::string_view::npos)
    chain.saves_warmup =
        number_behind(" save_warmup =").value_or(0) != 0 || line.find("= true") != std::string_view::npos;
  if (line.find("(Warm-up)") != std::string_view::npos) chain.warmup_seconds = number_behind("Elapsed Time");
  if (line.find("(Sampling)") != std::string_view::npos) {
    const auto digits = line.find_first_of("0123456789");
    if (digits != std::string_view::npos) {
      double value = 0;
      const std::string_view rest = line.substr(digits);
      if (std::from_chars(rest.data(), rest.data() + rest.size(), value).ec == std::errc())
        chain.sampling_seconds = value;
    }
  }
}

StanChain read_one(const std::filesystem::path& file) {
  std::error_code error_code;
  std::ifstream stream;
  if (std::filesystem::is_regular_file(file, error_code)) stream.open(file, std::ios::binary);
  if (!stream.is_open()) throw InputError(file.string() + ": there is no such file, or it cannot be read");
  StanChain chain;
  std::string line;
  std::size_t number = 0;
  while (read_line(stream, line)) {
    ++number;
    const bool is_cut = stream.eof();  // no line break behind it
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.size() > kLongestLine) refuse(file, number, "the line is longer than 16 MiB");
    if (line.find('\0') != std::string::npos) refuse(file, number, "a zero byte; this is no CSV file");
    if (line.empty()) continue;
    if (line.front() == '#') {
      read_comment(line, chain);
      continue;
    }
    const auto fields = fields_of(line);
    if (chain.names.empty()) {
      if (fields.size() > kMostColumns) refuse(file, number, "more than 2^20 columns");
      for (const auto field : fields) {
        if (field.empty()) refuse(file, number, "a column without a name");
        if (!is_utf8(field)) refuse(file, number, "a column's name is not UTF-8");
        if (field.size() > kLongestName) refuse(file, number, "a column's name of more than 1024 bytes");
        chain.names.emplace_back(field);
      }
      continue;
    }
    if (fields.size() != chain.names.size())
      refuse(file, number,
             std::to_string(fields.size()) + " fields, but the header has " +
                 std::to_string(chain.names.size()) + (is_cut ? "; the file is cut off" : ""));
    if (is_cut) refuse(file, number, "the last row has no line break; the file is cut off");
    if (chain.rows.size() + fields.size() > kMostValues) refuse(file, number, "more than 2^33 values");
    for (const auto field : fields) {
      double value = 0;
      const char* begin = field.data();
      const auto [end, error] = std::from_chars(begin, begin + field.size(), value);
      // Out of range is written by nobody but read as what it rounds to.
      if ((error != std::errc() && error != std::errc::result_out_of_range) || end != begin + field.size())
        refuse(file, number, "'" + std::string(field.substr(0, 40)) + "' is no number");
      chain.rows.push_back(value);
    }
    ++chain.num_rows;
  }
  if (chain.names.empty()) throw InputError(file.string() + ": there is no header of column names in it");
  if (chain.num_rows == 0) throw InputError(file.string() + ": there are no draws in it");
  return chain;
}

// Rows of warm-up that were saved with the others.
std::size_t rows_of_warmup(const StanChain& chain) {
  if (!chain.saves_warmup || chain.thin < 1) return 0;
  const auto saved = static_cast<std::size_t>((chain.num_warmup + chain.thin - 1) / chain.thin);
  return std::min(saved, chain.num_rows);
}

}  // namespace

DrawSet read_stan_csv(const std::vector<std::filesystem::path>& files) {
  if (files.empty()) throw InputError("no file to read");
  DrawSet set;
  set.program = "CmdStan";
  std::vector<StanChain> chains;
  for (const auto& file : files) {
    set.source += (set.source.empty() ? "" : ", ") + file.string();
    chains.push_back(read_one(file));
    if (chains.back().names != chains[0].names)
      throw InputError(file.string() + ": other columns than " + files[0].string());
    const std::size_t kept = chains.back().num_rows - rows_of_warmup(chains.back());
    if (kept == 0) throw InputError(file.string() + ": there are no draws after warm-up");
    if (set.chains.empty()) set.num_draws = kept;
    if (kept != set.num_draws)
      throw InputError(file.string() + ": " + std::to_string(kept) + " draws, but " + files[0].string() +
                       " has " + std::to_string(set.num_draws));
    set.chains.push_back(file.filename().string());
    set.warmup = chains.back().num_warmup;
    set.thin = chains.back().thin;
    const auto add = [](std::optional<double>& to, const std::optional<double>& seconds) {
      if (seconds) to = std::max(to.value_or(0), *seconds);
    };
    add(set.warmup_seconds, chains.back().warmup_seconds);
    add(set.sampling_seconds, chains.back().sampling_seconds);
  }
  const std::size_t columns = chains[0].names.size();
  const auto copy_column = [&](std::size_t column, double* to) {
    for (const auto& chain : chains)
      for (std::size_t i = chain.num_rows - set.num_draws; i < chain.num_rows; ++i)
        *to++ = chain.rows[i * columns + column];
  };
  for (const bool density : {true, false})
    for (std::size_t j = 0; j < columns; ++j) {
      const std::string& name = chains[0].names[j];
      if ((name == "lp__") != density || (!density && ends_in_underscores(name))) continue;
      copy_column(j, set.add(name));
      if (density) ++set.num_log_densities;
    }
  for (std::size_t j = 0; j < columns; ++j)
    if (chains[0].names[j] == "divergent__")
      for (const auto& chain : chains) {
        std::size_t count = 0;
        for (std::size_t i = chain.num_rows - set.num_draws; i < chain.num_rows; ++i)
          count += chain.rows[i * columns + j] != 0 ? 1 : 0;
        set.divergences.push_back(count);
      }
  if (set.names.size() == set.num_log_densities)
    throw InputError(files[0].string() + ": there is no parameter in it");
  return set;
}

}  // namespace emomc

#include "stan_header.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace emomc {
namespace {

// The columns of CmdStan 2.36 (src/cmdstan/arguments) except lp__, which all methods have.
constexpr std::array kSamplerColumns = {"accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__",
                                        "divergent__",   "energy__",   "int_time__",  "log_p__",
                                        "log_g__",       "log_q__",    "lp_approx__", "path__"};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '#' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<std::int64_t> count_of(std::string_view value) {
  double number = 0;  // accepts 1e3 too
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || !(number >= 0 && number < 1e15)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<double> first_number(std::string_view text) {
  const auto digit = text.find_first_of("0123456789");
  if (digit == std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data() + digit, text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace

void StanHeader::read(std::string_view comment) {
  const auto sign = comment.find('=');
  if (sign == std::string_view::npos) return;
  const std::string_view key = trimmed(comment.substr(0, sign));
  std::string_view value = trimmed(comment.substr(sign + 1));
  constexpr std::string_view kDefault = "(Default)";
  if (value.ends_with(kDefault)) value = trimmed(value.substr(0, value.size() - kDefault.size()));
  if (key == "method" && method.empty()) method = value;
  if (key == "algorithm" && algorithm.empty()) {
    algorithm = value;
    for (char& c : algorithm) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (key == "num_samples") num_samples = count_of(value);
  if (key == "num_warmup") num_warmup = count_of(value);
  if (key == "thin") thin = std::max<std::int64_t>(count_of(value).value_or(1), 1);
  if (key == "save_warmup") saves_warmup = value == "true" || count_of(value).value_or(0) != 0;
  if (key == "iter") rstan_iterations_ = count_of(value);
  if (key == "warmup") rstan_warmup_ = count_of(value);
  if (rstan_iterations_ && rstan_warmup_) {
    num_warmup = rstan_warmup_;
    num_samples = std::max<std::int64_t>(*rstan_iterations_ - *rstan_warmup_, 0);
  }
}

void StanHeader::guess_method(const std::vector<std::string>& names) {
  if (!method.empty()) return;
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has("log_g__")) method = "variational";
  if (has("log_q__")) method = "laplace";
  if (has("lp_approx__")) method = "pathfinder";
}

bool StanHeader::is_approximation() const {
  return method == "variational" || method == "pathfinder" || method == "laplace";
}

std::optional<std::size_t> StanHeader::rows_before_draws(std::optional<std::size_t> adaptation_ended) const {
  if (method == "variational") return 1;
  if (is_approximation() || method == "generate_quantities") return 0;
  // fixed_param has no warm-up phase, whatever the header says about saving one:
  // stan/services/sample/fixed_param.hpp.
  if (is_fixed_param()) return 0;
  const bool is_known = num_warmup && saves_warmup;
  std::size_t by_header = 0;
  // Every thin-th iteration of the phase is saved, starting with its first one.
  if (is_known && *saves_warmup) by_header = static_cast<std::size_t>((*num_warmup + thin - 1) / thin);
  if (!adaptation_ended) return by_header;
  if (is_known && by_header != *adaptation_ended) return std::nullopt;
  return adaptation_ended;
}

std::optional<std::size_t> StanHeader::expected_draws() const {
  if ((!method.empty() && method != "sample") || !num_samples) return std::nullopt;
  return static_cast<std::size_t>((*num_samples + thin - 1) / thin);
}

void StanSeconds::read(std::string_view comment) {
  if (comment.find("(Warm-up)") != std::string_view::npos) warmup = first_number(comment);
  if (comment.find("(Sampling)") != std::string_view::npos) sampling = first_number(comment);
}

std::string why_no_draws(const std::string& method) {
  const std::string begin = "method = " + method + " of Stan: ",
                    allowed = "; allowed: files of method = sample";
  if (method == "optimize") return begin + "a point estimate, no draws" + allowed;
  if (method == "diagnose") return begin + "a test of gradients, no draws" + allowed;
  if (method == "log_prob") return begin + "log densities and gradients of given points, no draws" + allowed;
  for (const char* known : {"", "sample", "variational", "pathfinder", "laplace", "generate_quantities"})
    if (method == known) return "";
  return begin + "what its rows are is not known" + allowed;
}

bool is_stan_sampler_column(std::string_view name) {
  return std::find(kSamplerColumns.begin(), kSamplerColumns.end(), name) != kSamplerColumns.end();
}

}  // namespace emomc

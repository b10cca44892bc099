// What the comments of a CSV file of Stan say of its rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace emomc {

/// Written before the names of the columns, as `#   key = value (Default)` by CmdStan and `# key=value` by
/// the sample_file of rstan.
struct StanHeader {
  std::string method;     ///< of CmdStan: sample, variational, ...; empty: not said
  std::string algorithm;  ///< in small letters
  std::optional<std::int64_t> num_samples, num_warmup;  ///< iterations, before thinning
  std::int64_t thin = 1;
  std::optional<bool> saves_warmup;

  /// A comment, its `#` included.
  void read(std::string_view comment);
  /// Fills `method` by the columns that one of them alone has, where the comments say none.
  void guess_method(const std::vector<std::string>& names);

  /// Whether the rows are independent draws of an approximation to the posterior.
  bool is_approximation() const;
  /// Rows before the draws: of warm-up, or the mean of a variational approximation. `adaptation_ended`: the
  /// rows before the comment "Adaptation terminated", where there is one. Nothing where the two contradict
  /// each other.
  std::optional<std::size_t> rows_before_draws(std::optional<std::size_t> adaptation_ended) const;
  /// The draws that a run of this header writes in the end.
  std::optional<std::size_t> expected_draws() const;

 private:
  std::optional<std::int64_t> rstan_iterations_, rstan_warmup_;
  bool is_fixed_param() const { return algorithm == "fixed_param"; }
};

/// Times at the end of the file.
struct StanSeconds {
  std::optional<double> warmup, sampling;
  void read(std::string_view comment);
};

/// Why a file of this method holds no draws, empty where it does.
std::string why_no_draws(const std::string& method);

/// Whether a column is one of the sampler's own, beside the log density lp__.
bool is_stan_sampler_column(std::string_view name);

}  // namespace emomc

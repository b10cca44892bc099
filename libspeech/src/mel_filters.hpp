// Triangular filters that are equally spaced on a mel scale, as the few weights that are not zero.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emomc/speech/mfcc.hpp"

namespace emomc {

class MelFilters {
 public:
  /// For spectra of fft_size / 2 + 1 bins. Throws InputError where no bin lies within a filter.
  MelFilters(const MfccSettings& settings, double sample_rate, int fft_size);
  /// The weighted sum of `spectrum` for each filter, into `outputs` [num_filters].
  void apply(const double* spectrum, double* outputs) const;

 private:
  struct Range {
    std::size_t first_bin, first_weight, count;
  };
  std::vector<Range> ranges_;
  std::vector<double> weights_;
};

}  // namespace emomc

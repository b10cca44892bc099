#include <fftw3.h>

#include <bit>
#include <map>
#include <memory>
#include <numeric>

#include "draw_matrix.hpp"
#include "emomc/core/fftw_planner.hpp"

namespace emomc {
namespace {

template <class T>
struct FftwDelete {
  void operator()(T* memory) const { fftw_free(memory); }
};
struct PlanDelete {
  void operator()(fftw_plan_s* plan) const {
    const std::lock_guard lock(fftw_planner());
    fftw_destroy_plan(plan);
  }
};

// Forward and inverse real transforms of one size.
struct Transforms {
  explicit Transforms(std::size_t size)
      : real(fftw_alloc_real(size)), spectrum(fftw_alloc_complex(size / 2 + 1)) {
    const std::lock_guard lock(fftw_planner());
    forth.reset(fftw_plan_dft_r2c_1d(static_cast<int>(size), real.get(), spectrum.get(), FFTW_ESTIMATE));
    back.reset(fftw_plan_dft_c2r_1d(static_cast<int>(size), spectrum.get(), real.get(), FFTW_ESTIMATE));
  }
  std::unique_ptr<double, FftwDelete<double>> real;
  std::unique_ptr<fftw_complex, FftwDelete<fftw_complex>> spectrum;
  std::unique_ptr<fftw_plan_s, PlanDelete> forth, back;
};

}  // namespace

std::vector<double> mean_autocovariance(const DrawMatrix& draws) {
  const std::size_t n = draws.num_draws;
  // Padding to twice the length makes the circular correlation equal to the linear one.
  const std::size_t size = std::bit_ceil(2 * n), bins = size / 2 + 1;
  thread_local std::map<std::size_t, Transforms> known;
  Transforms& transforms = known.try_emplace(size, size).first->second;
  double* real = transforms.real.get();
  fftw_complex* spectrum = transforms.spectrum.get();
  // Power spectra are summed, so that one inverse transform serves all chains.
  std::vector<double> power(bins, 0.0);
  for (std::size_t c = 0; c < draws.num_chains; ++c) {
    const double* x = draws.chain(c);
    const double mean = std::accumulate(x, x + n, 0.0) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) real[i] = x[i] - mean;
    std::fill(real + n, real + size, 0.0);
    fftw_execute(transforms.forth.get());
    for (std::size_t k = 0; k < bins; ++k)
      power[k] += spectrum[k][0] * spectrum[k][0] + spectrum[k][1] * spectrum[k][1];
  }
  for (std::size_t k = 0; k < bins; ++k) {
    spectrum[k][0] = power[k];
    spectrum[k][1] = 0;
  }
  fftw_execute(transforms.back.get());
  std::vector<double> covariance(real, real + n);
  for (double& x : covariance)
    x /= static_cast<double>(size) * static_cast<double>(n) * static_cast<double>(draws.num_chains);
  return covariance;
}

}  // namespace emomc

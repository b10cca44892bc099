#include <fftw3.h>

#include <bit>
#include <complex>
#include <memory>
#include <mutex>
#include <numeric>

#include "draw_matrix.hpp"

namespace emomc {
namespace {

// FFTW's planner is the one part of it that threads must not enter together.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

template <class T>
struct FftwDelete {
  void operator()(T* memory) const { fftw_free(memory); }
};
struct PlanDelete {
  void operator()(fftw_plan_s* plan) const {
    const std::lock_guard lock(planner());
    fftw_destroy_plan(plan);
  }
};

}  // namespace

std::vector<double> autocovariance(const double* x, std::size_t n) {
  // Padded to twice the length, so that the circular correlation is the plain one.
  const std::size_t size = std::bit_ceil(2 * n);
  const std::size_t bins = size / 2 + 1;
  std::unique_ptr<double, FftwDelete<double>> real(fftw_alloc_real(size));
  std::unique_ptr<fftw_complex, FftwDelete<fftw_complex>> spectrum(fftw_alloc_complex(bins));
  std::unique_ptr<fftw_plan_s, PlanDelete> forth, back;
  {
    const std::lock_guard lock(planner());
    forth.reset(fftw_plan_dft_r2c_1d(static_cast<int>(size), real.get(), spectrum.get(), FFTW_ESTIMATE));
    back.reset(fftw_plan_dft_c2r_1d(static_cast<int>(size), spectrum.get(), real.get(), FFTW_ESTIMATE));
  }
  const double mean = std::accumulate(x, x + n, 0.0) / static_cast<double>(n);
  for (std::size_t i = 0; i < size; ++i) real.get()[i] = i < n ? x[i] - mean : 0.0;
  fftw_execute(forth.get());
  for (std::size_t k = 0; k < bins; ++k) {
    double* z = spectrum.get()[k];
    z[0] = z[0] * z[0] + z[1] * z[1];
    z[1] = 0;
  }
  fftw_execute(back.get());
  std::vector<double> covariance(n);
  for (std::size_t t = 0; t < n; ++t)
    covariance[t] = real.get()[t] / (static_cast<double>(size) * static_cast<double>(n));
  return covariance;
}

}  // namespace emomc

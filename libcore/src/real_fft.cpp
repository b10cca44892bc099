#include "emomc/core/real_fft.hpp"

#include <algorithm>
#include <stdexcept>
#include <unsupported/Eigen/FFT>

namespace emomc {

struct RealFft::Impl {
  std::size_t size;
  Eigen::FFT<double> fft;
};

RealFft::RealFft(std::size_t size) : impl_(std::make_unique<Impl>()) {
  if (size < 1 || size > std::size_t{1} << 30) throw std::logic_error("RealFft: size out of range");
  impl_->size = size;
  impl_->fft.SetFlag(Eigen::FFT<double>::HalfSpectrum);
  impl_->fft.SetFlag(Eigen::FFT<double>::Unscaled);
}
RealFft::~RealFft() = default;
RealFft::RealFft(RealFft&&) noexcept = default;
RealFft& RealFft::operator=(RealFft&&) noexcept = default;

std::size_t RealFft::fast_size(std::size_t least) {
  for (std::size_t size = std::max<std::size_t>(4, (least + 3) / 4 * 4);; size += 4) {
    std::size_t rest = size;
    for (const std::size_t factor : {2, 3, 5})
      while (rest % factor == 0) rest /= factor;
    if (rest == 1) return size;
  }
}

std::size_t RealFft::size() const { return impl_->size; }

void RealFft::forward(const double* x, std::complex<double>* spectrum) {
  if (impl_->size == 1)  // Eigen's module does not accept size 1
    spectrum[0] = x[0];
  else
    impl_->fft.fwd(spectrum, x, static_cast<Eigen::Index>(impl_->size));
}

void RealFft::inverse(const std::complex<double>* spectrum, double* x) {
  if (impl_->size == 1)
    x[0] = spectrum[0].real();
  else
    impl_->fft.inv(x, spectrum, static_cast<Eigen::Index>(impl_->size));
}

}  // namespace emomc

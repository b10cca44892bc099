#include "outer_product.hpp"

// This file must not include headers of Eigen or the library, because their inline functions would be
// compiled for processors that the machine may not have.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(EMOMC_SANITIZED)
#define EMOMC_FOR_EACH_PROCESSOR __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define EMOMC_FOR_EACH_PROCESSOR
#endif

namespace emomc {

EMOMC_FOR_EACH_PROCESSOR void add_outer_product(double* matrix, int n, const double* y) {
  for (int j = 0; j < n; ++j) {
    double* __restrict column = matrix + static_cast<long>(j) * n;
    const double factor = y[j];
    for (int i = j; i < n; ++i) column[i] += factor * y[i];
  }
}

}  // namespace emomc

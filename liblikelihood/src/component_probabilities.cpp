#include "emomc/likelihood/component_probabilities.hpp"

#include <algorithm>

#include "component_terms.hpp"
#include "with_model.hpp"

namespace emomc {

void component_probabilities(const ModelSpec& model, int dim, std::span<const double> theta,
                             std::span<const double> rows, double* out) {
  // Rows that are processed together, so that their terms stay in cache.
  constexpr Eigen::Index kChunk = 512;
  with_model(model, dim, [&](const auto& of) {
    const ComponentTerms terms(of, theta.data());
    const int K = of.shape().num_components;
    const Eigen::Map<const RowMajorMatrix> x(rows.data(), static_cast<Eigen::Index>(rows.size()) / dim, dim);
    Eigen::Map<RowMajorMatrix> probabilities(out, x.rows(), K);
    Eigen::MatrixXd r;
    for (Eigen::Index first = 0; first < x.rows(); first += kChunk) {
      const Eigen::Index count = std::min(kChunk, x.rows() - first);
      terms.probabilities(x.middleRows(first, count), r);
      probabilities.middleRows(first, count) = r;
    }
  });
}

}  // namespace emomc

// Sums over rows that a round of EM needs, as one flat array, by the cpu or the GPU.
#pragma once

#include <memory>
#include <vector>

#include "emomc/core/execution.hpp"
#include "emomc/likelihood/data_set.hpp"
#include "emomc/likelihood/models.hpp"

namespace emomc {

/// One sum over rows: of r_k x_a x_b, r_k being the probability that the row is of component k.
struct Moment {
  int component;  ///< kEveryComponent: r is 1
  int a, b;       ///< columns; kNoColumn: a factor of 1
};
inline constexpr int kEveryComponent = -1, kNoColumn = -1;

/// Which second moments a model's covariance takes.
enum class SecondMoments { squares, products, shared_products };

/// The moments of `num_components` components in `dim` columns, in this order: masses [K], first moments
/// [K][d], second ones [K][d], [K][triangle] or, shared by all components, [triangle].
struct MomentLayout {
  int num_components, dim;
  SecondMoments second;

  std::vector<Moment> moments() const;
  int first_moment() const { return num_components; }
  int second_moment() const { return num_components * (1 + dim); }
};

template <class Model>
MomentLayout moment_layout(const Model& model) {
  SecondMoments second = SecondMoments::squares;
  if constexpr (has_factor<Model>)
    second = decltype(model.shape())::is_shared ? SecondMoments::shared_products : SecondMoments::products;
  return {model.shape().num_components, model.shape().dim, second};
}

struct MomentSums {
  double log_likelihood = 0;
  std::vector<double> moments;  ///< in the order of MomentLayout
};

/// Holds the data; a function of theta. The cpu's bits do not depend on the number of threads, nor the GPU's
/// on the GPU.
class MomentEngine {
 public:
  virtual ~MomentEngine() = default;
  virtual MomentSums compute(const std::vector<double>& theta) = 0;
};

template <class Model>
std::unique_ptr<MomentEngine> make_cpu_moments(const Model& model, const DataSet& data, int num_threads);
/// Throws InputError in a build without CUDA (src/no_cuda).
template <class Model>
std::unique_ptr<MomentEngine> make_cuda_moments(const Model& model, const DataSet& data, Device& device);

}  // namespace emomc

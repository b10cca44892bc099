// Computes the sums over rows that a round of EM needs, in one flat array, on the CPU or the GPU.
#pragma once

#include <memory>
#include <vector>

#include "emomc/core/execution.hpp"
#include "emomc/likelihood/data_set.hpp"
#include "emomc/likelihood/models.hpp"

namespace emomc {

/// One sum over rows: the sum of r_k x_a x_b, where r_k is the posterior probability of component k for the
/// row.
struct Moment {
  int component;  ///< the component k; kEveryComponent: r is 1
  int a, b;       ///< columns; kNoColumn: the factor is 1
};
inline constexpr int kEveryComponent = -1, kNoColumn = -1;

/// The second moments that a model's covariance needs.
enum class SecondMoments { squares, products, shared_products };

/// The moments of `num_components` components in `dim` columns, in this order: masses [K], first moments
/// [K][d], second moments [K][d], [K][triangle] or, shared by all components, [triangle].
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
  std::vector<double> moments;  ///< moments in the order of MomentLayout
};

/// Computes the moments at theta from a copy of the data. The bits of the CPU do not depend on the number of
/// threads, and the bits of a GPU do not depend on the type of GPU.
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

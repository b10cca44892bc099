#include <Eigen/Dense>
#include <cmath>

#include "component_terms.hpp"
#include "emomc/core/thread_pool.hpp"
#include "mixture_moments.hpp"

namespace emomc {
namespace {

using Rows = RowMajorMatrix;
using Columns = Eigen::MatrixXd;

// Number of rows that are processed together, so that their terms stay in cache.
constexpr std::size_t kChunk = 512;

template <class Model>
class CpuMoments final : public MomentEngine {
 public:
  CpuMoments(const Model& model, const DataSet& data, int num_threads)
      : model_(model),
        layout_(moment_layout(model)),
        data_(Eigen::Map<const Rows>(data.values.data(), static_cast<Eigen::Index>(data.num_rows), data.dim)),
        pool_(num_threads) {
    const auto rows = static_cast<std::size_t>(data_.rows());
    chunks_.resize((rows + kChunk - 1) / kChunk);
    size_ = layout_.moments().size() + 1;
  }

  MomentSums compute(const std::vector<double>& theta) override {
    const ComponentTerms<Model> terms(model_, theta.data());
    pool_.for_each(chunks_.size(), [&](std::size_t c, int) {
      const auto begin = static_cast<Eigen::Index>(c * kChunk);
      chunks_[c] = sums(terms, data_.middleRows(begin, std::min<Eigen::Index>(kChunk, data_.rows() - begin)));
    });
    // Chunks are added in the order of the rows.
    std::vector<double> total(size_, 0.0);
    for (const auto& chunk : chunks_)
      for (std::size_t i = 0; i < size_; ++i) total[i] += chunk[i];
    MomentSums result{total.back(), std::move(total)};
    result.moments.pop_back();
    return result;
  }

 private:
  template <class X>
  std::vector<double> sums(const ComponentTerms<Model>& terms, const X& x) const {
    const int K = layout_.num_components, d = layout_.dim;
    Columns r;
    const double log_likelihood = terms.probabilities(x, r);
    std::vector<double> out;
    out.reserve(size_);
    for (int k = 0; k < K; ++k) out.push_back(r.col(k).sum());
    const Rows first = r.transpose() * x;
    out.insert(out.end(), first.data(), first.data() + first.size());
    const auto push_triangle = [&](const Columns& products) {
      for (int i = 0; i < d; ++i)
        for (int j = 0; j <= i; ++j) out.push_back(products(i, j));
    };
    if (layout_.second == SecondMoments::squares) {
      const Rows squares = r.transpose() * x.cwiseAbs2();
      out.insert(out.end(), squares.data(), squares.data() + squares.size());
    } else if (layout_.second == SecondMoments::shared_products) {
      push_triangle(x.transpose() * x);
    } else {
      for (int k = 0; k < K; ++k) {
        const Columns weighted = r.col(k).asDiagonal() * x;
        push_triangle(x.transpose() * weighted);
      }
    }
    out.push_back(log_likelihood);
    return out;
  }

  Model model_;
  MomentLayout layout_;
  Rows data_;
  ThreadPool pool_;
  std::vector<std::vector<double>> chunks_;
  std::size_t size_;
};

}  // namespace

std::vector<Moment> MomentLayout::moments() const {
  std::vector<Moment> all;
  for (int k = 0; k < num_components; ++k) all.push_back({k, kNoColumn, kNoColumn});
  for (int k = 0; k < num_components; ++k)
    for (int j = 0; j < dim; ++j) all.push_back({k, j, kNoColumn});
  const bool shared = second == SecondMoments::shared_products;
  for (int k = 0; k < (shared ? 1 : num_components); ++k)
    for (int i = 0; i < dim; ++i)
      for (int j = second == SecondMoments::squares ? i : 0; j <= i; ++j)
        all.push_back({shared ? kEveryComponent : k, i, j});
  return all;
}

template <class Model>
std::unique_ptr<MomentEngine> make_cpu_moments(const Model& model, const DataSet& data, int num_threads) {
  return std::make_unique<CpuMoments<Model>>(model, data, num_threads);
}

#define EMOMC_INSTANTIATE(Model, Shape) \
  template std::unique_ptr<MomentEngine> make_cpu_moments(const device::Model&, const DataSet&, int);
EMOMC_MODELS(EMOMC_INSTANTIATE)

}  // namespace emomc

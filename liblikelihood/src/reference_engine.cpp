// The specification of the engines: serial, in float64, with textbook formulas. It shares nothing with the
// fast engines except the meaning of theta.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "chain_segments.hpp"
#include "emomc/likelihood/models.hpp"
#include "engine_factories.hpp"

namespace emomc {
namespace {

// Compensated summation (Neumaier 1974): the relative error does not grow with the number of terms.
class CompensatedSum {
 public:
  void add(double x) {
    const double t = sum_ + x;
    correction_ += std::abs(sum_) >= std::abs(x) ? (sum_ - t) + x : (x - t) + sum_;
    sum_ = t;
  }
  double value() const { return std::isfinite(sum_) ? sum_ + correction_ : sum_; }

 private:
  double sum_ = 0, correction_ = 0;
};

template <class Model>
class ReferenceEngine final : public LikelihoodEngine {
 public:
  ReferenceEngine(const Model& model, const DataSet& data, Device& device)
      : model_(model), layout_(layout_of(model)), data_(data), device_(device) {}

  std::string name() const override { return "reference"; }
  const ParameterLayout& layout() const override { return layout_; }
  Capabilities capabilities() const override { return {}; }
  Device& device() const override { return device_; }
  std::size_t num_segments() const override { return data_.segments.size(); }
  std::size_t num_rows() const override { return data_.num_rows; }

  MemoryPlan plan(const std::vector<ChainPlan>& chains, ComponentCaches) const override {
    chain_segments(chains, num_segments());
    return {data_.values.size() * sizeof(double), 0, 0};
  }
  void allocate(const std::vector<ChainPlan>& chains, ComponentCaches) override {
    segments_ = chain_segments(chains, num_segments());
  }

  void evaluate(EnsembleView candidate, ActiveSet active) override {
    for (int i = 0; i < active.count; ++i) {
      const auto chain = static_cast<std::size_t>(active.chains ? active.chains[i] : i);
      const double* theta = candidate.theta + chain * static_cast<std::size_t>(candidate.ld);
      CompensatedSum sum;
      for (int segment : segments_[chain])
        add_rows(theta, data_.segments[static_cast<std::size_t>(segment)], sum);
      candidate.log_likelihood[chain] = sum.value();
    }
  }
  void evaluate_component(EnsembleView candidate, const int*, ActiveSet active) override {
    evaluate(candidate, active);
  }
  void commit(const std::uint8_t*, ActiveSet) override {}
  void rebuild_caches(EnsembleView, ActiveSet) override {}

  void sums_by_segment(const double* theta, int num_draws, double* out) override {
    for (int draw = 0; draw < num_draws; ++draw)
      for (const auto& segment : data_.segments) {
        CompensatedSum sum;
        add_rows(theta + static_cast<std::ptrdiff_t>(draw) * model_.num_parameters(), segment, sum);
        *out++ = sum.value();
      }
  }
  void evaluate_rows(const double* theta, double* out) override {
    for (std::size_t row = 0; row < data_.num_rows; ++row) out[row] = log_density(theta, row);
  }

 private:
  void add_rows(const double* theta, const Segment& segment, CompensatedSum& sum) const {
    for (std::size_t row = segment.first_row; row < segment.first_row + segment.num_rows; ++row)
      sum.add(log_density(theta, row));
  }

  double log_density(const double* theta, std::size_t row) const {
    const auto shape = model_.shape();
    const double* x = data_.values.data() + row * static_cast<std::size_t>(shape.dim);
    std::vector<double> terms(static_cast<std::size_t>(shape.num_components));
    for (int k = 0; k < shape.num_components; ++k) {
      const double term = std::log(model_.weight(theta, k)) + log_component(theta, k, x);
      if (std::isnan(term)) return term;
      terms[static_cast<std::size_t>(k)] = term;
    }
    const double largest = *std::max_element(terms.begin(), terms.end());
    if (!std::isfinite(largest)) return largest;
    double sum = 0;
    for (double term : terms) sum += std::exp(term - largest);
    return largest + std::log(sum);
  }

  // Log density of one Gaussian.
  double log_component(const double* theta, int k, const double* x) const {
    const int d = model_.shape().dim;
    double sum = -0.5 * d * std::log(2 * std::numbers::pi);
    if constexpr (has_factor<Model>) {
      // Forward substitution: z = L^-1 (x - mean), row by row.
      std::vector<double> z(static_cast<std::size_t>(d));
      for (int i = 0; i < d; ++i) {
        double rest = x[i] - model_.mean(theta, k, i);
        for (int j = 0; j < i; ++j) rest -= model_.factor(theta, k, i, j) * z[static_cast<std::size_t>(j)];
        const double diagonal = model_.factor(theta, k, i, i);
        z[static_cast<std::size_t>(i)] = rest / diagonal;
        sum += -0.5 * z[static_cast<std::size_t>(i)] * z[static_cast<std::size_t>(i)] - std::log(diagonal);
      }
    } else {
      for (int j = 0; j < d; ++j) {
        const double sd = model_.scale(theta, k, j);
        const double z = (x[j] - model_.mean(theta, k, j)) / sd;
        sum += -0.5 * z * z - std::log(sd);
      }
    }
    return sum;
  }

  Model model_;
  ParameterLayout layout_;
  DataSet data_;
  Device& device_;
  std::vector<std::vector<int>> segments_;
};

}  // namespace

template <class Model>
std::unique_ptr<LikelihoodEngine> make_reference_engine(const Model& model, const DataSet& data,
                                                        Device& device) {
  return std::make_unique<ReferenceEngine<Model>>(model, data, device);
}

#define EMOMC_INSTANTIATE(Model)                                                                         \
  template std::unique_ptr<LikelihoodEngine> make_reference_engine(const device::Model&, const DataSet&, \
                                                                   Device&);
EMOMC_MODELS(EMOMC_INSTANTIATE)

}  // namespace emomc

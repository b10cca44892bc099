// The reference engine defines the results of the other engines: it is serial and computes in float64. It
// shares only the meaning of theta with the fast engines. The model provides the density of a row
// (RowModel::log_density): mixtures have a second implementation for this engine, a density of the user's own
// is that of the other engines.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "chain_segments.hpp"
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

class ReferenceEngine final : public LikelihoodEngine {
 public:
  ReferenceEngine(std::shared_ptr<const RowModel> model, const DataSet& data, Device& device)
      : model_(std::move(model)), data_(data), device_(device) {}

  std::string name() const override { return "reference"; }
  const ParameterLayout& layout() const override { return model_->layout(); }
  Capabilities capabilities() const override { return {false, model_->why_no_gradient().empty()}; }
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
  void evaluate_with_gradient(EnsembleView candidate, GradientView gradient, ActiveSet active) override {
    if (!capabilities().gradient)
      return LikelihoodEngine::evaluate_with_gradient(candidate, gradient, active);
    const auto dim = static_cast<std::size_t>(layout().dim());
    for (int i = 0; i < active.count; ++i) {
      const auto chain = static_cast<std::size_t>(active.chains ? active.chains[i] : i);
      const double* theta = candidate.theta + chain * static_cast<std::size_t>(candidate.ld);
      CompensatedSum sum;
      std::vector<CompensatedSum> derivatives(dim);
      for (int segment : segments_[chain])
        add_gradients(theta, data_.segments[static_cast<std::size_t>(segment)], sum, derivatives);
      candidate.log_likelihood[chain] = sum.value();
      for (std::size_t j = 0; j < dim; ++j)
        gradient.gradient[chain * static_cast<std::size_t>(gradient.ld) + j] = derivatives[j].value();
    }
  }
  void evaluate_component(EnsembleView candidate, const int*, ActiveSet active) override {
    evaluate(candidate, active);
  }
  void commit(const std::uint8_t*, ActiveSet) override {}
  void rebuild_caches(EnsembleView, ActiveSet) override {}

  void sums_by_segment(const double* theta, int num_draws, double* out) override {
    const std::ptrdiff_t dim = layout().dim();
    for (int draw = 0; draw < num_draws; ++draw)
      for (const auto& segment : data_.segments) {
        CompensatedSum sum;
        add_rows(theta + draw * dim, segment, sum);
        *out++ = sum.value();
      }
  }
  void evaluate_rows(const double* theta, double* out) override {
    model_->log_densities(theta, data_.values.data(), data_.num_rows, out);
  }

 private:
  void add_rows(const double* theta, const Segment& segment, CompensatedSum& sum) const {
    constexpr std::size_t kAtOnce = 256;
    std::array<double, kAtOnce> values{};
    for (std::size_t done = 0; done < segment.num_rows; done += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, segment.num_rows - done);
      model_->log_densities(
          theta, data_.values.data() + (segment.first_row + done) * static_cast<std::size_t>(data_.dim),
          count, values.data());
      for (std::size_t i = 0; i < count; ++i) sum.add(values[i]);
    }
  }

  void add_gradients(const double* theta, const Segment& segment, CompensatedSum& sum,
                     std::vector<CompensatedSum>& derivatives) const {
    constexpr std::size_t kAtOnce = 256;
    const std::size_t dim = derivatives.size();
    std::array<double, kAtOnce> values{};
    std::vector<double> of_rows(kAtOnce * dim);
    for (std::size_t done = 0; done < segment.num_rows; done += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, segment.num_rows - done);
      model_->gradients(
          theta, data_.values.data() + (segment.first_row + done) * static_cast<std::size_t>(data_.dim),
          count, values.data(), of_rows.data());
      for (std::size_t i = 0; i < count; ++i) {
        sum.add(values[i]);
        for (std::size_t j = 0; j < dim; ++j) derivatives[j].add(of_rows[i * dim + j]);
      }
    }
  }

  std::shared_ptr<const RowModel> model_;
  DataSet data_;
  Device& device_;
  std::vector<std::vector<int>> segments_;
};

}  // namespace

std::unique_ptr<LikelihoodEngine> make_reference_engine(std::shared_ptr<const RowModel> model,
                                                        const DataSet& data, Device& device) {
  return std::make_unique<ReferenceEngine>(std::move(model), data, device);
}

}  // namespace emomc

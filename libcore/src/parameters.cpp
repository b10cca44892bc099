#include "emomc/core/parameters.hpp"

#include <Eigen/Cholesky>
#include <algorithm>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

std::string name_at(const ParameterBlock& block, const std::vector<int>& index) {
  std::string name = block.name + "[";
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    if (axis > 0) name += ',';
    name += std::to_string(index[axis]);
  }
  return name + "]";
}

// Calls f(lower triangle, dimension, name) for each covariance matrix of theta.
template <class F>
void for_each_covariance(const ParameterLayout& layout, std::span<double> theta, F f) {
  std::size_t begin = 0;
  for (const auto& block : layout.blocks) {
    const auto size = static_cast<std::size_t>(block.size());
    if (block.support == Support::covariance && size > 0) {
      const int d = block.matrix_dim();
      const auto triangle = static_cast<std::size_t>(d * (d + 1) / 2);
      for (std::size_t k = 0; k < size / triangle; ++k)
        f(theta.data() + begin + k * triangle, d,
          block.shape.size() > 2 ? name_at(block, {static_cast<int>(k)}) : block.name);
    }
    begin += size;
  }
}

Eigen::MatrixXd lower_triangle(const double* from, int d) {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(d, d);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j <= i; ++j) matrix(i, j) = *from++;
  return matrix;
}

void store_lower_triangle(const Eigen::MatrixXd& matrix, double* to) {
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j <= i; ++j) *to++ = matrix(i, j);
}

}  // namespace

void to_written(const ParameterLayout& layout, std::span<double> theta) {
  for_each_covariance(layout, theta, [](double* values, int d, const std::string&) {
    const Eigen::MatrixXd factor = lower_triangle(values, d);
    store_lower_triangle(factor * factor.transpose(), values);
  });
}

void from_written(const ParameterLayout& layout, std::span<double> theta) {
  for_each_covariance(layout, theta, [](double* values, int d, const std::string& name) {
    const Eigen::LLT<Eigen::MatrixXd> cholesky(lower_triangle(values, d));
    const Eigen::MatrixXd factor = cholesky.matrixL();
    if (cholesky.info() != Eigen::Success || !factor.allFinite())
      throw InputError(name + ": the matrix is not positive definite");
    store_lower_triangle(factor, values);
  });
}

std::vector<double> permute_components(const ParameterLayout& layout, std::span<const int> order,
                                       std::span<const double> theta) {
  std::vector<double> result(theta.begin(), theta.end());
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const ParameterBlock& block = layout.blocks[b];
    // The weight of the first of two components determines both weights.
    const bool is_fraction = block.support == Support::unit_interval && block.influence == Influence::weights;
    if (is_fraction && order.size() == 2 && order[0] == 1) {
      double& fraction = result[static_cast<std::size_t>(layout.offset(b))];
      fraction = 1 - fraction;
    }
    if (block.component_axis != 0) continue;
    const auto slice = static_cast<std::size_t>(block.size()) / order.size();
    const auto begin = static_cast<std::size_t>(layout.offset(b));
    for (std::size_t k = 0; k < order.size(); ++k)
      std::copy_n(
          theta.begin() + static_cast<std::ptrdiff_t>(begin + static_cast<std::size_t>(order[k]) * slice),
          slice, result.begin() + static_cast<std::ptrdiff_t>(begin + k * slice));
  }
  return result;
}

std::vector<std::string> element_names(const ParameterLayout& layout) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(layout.dim()));
  for (const auto& block : layout.blocks) {
    if (block.shape.empty()) {
      names.push_back(block.name);
      continue;
    }
    std::vector<int> index(block.shape.size(), 0);
    while (index[0] < block.shape[0]) {
      if (block.support != Support::covariance || index.back() <= index[index.size() - 2])
        names.push_back(name_at(block, index));
      for (std::size_t axis = index.size(); axis-- > 0;) {
        if (++index[axis] < block.shape[axis] || axis == 0) break;
        index[axis] = 0;
      }
    }
  }
  return names;
}

}  // namespace emomc

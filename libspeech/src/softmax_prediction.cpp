#include "softmax_prediction.hpp"

#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <stdexcept>

#include "emomc/device/random.hpp"
#include "softmax_model.hpp"

namespace emomc {
namespace {

using Eigen::MatrixXd;

double log_density(const LabelledRows& rows, double temper, double frames) {
  const MatrixXd logs =
      tempered_log_probability(shared_by_frames(rows.log_probability, frames, rows.num_frames), temper);
  double sum = 0;
  for (std::size_t i = 0; i < rows.truth.size(); ++i)
    sum += logs(static_cast<Eigen::Index>(i), rows.truth[i]);
  return sum;
}

double log_loss(const std::vector<LabelledRows>& parts, double temper, double frames) {
  double sum = 0, number = 0;
  for (const LabelledRows& part : parts) {
    sum -= log_density(part, temper, frames);
    number += static_cast<double>(part.truth.size());
  }
  if (number == 0) throw std::invalid_argument("choose_temper: no rows");
  return sum / number;
}

}  // namespace

MatrixXd tempered_log_probability(const MatrixXd& log_probability, double temper) {
  MatrixXd logs = temper * log_probability;
  logs.colwise() -= logs.rowwise().maxCoeff().eval();
  logs.colwise() -= logs.array().exp().rowwise().sum().log().matrix().eval();
  return logs;
}

MatrixXd averaged_log_probability(const std::vector<MatrixXd>& draws) {
  MatrixXd largest = tempered_log_probability(draws.at(0), 1),
           sum = MatrixXd::Ones(largest.rows(), largest.cols());
  for (std::size_t d = 1; d < draws.size(); ++d) {
    const MatrixXd logs = tempered_log_probability(draws[d], 1), above = largest.cwiseMax(logs);
    sum = sum.array() * (largest - above).array().exp() + (logs - above).array().exp();
    largest = above;
  }
  return largest.array() + (sum / static_cast<double>(draws.size())).array().log();
}

MatrixXd mixed_log_probability(const std::vector<MatrixXd>& parts, const std::vector<double>& weights) {
  MatrixXd largest = parts.at(0);
  for (const MatrixXd& part : parts) largest = largest.cwiseMax(part);
  MatrixXd sum = MatrixXd::Zero(largest.rows(), largest.cols());
  for (std::size_t i = 0; i < parts.size(); ++i)
    sum.array() += weights.at(i) * (parts[i] - largest).array().exp();
  return largest.array() + sum.array().log();
}

MatrixXd logits_of_others(const OtherRows& rows, const MatrixXd& weights, double outside_sd,
                          std::uint64_t seed, std::uint64_t draw) {
  MatrixXd logits = rows.x * weights;
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    const device::RandomSource random{seed, draw, rows.streams[static_cast<std::size_t>(i)]};
    const double sd = outside_sd * rows.outside(i);
    for (Eigen::Index k = 0; k < logits.cols(); k += 2) {
      const device::NormalPair pair =
          random.normal_pair(device::Purpose::simulation, static_cast<std::uint32_t>(k / 2));
      logits(i, k) += sd * pair.even;
      if (k + 1 < logits.cols()) logits(i, k + 1) += sd * pair.odd;
    }
  }
  return logits * contrasts(static_cast<int>(weights.cols()) + 1).transpose();
}

double share_of_temper(double frames, int num_frames) {
  if (num_frames <= 0 || frames <= 0) return 1;
  return num_frames / (num_frames + frames);
}

MatrixXd shared_by_frames(MatrixXd log_probability, double frames, const std::vector<int>& num_frames) {
  for (std::size_t i = 0; i < num_frames.size() && frames > 0; ++i)
    log_probability.row(static_cast<Eigen::Index>(i)) *= share_of_temper(frames, num_frames[i]);
  return log_probability;
}

ChosenTemper choose_temper(const std::vector<LabelledRows>& parts, std::optional<double> given,
                           double frames) {
  if (given) return {*given, log_loss(parts, *given, frames)};
  constexpr int kBits = 20;
  const auto [log_temper, loss] =
      boost::math::tools::brent_find_minima([&](double at) { return log_loss(parts, std::exp(at), frames); },
                                            std::log(1.0 / 16), std::log(16.0), kBits);
  return {std::exp(log_temper), loss};
}

double log_density_of(const LabelledRows& rows, double temper) { return log_density(rows, temper, 0); }

double choose_frames(const std::vector<LabelledRows>& whole, const std::vector<LabelledRows>& clips) {
  constexpr int kBits = 10;
  std::size_t number = 0;
  for (const LabelledRows& part : clips) number += part.truth.size();
  if (number == 0) return 0;
  const auto loss_at = [&](double frames) {
    return log_loss(clips, choose_temper(whole, {}, frames).temper, frames);
  };
  const auto [log_frames, loss] = boost::math::tools::brent_find_minima(
      [&](double at) { return loss_at(std::exp(at)); }, std::log(1.0), std::log(300.0), kBits);
  return loss < loss_at(0) ? std::exp(log_frames) : 0;
}

}  // namespace emomc
